"""Metrics of agreement: balanced accuracy, Matthews, kappa, and those of a score.

For two classes the means are ``u`` (positives found), ``v`` (positives missed) and
``p`` (predicted positives). For more, these are arrays with a value for each class.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._utils._checks import check_flag
from sklearn_ase._utils._typing import Floats
from sklearn_ase.metrics._base import slopes_of
from sklearn_ase.metrics._counts import TINY, CountMetric, of_each_class, of_one_class
from sklearn_ase.metrics._numbers import variance
from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.metrics._ratios import ClassMean
from sklearn_ase.metrics._row_values import FunctionValues, TableValues, combine

if TYPE_CHECKING:
    from sklearn_ase.metrics._row_values import RowValues


def balanced(u: Floats, v: Floats, p: Floats, adjusted: bool = False) -> Floats:
    """Mean of the recalls of the classes that occur among the labels."""
    size = u + v
    occurs = np.real(size) > TINY
    n_classes = occurs.sum(axis=-1)
    recall = np.where(occurs, u / np.where(occurs, size, 1.0), 0.0)
    value = recall.sum(axis=-1) / n_classes
    if not adjusted:
        return value
    chance = 1.0 / n_classes
    # With one class chance is always right.
    return np.where(n_classes < 2, np.nan, (value - chance) / (1.0 - chance))


def matthews(u: Floats, v: Floats, p: Floats) -> Floats:
    """Matthews' correlation."""
    size = u + v
    spread, known = (1.0 - np.sum(x**2, axis=-1) for x in (size, p))
    is_defined = np.minimum(np.real(spread), np.real(known)) > TINY
    product = np.where(is_defined, spread * known, np.nan)
    return (u.sum(axis=-1) - np.sum(p * size, axis=-1)) / np.sqrt(product)


def kappa(u: Floats, v: Floats, p: Floats) -> Floats:
    """Cohen's kappa."""
    by_chance = np.sum(p * (u + v), axis=-1)
    below = np.where(np.real(by_chance) < 1.0 - TINY, 1.0 - by_chance, np.nan)
    return (u.sum(axis=-1) - by_chance) / below


# Metrics of all classes together: how far predictions and labels agree.


class _AgreementMetric(CountMetric):
    """A metric of two classes (three means) or more (three means for each)."""

    bounds = (-1.0, 1.0)

    @abstractmethod
    def _of_classes(self, u: Floats, v: Floats, p: Floats) -> Floats:
        """Value, given the counts of each class, (..., n_classes) -> (...)."""

    def _counts(self, predicted, names, classes):
        if len(names) > 2:
            return of_each_class(predicted, len(names))
        return of_one_class(predicted, len(names) - 1)

    def value(self, means: np.ndarray) -> float:
        return float(self._values(np.asarray(means, dtype=float)))

    def _values(self, means: np.ndarray) -> np.ndarray:
        if means.shape[-1] > 3:
            parts = np.split(means, 3, axis=-1)
        else:  # The first class has what is neither of the second nor predicted so.
            u, v, p = np.moveaxis(means, -1, 0)
            pairs = (1.0 - p - v, u), (p - u, v), (1.0 - p, p)
            parts = [np.stack(pair, axis=-1) for pair in pairs]
        return self._of_classes(*parts)

    def _gradients(self, means: np.ndarray) -> Floats:
        return slopes_of(self._values, means)


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

    def _of_classes(self, u: Floats, v: Floats, p: Floats) -> Floats:
        return balanced(u, v, p, self.adjusted)


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

    def _of_classes(self, u: Floats, v: Floats, p: Floats) -> Floats:
        return matthews(u, v, p)


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

    def _of_classes(self, u: Floats, v: Floats, p: Floats) -> Floats:
        return kappa(u, v, p)


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
        first, product, *squares, shift, spread = means
        square = squares[0] if squares else first
        below = variance(first, square) * variance(shift, spread)
        return (product - first * shift) / np.sqrt(below)

    def gradient(self, means: np.ndarray) -> Floats:
        """Its derivatives."""
        return slopes_of(lambda points: np.array([*map(self.value, points)]), means)


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
