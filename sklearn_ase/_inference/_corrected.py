"""Unbiased means of several models, and how sure they are."""

import numpy as np

from sklearn_ase._inference import _kernels
from sklearn_ase._inference._best_of import (
    is_excluded,
    of_differences,
    seen_covariance,
)
from sklearn_ase._inference._skips import over_answerable

# Numbers of a table of rows, labels and models that are looked at for a covariance.
_MOST_NUMBERS = 2_000_000
_MOST_ROWS = 2000


class Corrected:
    """Unbiased means of all models from labels picked with known probabilities.

    Parameters
    ----------
    columns : Columns
    state : PoolState
    epochs : list of Epoch
        With the classes of the columns.
    observed : ndarray of shape (n_labels, n_columns)
    cache : dict
        Keeps what was computed for epochs that are over.
    weight : ndarray of shape (n_samples,), default=None
        How much each row counts in the columns, with mean 1.
    """

    def __init__(self, columns, state, epochs, observed, cache, weight=None):
        self.columns = columns
        self.state = state
        self.epochs = [epoch for epoch in epochs if epoch.start < len(state.picks)]
        self._cache = cache
        picks = state.settled
        self.n_picks = len(picks)
        losses = np.zeros((self.n_picks, observed.shape[1]))
        losses[picks.answered] = observed[: picks.n_labels]
        expected, free = self._expected(len(losses), observed.shape[1])
        before = np.cumsum(losses, axis=0) - losses
        surprise = (losses - expected) / picks.query_proba[:, None]
        steps = (before + free + surprise) / state.n_samples
        if picks.n_skipped:
            found = [over_answerable(each, state, weight) for each in steps.T]
            steps = np.stack(found, axis=1)
        self.column_steps = steps
        weights = _kernels.step_weights(self.n_picks, state.n_samples)
        self.plain_means = weights @ steps
        self.means = self.plain_means
        if not columns.are_linear:  # The cut would bias plain means.
            self.limits = columns.limits(state, observed, weight)
            self.means = np.clip(self.plain_means, *self.limits)
        self.gains = columns.gains(self.means)
        self.steps = columns.per_model(steps, columns.gradient(self.means))
        self.seen = seen_covariance(self.steps, state.n_samples)

    def _expected(self, n_picks, n_columns):
        """What was expected of each pick, and of all rows that were free."""
        expected = np.zeros((n_picks, n_columns))
        free = np.zeros((n_picks, n_columns))
        for epoch, end in self.spans():
            # Picks of an epoch that is not over have a longer span later.
            key = "expected", self.columns, epoch.belief, epoch.start, end
            found = self._cache.get(key)
            if found is None:
                found = self._cache[key] = self._expected_of(epoch, end)
            here = slice(epoch.start, min(end, n_picks))
            size = max(here.stop - here.start, 0)
            expected[here], free[here] = found[0][:size], found[1][:size]
        return expected, free

    def spans(self):
        """Each epoch, and the pick that it ends before."""
        ends = [epoch.start for epoch in self.epochs[1:]] + [len(self.state.picks)]
        return list(zip(self.epochs, ends, strict=True))

    def kept(self, key, make, *known):
        """What was computed for an epoch, which is kept."""
        key = *key, self.columns
        if key not in self._cache:
            self._cache[key] = make(*known)
        return self._cache[key]

    def _expected_of(self, epoch, end):
        rows = self.state.picks.indices
        values = self.columns.expected(epoch.belief)
        free = np.ones(len(values), dtype=bool)
        free[rows[: epoch.start]] = False
        picked = values[rows[epoch.start : end]]
        left = values[free].sum(axis=0) - (np.cumsum(picked, axis=0) - picked)
        return picked, left

    def believed(self, apart):
        """Covariance of the gains as the surrogate expected it, but for what is common.

        Parameters
        ----------
        apart : ndarray of shape (n_samples,), dtype bool
            Rows on which not all models are alike. The others add the same to every
            entry, and nothing to a difference.

        Returns
        -------
        covariance : ndarray of shape (n_models, n_models)
        """
        n_samples, n_models = self.state.n_samples, self.columns.n_models
        total = np.zeros((n_models, n_models))
        if self.n_picks == n_samples:
            return total
        squares = _kernels.step_weights(self.n_picks, n_samples) ** 2
        for epoch, end in self.spans():
            share = squares[epoch.start : min(end, self.n_picks)].sum()
            if not share:
                continue
            key = "believed", epoch.belief, epoch.start
            total += share * self.kept(key, self._believed_of, epoch, apart)
        return total

    def _believed_of(self, epoch, apart):
        rows = np.flatnonzero(apart & (epoch.query_proba > 0))
        gradient = self.columns.gradient(self.means)
        rows, factor = some_rows(rows, self.columns)
        if not len(rows):
            return np.zeros((self.columns.n_models, self.columns.n_models))
        values, proba, _ = self.columns.tables(rows, epoch.belief, gradient)
        inverse = 1.0 / epoch.query_proba[rows].astype(float)
        found = sum_of_covariances(values, proba, inverse)
        return factor * found / self.state.n_samples**2

    def excluded(self, apart, model, level=0.9):
        """Whether the labels exclude one model."""
        n_labels = self.state.settled.n_labels
        by_scatter = is_excluded(
            self.gains, np.sqrt(of_differences(self.seen)), n_labels, level
        )
        if not by_scatter[model]:  # The greater variance excludes no more.
            return False
        believed = of_differences(self.believed(apart))
        deviation = np.sqrt(np.maximum(of_differences(self.seen), believed))
        return bool(is_excluded(self.gains, deviation, n_labels, level)[model])


def sum_of_covariances(values, proba, weight):
    """Weighted sum over rows of the covariance of values, (n_models, n_models)."""
    values = values - np.einsum("nc,nck->nk", proba, values)[:, None]
    values *= np.sqrt(proba * weight[:, None])[:, :, None]
    values = values.reshape(-1, values.shape[2])
    return values.T @ values


def some_rows(rows, columns):
    """At most a few thousand of the rows, and how many each stands for."""
    n_labels = 7 if columns.classes is None else len(columns.classes)
    most = int(min(_MOST_ROWS, _MOST_NUMBERS // (n_labels * columns.n_models)))
    most = max(most, 200)
    if len(rows) <= most:
        return rows, 1.0
    chosen = np.random.default_rng(0).choice(len(rows), most, replace=False)
    return rows[np.sort(chosen)], len(rows) / most
