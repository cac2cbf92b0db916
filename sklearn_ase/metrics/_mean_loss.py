"""The mean of a loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._utils._checks import check_flag
from sklearn_ase._utils._typing import Floats, LossFunction, Response, Task
from sklearn_ase.losses import LossTable, as_loss
from sklearn_ase.metrics._base import BaseMetric
from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.metrics._pool_weight import pool_weight
from sklearn_ase.metrics._row_values import LossValues, TableValues

if TYPE_CHECKING:
    from sklearn_ase.losses._base import BaseLoss
    from sklearn_ase.metrics._row_values import RowValues


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

    def value(self, means: np.ndarray) -> float:
        return float(-means[0] if self.negative else means[0])

    def gradient(self, means: np.ndarray) -> Floats:
        return np.array([-1.0 if self.negative else 1.0])

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
