"""What the labels say about all differences of two models at once."""

from functools import cached_property

import numpy as np

from sklearn_ase._inference._best_of import (
    N_DRAWS,
    anytime_bounds,
    blended,
    each_quantile,
    of_differences,
    proba_of_best,
    regret_bounds,
)
from sklearn_ase._inference._curved import Curved
from sklearn_ase._inference._intervals import check_interval


class Pairs:
    """All differences of two models, from one set of labels.

    How good a model is, its gain, is the metric with the sign that makes greater
    better.

    Parameters
    ----------
    columns : Columns
    state : PoolState
    observed : ndarray of shape (n_labels, n_columns)
        What the labels make of each column.
    corrected : Corrected or None
        None before the first label.
    agreement : Agreement
    seed : sequence of int
    """

    def __init__(self, columns, state, observed, corrected, agreement, seed):
        self._columns = columns
        self._state = state
        self._observed = observed
        self._corrected = corrected
        self.agreement = agreement
        self._seed = seed
        self._found = {}
        self.n_labels = 0 if corrected is None else state.settled.n_labels
        self.is_known = len(state.settled) == state.n_samples  # No row is left.

    @cached_property
    def n_apart(self):
        """Labels that tell about each difference, as if all weighed the same."""
        picks = self._state.settled
        n_free = self._state.n_samples - np.arange(len(picks))
        weight = (1.0 / (n_free * picks.query_proba))[picks.answered]
        rows = picks.indices[picks.answered]
        return self.agreement.effective_apart(rows, weight)

    @cached_property
    def curved(self):
        """The errors, if the metric is not linear in means; else None."""
        if self._corrected is None or self._columns.are_linear:
            return None
        return Curved(self._corrected, self.agreement.apart)

    @cached_property
    def _believed(self):
        return self._corrected.believed(self.agreement.apart)

    @cached_property
    def covariance(self):
        """Covariance of the errors of all gains, (n_models, n_models)."""
        if self.curved is not None:
            return self.curved.covariance
        return blended(self._corrected.seen, self._believed, self.n_labels)

    @cached_property
    def _limits(self):
        """Least and greatest difference of each two that the labels leave possible."""
        state, n_models = self._state, self._columns.n_models
        if self._columns.targets is None:
            return _unknown(n_models)
        right = self._observed.sum(axis=0)
        gap = right[:, None] - right
        picks = state.picks
        skipped = picks.indices[picks.skipped]
        still_open = self.agreement.open_apart(np.append(state.indices, skipped))
        low, high = gap - still_open, gap + still_open
        # The mean is over the rows that can be labelled. After a skip nobody knows how
        # many of the open rows these are; the ends are where they are fewest, or most.
        most = state.n_samples - self.agreement.size(skipped)
        least = most
        if len(skipped):
            least = self.agreement.size(state.indices) + still_open
        least = np.maximum(least, 1e-300)
        return (
            low / np.where(low < 0, least, most),
            high / np.where(high > 0, least, most),
        )

    def bounds(self, level=0.9, method="fixed"):
        """Simultaneous bounds of how much better each model is than each other.

        Parameters
        ----------
        level : float, default=0.9
        method : {"fixed", "anytime", "anytime_normal"}, default="fixed"
            The last two are the same here, and hold at all label counts at once.

        Returns
        -------
        low, high : ndarray of shape (n_models, n_models)
            How much better the first (first axis) is at least, and at most, than the
            second (second axis).
        """
        check_interval(level, method)
        if self._corrected is None:
            return _unknown(self._columns.n_models)
        key = level, method == "fixed"
        if key not in self._found:
            low, high = self._bounds(*key)
            self._found[key] = np.clip(low, *self._limits), np.clip(high, *self._limits)
        return self._found[key]

    def _bounds(self, level, is_fixed):
        gains, n_labels = self._corrected.gains, self.n_labels
        if self.is_known:
            gap = gains[:, None] - gains
            return gap, gap
        if self.curved is not None:
            quantile = each_quantile(self.n_apart, n_labels, level, is_fixed)
            return self.curved.bounds(quantile)
        if is_fixed:
            seed = [*self._seed, n_labels]
            return regret_bounds(
                gains, self.covariance, self.n_apart, n_labels, seed, level
            )
        seen = of_differences(self._corrected.seen)
        variance = np.maximum(seen, of_differences(self._believed))
        return anytime_bounds(gains, np.sqrt(variance), self.n_apart, n_labels, level)

    def excludes(self, model):
        """Whether the labels exclude one model, at 90 %: another one is better."""
        if self._corrected is None:
            return False
        if not self._corrected.excluded(self.agreement.apart, model):
            return False
        if self.curved is None or self.is_known:
            return True
        quantile = each_quantile(self.n_apart, self.n_labels, 0.9, is_fixed=True)
        others = np.delete(np.arange(len(quantile)), model)
        same = np.full(len(others), model)
        low, _ = self.curved.ends(others, same, quantile[others, model])
        return bool((low > 0).any())

    def proba_of_best(self, gains, seed):
        """Probability of each model to be the best, given how good each is."""
        covariance = self.covariance
        if self.curved is not None:  # Ratios are of order 1: this is rounding.
            covariance = np.where(np.abs(covariance) < 1e-16, 0.0, covariance)
        return proba_of_best(gains, covariance, seed)

    def may_be_best(self, chosen, level=0.9, method="fixed"):
        """Whether each model may be the best.

        Parameters
        ----------
        chosen : int
            The model that is chosen, which always may.
        level : float, default=0.9
        method : {"fixed", "anytime", "anytime_normal"}, default="fixed"
            See :meth:`bounds`.

        Returns
        -------
        may_be_best : ndarray of shape (n_models,), dtype bool
        """
        found = ~(self.bounds(level, method)[0] > 0).any(axis=0)
        found[chosen] = True
        return found

    def agreeing(self, proba, chosen, level=0.9, method="fixed"):
        """Probabilities to be the best that agree with which models may be it.

        All models that may not be the best have at most ``1 - level`` together. One
        that may be has at least what a single draw counts.

        Parameters
        ----------
        proba : ndarray of shape (n_models,)
            From draws of normal errors, which know nothing of how few the labels are.
        chosen, level, method
            See :meth:`may_be_best`.

        Returns
        -------
        proba : ndarray of shape (n_models,)
        """
        stays = self.may_be_best(chosen, level, method)
        found = np.where(stays, np.maximum(proba, 1.0 / N_DRAWS), proba)
        most = 0.0 if self.is_known else 1.0 - level
        found[~stays] *= min(1.0, most / max(found[~stays].sum(), 1e-300))
        found[stays] *= (1.0 - found[~stays].sum()) / found[stays].sum()
        return found

    def regret(self, chosen, level=0.9, method="fixed"):
        """How much better than the chosen model the best one is at most."""
        return float(max(self.bounds(level, method)[1][:, chosen].max(), 0.0))

    def labels_needed(self, chosen, gains, level=0.9):
        """Forecast how many more labels show that the chosen model is the best.

        Parameters
        ----------
        chosen : int
        gains : ndarray of shape (n_models,)
            How good each is, as estimated.
        level : float, default=0.9

        Returns
        -------
        n_more : float
            0 if there is no other candidate that predicts something else; infinite if
            another one is estimated to be as good, or if the labels say too little yet.
        """
        others = self.may_be_best(chosen, level)
        for model in np.flatnonzero(others):
            others[model] = not self.agreement.are_alike(chosen, model)
        low, high = (side[chosen, others] for side in self.bounds(level))
        half, gap = 0.5 * (high - low), (gains[chosen] - gains)[others]
        with np.errstate(invalid="ignore"):  # The labels must show what is believed.
            gap = np.minimum(gap, np.nan_to_num(0.5 * (high + low)))
        if not len(gap):
            return 0.0
        if not (gap > 0).all() or not np.isfinite(half).all():
            return np.inf
        # The error falls as the root of the labels, and to 0 with the last one.
        n_samples, n_labels = self._state.n_samples, self.n_labels
        ratio = (gap / np.maximum(half, 1e-300)) ** 2
        left = max(1.0 / n_labels - 1.0 / n_samples, 0.0) * ratio
        needed = 1.0 / (left.min() + 1.0 / n_samples) - n_labels
        return float(np.ceil(max(needed, 1.0)))


def _unknown(n_models):
    far = np.where(np.eye(n_models, dtype=bool), 0.0, np.inf)
    return -far, far
