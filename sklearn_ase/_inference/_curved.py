"""Differences of metrics that are not linear in means, such as F1."""

from functools import cached_property

import numpy as np

from sklearn_ase._inference import _kernels
from sklearn_ase._inference._best_of import seen_covariance
from sklearn_ase._inference._corrected import some_rows, sum_of_covariances
from sklearn_ase._inference._regions import (
    ends_over_means,
    greater_covariance,
    into_limits,
)

# An event that no label has shown counts as a half.
_UNSEEN_EVENTS = 0.5
_MOST_QUANTILE = 1e9


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
        self._kept = {}

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
                total += share * (known + _UNSEEN_EVENTS * floor)
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
        for one, other in np.ndindex(gap.shape):
            region = self.region(one, other)
            gap[one, other] = region["function"](region["means"])
        error = np.where(gap > 0, gap - low, high - gap)
        known = np.isfinite(error)
        error[~known] = 10.0 * max(error[known].max(), 1.0)  # Nothing is known.
        square = 0.5 * (error**2 + error.T**2)
        centred = square - square.mean(axis=0) - square.mean(axis=1)[:, None]
        return -0.5 * (centred + square.mean())

    def region(self, first, second):
        """The means of two models, what they may be, and the difference as a function.

        Returns
        -------
        region : dict
            The arguments of `ends_over_means` but for the quantile.
        """
        if (first, second) not in self._kept:
            self._kept[first, second] = self._region(first, second)
        return self._kept[first, second]

    def _region(self, first, second):
        ends = self._columns.ends
        places = np.r_[ends[first] : ends[first + 1], ends[second] : ends[second + 1]]
        here = np.ix_(places, places)
        limits = tuple(side[places] for side in self._corrected.limits)
        covariance = greater_covariance(self.seen[here], self.believed[here])
        start = into_limits(self._corrected.plain_means[places], covariance, limits)
        gap = self.gap(first, second)
        return {
            "function": gap.value,
            "gradient": gap.gradient,
            "means": start,
            "covariance": covariance,
            "limits": limits,
        }

    def gap(self, first, second):
        """How much better one model is than another, as a function of their means."""
        return Gap(self._columns, first, second)

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
        for one, other in zip(*np.triu_indices(len(quantile), 1), strict=True):
            low[one, other], high[one, other] = self.ends(
                one, other, quantile[one, other]
            )
            low[other, one], high[other, one] = -high[one, other], -low[one, other]
        return low, high

    def ends(self, first, second, quantile):
        """Least and greatest difference; infinite where it is not defined."""
        if not np.isfinite(quantile):
            return -np.inf, np.inf
        region = self.region(first, second)
        found = ends_over_means(**region, quantile=min(quantile, _MOST_QUANTILE))
        return found if np.isfinite(found).all() else (-np.inf, np.inf)


class Gap:
    """How much better one model is than another, as a function of all their means.

    Parameters
    ----------
    columns : Columns
    first, second : int
    """

    def __init__(self, columns, first, second):
        self._both = columns.metrics[first], columns.metrics[second]
        self._sign = columns.sign
        self._cut = len(self._both[0].parts)

    def value(self, means):
        """The difference; NaN where it is not defined."""
        own, other = means[: self._cut], means[self._cut :]
        gap = self._both[0].value(own) - self._both[1].value(other)
        return float(self._sign * gap)

    def gradient(self, means):
        """Derivative by the means."""
        own, other = means[: self._cut], means[self._cut :]
        slopes = self._both[0].gradient(own), -self._both[1].gradient(other)
        return self._sign * np.nan_to_num(np.concatenate(slopes), posinf=0, neginf=0)
