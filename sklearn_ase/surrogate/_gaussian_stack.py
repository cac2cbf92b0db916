"""Calibration of a Gaussian belief, with the model under test as one more expert."""

import numpy as np
from scipy.optimize import minimize
from sklearn.base import BaseEstimator

from sklearn_ase.surrogate._log_linear_stack import check_expert


class GaussianStack(BaseEstimator):
    """Blend of the surrogate and the model under test for real-valued labels.

    The mean is ``μ + b (f - μ)`` with ``b`` in [0, 1]; the variance is
    ``α + β s² + γ (f - μ)²`` with ``s²`` the members' variance and non-negative
    coefficients. ``b`` is fitted by weighted least squares and the variance by
    Gaussian likelihood, both on held-out predictions.

    Parameters
    ----------
    use_estimator : bool, default=True
        Whether the model under test takes part.
    ridge : float, default=5.0
        Strength of the pull of ``b`` towards 1/2 and of the variance towards
        a constant plus the members' own, in units of log-likelihood.

    Attributes
    ----------
    blend_ : float
        ``b``.
    variance_ : ndarray of shape (3,)
        ``α``, ``β`` and ``γ``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.surrogate import GaussianStack
    >>> y = np.tile([-2.0, 2.0], 50)
    >>> stack = GaussianStack().fit(np.zeros(100), np.zeros(100), None, y)
    >>> round(float(stack.variance_[0]), 1)
    4.0
    """

    def __init__(self, use_estimator=True, ridge=5.0):
        self.use_estimator = use_estimator
        self.ridge = ridge

    def fit(self, mean, variance, expert, y, sample_weight=None):
        """Fit blend and variance.

        Parameters
        ----------
        mean, variance : ndarrays of shape (n_samples,)
            Held-out mean and variance of the surrogate's members.
        expert : ndarray of shape (n_samples,) or None
            Predictions of the model on rows it did not learn from; NaN where none.
        y : ndarray of shape (n_samples,)
        sample_weight : ndarray of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        self.blends_ = self.use_estimator and expert is not None
        gap = expert - mean if self.blends_ else np.zeros(len(y))
        known = np.isfinite(gap)
        # Rows without the model's word tell of the variance around the surrogate.
        gap = np.where(known, gap, 0.0)
        residual = y - mean
        scale = np.average(residual**2, weights=weight)
        self.blend_ = 0.5 if self.blends_ else 0.0
        if self.blends_ and scale > 0 and known.any():
            # Relative to the lightest row that takes part, as in LogLinearStack.
            share = weight / (weight[known].min() * scale)
            top = share @ (gap * residual) + 0.5 * self.ridge
            bottom = share @ gap**2 + self.ridge
            self.blend_ = float(np.clip(top / bottom, 0.0, 1.0))
        error = (residual - self.blend_ * gap) ** 2
        self.variance_ = _fit_variance(
            np.stack([np.ones(len(gap)), variance, gap**2]), error, weight, self.ridge
        )
        return self

    def predict(self, mean, variance, expert=None):
        """Calibrated belief.

        Parameters
        ----------
        mean, variance : ndarrays of shape (n_samples,)
        expert : ndarray of shape (n_samples,), default=None
            Predictions of the model under test, if it took part in the fit.

        Returns
        -------
        mean, epistemic, noise : ndarrays of shape (n_samples,)
        """
        check_expert(self.blends_, expert)
        gap = expert - mean if self.blends_ else np.zeros_like(mean)
        constant, members, disagreement = self.variance_
        noise = constant + disagreement * gap**2
        return mean + self.blend_ * gap, members * variance, noise


def _fit_variance(features, error, weight, ridge):
    """Non-negative coefficients of the variance, by penalised Gaussian likelihood."""
    scale = np.average(error, weights=weight)
    if scale == 0.0:
        return np.array([np.finfo(float).tiny, 1.0, 0.0])
    # In units of the scale the constant has no unit, as the other two have none.
    features = features / np.array([1.0, scale, scale])[:, None]
    error = error / scale
    centre = np.log([0.5, 0.5, 0.1])

    def objective(logs):
        coefficients = np.exp(logs)
        v = coefficients @ features
        value = 0.5 * weight @ (np.log(v) + error / v)
        gradient = coefficients * (features @ (0.5 * weight * (v - error) / v**2))
        pull = 0.1 * ridge * (logs - centre)
        return value + 0.5 * pull @ (logs - centre), gradient + pull

    bounds = [(-12.0, 6.0)] * 3
    logs = minimize(objective, centre, jac=True, method="L-BFGS-B", bounds=bounds).x
    return np.exp(logs) * np.array([scale, 1.0, 1.0])
