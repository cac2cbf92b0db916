"""Calibration of a Gaussian belief that can use the model under test."""

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_ase.surrogate._log_linear_stack import check_expert
from sklearn_ase.surrogate._power_prior import fit_discounted


class GaussianStack(BaseEstimator):
    """Calibration that blends surrogate and model under test, for regression.

    With ``μ`` and ``s²`` the mean and the variance of the members, and ``f`` the
    prediction of the model, the calibrated mean is ``μ + b (f - μ)`` with ``b`` in
    [0, 1], and the calibrated variance is ``α + β s² + γ (f - μ)²`` with coefficients
    ``≥ 0``. All are fitted by Gaussian likelihood on held-out predictions. As in
    :class:`LogLinearStack` the acquired labels decide how much training rows count.

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
        ``b``, the mean over the worths.
    variance_ : ndarray of shape (3,)
        ``α``, ``β`` and ``γ``, the mean over the worths; ``γ`` includes how far ``b``
        differs between them.
    parameters_ : ndarray of shape (n_worths, 4)
        ``b``, ``α``, ``β`` and ``γ`` for each number of labels that the training rows
        may be worth.
    worths_ : ndarray of shape (n_worths,)
        These numbers of labels.
    shares_ : ndarray of shape (n_worths,)
        Their probabilities, given the acquired labels.
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

    def fit(self, mean, variance, expert, y, is_acquired=None):
        """Fit blend and variance.

        Parameters
        ----------
        mean, variance : ndarrays of shape (n_samples,)
            Held-out mean and variance of the surrogate's members.
        expert : ndarray of shape (n_samples,) or None
            Predictions of the model under test for rows it did not learn from. NaN for
            rows without such a prediction.
        y : ndarray of shape (n_samples,)
        is_acquired : ndarray of shape (n_samples,), dtype bool, default=None
            Rows of the pool; None means all.

        Returns
        -------
        self : object
        """
        if is_acquired is None:
            is_acquired = np.ones(len(y), dtype=bool)
        self.uses_model_ = self.use_estimator and expert is not None
        gap = expert - mean if self.uses_model_ else np.zeros(len(y))
        # Rows without a prediction of the model still show the surrogate's variance.
        gap = np.where(np.isfinite(gap), gap, 0.0)
        residual = y - mean
        scale = float(np.mean(residual**2))
        if scale == 0.0:
            parameters = np.array(
                [[0.5 * self.uses_model_, np.finfo(float).tiny, 1, 0]]
            )
            self._set(parameters, np.ones(1), np.zeros(1))
            return self
        # Divided by the scale, all coefficients have no unit and similar sizes.
        rows = np.stack([residual, gap, variance]) / np.array(
            [scale**0.5, scale**0.5, scale]
        ).reshape(3, 1)
        start = np.array([0.5 * self.uses_model_, *np.log([0.5, 0.5, 0.1])])
        low = np.array([0.0, -12.0, -12.0, -12.0])
        high = np.array([float(self.uses_model_), 6.0, 6.0, 6.0])
        found = fit_discounted(
            _Likelihood(rows[:, ~is_acquired], self.ridge, start),
            _Likelihood(rows[:, is_acquired], 0.0, start),
            int((~is_acquired).sum()),
            start,
            (low, high),
        )
        parameters = found.parameters
        parameters[:, 1:] = np.exp(parameters[:, 1:]) * np.array([scale, 1.0, 1.0])
        self._set(parameters, found.shares, found.worths)
        return self

    def _set(self, parameters, shares, worths):
        """Keep the parameters of each worth, and those of their mixture."""
        self.parameters_, self.shares_, self.worths_ = parameters, shares, worths
        blend, *self.variance_ = shares @ parameters
        self.blend_ = float(blend)
        # Between the worths the mean differs by (b - b') (f - μ).
        spread = shares @ (parameters[:, 0] - blend) ** 2
        self.variance_ = np.array(self.variance_) + np.array([0.0, 0.0, spread])

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

    def predict_each(self, mean, variance, expert=None):
        """Return mean and variance of the labels for each worth of the training rows.

        Returns
        -------
        mean, variance : ndarrays of shape (n_worths, n_samples)
        """
        gap = expert - mean if self.uses_model_ else np.zeros_like(mean)
        blend, constant, members, disagreement = self.parameters_.T[:, :, None]
        total = constant + members * variance + disagreement * gap**2
        return mean + blend * gap, total


class _Likelihood:
    """Penalised Gaussian log-likelihood, with gradient and Fisher information.

    Parameters are the blend and the logarithms of the three coefficients.

    Parameters
    ----------
    rows : ndarray of shape (3, n_rows)
        Residual of the surrogate, gap of the model, variance of the members.
    ridge : float
    centre : ndarray of shape (4,)
        Where the ridge pulls the parameters.
    """

    def __init__(self, rows, ridge, centre):
        self.residual, self.gap, variance = rows
        self.features = np.stack([np.ones_like(variance), variance, self.gap**2])
        self.strength = ridge * np.array([1.0, 0.1, 0.1, 0.1])
        self.centre = centre

    def __call__(self, parameters):
        blend, coefficients = parameters[0], np.exp(parameters[1:])
        terms = coefficients[:, None] * self.features
        v = terms.sum(axis=0)
        error = self.residual - blend * self.gap
        relative = error**2 / v
        pull = parameters - self.centre
        value = -0.5 * np.sum(np.log(v) + relative) - 0.5 * self.strength @ pull**2
        slopes = 0.5 * (terms / v) @ (relative - 1.0)
        gradient = np.array([np.sum(error * self.gap / v), *slopes])
        information = np.zeros((4, 4))
        information[0, 0] = np.sum(self.gap**2 / v)
        information[1:, 1:] = 0.5 * (terms / v) @ (terms / v).T
        information += np.diag(self.strength + 1e-9)
        return value, gradient - self.strength * pull, information
