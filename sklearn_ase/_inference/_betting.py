"""Confidence sequences for bounded losses, by betting against every possible risk.

For each possible risk r somebody bets on the next one-step estimate being above or
below r. If r is the risk, the bets are fair and the capital is a martingale, so that it
ever exceeds ``1 / (1 - level)`` with probability ``1 - level`` at most (Ville). The
interval holds the r against which little was won. This needs no normality and no large
sample, only that each step has a least and a greatest value [1]_.

.. [1] Waudby-Smith and Ramdas, "Estimating means of bounded random variables by
   betting", JRSS B 2024.
"""

import numpy as np

from sklearn_ase._inference._steps import limits_of_steps

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
# The surrogate's forecast of mean and variance counts as so many steps.
_FORECAST_STEPS = 5.0
# Share of the capital that may be lost in one step.
_MOST_LOST = 0.9
# Possible risks: over the whole range, close to its ends, and around the estimate.
_COARSE, _FINE, _FINE_ERRORS = 31, 64, 12.0
_NEAR_THE_ENDS = np.geomspace(1e-5, 1 / 30, 16)


def anytime_ends(steps, state):
    """Ends of the anytime intervals of a bounded loss; empty if there are none.

    Parameters
    ----------
    steps : Steps
        All with a label.
    state : PoolState

    Returns
    -------
    ends : tuple of (level, low, high)
    """
    limits = limits_of_steps(state, steps.power)
    if np.isnan(limits).any():  # Picks of an older version do not know their limits.
        return ()
    if not state.loss.max_loss > 0:  # There is nothing to bet on.
        return ()
    picks = state.settled
    before = np.cumsum(picks.losses) - picks.losses
    forecast = (before + picks.free_expected_loss) / state.n_samples
    # Before its first fit the surrogate forecast nothing. What it believes now was not
    # known then, and bets must be made before the label.
    unknown, max_loss = np.isnan(picks.residual_moment), state.loss.max_loss
    forecast = np.where(unknown, 0.5 * max_loss, forecast)
    predicted = np.where(unknown, 0.25 * max_loss**2, steps.predicted)
    return betting_ends(steps.values, limits, forecast, predicted, max_loss)


def betting_ends(steps, limits, forecast, predicted, max_loss):
    """Ends of the intervals at :data:`LEVELS` that hold at all label counts at once.

    Parameters
    ----------
    steps : ndarray of shape (n_steps,)
        One-step estimates; the mean of each is the risk, given the past.
    limits : tuple of ndarrays of shape (n_steps,)
        Least and greatest possible value of each step, known before it.
    forecast, predicted : ndarray of shape (n_steps,)
        Mean and variance that the surrogate expected of each step.
    max_loss : float

    Returns
    -------
    ends : tuple of (level, low, high)
    """
    centre, variance = _predictable(steps, forecast, predicted)
    risks = _possible_risks(centre[-1], variance[-1], len(steps), max_loss)
    gap = centre[:, None] - risks
    # The bet that makes the capital grow fastest if centre and variance are right.
    bet = gap / (variance[:, None] + gap**2 + 1e-300)
    low, high = (limit[:, None] for limit in limits)
    tiny = 1e-12 * max_loss
    up = np.clip(bet, 0.0, _MOST_LOST / np.maximum(risks - low, tiny))
    down = np.clip(-bet, 0.0, _MOST_LOST / np.maximum(high - risks, tiny))
    surprise = steps[:, None] - risks
    capital = np.logaddexp(
        np.cumsum(np.log1p(up * surprise), axis=0),
        np.cumsum(np.log1p(-down * surprise), axis=0),
    ) - np.log(2.0)
    best = capital.max(axis=0)
    return tuple((level, *_hull(risks, best, level)) for level in LEVELS)


def _predictable(steps, forecast, predicted):
    """Mean and variance of each step as they are known before it."""
    count = _FORECAST_STEPS + np.arange(len(steps))
    before = np.cumsum(steps) - steps
    centre = (_FORECAST_STEPS * forecast + before) / count
    square = (steps - centre) ** 2
    variance = (_FORECAST_STEPS * predicted + np.cumsum(square) - square) / count
    return centre, variance


def _possible_risks(centre, variance, n_steps, max_loss):
    """Grid of risks, finest around the centre."""
    reach = _FINE_ERRORS * np.sqrt(variance / n_steps)
    fine = centre + reach * np.linspace(-1.0, 1.0, _FINE)
    near = max_loss * _NEAR_THE_ENDS
    coarse = np.linspace(0.0, max_loss, _COARSE)
    grid = np.concatenate([coarse, near, max_loss - near, fine])
    return np.unique(np.clip(grid, 0.0, max_loss))


def _hull(risks, best, level):
    """Least and greatest risk against which too little was won.

    Between two points of the grid the logarithm of the capital is taken as linear.
    """
    enough = -np.log1p(-level)
    places = np.flatnonzero(best < enough)
    if not len(places):  # Every risk was refuted, which is improbable.
        places = np.array([np.argmin(best)])
    first, last = places[0], places[-1]
    return (
        _crossing(risks, best, first, first - 1, enough),
        _crossing(risks, best, last, last + 1, enough),
    )


def _crossing(risks, best, inner, outer, enough):
    """Where the capital is just enough, between a possible risk and a refuted one."""
    if not 0 <= outer < len(risks) or best[inner] >= enough:
        return float(risks[inner])
    share = (enough - best[inner]) / (best[outer] - best[inner])
    return float(risks[inner] + share * (risks[outer] - risks[inner]))
