"""Quantiles and limits of the intervals."""

import numpy as np

from sklearn_ase._utils._checks import check_choice, check_number

METHODS = ("fixed", "anytime")
# Below this number of labels there is no interval.
MIN_LABELS = 25
# The anytime interval is tightest, relative to the fixed one, a few times later.
_ANYTIME_START = 5.0


def check_interval(level, method):
    """Refuse an interval that does not exist."""
    check_number(level, "level", 0, 1, ends="()")
    check_choice(method, "method", METHODS)


def anytime_quantile(level, degrees_of_freedom, n_labels):
    """Bound that a t statistic crosses at any time with probability 1 - level.

    The Bayes factor of the t statistic against an effect with a normal prior is a
    non-negative martingale of mean 1, so by Ville's inequality it ever exceeds
    ``1 / (1 - level)`` with probability ``1 - level`` at most; solved for t, this is
    eq. T6 of docs/trust.md.
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
