"""Ends of confidence intervals, and the limits within which there are any.

The equations are those of docs/trust_method.md.
"""

import numpy as np
from scipy import stats

from sklearn_ase._utils._checks import check_choice, check_level

METHODS = ("fixed", "anytime", "anytime_normal")
TARGETS = ("pool", "population")
# With fewer labels a loss without a bound has no interval, and whether the surrogate is
# good cannot be told.
MIN_LABELS = 25
# The anytime interval is tightest, relative to the fixed one, a few times later.
_ANYTIME_START = 5.0
# Fewer degrees of freedom than these would make an interval that says nothing.
LEAST_DEGREES = 2.0
# With fewer free rows than that, labels may have missed all rows with a loss.
_MOST_ARE_FREE = 0.9
# On the logarithmic scale an end is at most so far from the estimate.
_MOST_LOG = 5.0


def fixed_quantiles(level, degrees_of_freedom):
    """Quantiles of Student's t and of the normal distribution, for two-sided ends."""
    tail = (1 + level) / 2
    return stats.t.ppf(tail, degrees_of_freedom), stats.norm.ppf(tail)


def label_degrees(state):
    """Degrees of freedom of what the scatter of labels tells: their number minus one.

    Only labels count that could have changed the answer. If precision is asked, these
    are the labels of rows that the model predicted as positive; for a group of rows
    they are those inside. Any label can change the mean loss.

    Parameters
    ----------
    state : PoolState

    Returns
    -------
    degrees : float
    """
    picks = state.settled
    all_degrees = max(picks.n_labels - 1.0, 1.0)
    if not state.is_question:
        return all_degrees
    least, most = state.loss.values.limits()
    rows = picks.indices[picks.answered]
    degrees = np.sum(most[rows] > least[rows]) - 1.0
    return float(max(degrees, min(all_degrees, LEAST_DEGREES)))


def check_interval(level, method, target="pool"):
    """Refuse an interval that does not exist."""
    check_level(level)
    check_choice(method, "method", METHODS)
    check_choice(target, "target", TARGETS)


def anytime_quantile(level, degrees_of_freedom, n_labels):
    """Bound that a t statistic crosses at any time with probability 1 - level.

    The Bayes factor of the t statistic against an effect with a normal prior is a
    non-negative martingale of mean 1, so by Ville's inequality it ever exceeds
    ``1 / (1 - level)`` with probability ``1 - level`` at most; solved for t, this is
    eq. T6 of docs/trust_method.md.
    """
    if np.isinf(degrees_of_freedom):
        growth = 1.0 + n_labels / _ANYTIME_START
        log_ratio = np.log(growth) - 2.0 * np.log1p(-level)
        return np.sqrt(log_ratio * growth / (growth - 1.0))
    n = degrees_of_freedom + 1.0
    growth = 1.0 + n / _ANYTIME_START
    log_ratio = (np.log(growth) - 2.0 * np.log1p(-level)) / n
    if log_ratio >= np.log(growth):
        return np.inf  # So few labels can never exclude any risk.
    excess = np.expm1(log_ratio)
    return np.sqrt(degrees_of_freedom * excess / (1.0 - (1.0 + excess) / growth))


def reach_with_unseen(variance, unseen, room, quantile, normal_quantile):
    """Distance of an end from the estimate, with losses that no label has shown.

    If the risk is greater than the estimate by d, then losses were missed that add
    ``unseen * d * (room - d)`` to its variance. The end is where d is as many standard
    errors as the quantile says, eq. T12. Without a surrogate this is Wilson's interval.

    Parameters
    ----------
    variance : float
        Of the estimate.
    unseen : float
        Variance that a unit of missed losses adds; infinite if no label could have
        shown one.
    room : float
        Greatest loss minus twice the estimate, for losses from 0 on.
    quantile, normal_quantile : float
        Of the estimate's error, and of that by missed losses.

    Returns
    -------
    reach : float
    """
    if np.isinf(unseen):
        return np.inf  # No label could have shown a loss.
    if not (unseen > 0 and room > 0):
        return quantile * np.sqrt(variance) if variance > 0 else 0.0
    if np.isinf(quantile):
        return np.inf  # So few labels exclude nothing.
    added = normal_quantile**2 * unseen
    half = 0.5 * added * room
    total = 1.0 + added
    return (half + np.sqrt(half**2 + total * quantile**2 * variance)) / total


def missed_share(level, free_share, n_picks):
    """Share of the rows that all labels may have missed, if few rows are left.

    Each of k rows has no label with probability `free_share`.

    Parameters
    ----------
    level, free_share : float
    n_picks : int

    Returns
    -------
    share : float
    """
    if free_share > _MOST_ARE_FREE:
        return 0.0
    n_rows = np.log(0.5 * (1.0 - level)) / np.log(free_share)
    return n_rows * (1.0 - free_share) / n_picks


def wilson_ends(value, variance, greatest, quantile):
    """Ends of Wilson's interval, for an estimate with a known variance.

    The labels are worth as many of a plain sample as have this variance if all losses
    are 0 or the greatest one.

    Parameters
    ----------
    value, variance : float
        Of the estimate.
    greatest : float
        Greatest possible loss.
    quantile : float

    Returns
    -------
    low, high : float
    """
    share = np.clip(value / greatest, 1e-9, 1.0 - 1e-9)
    product = share * (1.0 - share)
    of_one = quantile**2 * variance / greatest**2 / product
    half = np.sqrt(of_one * product + 0.25 * of_one**2)
    middle = share + 0.5 * of_one
    return (
        greatest * (middle - half) / (1.0 + of_one),
        greatest * (middle + half) / (1.0 + of_one),
    )


def log_reach(value, error, quantile):
    """Distance of the upper end from an estimate of a loss without a bound.

    The end is taken on the logarithmic scale: such losses are skew.
    """
    if not value > 0:
        return quantile * error
    return value * np.expm1(min(quantile * error / value, _MOST_LOG))


def ends_on_scale(scale, centre, error):
    """Ends that are at the same distance from the middle on some scale.

    Parameters
    ----------
    scale : {"linear", "log", "log_complement", "atanh"}
    centre : float
    error : float
        Distance on the linear scale, to first order.

    Returns
    -------
    low, high : float
    """
    if scale == "log" and centre != 0:
        factor = np.exp(error / abs(centre))
        return tuple(sorted((centre / factor, centre * factor)))
    if scale == "log_complement" and centre < 1:
        factor = np.exp(error / (1.0 - centre))
        return 1.0 - (1.0 - centre) * factor, 1.0 - (1.0 - centre) / factor
    if scale == "atanh" and abs(centre) < 1:
        reach = error / (1.0 - centre**2)
        return tuple(np.tanh(np.arctanh(centre) + np.array([-reach, reach])))
    return centre - error, centre + error


def tail_degrees(deviations):
    """Degrees of freedom of a variance from the scatter of heavy-tailed values.

    ``2 (n - 1) / (kurtosis - 1)``, at most n - 1: as many as for normal values, and
    few if a few values carry the variance.

    Parameters
    ----------
    deviations : ndarray of shape (n_values,)

    Returns
    -------
    degrees : float
    """
    squares = deviations**2
    n, square = len(squares), np.mean(squares)
    if not square > 0:
        return float(max(n - 1, 1))
    excess = np.mean(squares**2) / square**2 - 1.0
    return float(np.clip(2.0 * (n - 1) / max(excess, 1e-9), 1.0, max(n - 1, 1)))
