"""The losses of the package, and their names."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr
from sklearn.base import clone

from sklearn_ase._utils._checks import (
    check_callable,
    check_choice,
    check_number,
    did_you_mean,
    shown,
)
from sklearn_ase._utils._typing import Floats, LossFunction, Response, Task
from sklearn_ase.losses._base import BaseLoss, check_n_nodes

_FLOAT32_EPS = float(np.finfo(np.float32).eps)


# Losses of classifiers.


class _ProbabilityLoss(BaseLoss):
    """A loss of probabilities that is computed for all classes at once."""

    task = "classification"
    response_method = "predict_proba"

    def __call__(
        self, y_true: ArrayLike, y_pred: ArrayLike, classes: ArrayLike | None = None
    ) -> Floats:
        """Loss of each row."""
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


# Losses of regressors; their moments have closed forms.


class SquaredError(BaseLoss):
    """Squared error ``(f(x) - y)²``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.losses import SquaredError
    >>> loss = SquaredError().build(np.array([1.0, 2.0]))
    >>> loss.expected(mean=np.array([1.0, 4.0]), variance=np.array([0.5, 0.5]))
    array([0.5, 4.5])
    """

    task = "regression"

    def __call__(self, y_true: np.ndarray, y_pred: np.ndarray) -> Floats:
        """Loss of each row, of shape (n_rows,)."""
        return (y_pred - y_true) ** 2

    def expected(
        self, prediction: np.ndarray, mean: np.ndarray, variance: np.ndarray
    ) -> Floats:
        """Squared distance of the means plus the variance."""
        return (mean - prediction) ** 2 + variance

    def variance(
        self, prediction: np.ndarray, mean: np.ndarray, variance: np.ndarray
    ) -> Floats:
        """Variance of a scaled non-central chi-squared variable."""
        return 2.0 * variance**2 + 4.0 * variance * (mean - prediction) ** 2

    def curvature(
        self, prediction: np.ndarray, mean: np.ndarray, variance: np.ndarray
    ) -> Floats:
        """The second derivative is 2 everywhere."""
        return 2.0 * variance


class AbsoluteError(BaseLoss):
    """Absolute error ``|f(x) - y|``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.losses import AbsoluteError
    >>> loss = AbsoluteError().build(np.array([1.0, 2.0]))
    >>> loss.expected(mean=np.array([1.0, 9.0]), variance=np.array([0.5, 0.5])).round(3)
    array([0.564, 7.   ])
    """

    task = "regression"

    def __call__(self, y_true: np.ndarray, y_pred: np.ndarray) -> Floats:
        """Loss of each row, of shape (n_rows,)."""
        return np.abs(y_pred - y_true)

    def expected(
        self, prediction: np.ndarray, mean: np.ndarray, variance: np.ndarray
    ) -> Floats:
        """Mean of a folded normal distribution."""
        shift, scale = mean - prediction, np.sqrt(variance)
        z = shift / scale
        return 2.0 * scale * _normal_pdf(z) + shift * (2.0 * ndtr(z) - 1.0)

    def variance(
        self, prediction: np.ndarray, mean: np.ndarray, variance: np.ndarray
    ) -> Floats:
        """Variance of a folded normal distribution."""
        # Second moment minus squared mean would cancel far from the prediction. So the
        # mean is written as |shift| plus a small excess.
        shift, scale = np.abs(mean - prediction), np.sqrt(variance)
        z = shift / scale
        excess = 2.0 * (scale * _normal_pdf(z) - shift * ndtr(-z))
        return np.maximum(variance - excess * (2.0 * shift + excess), 0.0)

    def curvature(
        self, prediction: np.ndarray, mean: np.ndarray, variance: np.ndarray
    ) -> Floats:
        """By Stein's lemma the density of the label at the kink, times 2."""
        # E[h(z)(z² - 1)] = E[h''(z)], and h'' is a point mass at the kink.
        scale = np.sqrt(variance)
        return 2.0 * scale * _normal_pdf((mean - prediction) / scale)


def _normal_pdf(z):
    return np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)


# A loss from a function.


class CustomLoss(BaseLoss):
    """Loss given by a function of the label and the prediction.

    A plain function given as ``loss`` is wrapped in this class with its defaults.

    Parameters
    ----------
    function : callable
        ``function(y_true, y_pred)`` returns one finite, non-negative value per row.
    response_method : {"predict", "predict_proba"}, default="predict"
        What `y_pred` is: the model's labels (or values), or its probabilities,
        of shape (n_samples, n_classes), with columns in the order of ``classes_``.
    task : {"classification", "regression"}, default=None
        None takes the task from the surrogate, the model or ``classes``.
    n_nodes : int, default=32
        Number of nodes of the Gauss-Hermite quadrature that integrates the loss over
        a Gaussian belief (regression).
    max_loss : float, default=inf
        Greatest value that the function can return, if there is one. With it, intervals
        allow for losses that no label has shown yet, and need fewer labels.

    See Also
    --------
    BaseLoss : A loss as a class, with parameters of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.losses import CustomLoss
    >>> def twice_as_bad_above(y_true, y_pred):
    ...     return np.where(y_pred > y_true, 2.0, 1.0) * np.abs(y_pred - y_true)
    >>> loss = CustomLoss(twice_as_bad_above, task="regression").build(np.zeros(2))
    >>> loss.observed(np.array([0, 1]), np.array([1.0, -1.0]))
    array([1., 2.])
    """

    def __init__(
        self,
        function: LossFunction,
        response_method: Response = "predict",
        task: Task | None = None,
        n_nodes: int = 32,
        max_loss: float = np.inf,
    ) -> None:
        self.function = function
        self.response_method = response_method
        self.task = task
        self.n_nodes = n_nodes
        self.max_loss = max_loss

    def validate(self) -> None:
        what = "(y_true, y_pred) -> one value per row"
        check_callable(self.function, "function", what)

    def __call__(self, y_true: np.ndarray, y_pred: np.ndarray) -> Floats:
        """Values of the function, of shape (n_rows,)."""
        try:
            return np.asarray(self.function(y_true, y_pred))
        except Exception as error:
            error.add_note(
                f"This comes from loss={self.function!r}. It must be a function "
                "(y_true, y_pred) -> one value per row, for any rows. Functions that "
                "return one number for all rows are not losses: use metric=..., or "
                "names such as loss='log_loss'."
            )
            raise


# Names of losses.


LOSSES = {
    "log_loss": LogLoss,
    "zero_one": ZeroOne,
    "brier": Brier,
    "squared_error": SquaredError,
    "absolute_error": AbsoluteError,
}
# Other names that people know them by.
_ALSO_CALLED = {
    "accuracy": "zero_one",
    "cross_entropy": "log_loss",
    "error_rate": "zero_one",
    "mae": "absolute_error",
    "mean_absolute_error": "absolute_error",
    "mean_squared_error": "squared_error",
    "mse": "squared_error",
}


def as_loss(loss: str | LossFunction | BaseLoss, task: Task | None = None) -> BaseLoss:
    """Turn a name or a function into a loss object.

    Parameters
    ----------
    loss : str, callable or BaseLoss
    task : {"classification", "regression"}, default=None
        The task, for a loss that does not set it.

    Returns
    -------
    loss : BaseLoss
    """
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise ValueError(
                f"{did_you_mean(loss, sorted(LOSSES), _ALSO_CALLED)}loss={loss!r} is "
                f"not known. Use one of {sorted(LOSSES)} or a function "
                "(y_true, y_pred) -> one value per row. Metrics such as 'f1' or "
                "'roc_auc' are given as metric=..."
            )
        return LOSSES[loss]()
    if isinstance(loss, BaseLoss):
        return _with_task(loss, task)
    _refuse_what_only_looks_like_a_loss(loss)
    if callable(loss):
        return CustomLoss(loss, task=task)
    raise TypeError(
        f"loss must be one of {sorted(LOSSES)} or a function (y_true, y_pred) -> one "
        f"value per row, got {shown(loss)}."
    )


def _with_task(loss, task):
    """A loss whose attributes are valid, with the task where it sets none."""
    for name, choices in (
        ("task", (None, "classification", "regression")),
        ("response_method", ("predict", "predict_proba")),
    ):
        check_choice(getattr(loss, name), f"{type(loss).__name__}.{name}", choices)
    check_n_nodes(loss.n_nodes)
    check_number(loss.max_loss, "max_loss", 0, ends="(]", infinite=True)
    loss.validate()
    if loss.task is None and task is not None:
        loss = clone(loss)
        loss.task = task
    return loss


def _refuse_what_only_looks_like_a_loss(loss):
    """Refuse objects that can be called, or are nearly a loss: they would fail late."""
    if isinstance(loss, type):
        raise TypeError(f"loss={loss.__name__} is a class. Give an instance of it.")
    if hasattr(loss, "build"):
        raise TypeError(
            f"{type(loss).__name__} has a method build, but is not derived from "
            "sklearn_ase.losses.BaseLoss. Derive it from BaseLoss, which needs one "
            "method: __call__(y_true, y_pred) -> one value per row."
        )
