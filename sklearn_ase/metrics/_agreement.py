"""Metrics of agreement: balanced accuracy, Matthews, kappa, and those of a score.

The functions of shares come first. For two classes the means are ``u`` (positives
found), ``v`` (positives missed) and ``p`` (predicted positives). For more, these are
arrays with a value for each class. Each function returns the value and its derivatives.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._utils._checks import check_flag
from sklearn_ase._utils._typing import Floats
from sklearn_ase.metrics._counts import TINY, CountMetric, of_each_class, of_one_class
from sklearn_ase.metrics._numbers import variance
from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.metrics._ratios import ClassMean
from sklearn_ase.metrics._row_values import FunctionValues, TableValues, combine

if TYPE_CHECKING:
    from sklearn_ase.metrics._row_values import RowValues


def balanced_of_two(
    u: float, v: float, p: float, adjusted: bool = False
) -> tuple[float, np.ndarray]:
    """Mean of the recalls of two classes."""
    # The other class has the counts of what is neither positive nor predicted so.
    found = np.array([u, 1.0 - p - v])
    missed = np.array([v, p - u])
    value, (by_found, by_missed, _) = balanced_of_many(
        found, missed, np.array([p, 1.0 - p]), adjusted
    )
    slopes = [
        by_found[0] - by_missed[1],
        by_missed[0] - by_found[1],
        by_missed[1] - by_found[1],
    ]
    return value, np.array(slopes)


def balanced_of_many(
    u: np.ndarray, v: np.ndarray, p: np.ndarray, adjusted: bool = False
) -> tuple[float, np.ndarray]:
    """Mean of the recalls of the classes that occur among the labels."""
    size = u + v
    occurs = size > TINY
    size, n_classes = np.where(occurs, size, 1.0), occurs.sum()
    value = np.where(occurs, u / size, 0.0).sum() / n_classes
    slopes = np.where(occurs, [v, -u, np.zeros(len(u))] / size**2, 0.0) / n_classes
    if adjusted:
        if n_classes < 2:  # Chance is always right.
            return np.nan, np.full(slopes.shape, np.nan)
        chance = 1.0 / n_classes
        value, slopes = (value - chance) / (1.0 - chance), slopes / (1.0 - chance)
    return value, slopes


def matthews_of_two(u: float, v: float, p: float) -> tuple[float, np.ndarray]:
    """Matthews' correlation of two classes."""
    size = u + v
    spread, known = size * (1.0 - size), p * (1.0 - p)
    if min(spread, known) <= TINY:
        return np.nan, np.full(3, np.nan)
    root = np.sqrt(spread * known)
    value = (u - p * size) / root
    by_size = value * (1.0 - 2.0 * size) / (2.0 * spread)
    by_p = value * (1.0 - 2.0 * p) / (2.0 * known)
    slopes = [(1.0 - p) / root - by_size, -p / root - by_size, -size / root - by_p]
    return value, np.array(slopes)


def matthews_of_many(
    u: np.ndarray, v: np.ndarray, p: np.ndarray
) -> tuple[float, np.ndarray]:
    """Matthews' correlation of many classes."""
    size = u + v
    spread, known = 1.0 - size @ size, 1.0 - p @ p
    if min(spread, known) <= TINY:
        return np.nan, np.full((3, len(u)), np.nan)
    root = np.sqrt(spread * known)
    value = (u.sum() - p @ size) / root
    by_size = value * size / spread
    by_p = -size / root + value * p / known
    return value, np.array([(1.0 - p) / root + by_size, -p / root + by_size, by_p])


def kappa_of_two(u: float, v: float, p: float) -> tuple[float, np.ndarray]:
    """Cohen's kappa of two classes."""
    size = u + v
    below = p + size - 2.0 * p * size
    if below <= TINY:
        return np.nan, np.full(3, np.nan)
    value = 2.0 * (u - p * size) / below
    by_size = -2.0 * p - value * (1.0 - 2.0 * p)
    by_p = -2.0 * size - value * (1.0 - 2.0 * size)
    return value, np.array([2.0 + by_size, by_size, by_p]) / below


def kappa_of_many(
    u: np.ndarray, v: np.ndarray, p: np.ndarray
) -> tuple[float, np.ndarray]:
    """Cohen's kappa of many classes."""
    size = u + v
    below = 1.0 - p @ size
    if below <= TINY:
        return np.nan, np.full((3, len(u)), np.nan)
    value = (u.sum() - p @ size) / below
    by_size = -p * (1.0 - value)
    return value, np.array([1.0 + by_size, by_size, -size * (1.0 - value)]) / below


# Metrics of all classes together.


class _AgreementMetric(CountMetric):
    """A metric of two classes (three means) or more (three means for each)."""

    bounds = (-1.0, 1.0)

    @abstractmethod
    def _of_two(self, u, v, p):
        """Value and derivatives, of shape (3,)."""

    @abstractmethod
    def _of_many(self, u, v, p):
        """Value and derivatives, of shape (3, n_classes)."""

    def _counts(self, predicted, names, classes):
        if len(names) > 2:
            return of_each_class(predicted, len(names))
        return of_one_class(predicted, len(names) - 1)

    def value(self, means: np.ndarray) -> float:
        return float(self._both(means)[0])

    def gradient(self, means: np.ndarray) -> Floats:
        return np.ravel(self._both(means)[1])

    def _both(self, means):
        means = np.asarray(means, dtype=float)
        if len(means) == 3:
            return self._of_two(*means)
        return self._of_many(*means.reshape(3, -1))


class BalancedAccuracy(_AgreementMetric):
    """Mean of the recalls of the classes.

    Classes that never occur as a label do not count, as in
    :func:`sklearn.metrics.balanced_accuracy_score`.

    Parameters
    ----------
    adjusted : bool, default=False
        Rescale the value, so that chance is 0 and the best value 1.

    See Also
    --------
    Accuracy : Each row counts the same.

    Examples
    --------
    >>> from sklearn_ase.metrics import BalancedAccuracy
    >>> BalancedAccuracy()([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0])
    0.625
    """

    def __init__(self, adjusted: bool = False) -> None:
        self.adjusted = adjusted

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and greatest value."""
        return (-1.0 if self.adjusted else 0.0, 1.0)

    def validate(self) -> None:
        check_flag(self.adjusted, "adjusted")

    @property
    def class_mean(self) -> ClassMean:
        """How classes are averaged, of which all count the same."""
        return ClassMean((0, 1, 0, 0), (0, 1, 1, 0), True, self.adjusted)

    def _of_two(self, u, v, p):
        return balanced_of_two(u, v, p, self.adjusted)

    def _of_many(self, u, v, p):
        return balanced_of_many(u, v, p, self.adjusted)


class Matthews(_AgreementMetric):
    """Matthews' correlation of labels and predictions.

    The value is NaN if all labels, or all predictions, are of one class.
    :func:`sklearn.metrics.matthews_corrcoef` gives 0 there.

    See Also
    --------
    CohenKappa : Agreement beyond chance.

    Examples
    --------
    >>> from sklearn_ase.metrics import Matthews
    >>> round(Matthews()([1, 1, 1, 0], [1, 0, 1, 1]), 3)
    -0.333
    """

    def _of_two(self, u, v, p):
        return matthews_of_two(u, v, p)

    def _of_many(self, u, v, p):
        return matthews_of_many(u, v, p)


class CohenKappa(_AgreementMetric):
    """Agreement of labels and predictions beyond that of chance.

    The value is NaN if all labels and all predictions are of one and the same class,
    as in :func:`sklearn.metrics.cohen_kappa_score`.

    See Also
    --------
    Matthews : Correlation of labels and predictions.

    Examples
    --------
    >>> from sklearn_ase.metrics import CohenKappa
    >>> CohenKappa()(["a", "a", "b", "b"], ["a", "a", "b", "a"])
    0.5
    """

    def _of_two(self, u, v, p):
        return kappa_of_two(u, v, p)

    def _of_many(self, u, v, p):
        return kappa_of_many(u, v, p)


# Metrics of a score that is known at each row.


@dataclass(frozen=True)
class ScoreBias:
    """Mean of the scores minus mean of the values.

    Attributes
    ----------
    slope : float
        Units of the metric for a unit of the values.
    """

    slope: float = 1.0

    name, scale, greater_is_better = "bias", "linear", True
    bounds, surrogate_worth = (-np.inf, np.inf), np.inf

    def value(self, means):
        """Bias, given the means of values and scores."""
        return self.slope * (means[1] - means[0])

    def gradient(self, means):
        """Derivatives of the bias by both means."""
        return self.slope * np.array([-1.0, 1.0])


class ScoreCorrelation:
    """Correlation of scores and values."""

    name, scale, greater_is_better = "correlation", "atanh", True
    # Of means of labels the surrogate says more than of errors, and errs more.
    bounds, surrogate_worth = (-1.0, 1.0), 30.0

    def value(self, means):
        """Correlation, given the means of values z and scores t.

        The means are those of z, zt, z², t and t². That of z² may be missing: it is
        the first one if all values are 0 or 1.
        """
        first, product, square, shift, spread = self._all(means)
        below = variance(first, square) * variance(shift, spread)
        return float((product - first * shift) / np.sqrt(below))

    def gradient(self, means):
        """Derivatives of the correlation by each mean."""
        first, _, square, shift, spread = self._all(means)
        value, of_value = self.value(means), variance(first, square)
        of_score = variance(shift, spread)
        root = np.sqrt(of_value * of_score)
        by_square, by_spread = -0.5 * value / of_value, -0.5 * value / of_score
        slopes = [
            -shift / root - 2.0 * first * by_square,
            1.0 / root,
            by_square,
            -first / root - 2.0 * shift * by_spread,
            by_spread,
        ]
        if len(means) == 4:
            slopes[0] += slopes.pop(2)
        return np.array(slopes)

    @staticmethod
    def _all(means):
        first, product, *square, shift, spread = means
        return first, product, square[0] if square else first, shift, spread


class AgreementOnOne(CountMetric):
    """Share of the rows where label and prediction agree on one class or another.

    Parameters
    ----------
    pos_label : object
    """

    def __init__(self, pos_label):
        self.pos_label = pos_label

    def _counts(self, predicted, names, classes):
        return of_one_class(predicted, names.tolist().index(self.pos_label))

    def value(self, means):
        found, missed, said = means
        return 1.0 + found - missed - said

    def gradient(self, means):
        return np.array([1.0, -1.0, -1.0])


class KappaOnOne(CohenKappa):
    """Cohen's kappa of one class against all others.

    Parameters
    ----------
    pos_label : object
    """

    def __init__(self, pos_label):
        self.pos_label = pos_label

    _counts = AgreementOnOne._counts


def score_bias(
    values: RowValues, score: np.ndarray, weight: np.ndarray, slope: float = 1.0
) -> PoolMetric:
    """Bias of a score, as a metric of the pool."""
    known = weight * score
    part = _weighted(values, weight, lambda z: z)
    return PoolMetric(
        ScoreBias(slope), (part,), np.array([np.nan, known.mean()]), {1: known}
    )


def score_correlation(values, score, weight, centre: float = 0.0) -> PoolMetric:
    """Correlation of a score with values, as a metric of the pool."""
    middle = np.mean(weight * score)
    score = score - middle
    score = score / np.sqrt(np.mean(weight * score**2))
    table = _table(values)
    is_binary = table is not None and np.isin(table, (0.0, 1.0)).all()
    centre = 0.0 if is_binary else centre
    parts = [
        _weighted(values, weight, lambda z: z - centre),
        _weighted(values, weight * score, lambda z: z - centre),
    ]
    if not is_binary:
        parts.append(_weighted(values, weight, lambda z: (z - centre) ** 2))
    rows = [weight * score, weight * score**2]
    known = np.array([np.nan] * len(parts) + [row.mean() for row in rows])
    places = len(parts), len(parts) + 1
    known_rows = dict(zip(places, rows, strict=True))
    return PoolMetric(ScoreCorrelation(), tuple(parts), known, known_rows)


def _table(values):
    """Values for each class, of shape (n_samples, n_classes); None for regression."""
    if not hasattr(values, "classes"):
        return None
    return combine((values,), np.ones(1)).values


def _weighted(values, weight, function):
    """A function of the values at each row, times a weight."""
    table = _table(values)
    if table is not None:
        return TableValues(weight[:, None] * function(table), values.classes)

    def of_label(labels, rows):
        # Values belong to rows, so rows are told by their number.
        return function(values.observed(rows.astype(int), labels))

    return FunctionValues(of_label, np.arange(values.n_samples, dtype=float), weight)
