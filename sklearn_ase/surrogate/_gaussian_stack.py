"""Calibration of a Gaussian belief that can use the model under test."""

import numpy as np
from scipy.optimize import minimize
from sklearn.base import BaseEstimator

from sklearn_ase.surrogate._log_linear_stack import check_expert


class GaussianStack(BaseEstimator):
    """Calibration that blends surrogate and model under test, for regression.

    With ``μ`` and ``s²`` the mean and the variance of the members, and ``f`` the
    prediction of the model, the calibrated mean is ``μ + b (f - μ)`` with ``b`` in
    [0, 1], and the calibrated variance is ``α + β s² + γ (f - μ)²`` with coefficients
    ``≥ 0``. ``b`` is fitted by weighted least squares and the variance by Gaussian
    likelihood, both on held-out predictions.

    Parameters
    ----------
    use_estimator : bool, default=True
        Whether the model under test is blended in.
    ridge : float, default=5.0
        Strength of the penalty that pulls ``b`` towards 1/2, and the variance towards
        a constant plus the variance of the members, in units of log-likelihood.

    Attributes
    ----------
    blend_ : float
        ``b``.
    variance_ : ndarray of shape (3,)
        ``α``, ``β`` and ``γ``.
    uses_model_ : bool
        Whether the model under test took part in the fit.

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
            Predictions of the model under test for rows it did not learn from. NaN for
            rows without such a prediction.
        y : ndarray of shape (n_samples,)
        sample_weight : ndarray of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        self.uses_model_ = self.use_estimator and expert is not None
        gap = expert - mean if self.uses_model_ else np.zeros(len(y))
        has_prediction = np.isfinite(gap)
        # Rows without a prediction of the model still show the surrogate's variance.
        gap = np.where(has_prediction, gap, 0.0)
        residual = y - mean
        scale = np.average(residual**2, weights=weight)
        self.blend_ = 0.5 if self.uses_model_ else 0.0
        if self.uses_model_ and scale > 0 and has_prediction.any():
            # Relative to the lightest row that takes part, as in LogLinearStack.
            share = weight / (weight[has_prediction].min() * scale)
            top = share @ (gap * residual) + 0.5 * self.ridge
            bottom = share @ gap**2 + self.ridge
            self.blend_ = float(np.clip(top / bottom, 0.0, 1.0))
        error = (residual - self.blend_ * gap) ** 2
        self.variance_ = _fit_variance(
            np.stack([np.ones(len(gap)), variance, gap**2]), error, weight, self.ridge
        )
        return self

    def predict(self, mean, variance, expert=None):
        """Return the calibrated mean and variances.

        Parameters
        ----------
        mean, variance : ndarrays of shape (n_samples,)
            Mean and variance of the members.
        expert : ndarray of shape (n_samples,), default=None
            Predictions of the model under test; needed if it took part in the fit.

        Returns
        -------
        mean, epistemic, noise : ndarrays of shape (n_samples,)
            Mean, variance between the members and variance around a member.
        """
        check_expert(self.uses_model_, expert)
        gap = expert - mean if self.uses_model_ else np.zeros_like(mean)
        constant, members, disagreement = self.variance_
        noise = constant + disagreement * gap**2
        return mean + self.blend_ * gap, members * variance, noise


def _fit_variance(features, error, weight, ridge):
    """Fit the coefficients of the variance by penalised Gaussian likelihood.

    Parameters
    ----------
    features : ndarray of shape (3, n_rows)
        What each coefficient is multiplied with.
    error : ndarray of shape (n_rows,)
        Squared residuals.
    weight : ndarray of shape (n_rows,)
    ridge : float

    Returns
    -------
    coefficients : ndarray of shape (3,)
        Non-negative.
    """
    scale = np.average(error, weights=weight)
    if scale == 0.0:
        return np.array([np.finfo(float).tiny, 1.0, 0.0])
    # Divided by the scale, all three coefficients have no unit and similar sizes.
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
