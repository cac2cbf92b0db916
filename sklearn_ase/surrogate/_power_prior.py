"""How much training rows count in a calibration, by the evidence of acquired labels.

Training rows may come from another population than the pool, or have wrong labels. A
power prior raises their likelihood to a power s <= 1, so that n of them count as s n
labels of the pool. Several powers are tried; the marginal likelihood of the acquired
labels (normalised power prior, by Laplace's method) says how much each is worth. The
equations are those of docs/trust.md.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

# All training rows together count as so many acquired labels.
WORTHS = (2.0, 10.0, 50.0, 250.0, np.inf)
PRIOR = (0.06, 0.06, 0.09, 0.14, 0.65)
_MAX_STEPS = 50


@dataclass(frozen=True, eq=False)
class DiscountedFit:
    """Parameters of a calibration for each worth of the training rows.

    Attributes
    ----------
    parameters : ndarray of shape (n_worths, n_parameters)
    shares : ndarray of shape (n_worths,)
        Posterior probability of each worth; they sum to 1.
    worths : ndarray of shape (n_worths,)
        In acquired labels; worths above the number of training rows are merged.
    """

    parameters: np.ndarray
    shares: np.ndarray
    worths: np.ndarray


def fit_discounted(training, acquired, n_training, start, bounds):
    """Fit a calibration for several worths of the training rows.

    Parameters
    ----------
    training : callable
        Log-likelihood of the training rows plus the penalty, of the parameters: returns
        value, gradient and curvature (minus the Hessian, or the Fisher information).
    acquired : callable
        The same of the acquired rows, without a penalty.
    n_training : int
    start : ndarray of shape (n_parameters,)
    bounds : tuple of float or ndarrays
        Least and greatest value of the parameters.

    Returns
    -------
    fit : DiscountedFit
    """
    worths, prior = _distinct(n_training)
    powers = worths / n_training if n_training else np.ones(1)
    # The maximum of the prior does not depend on the power.
    start, (prior_value, _, prior_curvature) = maximise(training, start, bounds)
    parameters, evidence = [], []
    for power in powers:

        def both(at, power=power):
            pairs = zip(training(at), acquired(at), strict=True)
            return tuple(power * first + second for first, second in pairs)

        found, (value, _, curvature) = maximise(both, start, bounds)
        parameters.append(found)
        # log E = J1(θ1) - J0(θ0) - ½ (log det H1 - log det H0), eq. T8.
        spread = _log_det(curvature) - _log_det(power * prior_curvature)
        evidence.append(value - power * prior_value - 0.5 * spread)
    shares = softmax(np.log(prior) + np.array(evidence))
    return DiscountedFit(np.array(parameters), shares, worths)


def maximise(function, start, bounds):
    """Maximise a function within bounds by damped Newton steps.

    Parameters
    ----------
    function : callable
        Returns value, gradient and a positive definite curvature.
    start : ndarray of shape (n_parameters,)
    bounds : tuple of float or ndarrays

    Returns
    -------
    parameters : ndarray of shape (n_parameters,)
    at : tuple
        What the function returns there.
    """
    low, high = bounds
    here, at = start, function(start)
    for _ in range(_MAX_STEPS):
        value, gradient, curvature = at
        # Parameters at a bound that the gradient pushes beyond it stay there.
        free = ((here > low) | (gradient > 0)) & ((here < high) | (gradient < 0))
        step = np.zeros_like(here)
        step[free] = np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
        gain = step @ gradient
        if not gain > 1e-8 * (1.0 + abs(value)):
            break
        length, better = 1.0, False
        while not better and length > 1e-4:
            there = np.clip(here + length * step, low, high)
            at_there = function(there)
            better, length = at_there[0] > value, 0.5 * length
        if not better:
            break
        here, at = there, at_there
    return here, at


def _distinct(n_training):
    """Worths and their prior; what exceeds the number of training rows is merged."""
    worths = np.minimum(WORTHS, n_training)
    distinct, place = np.unique(worths, return_inverse=True)
    return distinct, np.bincount(place, weights=PRIOR)


def _log_det(curvature):
    return np.linalg.slogdet(curvature)[1]
