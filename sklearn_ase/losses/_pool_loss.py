"""The loss at each sample of a pool, once the predictions of the model are known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sklearn_ase._utils._checks import shown
from sklearn_ase._utils._typing import Floats

if TYPE_CHECKING:
    from sklearn_ase.losses._base import BaseLoss


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


def check_values(values, n_rows, max_loss=np.inf):
    """Check what a loss function returned; it may be the user's.

    Parameters
    ----------
    values : array-like
    n_rows : int
    max_loss : float, default=inf
        Greatest value that the loss says it can take.

    Returns
    -------
    values : ndarray of shape (n_rows,)
    """
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
