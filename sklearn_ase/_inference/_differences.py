"""Differences of two models in metrics that are not linear in means, such as F1."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._inference import _steps as _kernels
from sklearn_ase._inference._bounds import UNSEEN_EVENTS, blended, check_interval
from sklearn_ase._inference._models import (
    N_DRAWS,
    anytime_bounds,
    each_quantile,
    of_differences,
    proba_of_best,
    regret_bounds,
    seen_covariance,
    some_rows,
    sum_of_covariances,
)
from sklearn_ase._inference._regions import (
    MOST_QUANTILE,
    ends_over_regions,
    greater_covariance,
    into_limits,
)

if TYPE_CHECKING:
    from sklearn_ase._utils._typing import Method

# The arrays of this file. K models, C columns (see _models.py), G pairs of models.
#
#   seen, believed (C, C)   covariance of the means of all columns
#   first, second (G,)      the two models of each pair
#   points (G, P, n)        means of both models of a pair at which it is tried
#   low, high (K, K)        how much better each model is than each other, at least and
#                           at most


# Differences of metrics such as F1.


class Curved:
    """Errors of the means behind all models, and of differences of their metrics.

    A ratio may move far where its means move little. So the error of a difference is
    not that of its tangent: the ends are the least and the greatest difference over all
    means that agree with the labels.

    Parameters
    ----------
    corrected : Corrected
    apart : ndarray of shape (n_samples,), dtype bool
        Rows on which not all models are alike.
    """

    def __init__(self, corrected, apart):
        self._corrected = corrected
        self._apart = apart
        self._columns = corrected.columns

    @cached_property
    def seen(self):
        """Covariance of the means of all columns, from the scatter of their steps."""
        known = self._corrected.column_steps, self._corrected.state.n_samples
        return seen_covariance(*known)

    @cached_property
    def believed(self):
        """Covariance of these means as the surrogate expected it, with unseen events.

        Half an event more of each class is thought to be among the labels: once among
        those at rows on which all models agree, once among the others.
        """
        corrected, state = self._corrected, self._corrected.state
        total = np.zeros((len(self._columns.parts),) * 2)
        picks = state.settled
        if len(picks) == state.n_samples:
            return total
        apart = self._apart[picks.indices[picks.answered]]
        heard = 1.0 + np.array([np.sum(~apart), np.sum(apart)])
        squares = _kernels.step_weights(len(picks), state.n_samples) ** 2
        for epoch, end in corrected.spans():
            share = squares[epoch.start : min(end, len(picks))].sum()
            if share:
                known, *events = corrected.kept(
                    ("columns", epoch.belief, epoch.start), self._of_epoch, epoch
                )
                floor = sum(e / n for e, n in zip(events, heard, strict=True))
                total += share * (known + UNSEEN_EVENTS * floor)
        return total

    def _of_epoch(self, epoch):
        """Covariance by a belief, and what an event adds where models agree or not."""
        columns, n_samples = self._columns.each(), self._corrected.state.n_samples
        rows, factor = some_rows(np.flatnonzero(epoch.query_proba > 0), columns)
        ones = np.ones(len(columns.parts))
        values, proba, _ = columns.tables(rows, epoch.belief, ones)
        factor = factor / epoch.query_proba[rows].astype(float) / n_samples**2
        found = [sum_of_covariances(values, proba, factor)]
        for here in (~self._apart[rows], self._apart[rows]):
            if columns.classes is None:  # Numbers scatter around what is believed.
                found.append(np.zeros_like(found[0]))
                continue
            gap = values - np.einsum("nc,nck->nk", proba, values)[:, None]
            gap = gap * np.sqrt(here * factor)[:, None, None]
            gap = gap.reshape(-1, gap.shape[2])
            found.append(gap.T @ gap)
        return found

    @cached_property
    def covariance(self):
        """Covariance of the errors of all gains, but for what is common to all.

        The error of a difference is that towards 0: so far the labels may be wrong
        about which of the two is better.
        """
        n_models = self._columns.n_models
        low, high = self.bounds(np.ones((n_models, n_models)))
        gap = np.zeros((n_models, n_models))
        first, second = np.triu_indices(n_models, 1)
        for here, gaps, region in self._regions(first, second):
            gap[first[here], second[here]] = gaps.values(region["means"][:, None])[:, 0]
        gap = gap - gap.T
        error = np.where(gap > 0, gap - low, high - gap)
        known = np.isfinite(error)
        error[~known] = 10.0 * max(error[known].max(), 1.0)  # Nothing is known.
        # A covariance C gives the difference of j and k the variance
        # D_jk = C_jj + C_kk - 2 C_jk, a squared distance. Here the errors give D, and
        # C = -½ J D J with J = I - 11ᵀ / n, which subtracts the means of rows and of
        # columns: double centring, as in classical scaling. The rows of C sum to 0, so
        # what is common to all models is left out.
        square = 0.5 * (error**2 + error.T**2)
        centred = square - square.mean(axis=0) - square.mean(axis=1)[:, None]
        return -0.5 * (centred + square.mean())

    def region(self, first: int, second: int) -> tuple[Gaps, dict]:
        """The means of two models, their limits, and the difference as a function."""
        pair = np.array([first]), np.array([second])
        ((_, gaps, region),) = self._regions(*pair)
        return gaps, region

    def _regions(self, first, second):
        """Gaps and regions of many pairs, those of equal numbers of means together."""
        ends = self._columns.ends
        sizes = np.diff(ends)
        kinds = np.stack([sizes[first], sizes[second]], axis=1)
        for kind in np.unique(kinds, axis=0):
            here = np.flatnonzero((kinds == kind).all(axis=1))
            starts = ends[first[here]], ends[second[here]]
            places = [
                s[:, None] + np.arange(n) for s, n in zip(starts, kind, strict=True)
            ]
            gaps = Gaps(self._columns, first[here], second[here])
            yield here, gaps, self._region(np.concatenate(places, axis=1))

    def _region(self, places):
        square = places[:, :, None], places[:, None]
        limits = tuple(side[places] for side in self._corrected.limits)
        covariance = greater_covariance(self.seen[square], self.believed[square])
        means = self._corrected.plain_means[places][:, None]
        return {
            "means": into_limits(means, covariance, limits)[:, 0],
            "covariance": covariance,
            "limits": limits,
        }

    def bounds(self, quantile: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How much better each model is at least, and at most, than each other."""
        low, high = np.zeros(quantile.shape), np.zeros(quantile.shape)
        pairs = np.triu_indices(len(quantile), 1)
        low[pairs], high[pairs] = self.ends(*pairs, quantile[pairs])
        return low - high.T, high - low.T

    def ends(
        self, first: np.ndarray, second: np.ndarray, quantile: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest difference of pairs; infinite where it is not defined."""
        ends = np.full((2, len(first)), np.nan)
        reach = np.minimum(quantile, MOST_QUANTILE)
        for here, gaps, region in self._regions(first, second):
            ends[:, here] = ends_over_regions(
                gaps.values, gaps.gradients, quantile=reach[here], **region
            )
        is_known = np.isfinite(ends).all(axis=0) & np.isfinite(quantile)
        return np.where(is_known, ends[0], -np.inf), np.where(is_known, ends[1], np.inf)


class Gaps:
    """How much better one model is than another, as functions of all their means.

    Parameters
    ----------
    columns : Columns
    first, second : ndarray of int of shape (n_pairs,)
        Models with the same number of means each.
    """

    def __init__(self, columns, first, second):
        self._metrics = {k: columns.metrics[k] for k in np.union1d(first, second)}
        self._sign = columns.sign
        self._sides = first, second
        self._cut = len(columns.metrics[first[0]].parts)

    def values(self, points: np.ndarray):
        """The differences; NaN where they are not defined."""
        own, other = self._of_each("values", points)
        return self._sign * (own - other)

    def gradients(self, points):
        """Derivatives by the means, (n_pairs, n_points, n_means)."""
        own, other = self._of_each("gradients", points)
        slopes = np.concatenate([own, -other], axis=2)
        return self._sign * np.nan_to_num(slopes, posinf=0, neginf=0)

    def value(self, means):
        """The difference of the only pair at one point, (n_means,) -> float."""
        return float(self.values(np.asarray(means)[None, None])[0, 0])

    def gradient(self, means):
        """Derivatives of :meth:`value` by the means, (n_means,) -> (n_means,)."""
        return self.gradients(np.asarray(means)[None, None])[0, 0]

    def _of_each(self, name, points):
        cut = np.split(points, [self._cut], axis=2)
        for models, means in zip(self._sides, cut, strict=True):
            found = None
            for model in np.unique(models):
                here = models == model
                each = getattr(self._metrics[model], name)(means[here])
                if found is None:
                    found = np.empty((len(points), *each.shape[1:]))
                found[here] = each
            yield found


# All differences at once.


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
    agreement : SamePredictions
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

    def bounds(
        self, level: float = 0.9, method: Method = "fixed"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Simultaneous bounds of how much better each model is than each other."""
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
        """Whether each model may be the best."""
        found = ~(self.bounds(level, method)[0] > 0).any(axis=0)
        found[chosen] = True
        return found

    def agreeing(
        self, proba: np.ndarray, chosen, level=0.9, method="fixed"
    ) -> np.ndarray:
        """Probabilities to be the best that agree with which models may be it.

        All models that may not be the best have at most ``1 - level`` together. One
        that may be has at least what a single draw counts.
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

    def labels_needed(
        self, chosen: int, gains: np.ndarray, level: float = 0.9
    ) -> float:
        """Forecast how many more labels show that the chosen model is the best."""
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
