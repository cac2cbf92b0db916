"""Calibration of numbers: surrogate and model under test, and their variances."""

# Arrays have the same names in all functions of this file.
#
#   mean, variance  (n,) μ and s², of the members, held out in a fit
#   expert          (n,) f, what the model under test predicts, NaN if unknown
#   gap             (n,) f - μ;   residual  (n,) y - μ;   error  y - μ - b (f - μ)
#   shift           (n,) how much more common such rows are in the pool, a logarithm
#   at              (..., 5) parameters: b, log α, log β, log γ, tilt of the shift
#   parameters      (h, 5) b, α, β, γ, tilt for each hypothesis about training rows
#
# In a fit all is divided by the scale of the residuals.

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import gammaln
from sklearn.base import BaseEstimator

from sklearn_ase._utils._checks import check_flag, check_number
from sklearn_ase.surrogate._estimator import take_columns
from sklearn_ase.surrogate._power_prior import (
    ParameterPrior,
    check_expert,
    training_hypotheses,
    weigh_hypotheses,
)

# Acquired labels count by Student's t with so many degrees of freedom: squared errors
# have heavy tails, and one of a few labels must not decide alone.
DEGREES = 10.0
# Points at which the density of all labels is computed.
_N_BINS = 512


class GaussianLikelihood:
    """Log-likelihood of Gaussian or t-distributed labels, with Fisher information.

    `degrees` of freedom of Student's t, > 2, are infinite for the Gaussian; the
    variance means the same for both. `log_outlier` (n,) is the log-density of a label
    that has nothing to do with its row, without the constant of the Gaussian, or None
    if no label is wrong.
    """

    def __init__(self, residual, gap, variance, shift, log_outlier, degrees):
        self.residual, self.gap, self.shift = residual, gap, shift
        self.features = np.stack([np.ones_like(variance), variance, gap**2])
        self.log_outlier, self.degrees = log_outlier, degrees

    def _moments(self, at):
        """Error of the blend, its variance, and what each coefficient adds to it."""
        factor = np.exp(at[..., 4:] * self.shift)[..., None, :]
        terms = np.exp(at[..., 1:4])[..., None] * self.features * factor
        return self.residual - at[..., :1] * self.gap, terms.sum(axis=-2), terms

    def log_density(self, at):
        """Log-density by which a label is right, of shape (..., n_rows).

        By Student's t also if the rows count by the Gaussian, under which the tail of
        right labels would look wrong. Without the constant of the Gaussian.
        """
        error, variance, _ = self._moments(at)
        surprise = _surprise(error**2 / variance, DEGREES)
        return _T_CONSTANT - 0.5 * (np.log(variance) + surprise)

    def _pull(self, relative):
        """Derivative of the surprise: less than 1 for labels that are far off."""
        if np.isinf(self.degrees):
            return np.ones_like(relative)
        return (self.degrees + 1.0) / (self.degrees - 2.0 + relative)

    def _information(self):
        """Fisher information about location and scale, relative to the Gaussian."""
        nu = self.degrees
        if np.isinf(nu):
            return 1.0, 1.0
        return (nu + 1.0) * nu / ((nu + 3.0) * (nu - 2.0)), nu / (nu + 3.0)

    def __call__(self, at, row_weight=None):
        error, variance, terms = self._moments(at)
        weight = np.ones(len(self.gap)) if row_weight is None else row_weight
        relative = error**2 / variance
        pull, (location, scale) = self._pull(relative), self._information()
        value = -0.5 * (np.log(variance) + _surprise(relative, self.degrees)) @ weight
        # How the logarithm of the variance changes with each parameter but the blend.
        slopes = np.empty((*at.shape[:-1], 4, len(self.gap)))
        slopes[..., :3, :], slopes[..., 3, :] = (
            terms / variance[..., None, :],
            self.shift,
        )
        gradient = np.empty(at.shape)
        gradient[..., 0] = (pull * error * self.gap / variance) @ weight
        gap = weight * (pull * relative - 1.0)
        gradient[..., 1:] = 0.5 * (slopes @ gap[..., None])[..., 0]
        information = np.zeros((*at.shape, 5))
        information[..., 0, 0] = location * ((self.gap**2 / variance) @ weight)
        squares = (slopes * weight) @ slopes.swapaxes(-1, -2)
        information[..., 1:, 1:] = 0.5 * scale * squares
        return value, gradient, information


def _surprise(relative, degrees):
    """Minus twice the log-density of a label at this squared relative error."""
    if np.isinf(degrees):
        return relative
    return (degrees + 1.0) * np.log1p(relative / (degrees - 2.0))


def _t_constant(degrees):
    """Log-density of Student's t at 0, relative to a Gaussian of the same variance."""
    ratio = gammaln((degrees + 1.0) / 2.0) - gammaln(degrees / 2.0)
    return ratio - 0.5 * np.log((degrees - 2.0) / 2.0)


_T_CONSTANT = _t_constant(DEGREES)


def log_density_of_labels(y: np.ndarray) -> np.ndarray:
    """Log-density of each label among all labels, whatever the rows.

    Wrong labels are often those of other rows, so they are distributed as all labels
    are, however skew. A Gaussian kernel smooths their histogram.
    """
    width = 1.06 * y.std() * len(y) ** -0.2
    if not width > 0.0:  # All labels are the same.
        return np.zeros(len(y))
    count, edges = np.histogram(y, _N_BINS)
    points = 0.5 * (edges[1:] + edges[:-1])
    kernel = np.exp(-0.5 * ((points[:, None] - points) / width) ** 2)
    density = kernel @ count / (len(y) * width)
    return np.log(np.interp(y, points, density))


# The calibration.


# Precision of the prior of the shift's coefficient.
_SHIFT_PRECISION = 10.0
# Blend before any row was seen: training rows decide; without them the model leads.
_BLEND = {True: 0.5, False: 0.75}


class GaussianStack(BaseEstimator):
    """Calibration that blends surrogate and model under test, for regression.

    With ``μ`` and ``s²`` the mean and the variance of the members, and ``f`` the
    prediction of the model, the calibrated mean is ``μ + b (f - μ)`` with ``b`` in
    [0, 1], and the calibrated variance is ``α + β s² + γ (f - μ)²`` with coefficients
    ``≥ 0``. Where rows are more common in the pool than in training, the variance
    may be greater or smaller by a factor. All are fitted by Gaussian likelihood on
    held-out predictions. As in :class:`LogLinearStack` the acquired labels decide how
    much training rows count.

    Parameters
    ----------
    use_estimator : bool, default=True
        Whether the model under test is blended in.
    ridge : float, default=5.0
        Strength of the penalty that pulls ``b`` towards 1/2 (3/4 without training
        rows), and the variance towards a constant plus the variance of the members, in
        units of log-likelihood.

    Attributes
    ----------
    blend_ : float
        ``b``, the mean over the hypotheses about the training rows.
    variance_ : ndarray of shape (3,)
        ``α``, ``β`` and ``γ``, the mean over the hypotheses; ``γ`` includes how far
        ``b`` differs between them.
    parameters_ : ndarray of shape (n_hypotheses, 5)
        ``b``, ``α``, ``β``, ``γ`` and the coefficient of the shift for each hypothesis.
    worths_ : ndarray of shape (n_hypotheses,)
        Number of labels that the training rows are worth.
    shares_ : ndarray of shape (n_hypotheses,)
        Probability of each hypothesis, given the acquired labels.
    uses_model_ : bool
        Whether the model under test took part in the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.surrogate import GaussianStack
    >>> y, is_acquired = np.tile([-2.0, 2.0], 50), np.zeros(100, dtype=bool)
    >>> stack = GaussianStack()
    >>> stack = stack.fit(np.zeros(100), np.zeros(100), None, y, is_acquired)
    >>> round(float(stack.variance_[0]))
    4
    """

    def __init__(self, use_estimator: bool = True, ridge: float = 5.0) -> None:
        self.use_estimator = use_estimator
        self.ridge = ridge

    def validate(self) -> None:
        """Check the parameters; called at the start, before a label is bought."""
        check_flag(self.use_estimator, "use_estimator")
        check_number(self.ridge, "ridge", 0)

    def fit(
        self,
        mean: np.ndarray,
        variance: np.ndarray,
        expert: np.ndarray | None,
        y: np.ndarray,
        is_acquired: np.ndarray | None = None,
        shift: np.ndarray | None = None,
        by_evidence: bool = True,
    ) -> Self:
        """Fit blend and variance to training rows and acquired rows.

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
        shift : ndarray of shape (n_samples,), default=None
            How much more common such rows are in the pool than among the training
            rows, as the logarithm of a ratio.
        by_evidence : bool, default=True
            Whether the acquired labels decide how much the training rows count. If
            False, all rows count alike.

        Returns
        -------
        self : object
        """
        if is_acquired is None:
            is_acquired = np.ones(len(y), dtype=bool)
        self.uses_model_ = self.use_estimator and expert is not None
        # Divided by the scale, all coefficients have no unit and similar sizes.
        self._scale = float(np.mean((y - mean) ** 2))
        columns = {
            "mean": mean,
            "variance": variance,
            "expert": expert,
            "y": y,
            "shift": shift,
        }
        self._hypotheses: Any = None
        self._starts: Any = None
        self._learn_training(take_columns(columns, ~is_acquired), by_evidence)
        return self.fit_acquired(**take_columns(columns, is_acquired))

    def _learn_training(self, training: dict[str, Any], by_evidence: bool) -> None:
        """Turn the training rows into hypotheses about the parameters."""
        has_training = self.uses_model_ and bool(np.isfinite(training["expert"]).any())
        blend = _BLEND[has_training] if self.uses_model_ else 0.0
        centre = np.array([blend, *np.log([0.5, 0.5, 0.1]), 0.0])
        low = np.array([0.0, -12.0, -12.0, -12.0, -1.0])
        high = np.array([float(self.uses_model_), 6.0, 6.0, 6.0, 1.0])
        self._bounds = low, high
        if self._scale > 0.0:
            prior = ParameterPrior(
                centre,
                discounted=self.ridge * np.array([1.0, 0.1, 0.1, 0.1, 0.0]) + 1e-9,
                kept=np.array([0.0, 0.0, 0.0, 0.0, _SHIFT_PRECISION]),
            )
            self._hypotheses = training_hypotheses(
                self._rows(**training),
                len(training["y"]),
                prior,
                self._bounds,
                by_evidence,
                discounts_cleaned=True,
            )

    def fit_acquired(
        self,
        mean: np.ndarray,
        variance: np.ndarray,
        expert: np.ndarray | None,
        y: np.ndarray,
        shift: np.ndarray | None = None,
    ) -> Self:
        """Fit the calibration again to other acquired rows and the same training rows.

        Parameters
        ----------
        mean, variance : ndarrays of shape (n_acquired,)
            Held-out mean and variance at all acquired rows.
        expert : ndarray of shape (n_acquired,) or None
        y : ndarray of shape (n_acquired,)
        shift : ndarray of shape (n_acquired,), default=None
            See :meth:`fit`.

        Returns
        -------
        self : object
        """
        if self._hypotheses is None:  # The surrogate predicted every row exactly.
            tiny = np.finfo(float).tiny
            parameters = np.array([[0.5 * self.uses_model_, tiny, 1.0, 0.0, 0.0]])
            self._set(parameters, np.ones(1), np.zeros(1))
            return self
        rows = self._rows(mean, variance, expert, y, shift, DEGREES)
        weighed = weigh_hypotheses(self._hypotheses, rows, self._bounds, self._starts)
        if self._starts is None:  # Later fits begin where the first one ended.
            self._hypotheses, self._starts = weighed.hypotheses, weighed.parameters
        parameters = weighed.parameters.copy()
        parameters[:, 1:4] = np.exp(parameters[:, 1:4]) * [self._scale, 1.0, 1.0]
        self._set(parameters, weighed.shares, weighed.worths)
        return self

    def _rows(self, mean, variance, expert, y, shift, degrees=np.inf):
        gap = expert - mean if self.uses_model_ else np.zeros(len(y))
        # Rows without a prediction of the model still show the surrogate's variance.
        gap = np.where(np.isfinite(gap), gap, 0.0)
        shift = np.zeros(len(y)) if shift is None else shift
        unit = self._scale**0.5
        # Only training labels may be wrong.
        is_training = np.isinf(degrees) and len(y) > 0
        return GaussianLikelihood(
            residual=(y - mean) / unit,
            gap=gap / unit,
            variance=variance / self._scale,
            shift=shift,
            log_outlier=log_density_of_labels(y / unit) if is_training else None,
            degrees=degrees,
        )

    def _set(self, parameters, shares, worths):
        """Keep the parameters of each hypothesis, and those of their mixture."""
        self.parameters_, self.shares_, self.worths_ = parameters, shares, worths
        blend, *variance, self._tilt = shares @ parameters
        self.blend_ = float(blend)
        # Between the hypotheses the mean differs by (b - b') (f - μ).
        spread = shares @ (parameters[:, 0] - blend) ** 2
        self.variance_ = np.array(variance) + np.array([0.0, 0.0, spread])

    def predict(
        self,
        mean: np.ndarray,
        variance: np.ndarray,
        expert: np.ndarray | None = None,
        shift: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the calibrated mean and variances.

        Parameters
        ----------
        mean, variance : ndarrays of shape (n_samples,)
            Mean and variance of the members.
        expert : ndarray of shape (n_samples,), default=None
            Predictions of the model under test; needed if it took part in the fit.
        shift : ndarray of shape (n_samples,), default=None
            See :meth:`fit`; None means 0.

        Returns
        -------
        mean, epistemic, noise : ndarrays of shape (n_samples,)
            Mean, variance between the members and variance around a member.
        """
        check_expert(self.uses_model_, expert)
        gap = expert - mean if self.uses_model_ else np.zeros_like(mean)
        constant, members, disagreement = self.variance_
        factor = 1.0 if shift is None else np.exp(self._tilt * shift)
        noise = factor * (constant + disagreement * gap**2)
        return mean + self.blend_ * gap, factor * members * variance, noise

    def predict_each(
        self,
        mean: np.ndarray,
        variance: np.ndarray,
        expert: np.ndarray | None = None,
        shift: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of the labels for each hypothesis.

        Returns
        -------
        mean, variance : ndarrays of shape (n_hypotheses, n_samples)
        """
        check_expert(self.uses_model_, expert)
        gap = expert - mean if self.uses_model_ else np.zeros_like(mean)
        parameters = self.parameters_.T[:, :, None]
        blend, constant, members, disagreement, tilt = parameters
        total = constant + members * variance + disagreement * gap**2
        if shift is not None:
            total = total * np.exp(tilt * shift)
        return mean + blend * gap, total
