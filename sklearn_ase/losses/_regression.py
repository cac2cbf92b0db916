"""Losses of regressors, with their moments under a Gaussian belief."""

import numpy as np
from scipy.special import ndtr
from sklearn.base import BaseEstimator

from sklearn_ase.losses._pool_loss import PointLoss


class _RegressionLoss(BaseEstimator):
    task = "regression"
    response_method = "predict"

    def build(self, prediction, classes=None):
        """Bind the loss to the predictions, giving a :class:`PointLoss`."""
        return PointLoss(self, prediction)


class SquaredError(_RegressionLoss):
    """Squared error ``(f(x) - y)²``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.losses import SquaredError
    >>> loss = SquaredError().build(np.array([1.0, 2.0]))
    >>> loss.expected(mean=np.array([1.0, 4.0]), variance=np.array([0.5, 0.5]))
    array([0.5, 4.5])
    """

    def __call__(self, y_true, y_pred):
        return (y_pred - y_true) ** 2

    def expected(self, prediction, mean, variance):
        return (mean - prediction) ** 2 + variance

    def variance(self, prediction, mean, variance):
        return 2.0 * variance**2 + 4.0 * variance * (mean - prediction) ** 2

    def curvature(self, prediction, mean, variance):
        return 2.0 * variance


class AbsoluteError(_RegressionLoss):
    """Absolute error ``|f(x) - y|``; its mean is that of a folded normal.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.losses import AbsoluteError
    >>> loss = AbsoluteError().build(np.array([1.0, 2.0]))
    >>> loss.expected(mean=np.array([1.0, 9.0]), variance=np.array([0.5, 0.5])).round(3)
    array([0.564, 7.   ])
    """

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


def _normal_pdf(z):
    return np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi)
