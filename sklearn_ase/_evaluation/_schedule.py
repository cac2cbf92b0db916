"""When the surrogate is fitted again, in numbers of labels."""

import math
import numbers

# A surrogate that takes labels between refits waits for at least so many of them.
_LEAST_STEP = 5


def check_refit(refit):
    """Check a schedule: a factor, a number of labels, or a list of label counts."""
    if isinstance(refit, (bool, str)) or refit is None:
        raise TypeError(
            f"refit must be a factor, a number of labels or a list, got {refit!r}."
        )
    if isinstance(refit, numbers.Integral):
        valid = refit >= 1
    elif isinstance(refit, numbers.Real):
        valid = refit > 1
    else:
        refit = sorted(int(count) for count in refit)
        valid = not refit or refit[0] >= 1
    if not valid:
        raise ValueError(
            f"refit={refit} must be a factor > 1 (a float), a number of labels >= 1 "
            "(an int) or a list of label counts >= 1."
        )
    return refit


def is_factor(refit):
    """Whether the schedule is a factor by which the number of labels grows."""
    return isinstance(refit, numbers.Real) and not isinstance(refit, numbers.Integral)


def next_refit(refit, n_labels, can_wait=False):
    """Label count of the first refit after one at `n_labels`.

    Parameters
    ----------
    refit : float, int or list of int
        See :func:`check_refit`.
    n_labels : int
    can_wait : bool, default=False
        Whether the surrogate takes labels between refits.

    Returns
    -------
    n_labels : int or None
        None if there is no further refit.
    """
    if isinstance(refit, list):
        return next((count for count in refit if count > n_labels), None)
    if isinstance(refit, numbers.Integral):
        return n_labels + refit
    step = _LEAST_STEP if can_wait else 1
    return max(n_labels + step, math.ceil(n_labels * refit))
