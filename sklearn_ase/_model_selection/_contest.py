"""What the labels say about several models: estimates, differences, candidates."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import stats

from sklearn_ase._inference._best_of import (
    blended,
    difference_intervals,
    of_differences,
    regret_bounds,
)

# Fewer labels say nothing about how many more are needed.
_LEAST_FORECAST = 5


class Contest:
    """Several models, compared from one set of labels.

    Made by ``run.contest(level)`` of a model selection.

    Attributes
    ----------
    level : float
    n_labels : int
    best_index : int
    """

    def __init__(self, selection, stand, columns, corrected, level, seed):
        self._selection = selection
        self._stand = stand
        self._columns = columns
        self._corrected = corrected
        self._seed = seed
        self.level = level
        self.n_labels = 0 if corrected is None else selection.state.settled.n_labels
        self.best_index = stand.leader

    @property
    def names(self):
        """Names of the models."""
        return self._selection.names

    @cached_property
    def _n_apart(self):
        """Labels that tell about each difference, as if all weighed the same."""
        picks = self._selection.state.settled
        n_free = self._selection.n_samples - np.arange(len(picks))
        weight = (1.0 / (n_free * picks.query_proba))[picks.answered]
        rows = picks.indices[picks.answered]
        return self._selection.models.effective_apart(rows, weight)

    @cached_property
    def _believed(self):
        return self._corrected.believed(self._selection.models.apart)

    @cached_property
    def _limits(self):
        """Least and greatest difference of each two that the labels leave possible."""
        selection, columns = self._selection, self._columns
        n_models, models = columns.n_models, selection.models
        if columns.targets is None:
            far = np.where(np.eye(n_models, dtype=bool), 0.0, np.inf)
            return -far, far
        state = selection.state
        more = selection.ledger.more_labels
        right = columns.observed(state.indices, state.labels, more).sum(axis=0)
        open_rows = models.n_rows_apart - models.n_apart(state.indices)
        gap = right[:, None] - right
        n_samples = state.n_samples
        return (gap - open_rows) / n_samples, (gap + open_rows) / n_samples

    @cached_property
    def _bounds(self):
        """Simultaneous bounds of all differences, cut to what is certain."""
        n_models = self._columns.n_models
        if self._corrected is None:
            far = np.where(np.eye(n_models, dtype=bool), 0.0, np.inf)
            return -far, far
        found = self._corrected
        covariance = blended(found.seen, self._believed, self.n_labels)
        low, high = regret_bounds(
            found.gains,
            covariance,
            self._n_apart,
            self.n_labels,
            [*self._seed, self.n_labels],
            self.level,
        )
        return np.clip(low, *self._limits), np.clip(high, *self._limits)

    @cached_property
    def may_be_best(self):
        """Whether each model may be the best, (n_models,); simultaneous (Hsu)."""
        return ~(self._bounds[0] > 0).any(axis=0)

    @property
    def candidates(self):
        """Names of the models that may be the best."""
        return [
            name
            for name, stays in zip(self.names, self.may_be_best, strict=True)
            if stays
        ]

    @cached_property
    def regret(self):
        """How much better than the chosen model the best one is at most."""
        return float(max(self._bounds[1][:, self.best_index].max(), 0.0))

    def differences(self, reference=None):
        """How much better each model is than one of them, in units of the metric.

        Parameters
        ----------
        reference : int, default=None
            Place of a model; None means the chosen one.

        Returns
        -------
        difference, low, high : ndarray of shape (n_models,)
            Metric of each model minus that of the reference, and the ends of the
            interval of each. Infinite if there is none.
        """
        place = self.best_index if reference is None else reference
        n_models, sign = self._columns.n_models, self._columns.sign
        if self._corrected is None or self.n_labels < 2:
            gap = self._stand.gains - self._stand.gains[place]
            far = np.where(np.arange(n_models) == place, 0.0, np.inf)
            return sign * gap, -far, far
        found = self._corrected
        gap = found.gains - found.gains[place]
        seen = of_differences(found.seen)[place]
        believed = of_differences(self._believed)[place]
        limits = [side[:, place] for side in self._limits]
        low, high = difference_intervals(
            gap,
            np.sqrt(np.maximum(seen, believed)),
            self._n_apart[place],
            limits,
            self.level,
        )
        low[place] = high[place] = 0.0
        gap = np.clip(gap, *limits)
        return (gap, low, high) if sign > 0 else (-gap, -high, -low)

    def table(self):
        """Columns with an entry per model, which ``pandas.DataFrame`` takes.

        Returns
        -------
        table : dict of str to list or ndarray
            ``estimate``, ``low`` and ``high`` are of the metric of each model by
            itself. The estimate of the chosen one is a little too good: it was chosen
            for what the same labels say. ``difference`` is the metric of the model
            minus that of the chosen one. ``believed`` is what the models' votes make
            of the labels; the choice is by it. ``rank`` is by it, too.
        """
        estimates = [self._estimate(name) for name in self.names]
        difference, low, high = self.differences()
        sign = self._columns.sign
        ranks = stats.rankdata(-self._stand.gains, method="min").astype(int)
        return {
            "name": np.array(self.names, dtype=object),
            "rank": ranks,
            "estimate": np.array([value for value, _, _ in estimates]),
            "low": np.array([ends for _, ends, _ in estimates]),
            "high": np.array([ends for _, _, ends in estimates]),
            "believed": sign * self._stand.gains,
            "difference": difference,
            "difference_low": low,
            "difference_high": high,
            "may_be_best": self.may_be_best,
            "probability": self._stand.best_proba,
        }

    def _estimate(self, name):
        selection = self._selection
        if selection.risk.obstacle(selection.state):
            return np.nan, -np.inf, np.inf
        found = selection.estimate_of(name)
        if found.refusal:
            return float(found), -np.inf, np.inf
        return float(found), *found.interval(self.level)

    @cached_property
    def ties(self):
        """Models that cannot be told apart yet, and how many labels would do it."""
        names = self.candidates
        others = [n for n in names if n != self.names[self.best_index]]
        if self.n_labels < _LEAST_FORECAST or not others:
            return Ties(tuple(names), self.n_labels, 0 if not others else None)
        place, n_samples = self.best_index, self._selection.n_samples
        low, high = (side[place] for side in self._bounds)
        half, gap = 0.5 * (high - low), self._stand.gains[place] - self._stand.gains
        rows = [self.names.index(name) for name in others]
        needed = 0.0
        for row in rows:
            if not gap[row] > 0 or not np.isfinite(half[row]):
                return Ties(tuple(names), self.n_labels, None)
            # The error falls as the root of the labels, and to 0 with the last one.
            ratio = (half[row] / gap[row]) ** 2
            left = max(1.0 / self.n_labels - 1.0 / n_samples, 0.0) / max(ratio, 1e-9)
            needed = max(needed, 1.0 / (left + 1.0 / n_samples) - self.n_labels)
        return Ties(tuple(names), self.n_labels, int(np.ceil(max(needed, 1.0))))

    def __repr__(self):
        best = self.names[self.best_index]
        proba = self._stand.best_proba[self.best_index]
        return f"Best so far: {best!r}, with probability {proba:.2g}. {self.ties}"


@dataclass(frozen=True)
class Ties:
    """Models of which each may be the best.

    Attributes
    ----------
    names : tuple of str
    n_labels : int
        Labels so far.
    n_more : int or None
        Labels that would tell them apart, by a rough forecast; 0 if only one is left,
        None if nothing can be said.
    """

    names: tuple
    n_labels: int
    n_more: int | None

    def __str__(self):
        labels = f"{self.n_labels} label{'s' * (self.n_labels != 1)}"
        if len(self.names) == 1:
            return f"No other model may be the best, after {labels}."
        shown = ", ".join(map(repr, self.names[:6]))
        rest = len(self.names) - 6
        shown += f" and {rest} more" if rest > 0 else ""
        start = f"{len(self.names)} models cannot be told apart with {labels}: {shown}."
        if self.n_more is None:
            return f"{start} It cannot be said yet how many more would do it."
        return f"{start} About {self.n_more} more would do it."
