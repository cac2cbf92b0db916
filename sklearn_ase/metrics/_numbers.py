"""Metrics of numbers: those of regressors, of labels alone, and the mean loss."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._data._rows import RowOrder
from sklearn_ase._utils._checks import check_flag, same_settings, shown
from sklearn_ase._utils._typing import Floats, Label, LossFunction, Response, Task
from sklearn_ase.losses import LossTable, SquaredError, as_loss
from sklearn_ase.losses._base import PointLoss
from sklearn_ase.metrics._base import BaseMetric, pool_weight
from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.metrics._row_values import (
    ClassValues,
    LossValues,
    QuadraticValues,
    TableValues,
)

if TYPE_CHECKING:
    from sklearn_ase.losses._base import BaseLoss
    from sklearn_ase.metrics._row_values import RowValues

# Metrics of regressors, functions of means of squares.

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
        """Value of the metric if all labels are known."""
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
    power = 0.5

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

    def of_mean_loss(self, loss: BaseLoss) -> tuple[float, float, float] | None:
        slope = -1.0 if self.negative else 1.0
        return (0.0, slope, 0.5) if same_settings(loss, SquaredError()) else None

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
        return 1.0 - error / variance(mean, square)

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
        return 1.0 - left / variance(mean, square)

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

    has_tail = True

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
    return spread if np.real(spread) > _TINY * np.real(square) else math.nan


# Metrics of the labels alone, without a model.


class LabelShare(BaseMetric):
    """Share of the rows with a given label; no model is needed.

    Parameters
    ----------
    label : object
        The label that is counted.
    half : object, default=None
        A label that counts one half, as a tie does in a win rate. None means none.

    See Also
    --------
    LabelMean : The mean of a numeric label.

    Examples
    --------
    >>> from sklearn_ase.metrics import LabelShare
    >>> LabelShare("yes")(["yes", "no", "no", "no"])
    0.25
    >>> LabelShare("a wins", half="tie")(["a wins", "tie", "b wins", "tie"])
    0.5
    """

    task = "classification"
    response_method = None
    bounds = (0.0, 1.0)

    def __init__(self, label: Label, half: Label = None) -> None:
        self.label = label
        self.half = half

    @property
    def labels(self) -> list[Label]:
        """Labels that the metric names."""
        return [label for label in (self.label, self.half) if label is not None]

    def validate(self) -> None:
        if self.half is not None and self.half == self.label:
            raise ValueError(
                f"half={shown(self.half)} must be another label than the one that "
                "counts in full."
            )

    def row_values(
        self, y_true: ArrayLike, y_pred: ArrayLike | None = None
    ) -> np.ndarray:
        values = (np.asarray(y_true) == self.label).astype(float)
        if self.half is not None:
            values = values + 0.5 * (np.asarray(y_true) == self.half)
        return values[:, None]

    def value(self, means: np.ndarray) -> float:
        return means[0]

    def on_pool(
        self,
        prediction: np.ndarray | None = None,
        classes: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        n_samples: int | None = None,
    ) -> PoolMetric:
        self.validate()
        weight = pool_weight(prediction, weight, n_samples)
        named = {"label": self.label, "half": self.half}
        classes = _check_classes(self, named, classes)
        if self.half is None:
            target = np.broadcast_to(classes.tolist().index(self.label), len(weight))
            part: RowValues = ClassValues(target, weight, classes)
        else:
            table = np.outer(weight, self.row_values(classes)[:, 0])
            part = TableValues(table, classes)
        return PoolMetric(self, (part,), np.full(1, np.nan))


class LabelScore(BaseMetric):
    """Mean of the numbers that labels stand for; no model is needed.

    Parameters
    ----------
    scores : dict of label to float
        The number of each label; labels that are not named count 0.

    See Also
    --------
    LabelShare : The share of one label.

    Examples
    --------
    How much more often one system is right than another, from verdicts on pairs:

    >>> from sklearn_ase.metrics import LabelScore
    >>> metric = LabelScore({"only a": 1, "only b": -1})
    >>> metric(["only a", "both", "only a", "only b"])
    0.25
    """

    task = "classification"
    response_method = None

    def __init__(self, scores: Mapping[Label, float]) -> None:
        self.scores = scores

    @property
    def labels(self) -> list[Label]:
        """Labels that the metric names."""
        return list(self.scores)

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and greatest number of a label."""
        values = [0.0, *map(float, self.scores.values())]
        return min(values), max(values)

    def validate(self) -> None:
        is_dict = isinstance(self.scores, Mapping) and len(self.scores) > 0
        if is_dict:
            values = list(self.scores.values())
            is_dict = all(isinstance(each, Real) for each in values)
        if not is_dict or not np.isfinite(values).all() or not np.any(values):
            raise ValueError(
                f"scores={shown(self.scores)} must be a dict of label to finite "
                "number, not all 0."
            )

    def row_values(
        self, y_true: ArrayLike, y_pred: ArrayLike | None = None
    ) -> np.ndarray:
        y_true = np.asarray(y_true)
        values = np.zeros(len(y_true))
        for label, score in self.scores.items():
            values[y_true == label] = score
        return values[:, None]

    def value(self, means: np.ndarray) -> float:
        return means[0]

    def on_pool(
        self,
        prediction: np.ndarray | None = None,
        classes: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        n_samples: int | None = None,
    ) -> PoolMetric:
        self.validate()
        weight = pool_weight(prediction, weight, n_samples)
        named = {f"scores[{shown(label)}]": label for label in self.scores}
        classes = _check_classes(self, named, classes)
        table = np.outer(weight, self.row_values(classes)[:, 0])
        return PoolMetric(self, (TableValues(table, classes),), np.full(1, np.nan))


def _check_classes(metric, named, classes):
    """The classes as an array; refused if a label of the metric is not among them."""
    kind = type(metric).__name__
    if classes is None:
        raise ValueError(f"{kind} needs the possible labels. Pass classes=...")
    classes = np.asarray(classes)
    for name, label in named.items():
        if label is not None and label not in classes.tolist():
            raise ValueError(
                f"{kind} needs {name} to be one of the classes, but "
                f"{name}={shown(label)} is not among {shown(classes.tolist())}. Give "
                f"{name}=... one of them, or pass all classes."
            )
    return classes


class LabelMean(BaseMetric):
    """Mean of a numeric label; no model is needed.

    See Also
    --------
    LabelShare : The share of a class.

    Examples
    --------
    >>> from sklearn_ase.metrics import LabelMean
    >>> LabelMean()([1.0, 2.0, 6.0])
    3.0
    """

    task = "regression"
    response_method = None

    def row_values(
        self, y_true: ArrayLike, y_pred: ArrayLike | None = None
    ) -> np.ndarray:
        return np.asarray(y_true, dtype=float)[:, None]

    def value(self, means: np.ndarray) -> float:
        return means[0]

    def on_pool(
        self,
        prediction: np.ndarray | None = None,
        classes: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        n_samples: int | None = None,
    ) -> PoolMetric:
        weight = pool_weight(prediction, weight, n_samples)
        none = np.zeros(len(weight))
        part = QuadraticValues(none, weight, none)
        return PoolMetric(self, (part,), np.full(1, np.nan))


# The mean of a loss.


class MeanLoss(BaseMetric):
    """Mean of a loss over the pool.

    Parameters
    ----------
    loss : str, callable or BaseLoss
        "log_loss", "zero_one", "brier", "squared_error", "absolute_error", or a
        function ``(y_true, y_pred) -> one value per row``.
    negative : bool, default=False
        Report minus the mean, so that greater is better, as scikit-learn's scorers do.

    See Also
    --------
    sklearn_ase.losses.CustomLoss : A loss from a function of probabilities.

    Examples
    --------
    >>> from sklearn_ase.metrics import MeanLoss
    >>> MeanLoss("absolute_error")([1.0, 2.0], [1.5, 2.0])
    0.25
    >>> MeanLoss("squared_error", negative=True)([1.0, 2.0], [2.0, 2.0])
    -0.5
    """

    def __init__(
        self, loss: str | LossFunction | BaseLoss, negative: bool = False
    ) -> None:
        self.loss = loss
        self.negative = negative

    @property
    def task(self) -> Task | None:
        """What the labels are, as the loss says."""
        return as_loss(self.loss).task

    @property
    def response_method(self) -> Response:
        """What the predictions are, as the loss says."""
        return as_loss(self.loss).response_method

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and greatest value of the metric."""
        most = float(as_loss(self.loss).max_loss)
        return (-most, 0.0) if self.negative else (0.0, most)

    @property
    def name(self) -> str:
        """Name of the metric, for messages and tables."""
        loss = as_loss(self.loss)
        words = BaseMetric.name.fget(loss)  # type: ignore[attr-defined]
        return f"minus mean {words}" if self.negative else f"mean {words}"

    @property
    def greater_is_better(self) -> bool:
        """Whether minus the mean is reported."""
        return bool(self.negative)

    def validate(self) -> None:
        as_loss(self.loss).validate()
        check_flag(self.negative, "negative")

    def row_values(
        self, y_true: ArrayLike, y_pred: ArrayLike, classes: ArrayLike | None = None
    ) -> np.ndarray:
        """Loss of each row.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels.
        y_pred : array-like of shape (n_rows,) or (n_rows, n_classes)
            Predictions, as the loss takes them.
        classes : array-like of shape (n_classes,), default=None
            Sorted labels in the order of the columns; None means 0, 1, 2, ...

        Returns
        -------
        values : ndarray of shape (n_rows, 1)
        """
        y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
        loss = as_loss(self.loss)
        if classes is None or loss.task == "regression":
            return np.asarray(loss(y_true, y_pred), dtype=float)[:, None]
        table = as_loss(self.loss, "classification").build(y_pred, np.asarray(classes))
        return table.observed(np.arange(len(y_true)), y_true)[:, None]

    def _all_values(self, y_true, y_pred):
        # Where every class occurs, the columns can be told without the classes.
        found = np.unique(y_true)
        is_told = y_pred.ndim == 2 and y_pred.shape[1] == len(found)
        return self.row_values(y_true, y_pred, found if is_told else None)

    def of_mean_loss(self, loss: BaseLoss) -> tuple[float, float, float] | None:
        own = as_loss(self.loss)
        if own.task is None:
            own = as_loss(own, loss.task)
        slope = -1.0 if self.negative else 1.0
        return (0.0, slope, 1.0) if same_settings(own, loss) else None

    def value(self, means: np.ndarray) -> float:
        return -means[0] if self.negative else means[0]

    def on_pool(
        self,
        prediction: np.ndarray,
        classes: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        n_samples: int | None = None,
    ) -> PoolMetric:
        weight = pool_weight(prediction, weight, n_samples)
        task: Task = "regression" if classes is None else "classification"
        loss = as_loss(self.loss, task).build(prediction, classes)
        if isinstance(loss, LossTable):
            table = weight[:, None] * loss.values
            values: RowValues = TableValues(table, loss.classes, loss.is_bounded)
        else:
            values = LossValues(loss, weight)
        return PoolMetric(self, (values,), np.full(1, np.nan))
