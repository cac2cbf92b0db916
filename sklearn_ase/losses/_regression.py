"""Losses of regressors, with closed forms of their moments under a Gaussian belief."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from sklearn_ase._utils._typing import Floats
from sklearn_ase.losses._base import BaseLoss


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
