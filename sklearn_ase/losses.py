"""Losses: what a label would cost the model, for every sample and every label.

The model under test and the loss enter an evaluation here and nowhere else: as a
table (classification) or as a function of the prediction (regression).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr
from sklearn.base import BaseEstimator, clone

__all__ = [
    "AbsoluteError",
    "Brier",
    "CustomLoss",
    "LogLoss",
    "LossTable",
    "PointLoss",
    "SquaredError",
    "ZeroOne",
    "check_loss",
]

_FLOAT32_EPS = float(np.finfo(np.float32).eps)


@dataclass(frozen=True, eq=False)
class LossTable:
    """Loss of the model at each sample for each class.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_classes)
    classes : ndarray of shape (n_classes,)
        Sorted labels, one a column.
    """

    values: np.ndarray
    classes: np.ndarray

    def take(self, rows):
        """The loss of some of the samples."""
        return LossTable(self.values[rows], self.classes)

    def observed(self, indices, labels):
        """Loss at the given samples once their labels are known."""
        return self.values[indices, np.searchsorted(self.classes, labels)]


@dataclass(frozen=True, eq=False)
class PointLoss:
    """Loss of the model at each sample as a function of a real label.

    Attributes
    ----------
    loss : loss object for regression
    prediction : ndarray of shape (n_samples,)
    """

    loss: object
    prediction: np.ndarray

    def take(self, rows):
        """The loss of some of the samples."""
        return PointLoss(self.loss, self.prediction[rows])

    def observed(self, indices, labels):
        """Loss at the given samples once their labels are known."""
        return _checked(self.loss(labels, self.prediction[indices]), len(indices))

    def expected(self, mean, variance):
        """Mean of the loss for labels from ``N(mean, variance)``."""
        return self.loss.expected(self.prediction, mean, variance)

    def variance(self, mean, variance):
        """Variance of the loss for labels from ``N(mean, variance)``."""
        return self.loss.variance(self.prediction, mean, variance)

    def curvature(self, mean, variance):
        """``E[L (z² - 1)]`` for the standardised label ``z``; needed by XWED."""
        return self.loss.curvature(self.prediction, mean, variance)


class _ClassificationLoss(BaseEstimator):
    task = "classification"
    response_method = "predict_proba"

    def build(self, prediction, classes):
        """Tabulate the loss.

        Parameters
        ----------
        prediction : ndarray of shape (n_samples, n_classes) or (n_samples,)
            Probabilities in the order of `classes`, or predicted labels, as
            ``response_method`` says.
        classes : ndarray of shape (n_classes,)

        Returns
        -------
        loss : LossTable
        """
        return LossTable(self._table(prediction, classes), classes)


class LogLoss(_ClassificationLoss):
    """Negative log-likelihood of the label, ``-log f(x)_y``.

    Parameters
    ----------
    eps : float, default=float32's machine epsilon
        Probabilities are clipped to ``[eps, 1]``; a class the model rules out
        costs ``-log(eps)``, 15.9 by default.
    """

    def __init__(self, eps=_FLOAT32_EPS):
        self.eps = eps

    def _table(self, proba, classes):
        if not 0 < self.eps < 1:
            raise ValueError(f"eps={self.eps} must lie strictly between 0 and 1.")
        return -np.log(np.clip(proba, self.eps, 1.0))


class ZeroOne(_ClassificationLoss):
    """Error: 1 where the predicted label is wrong (accuracy is 1 minus the risk)."""

    response_method = "predict"

    def _table(self, label, classes):
        return (label[:, None] != classes[None, :]).astype(float)


class Brier(_ClassificationLoss):
    """Squared distance of the probabilities from the label's one-hot vector.

    Parameters
    ----------
    scale_by_half : bool or "auto", default="auto"
        Halve the value, so that it lies between 0 and 1. As in
        :func:`sklearn.metrics.brier_score_loss`, "auto" does so for two classes,
        where it is the squared error of the probability of one of them. Decide
        yourself where a third class may turn up on the way.
    """

    def __init__(self, scale_by_half="auto"):
        self.scale_by_half = scale_by_half

    def _table(self, proba, classes):
        # |p - onehot(c)|² = |p|² - 2 p_c + 1
        square = np.einsum("nc,nc->n", proba, proba)[:, None]
        table = np.maximum(square - 2.0 * proba + 1.0, 0.0)
        half = self.scale_by_half
        half = len(classes) == 2 if half == "auto" else half
        return table / 2.0 if half else table


class _RegressionLoss(BaseEstimator):
    task = "regression"
    response_method = "predict"

    def build(self, prediction, classes=None):
        """Bind the loss to the predictions, giving a :class:`PointLoss`."""
        return PointLoss(self, prediction)


class SquaredError(_RegressionLoss):
    """Squared error ``(f(x) - y)²``."""

    def __call__(self, y_true, y_pred):
        return (y_pred - y_true) ** 2

    def expected(self, prediction, mean, variance):
        return (mean - prediction) ** 2 + variance

    def variance(self, prediction, mean, variance):
        return 2.0 * variance**2 + 4.0 * variance * (mean - prediction) ** 2

    def curvature(self, prediction, mean, variance):
        return 2.0 * variance


class AbsoluteError(_RegressionLoss):
    """Absolute error ``|f(x) - y|``; its mean is that of a folded normal."""

    def __call__(self, y_true, y_pred):
        return np.abs(y_pred - y_true)

    def expected(self, prediction, mean, variance):
        shift, scale = mean - prediction, np.sqrt(variance)
        z = shift / scale
        return 2.0 * scale * _normal_pdf(z) + shift * (2.0 * ndtr(z) - 1.0)

    def variance(self, prediction, mean, variance):
        # E|x| is |shift| plus an excess; second moment minus square would cancel.
        shift, scale = np.abs(mean - prediction), np.sqrt(variance)
        z = shift / scale
        excess = 2.0 * (scale * _normal_pdf(z) - shift * ndtr(-z))
        return np.maximum(variance - excess * (2.0 * shift + excess), 0.0)

    def curvature(self, prediction, mean, variance):
        # By Stein's lemma E[h(z)(z² - 1)] = E[h''(z)], here a point mass at the kink.
        scale = np.sqrt(variance)
        return 2.0 * scale * _normal_pdf((mean - prediction) / scale)


class CustomLoss(BaseEstimator):
    """Any function of the label and the prediction.

    A plain function given as ``loss`` is wrapped in this class with its defaults.

    Parameters
    ----------
    function : callable
        ``function(y_true, y_pred)`` returns one finite, non-negative value a row.
    response_method : {"predict", "predict_proba"}, default="predict"
        What `y_pred` is: the model's labels (or values), or its probabilities,
        of shape (n_samples, n_classes), with columns in the order of ``classes_``.
    task : {"classification", "regression"}, default=None
        None takes the task from the surrogate, the model or ``classes``.
    n_nodes : int, default=32
        Nodes of the Gauss-Hermite quadrature that integrates the loss over a
        Gaussian belief (regression).

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

    def __init__(self, function, response_method="predict", task=None, n_nodes=32):
        self.function = function
        self.response_method = response_method
        self.task = task
        self.n_nodes = n_nodes

    def __call__(self, y_true, y_pred):
        return np.asarray(self.function(y_true, y_pred), dtype=float)

    def build(self, prediction, classes=None):
        """Tabulate the loss (classification) or bind it (regression)."""
        if self.task == "regression":
            # Asked for what a perfect model costs, before a label is spent.
            _checked(self(prediction, prediction), len(prediction))
            return PointLoss(self, prediction)
        if classes is None:
            raise ValueError(
                "Without task='regression' the loss is tabulated, which needs the "
                "labels there may be. Pass classes=..."
            )
        n_samples = len(prediction)
        columns = [
            _checked(self(np.full(n_samples, label), prediction), n_samples)
            for label in classes
        ]
        return LossTable(np.column_stack(columns), classes)

    def expected(self, prediction, mean, variance):
        return self._integrate(prediction, mean, variance, lambda loss, z: loss)

    def variance(self, prediction, mean, variance):
        centre = self.expected(prediction, mean, variance)
        return self._integrate(
            prediction, mean, variance, lambda loss, z: (loss - centre) ** 2
        )

    def curvature(self, prediction, mean, variance):
        return self._integrate(
            prediction, mean, variance, lambda loss, z: loss * (z**2 - 1.0)
        )

    def _integrate(self, prediction, mean, variance, integrand):
        nodes, weights = np.polynomial.hermite_e.hermegauss(self.n_nodes)
        scale = np.sqrt(variance)
        shape = np.broadcast_shapes(np.shape(mean), np.shape(prediction))
        y_pred = np.broadcast_to(prediction, shape).ravel()
        total = np.zeros(shape)
        for z, weight in zip(nodes, weights / weights.sum(), strict=True):
            y_true = np.broadcast_to(mean + scale * z, shape).ravel()
            loss = _checked(self(y_true, y_pred), len(y_pred)).reshape(shape)
            total += weight * integrand(loss, z)
        return total


LOSSES = {
    "log_loss": LogLoss,
    "zero_one": ZeroOne,
    "brier": Brier,
    "squared_error": SquaredError,
    "absolute_error": AbsoluteError,
}


def check_loss(loss, task=None):
    """Turn a name or a function into a loss object.

    Parameters
    ----------
    loss : str, callable or loss object
    task : {"classification", "regression"}, default=None
        For functions that do not say themselves.

    Returns
    -------
    loss : loss object
    """
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise ValueError(
                f"loss={loss!r} is not known. Use one of {sorted(LOSSES)} or a "
                "function (y_true, y_pred) -> one value a row."
            )
        return LOSSES[loss]()
    if isinstance(loss, CustomLoss) and loss.task is None:
        return clone(loss).set_params(task=task)
    if hasattr(loss, "build"):
        return loss
    if callable(loss):
        return CustomLoss(loss, task=task)
    raise TypeError(
        f"loss must be one of {sorted(LOSSES)} or a function (y_true, y_pred) -> one "
        f"value a row, got {loss!r}."
    )


def _checked(values, n_samples):
    if values.shape != (n_samples,):
        raise ValueError(
            f"The loss function must return one value a row, an array of shape "
            f"({n_samples},), but returned shape {values.shape}."
        )
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(
            "The loss function returned values that are negative or not finite. "
            "Add a constant or clip, so that every loss is a finite number >= 0."
        )
    return values


def _normal_pdf(z):
    return np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
