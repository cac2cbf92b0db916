"""When the surrogate is fitted again, in numbers of labels."""

import math
import numbers

# A surrogate that takes labels between refits waits for at least so many of them, and
# for this share of the rows of its last fit: fewer rows hardly change it.
_LEAST_STEP, _LEAST_SHARE = 5, 0.01


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


def next_refit(refit, n_labels, n_fitted=None):
    """Label count of the first refit after one at `n_labels`.

    Parameters
    ----------
    refit : float, int or list of int
        See :func:`check_refit`.
    n_labels : int
    n_fitted : int, default=None
        Number of rows of that fit, if the surrogate takes labels between refits.

    Returns
    -------
    n_labels : int or None
        None if there is no further refit.
    """
    if isinstance(refit, list):
        return next((count for count in refit if count > n_labels), None)
    if isinstance(refit, numbers.Integral):
        return n_labels + refit
    step = 1
    if n_fitted is not None:
        step = max(_LEAST_STEP, math.ceil(_LEAST_SHARE * n_fitted))
    return max(n_labels + step, math.ceil(n_labels * refit))
