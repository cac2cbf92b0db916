"""Differences of metrics that are not linear in means, such as F1."""

from functools import cached_property

import numpy as np

from sklearn_ase._inference import _kernels
from sklearn_ase._inference._best_of import seen_covariance
from sklearn_ase._inference._corrected import some_rows, sum_of_covariances
from sklearn_ase._inference._regions import (
    MOST_QUANTILE,
    UNSEEN_EVENTS,
    ends_over_regions,
    greater_covariance,
    into_limits,
)


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
        """The same as the surrogate expected it, and events that no label has shown.

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
        square = 0.5 * (error**2 + error.T**2)
        centred = square - square.mean(axis=0) - square.mean(axis=1)[:, None]
        return -0.5 * (centred + square.mean())

    def region(self, first, second):
        """The means of two models, what they may be, and the difference as a function.

        Parameters
        ----------
        first, second : int

        Returns
        -------
        gap : Gaps
        region : dict
            The means, their covariance and their limits, for one region.
        """
        pair = np.array([first]), np.array([second])
        ((_, gaps, region),) = self._regions(*pair)
        return gaps, region

    def _regions(self, first, second):
        """The same for many pairs, those with the same numbers of means together."""
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

    def bounds(self, quantile):
        """How much better each model is at least, and at most, than each other.

        Parameters
        ----------
        quantile : ndarray of shape (n_models, n_models)
            Symmetric.

        Returns
        -------
        low, high : ndarray of shape (n_models, n_models)
        """
        low, high = np.zeros(quantile.shape), np.zeros(quantile.shape)
        pairs = np.triu_indices(len(quantile), 1)
        low[pairs], high[pairs] = self.ends(*pairs, quantile[pairs])
        return low - high.T, high - low.T

    def ends(self, first, second, quantile):
        """Least and greatest difference of pairs; infinite where it is not defined.

        Parameters
        ----------
        first, second : ndarray of int of shape (n_pairs,)
        quantile : ndarray of shape (n_pairs,)

        Returns
        -------
        low, high : ndarray of shape (n_pairs,)
        """
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

    def values(self, points):
        """The differences; NaN where they are not defined.

        Parameters
        ----------
        points : ndarray of shape (n_pairs, n_points, n_means)

        Returns
        -------
        values : ndarray of shape (n_pairs, n_points)
        """
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
        """Its derivatives, (n_means,) -> (n_means,)."""
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
