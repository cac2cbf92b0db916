"""Losses of classifiers."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._utils._checks import check_choice, check_number
from sklearn_ase._utils._typing import Floats
from sklearn_ase.losses._base import BaseLoss

_FLOAT32_EPS = float(np.finfo(np.float32).eps)


class _ProbabilityLoss(BaseLoss):
    """A loss of probabilities that is computed for all classes at once."""

    task = "classification"
    response_method = "predict_proba"

    def __call__(
        self, y_true: ArrayLike, y_pred: ArrayLike, classes: ArrayLike | None = None
    ) -> Floats:
        """Loss of each row.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels.
        y_pred : array-like of shape (n_rows, n_classes)
            Probabilities, one column per class.
        classes : array-like of shape (n_classes,), default=None
            Sorted labels in the order of the columns; None means 0, 1, 2, ...

        Returns
        -------
        loss : ndarray of shape (n_rows,)
        """
        y_true, proba = np.asarray(y_true), np.asarray(y_pred, dtype=float)
        classes = np.arange(proba.shape[1]) if classes is None else np.asarray(classes)
        if not np.isin(y_true, classes).all():
            raise ValueError(
                f"Some labels are not among the classes {classes.tolist()}. Pass "
                "classes=..., the sorted labels in the order of the columns."
            )
        columns = np.searchsorted(classes, y_true)
        return self.tabulate(proba, classes)[np.arange(len(proba)), columns]


class LogLoss(_ProbabilityLoss):
    """Negative log-likelihood of the label, ``-log f(x)_y``.

    Parameters
    ----------
    eps : float, default=float32's machine epsilon
        Probabilities are clipped to ``[eps, 1]``. A label to which the model gives
        probability 0 costs ``-log(eps)``, 15.9 by default.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.losses import LogLoss
    >>> loss = LogLoss().build(np.array([[0.8, 0.2]]), np.array(["cat", "dog"]))
    >>> loss.values.round(2)
    array([[0.22, 1.61]])
    """

    def __init__(self, eps: float = _FLOAT32_EPS) -> None:
        self.eps = eps

    def validate(self) -> None:
        check_number(self.eps, "eps", 0, 1, ends="()")

    def tabulate(self, prediction: np.ndarray, classes: np.ndarray) -> Floats:
        """Loss at each sample for each class, of shape (n_samples, n_classes)."""
        self.validate()
        return -np.log(np.clip(prediction, self.eps, 1.0))


class ZeroOne(BaseLoss):
    """1 where the predicted label is wrong, else 0. Accuracy is 1 minus the risk.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.losses import ZeroOne
    >>> ZeroOne().build(np.array(["dog"]), np.array(["cat", "dog"])).values
    array([[1., 0.]])
    """

    task = "classification"
    max_loss = 1.0

    def __call__(self, y_true: np.ndarray, y_pred: np.ndarray) -> Floats:
        """Loss of each row, of shape (n_rows,)."""
        return (np.asarray(y_true) != np.asarray(y_pred)).astype(float)

    def tabulate(self, prediction: np.ndarray, classes: np.ndarray) -> Floats:
        """Loss at each sample for each class, of shape (n_samples, n_classes)."""
        return (prediction[:, None] != classes[None, :]).astype(float)


class Brier(_ProbabilityLoss):
    """Squared distance between the probabilities and the one-hot vector of the label.

    Parameters
    ----------
    scale_by_half : bool or "auto", default="auto"
        Halve the value, so that it lies between 0 and 1. As in
        :func:`sklearn.metrics.brier_score_loss`, "auto" does so for two classes. There
        the result is the squared error of the probability of one of them. Set True or
        False if a third class may appear during the evaluation: "auto" would change
        the scale.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.losses import Brier
    >>> Brier().build(np.array([[0.8, 0.2]]), np.array(["cat", "dog"])).values.round(2)
    array([[0.04, 0.64]])
    """

    max_loss = 2.0

    def __init__(self, scale_by_half: bool | Literal["auto"] = "auto") -> None:
        self.scale_by_half = scale_by_half

    def validate(self) -> None:
        check_choice(self.scale_by_half, "scale_by_half", ("auto", True, False))

    def tabulate(self, prediction: np.ndarray, classes: np.ndarray) -> Floats:
        """Loss at each sample for each class, of shape (n_samples, n_classes)."""
        # |p - onehot(c)|² = |p|² - 2 p_c + 1, which rounding may leave below 0.
        square = np.einsum("nc,nc->n", prediction, prediction)[:, None]
        table = np.maximum(square - 2.0 * prediction + 1.0, 0.0)
        self.validate()
        return table / 2.0 if self._is_halved(classes) else table

    def _bound(self, classes):
        return 1.0 if self._is_halved(classes) else 2.0

    def _is_halved(self, classes):
        half = self.scale_by_half
        return len(classes) == 2 if half == "auto" else half
