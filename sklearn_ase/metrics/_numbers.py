"""Metrics of regressors that are functions of means of squares."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._data._row_order import RowOrder
from sklearn_ase._utils._checks import check_flag
from sklearn_ase._utils._typing import Floats
from sklearn_ase.losses import SquaredError
from sklearn_ase.losses._pool_loss import PointLoss
from sklearn_ase.metrics._base import BaseMetric
from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.metrics._pool_weight import pool_weight
from sklearn_ase.metrics._row_values import QuadraticValues

# A variance that is less of the mean square is rounding.
_TINY = 1e-14


class _SquareMetric(BaseMetric):
    """A function of means of polynomials of the label."""

    task = "regression"
    bounds = (-math.inf, 1.0)
    scale = "log_complement"
    # Of means of labels the surrogate says more than of errors, and errs more.
    surrogate_worth = 30.0

    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Value of the metric if all labels are known.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
        y_pred : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None

        Returns
        -------
        value : float
        """
        RowOrder.of(y_true=y_true).check(y_pred=y_pred, sample_weight=sample_weight)
        y_true, y_pred = np.asarray(y_true, float), np.asarray(y_pred, float)
        weight = None if sample_weight is None else np.asarray(sample_weight, float)
        if weight is not None:
            weight = weight / np.mean(weight)
        # Through the pool, where labels are centred.
        pool = self.on_pool(y_pred, weight=weight)
        rows = np.arange(len(y_true))
        means = [part.observed(rows, y_true).mean() for part in pool.parts]
        return pool.value(np.array(means))


class RootMeanSquaredError(_SquareMetric):
    """Root of the mean squared error.

    Parameters
    ----------
    negative : bool, default=False
        Report the negative value, so that greater is better, as scikit-learn's
        scorers do.

    See Also
    --------
    MeanLoss : The mean of any loss, such as the squared error.

    Examples
    --------
    >>> from sklearn_ase.metrics import RootMeanSquaredError
    >>> RootMeanSquaredError()([1.0, 2.0], [4.0, 6.0])
    3.535...
    """

    scale = "log"
    surrogate_worth = math.inf

    def __init__(self, negative: bool = False) -> None:
        self.negative = negative

    @property
    def greater_is_better(self) -> bool:
        """Whether minus the error is reported."""
        return bool(self.negative)

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and greatest value."""
        return (-math.inf, 0.0) if self.negative else (0.0, math.inf)

    def validate(self) -> None:
        check_flag(self.negative, "negative")

    def row_values(self, y_true: np.ndarray, y_pred: np.ndarray) -> ArrayLike:
        return ((y_true - y_pred) ** 2)[:, None]

    def value(self, means: np.ndarray) -> float:
        root = math.sqrt(max(means[0], 0.0))
        return -root if self.negative else root

    def gradient(self, means: np.ndarray) -> Floats:
        root = self.value(means)
        # Without an error the derivative is infinite, and no label is told from others.
        return np.array([0.5 / root if root != 0 else 0.0])

    def on_pool(
        self,
        prediction: np.ndarray | None,
        classes: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        n_samples: int | None = None,
    ) -> PoolMetric:
        weight = pool_weight(prediction, weight, n_samples)
        parts = (squared_error(prediction, weight),)
        return PoolMetric(self, parts, np.full(1, np.nan))


class R2(_SquareMetric):
    """Coefficient of determination: 1 - mean squared error / variance of the labels.

    The value is NaN if all labels are equal.

    See Also
    --------
    ExplainedVariance : The same without the mean error.

    Examples
    --------
    >>> from sklearn_ase.metrics import R2
    >>> R2()([1.0, 2.0, 3.0], [1.0, 2.0, 2.0])
    0.5
    """

    name = "R²"

    def row_values(self, y_true: np.ndarray, y_pred: np.ndarray) -> ArrayLike:
        return np.column_stack([(y_true - y_pred) ** 2, y_true, y_true**2])

    def value(self, means: np.ndarray) -> float:
        error, mean, square = means
        return float(1.0 - error / variance(mean, square))

    def gradient(self, means: np.ndarray) -> Floats:
        error, mean, square = means
        spread = variance(mean, square)
        slope = error / spread**2
        return np.array([-1.0 / spread, -2.0 * mean * slope, slope])

    def on_pool(
        self,
        prediction: np.ndarray | None,
        classes: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        n_samples: int | None = None,
    ) -> PoolMetric:
        weight = pool_weight(prediction, weight, n_samples)
        parts = (squared_error(prediction, weight), *powers(prediction, weight))
        return PoolMetric(self, parts, np.full(3, np.nan))


class ExplainedVariance(_SquareMetric):
    """1 - variance of the errors / variance of the labels.

    The value is NaN if all labels are equal.

    See Also
    --------
    R2 : A mean error other than 0 counts against the model, too.

    Examples
    --------
    >>> from sklearn_ase.metrics import ExplainedVariance
    >>> ExplainedVariance()([1.0, 2.0, 3.0], [3.0, 4.0, 5.0])
    1.0
    """

    def row_values(self, y_true: np.ndarray, y_pred: np.ndarray) -> ArrayLike:
        error = (y_true - y_pred) ** 2
        return np.column_stack([error, y_true, y_true**2, y_pred])

    def value(self, means: np.ndarray) -> float:
        error, mean, square, predicted = means
        left = error - (mean - predicted) ** 2
        return float(1.0 - left / variance(mean, square))

    def gradient(self, means: np.ndarray) -> Floats:
        error, mean, square, predicted = means
        spread, bias = variance(mean, square), mean - predicted
        slope = (error - bias**2) / spread**2
        by_bias = 2.0 * bias / spread
        return np.array([-1.0 / spread, by_bias - 2.0 * mean * slope, slope, -by_bias])

    def on_pool(
        self,
        prediction: np.ndarray | None,
        classes: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        n_samples: int | None = None,
    ) -> PoolMetric:
        weight = pool_weight(prediction, weight, n_samples)
        parts = (squared_error(prediction, weight), *powers(prediction, weight))
        # Labels are centred by the mean prediction, which so becomes 0.
        known = np.array([np.nan, np.nan, np.nan, 0.0])
        rows = weight * (prediction - parts[1].centre)
        return PoolMetric(self, parts, known, {3: rows})


class SquaredErrors(QuadraticValues):
    """Squared error of each row, around its prediction."""

    @property
    def loss(self):
        """The loss whose values these are, at the predictions."""
        return PointLoss(SquaredError(), self.centre)


def squared_error(prediction, weight):
    """Squared error of each row, as row values around its prediction."""
    none = np.zeros(len(weight))
    return SquaredErrors(none, none, weight, prediction)


def powers(prediction, weight):
    """Label and squared label of each row, less the mean prediction.

    Means of squares of labels far from 0 would lose the digits of their variance.
    """
    none, centre = np.zeros(len(weight)), float((weight * prediction).mean())
    label = QuadraticValues(none, weight, none, centre)
    return label, QuadraticValues(none, none, weight, centre)


def variance(mean, square):
    """Variance from the first two moments; NaN if it is 0 up to rounding."""
    spread = square - mean**2
    return spread if spread > _TINY * square else math.nan
