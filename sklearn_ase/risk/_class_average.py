"""An average over classes in which each class counts the same.

The ratio of a class with few rows may move far where its means move little, and
nobody knows whether a class that no label has shown occurs at all. The tangent of the
average shows neither. So each class has an interval of its own, and the interval of the
average is made of these (eq. T14 of docs/trust_method.md).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from scipy.stats import norm

from sklearn_ase._inference._regions import ends_over_regions
from sklearn_ase._inference._skips import row_weight
from sklearn_ase._inference._spread import chances_of_picks
from sklearn_ase.metrics._pool_metric import PoolMetric


def classes_of(pool_metric):
    """How the metric averages over classes, or None if it does not.

    Parameters
    ----------
    pool_metric : PoolMetric

    Returns
    -------
    class_mean : ClassMean or None
    """
    # Two classes have the same two means.
    is_average = type(pool_metric) is PoolMetric and len(pool_metric.known) > 3
    return getattr(pool_metric.metric, "_class_mean", None) if is_average else None


@dataclass(frozen=True, eq=False)
class ClassAverage:
    """What is known of each class.

    Attributes
    ----------
    means : ndarray of shape (n_classes, 2)
        Shares of the rows that are of the class: found, and missed by the model.
    predicted : ndarray of shape (n_classes,)
        Share of the rows that are predicted as the class. If rows were skipped, an
        estimate: nobody knows which rows can be labelled.
    least, most : ndarray of shape (n_classes, 2)
        What the means can be, as the labels have proved.
    is_shown : ndarray of shape (n_classes,), dtype bool
        Whether a label has shown the class.
    is_sure : ndarray of shape (n_classes,), dtype bool
        Whether the class counts for certain.
    chance : ndarray of shape (n_classes,)
        Probability that the class counts.
    n_expected : ndarray of shape (n_classes,)
        Number of picks that were expected among the rows that are predicted as the
        class; 0 if some of these rows have labels.
    covariance : ndarray of shape (n_classes, 2, 2)
    """

    means: np.ndarray
    predicted: np.ndarray
    least: np.ndarray
    most: np.ndarray
    is_shown: np.ndarray
    is_sure: np.ndarray
    chance: np.ndarray
    n_expected: np.ndarray
    covariance: np.ndarray | None = None

    @classmethod
    def of(cls, pool_metric, found, states, training_labels):
        """What is known of each class, but for the errors.

        Parameters
        ----------
        pool_metric : PoolMetric
        found : list of RiskEstimate
            Of the means that labels change, with what is proved.
        states : list of PoolState
            Of these means.
        training_labels : float
            Number of labels that the training rows are worth.

        Returns
        -------
        average : ClassAverage
        """
        class_mean, place = pool_metric.metric._class_mean, _places(pool_metric)
        values = ([getattr(x, of) for x in found] for of in ("value", "least", "most"))
        shares = [pool_metric.all_means(x).reshape(3, -1) for x in values]
        means, least, most = (each[:2].T for each in shares)
        predicted, state = shares[0][2], states[0]
        is_shown = _of_classes([s.settled.losses.any() for s in states], place).any(1)
        is_sure = class_mean.counts(is_shown, predicted)
        can_be = class_mean.counts(most.sum(axis=1), predicted)
        # Of a class that no label has shown so many rows are expected ...
        counts, picks = row_weight(state) > 0, state.settled
        expected = counts.sum() * np.maximum(means.sum(axis=1), 0.0)
        # ... and this is the chance to miss one with a rate that nobody knows.
        n_heard = counts[picks.indices[picks.answered]].sum()
        n_heard += training_labels * counts.mean()
        n_free = counts.sum() - counts[picks.indices].sum()
        missed = np.sqrt(n_heard / (n_heard + n_free))
        chance = np.where(is_sure, 1.0, can_be * (1.0 - missed * np.exp(-expected)))
        known = means, predicted, least, most, is_shown, is_sure, chance
        return cls(*known, _expected_picks(states, place[:, 0]))

    def corrected(self, pool_metric, means, unseen, variance):
        """The same around the corrected means, with their errors.

        Parameters
        ----------
        pool_metric : PoolMetric
        means : Means
        unseen : ndarray of shape (n_parts,)
            Variance of each mean by what no label has shown.
        variance : float
            Of the tangent of the metric. If it is greater than that of independent
            classes, the classes err together.

        Returns
        -------
        average : ClassAverage
        """
        place = _places(pool_metric)
        gradient = _of_classes(pool_metric.gradient(means.corrected), place)
        plain = _covariances(means, 0.0, place)
        alone = np.einsum("ci,cij,cj->", gradient, plain, gradient)
        together = max(variance / alone, 1.0) if alone > 0 else 1.0
        covariance = together * _covariances(means, unseen, place)
        shares = pool_metric.all_means(means.corrected).reshape(3, -1)
        return replace(self, means=shares[:2].T, covariance=covariance)

    def ratios(self, class_mean):
        """Ratio of each class; one that is not defined counts as 0."""
        return np.nan_to_num(class_mean.ratios(*self.means.T, self.predicted))

    def value(self, class_mean):
        """The average, each class by its chance to count."""
        total = self.chance.sum()
        mean = self.ratios(class_mean) @ self.chance / total
        return float(class_mean.of(mean, total))

    def ends(self, class_mean, quantile):
        """Ends of an interval.

        Parameters
        ----------
        class_mean : ClassMean
        quantile : float
            Half-axes of the region of each class, in standard errors.

        Returns
        -------
        low, high : float
        """

        def function(points):
            u, v = np.moveaxis(points, -1, 0)
            return class_mean.ratios(u, v, self.predicted[:, None])

        each = np.full(len(self.means), quantile)
        region = self.means, self.covariance, each, (self.least, self.most)
        low, high = ends_over_regions(function, None, *region)
        ratios = self.ratios(class_mean)
        low, high = np.fmin(low, ratios), np.fmax(high, ratios)
        none_found = class_mean.ratios(0.0, self.means[:, 1], self.predicted)
        worst = np.minimum(low, np.nan_to_num(none_found))
        ends = []
        for counts in (self.chance > 0, self.is_sure):
            n = counts.sum()
            if not n:
                continue
            middle = ratios[counts].mean()
            below = self._together(ratios - low, ratios - worst, counts, quantile) / n
            above = self._together(high - ratios, high - ratios, counts, quantile) / n
            ends.append([class_mean.of(x, n) for x in (middle - below, middle + above)])
        low, high = np.transpose(ends)
        return float(np.nanmin(low)), float(np.nanmax(high))

    def _together(self, errors, worst, counts, quantile):
        """Error of a sum, from those of the classes.

        Of classes that no label has shown only the surrogate speaks. It may be wrong
        about several at once: as many as the picks may have missed by chance.
        """
        miss = np.where(counts & ~self.is_shown & (worst > 0), worst, 0.0)
        # Those that were the least likely to be picked, for what they cost.
        order = np.argsort(self.n_expected / np.maximum(miss, 1e-300))
        expected = self.n_expected[order]
        left = -norm.logsf(quantile) - (np.cumsum(expected) - expected)
        share = np.where(expected > 0, left / np.maximum(expected, 1e-300), 1.0)
        missed = np.zeros(len(miss))
        missed[order] = np.clip(share, 0.0, 1.0)
        missed[miss == 0] = 0.0
        rest = (1.0 - missed) * errors * counts
        return np.linalg.norm(rest) + missed @ miss

    def with_variance(self, ratio):
        """The same with another variance, relative to that of now."""
        return replace(self, covariance=self.covariance * ratio)

    def to_dict(self):
        """Plain values that a file can keep."""
        return {f.name: getattr(self, f.name).tolist() for f in fields(self)}

    @classmethod
    def from_dict(cls, values):
        """Make it of what :meth:`to_dict` returned."""
        return cls(**{name: np.array(value) for name, value in values.items()})


def _expected_picks(states, place):
    """Picks that were expected at the rows that are predicted as each class."""
    chances, picks = chances_of_picks(states[0]), states[0].settled
    rows, found = picks.indices[picks.answered], np.zeros(len(place))
    for c, part in enumerate(place.tolist()):
        if part < 0:
            continue
        is_open = np.subtract(*states[part].loss.values.limits()[::-1]) > 0
        if not is_open[rows].any():
            found[c] = chances[is_open].sum()
    return found


def _places(pool_metric):
    """Which mean is that of the rows found and missed of each class; -1 if known."""
    is_part = np.isnan(pool_metric.known)
    place = np.where(is_part, np.cumsum(is_part) - 1, -1)
    return place.reshape(3, -1)[:2].T


def _of_classes(columns, place):
    """Entries of each class, 0 where the mean is known: (n_classes, 2)."""
    return np.where(place >= 0, np.asarray(columns)[place], 0.0)


def _covariances(means, unseen, place):
    """Covariance of the two means of each class: (n_classes, 2, 2)."""
    error = _of_classes(np.sqrt(means.variances(unseen)), place)
    correlation = means.correlation[place[:, :, None], place[:, None, :]]
    return error[:, :, None] * error[:, None, :] * correlation
