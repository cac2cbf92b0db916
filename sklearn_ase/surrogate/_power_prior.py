"""How much training rows count in a calibration, by the evidence of acquired labels.

Training rows may come from another population than the pool, or have wrong labels. A
power prior raises their likelihood to a power s <= 1, so that n of them count as s n
labels of the pool. Several powers are tried; the marginal likelihood of the acquired
labels (normalised power prior, by Laplace's method) says how much each is worth. The
equations are those of docs/trust.md.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, softmax

# All training rows together count as so many acquired labels.
WORTHS = (2.0, 10.0, 50.0, 250.0, np.inf)
PRIOR = (0.06, 0.06, 0.09, 0.14, 0.65)
_MAX_STEPS = 30


@dataclass(frozen=True, eq=False)
class DiscountedFit:
    """Exponents for each worth of the training rows.

    Attributes
    ----------
    exponents : ndarray of shape (n_worths, n_experts)
    shares : ndarray of shape (n_worths,)
        Posterior probability of each worth; they sum to 1.
    worths : ndarray of shape (n_worths,)
        In acquired labels; worths above the number of training rows are merged.
    """

    exponents: np.ndarray
    shares: np.ndarray
    worths: np.ndarray


def fit_discounted(logs, places, is_acquired, ridge, centre):
    """Fit the exponents of a log-linear stack for several worths of training rows.

    Parameters
    ----------
    logs : ndarray of shape (n_experts, n_rows, n_classes)
        Logarithms of the experts' probabilities.
    places : ndarray of shape (n_rows,)
        Column of each label.
    is_acquired : ndarray of shape (n_rows,), dtype bool
        Rows of the pool; the others are training rows.
    ridge : float
    centre : ndarray of shape (n_experts,)
        Where the ridge pulls the exponents.

    Returns
    -------
    fit : DiscountedFit
    """
    training = _Likelihood(logs[:, ~is_acquired], places[~is_acquired], ridge, centre)
    acquired = _Likelihood(logs[:, is_acquired], places[is_acquired], 0.0, centre)
    n_training = int((~is_acquired).sum())
    worths, prior = _distinct(n_training)
    powers = worths / n_training if n_training else np.ones(1)
    # The maximum of the prior does not depend on the power.
    start, at_start = _maximise(training, centre)
    exponents, evidence = [], []
    for power in powers:
        found, (value, _, curvature) = _maximise(
            lambda a, s=power: _sum(training(a), s, acquired(a)), start
        )
        exponents.append(found)
        # log E = J1(θ1) - J0(θ0) - ½ (log det H1 - log det H0), eq. T8.
        spread = _log_det(curvature) - _log_det(power * at_start[2])
        evidence.append(value - power * at_start[0] - 0.5 * spread)
    shares = softmax(np.log(prior) + np.array(evidence))
    return DiscountedFit(np.array(exponents), shares, worths)


def _distinct(n_training):
    """Worths and their prior; what exceeds the number of training rows is merged."""
    worths = np.minimum(WORTHS, n_training)
    distinct, place = np.unique(worths, return_inverse=True)
    return distinct, np.bincount(place, weights=PRIOR)


class _Likelihood:
    """Penalised log-likelihood of the exponents, with gradient and curvature."""

    def __init__(self, logs, places, ridge, centre):
        self.logs = logs
        self.places = places[:, None]
        self.ridge = ridge
        self.centre = centre
        self.chosen = np.take_along_axis(logs, places[None, :, None], axis=2)[..., 0]

    def __call__(self, exponents):
        """Value, gradient, and minus the Hessian."""
        log_proba = log_softmax(np.einsum("k,knc->nc", exponents, self.logs), axis=1)
        weighted = np.exp(log_proba) * self.logs
        mean = weighted.sum(axis=2)
        pull = exponents - self.centre
        own = np.take_along_axis(log_proba, self.places, axis=1)
        value = own.sum() - self.ridge * pull @ pull
        gradient = (self.chosen - mean).sum(axis=1) - 2.0 * self.ridge * pull
        curvature = np.einsum("knc,lnc->kl", weighted, self.logs) - mean @ mean.T
        return value, gradient, curvature + 2.0 * self.ridge * np.eye(len(pull))


def _sum(first, power, second):
    return tuple(power * a + b for a, b in zip(first, second, strict=True))


def _maximise(function, start):
    """Maximise a concave function over exponents >= 0 by Newton steps.

    Returns
    -------
    exponents : ndarray of shape (n_experts,)
    at : tuple
        What the function returns there.
    """
    here, at = start, function(start)
    for _ in range(_MAX_STEPS):
        value, gradient, curvature = at
        # Exponents at 0 that the gradient pushes below stay there.
        free = (here > 0) | (gradient > 0)
        if not np.abs(gradient[free]).max(initial=0.0) > 1e-6 * (1.0 + abs(value)):
            break
        step = np.zeros_like(here)
        part = curvature[np.ix_(free, free)] + 1e-9 * np.eye(free.sum())
        step[free] = np.linalg.solve(part, gradient[free])
        length = 1.0
        while True:
            there = np.maximum(here + length * step, 0.0)
            at_there = function(there)
            if at_there[0] >= value or length < 1e-6:
                break
            length *= 0.5
        if at_there[0] < value + 1e-10 * (1.0 + abs(value)):
            here, at = (there, at_there) if at_there[0] >= value else (here, at)
            break
        here, at = there, at_there
    return here, at


def _log_det(curvature):
    return np.linalg.slogdet(curvature)[1]
