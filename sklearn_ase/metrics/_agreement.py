"""How a score that is known at each row goes along with values that labels decide."""

from dataclasses import dataclass

import numpy as np

from sklearn_ase.metrics._agreement import CohenKappa
from sklearn_ase.metrics._combine import combine
from sklearn_ase.metrics._counts import CountMetric, of_one_class
from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.metrics._regression import variance
from sklearn_ase.metrics._row_values import FunctionValues, TableValues


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
        """Its derivatives."""
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
        """Its derivatives."""
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


def score_bias(values, score, weight, slope=1.0):
    """Bias of a score, as a metric of the pool.

    Parameters
    ----------
    values : RowValues
        What the score is about; each row counts the same.
    score : ndarray of shape (n_samples,)
        Finite, also where the weight is 0.
    weight : ndarray of shape (n_samples,)
        With mean 1.
    slope : float, default=1.0
        Units of the metric for a unit of the values.

    Returns
    -------
    pool_metric : PoolMetric
    """
    known = weight * score
    part = _weighted(values, weight, lambda z: z)
    return PoolMetric(
        ScoreBias(slope), (part,), np.array([np.nan, known.mean()]), {1: known}
    )


def score_correlation(values, score, weight, centre=0.0):
    """Correlation of a score with values, as a metric of the pool.

    Parameters
    ----------
    values, score, weight
        See :func:`score_bias`. The scores of rows that count must differ.
    centre : float, default=0.0
        A number near the values: means of squares of values that are far from 0 would
        lose the digits of their variance.

    Returns
    -------
    pool_metric : PoolMetric
    """
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
