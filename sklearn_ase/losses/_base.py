"""The base class of losses, and a loss that is bound to the predictions for a pool."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_ase._utils._checks import check_integer, shown
from sklearn_ase._utils._typing import Floats, Response, Task

if TYPE_CHECKING:
    from typing import Any


# A loss at each row of a pool.


@dataclass(frozen=True, eq=False)
class LossTable:
    """Loss of the model at each sample for each class.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_classes)
    classes : ndarray of shape (n_classes,)
        Sorted labels, one per column.
    bound : float
        Greatest value that the loss can ever take. Infinite if there is none, or if it
        depends on the predictions, as for the log loss.
    """

    values: np.ndarray
    classes: np.ndarray
    bound: float = np.inf

    @property
    def is_bounded(self) -> bool:
        """Whether the loss itself has a greatest value."""
        return bool(np.isfinite(self.bound))

    @cached_property
    def max_loss(self) -> float:
        """The greatest value of the loss, or of the table if there is none."""
        return float(self.bound if self.is_bounded else self.values.max())

    @cached_property
    def min_loss(self) -> float:
        """The least value of the table if the loss has a greatest value, else 0."""
        return float(self.values.min()) if self.is_bounded else 0.0

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.values)

    def take(self, rows: np.ndarray | slice) -> LossTable:
        """The loss of some of the samples."""
        return LossTable(self.values[rows], self.classes, self.bound)

    def observed(self, indices: np.ndarray, labels: np.ndarray) -> Floats:
        """Loss at the given samples once their labels are known."""
        return self.values[indices, np.searchsorted(self.classes, labels)]


@dataclass(frozen=True, eq=False)
class PointLoss:
    """Loss of the model at each sample as a function of a real label.

    Attributes
    ----------
    loss : BaseLoss
        A loss for regression.
    prediction : ndarray of shape (n_samples,)
    """

    loss: BaseLoss
    prediction: np.ndarray

    @property
    def max_loss(self) -> float:
        """The greatest loss that is possible; infinite if the loss has no bound."""
        return float(self.loss.max_loss)

    @property
    def is_bounded(self) -> bool:
        """Whether there is a greatest loss."""
        return bool(np.isfinite(self.max_loss))

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.prediction)

    def take(self, rows: np.ndarray | slice) -> PointLoss:
        """The loss of some of the samples."""
        return PointLoss(self.loss, self.prediction[rows])

    def observed(self, indices: np.ndarray, labels: np.ndarray) -> Floats:
        """Loss at the given samples once their labels are known."""
        values = self.loss(labels, self.prediction[indices])
        return check_values(values, len(indices), self.max_loss)

    def expected(self, mean: np.ndarray, variance: np.ndarray) -> Floats:
        """Mean of the loss for labels from ``N(mean, variance)``."""
        return self.loss.expected(self.prediction, mean, variance)

    def variance(self, mean: np.ndarray, variance: np.ndarray) -> Floats:
        """Variance of the loss for labels from ``N(mean, variance)``."""
        return self.loss.variance(self.prediction, mean, variance)

    def curvature(self, mean: np.ndarray, variance: np.ndarray) -> Floats:
        """``E[loss (z² - 1)]`` for the standardised label ``z``; XWED needs it."""
        return self.loss.curvature(self.prediction, mean, variance)


# A loss on a pool, of either kind.
PoolLoss: TypeAlias = LossTable | PointLoss


def check_values(values: Any, n_rows: int, max_loss: float = np.inf) -> np.ndarray:
    """Check what a loss function returned; it may be the user's."""
    values = np.asarray(values)
    if values.dtype.kind not in "biuf":
        raise ValueError(
            f"The loss function must return numbers, one per row, but returned "
            f"{shown(values)}."
        )
    values = values.astype(float)
    if values.shape != (n_rows,):
        raise ValueError(
            f"The loss function must return one value per row, an array of shape "
            f"({n_rows},), but returned shape {values.shape}."
        )
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(
            "The loss function returned values that are negative or not finite. "
            "Add a constant or clip, so that every loss is a finite number >= 0."
        )
    refuse_beyond(values, max_loss)
    return values


def refuse_beyond(values, max_loss):
    """Refuse losses that are greater than the loss says they can be."""
    if values.size and values.max() > max_loss * (1.0 + 1e-9):
        raise ValueError(
            f"The loss function returned {values.max():.6g}, but its max_loss is "
            f"{max_loss:.6g}. Correct max_loss, or leave it infinite."
        )


# The base class: one method to write, quadrature does the rest.


# The weights that numpy computes for more nodes overflow.
_MAX_NODES = 350


class BaseLoss(BaseEstimator, metaclass=ABCMeta):
    """Base class of the losses: how much a prediction costs, given the label.

    A subclass sets `task` and writes one method, ``__call__``. All other methods work
    as they are. Override :meth:`tabulate` (classification) or :meth:`expected`,
    :meth:`variance` and :meth:`curvature` (regression) where a formula is faster or
    more exact. :func:`sklearn_ase.testing.check_loss` checks the result.

    Attributes
    ----------
    task : {"classification", "regression"} or None
        What the labels are. With None the model, the surrogate or ``classes`` decide.
    response_method : {"predict", "predict_proba"}
        What `y_pred` is: predicted labels (or values), or probabilities.
    n_nodes : int
        Number of nodes of the Gauss-Hermite quadrature (regression), at most 350. More
        nodes are slower, and more exact for a loss with kinks or jumps.
    max_loss : float
        Greatest value that the loss can take, > 0; infinite if there is none. Intervals
        end there, and allow for losses that no label has shown yet.
    flags : tuple of str
        Names of the class attributes that the package reads.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.losses import BaseLoss
    >>> class Huber(BaseLoss):
    ...     task = "regression"
    ...
    ...     def __call__(self, y_true, y_pred):
    ...         error = np.abs(y_true - y_pred)
    ...         return np.where(error < 1, 0.5 * error**2, error - 0.5)
    >>> loss = Huber().build(np.array([0.0, 3.0]))
    >>> loss.expected(mean=np.zeros(2), variance=np.ones(2)).round(2)
    array([0.42, 2.5 ])
    """

    flags: tuple[str, ...] = ("task", "response_method", "n_nodes", "max_loss")
    task: Task | None = None
    response_method: Response = "predict"
    n_nodes: int = 32
    max_loss: float = np.inf

    def validate(self) -> None:
        """Check the parameters; called at the start, before a label is bought."""

    @abstractmethod
    def __call__(self, y_true: np.ndarray, y_pred: np.ndarray) -> np.ndarray:
        """Loss of each row. A row's loss must not depend on the other rows."""

    def build(
        self, prediction: np.ndarray, classes: np.ndarray | None = None
    ) -> PoolLoss:
        """Apply the loss to the predictions for a pool.

        Parameters
        ----------
        prediction : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Predictions of the model, as `response_method` says.
        classes : ndarray of shape (n_classes,), default=None
            Sorted labels. Needed for classification.

        Returns
        -------
        loss : LossTable or PointLoss
            A table for classification, a function of the label for regression.
        """
        if self.task == "regression":
            # A perfect model must have a valid loss. This shows most mistakes in a
            # loss function before a label is spent.
            check_values(self(prediction, prediction), len(prediction))
            return PointLoss(self, prediction)
        if classes is None:
            raise ValueError(
                f"{type(self).__name__} needs the possible labels, because its task is "
                "not 'regression'. Pass classes=..., or set task='regression'."
            )
        table, bound = self.tabulate(prediction, classes), self._bound(classes)
        refuse_beyond(np.asarray(table, dtype=float), bound)
        return LossTable(table, classes, bound)

    def _bound(self, classes):
        """Greatest value that the loss can take, whatever the predictions."""
        return float(self.max_loss)

    def tabulate(self, prediction: np.ndarray, classes: np.ndarray) -> Floats:
        """Loss at each sample for each class, by one call per class.

        Override it for a loss of probabilities that must know which column belongs to
        which label.

        Parameters
        ----------
        prediction : ndarray of shape (n_samples,) or (n_samples, n_classes)
        classes : ndarray of shape (n_classes,)
            Sorted labels, in the order of the columns.

        Returns
        -------
        table : ndarray of shape (n_samples, n_classes)
        """
        n_samples = len(prediction)
        columns = [
            check_values(self(np.full(n_samples, label), prediction), n_samples)
            for label in classes
        ]
        return np.column_stack(columns)

    def expected(
        self, prediction: np.ndarray, mean: np.ndarray, variance: np.ndarray
    ) -> Floats:
        """Mean of the loss for labels from ``N(mean, variance)``.

        Parameters
        ----------
        prediction : ndarray of shape (n_samples,)
        mean : ndarray of shape (n_samples,) or (n_members, n_samples)
        variance : ndarray of shape (n_samples,)

        Returns
        -------
        expected : ndarray of the shape of `mean`
        """
        return self._integrate(prediction, mean, variance, lambda loss, z: loss)

    def variance(
        self, prediction: np.ndarray, mean: np.ndarray, variance: np.ndarray
    ) -> Floats:
        """Variance of the loss for labels from ``N(mean, variance)``.

        Parameters and shapes are those of :meth:`expected`.
        """
        centre = self.expected(prediction, mean, variance)
        return self._integrate(
            prediction, mean, variance, lambda loss, z: (loss - centre) ** 2
        )

    def curvature(
        self, prediction: np.ndarray, mean: np.ndarray, variance: np.ndarray
    ) -> Floats:
        """``E[loss (z² - 1)]`` with ``z`` the standardised label; XWED needs it.

        For a smooth loss this is `variance` times the mean of its second derivative
        with respect to the label (Stein's lemma). Parameters and shapes are those of
        :meth:`expected`.
        """
        return self._integrate(
            prediction, mean, variance, lambda loss, z: loss * (z**2 - 1.0)
        )

    def _integrate(self, prediction, mean, variance, integrand):
        """Mean of ``integrand(loss, z)`` over standardised labels ``z``."""
        check_n_nodes(self.n_nodes)
        nodes, weights = np.polynomial.hermite_e.hermegauss(self.n_nodes)
        scale = np.sqrt(variance)
        shape = np.broadcast_shapes(np.shape(mean), np.shape(prediction))
        y_pred = np.broadcast_to(prediction, shape).ravel()
        total = np.zeros(shape)
        for z, weight in zip(nodes, weights / weights.sum(), strict=True):
            y_true = np.broadcast_to(mean + scale * z, shape).ravel()
            loss = check_values(self(y_true, y_pred), len(y_pred)).reshape(shape)
            total += weight * integrand(loss, z)
        return total


def check_n_nodes(n_nodes):
    """Refuse a number of nodes for which there is no quadrature."""
    note = ". If the most are not exact enough, override expected, variance, curvature"
    check_integer(n_nodes, "n_nodes", 1, _MAX_NODES, note=note)
