"""Likelihood of numbers as labels, Gaussian or Student's t."""

import numpy as np
from scipy.special import gammaln

# Acquired labels count by Student's t with so many degrees of freedom: squared errors
# have heavy tails, and one of a few labels must not decide alone.
DEGREES = 10.0
# Points at which the density of all labels is computed.
_N_BINS = 512


class GaussianLikelihood:
    """Log-likelihood of Gaussian or t-distributed labels, with Fisher information.

    Parameters are the blend, the logarithms of the three coefficients of the variance,
    and the coefficient of the shift.

    Parameters
    ----------
    residual, gap, variance, shift : ndarrays of shape (n_rows,)
        Residual of the surrogate, distance of the model from it, variance of the
        members, and how much more common such rows are in the pool.
    log_outlier : ndarray of shape (n_rows,) or None
        Log-density of a label that has nothing to do with its row, without the constant
        of the Gaussian. None if no label is wrong.
    degrees : float
        Degrees of freedom of Student's t, > 2; infinity is the Gaussian. The variance
        means the same for both.
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


def log_density_of_labels(y):
    """Log-density of each label among all labels, whatever the rows.

    Wrong labels are often those of other rows, so they are distributed as all labels
    are, however skew. A Gaussian kernel smooths their histogram.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)

    Returns
    -------
    log_density : ndarray of shape (n_rows,)
        Without the constant of the Gaussian.
    """
    width = 1.06 * y.std() * len(y) ** -0.2
    if not width > 0.0:  # All labels are the same.
        return np.zeros(len(y))
    count, edges = np.histogram(y, _N_BINS)
    points = 0.5 * (edges[1:] + edges[:-1])
    kernel = np.exp(-0.5 * ((points[:, None] - points) / width) ** 2)
    density = kernel @ count / (len(y) * width)
    return np.log(np.interp(y, points, density))
