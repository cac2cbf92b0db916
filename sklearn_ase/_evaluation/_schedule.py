"""When the surrogate is fitted again, in numbers of labels."""

import math
import numbers
from collections.abc import Sequence

import numpy as np

from sklearn_ase._utils._checks import is_number, shown

# A surrogate that takes labels between refits waits for at least this many of them, and
# for this share of the rows of its last fit: fewer rows hardly change it.
_LEAST_STEP, _LEAST_SHARE = 5, 0.02
# After the last label it is fitted again if this part of the step was reached.
_LAST_PART = 0.5


def check_refit(refit):
    """Check a schedule: a factor, a number of labels, or a list of label counts."""
    is_list = isinstance(refit, Sequence | np.ndarray) and not isinstance(refit, str)
    counts = list(refit) if is_list and np.ndim(refit) == 1 else [refit]
    if is_factor(refit) and not is_list:
        valid = is_number(refit) and 1 < refit < math.inf
    else:
        are_ints = [is_number(c) and isinstance(c, numbers.Integral) for c in counts]
        valid = all(are_ints) and min(counts, default=1) >= 1
    if not valid:
        raise ValueError(
            f"refit={shown(refit)} must be a factor > 1 (a float), a number of labels "
            ">= 1 (an int) or a list of label counts >= 1."
        )
    return sorted(map(int, counts)) if is_list else refit


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
    return max(n_labels + _step(n_fitted), math.ceil(n_labels * refit))


def last_refit(refit, n_labels, n_fitted=None):
    """Label count from which to refit after the last label; see `next_refit`."""
    step = _step(n_fitted) if is_factor(refit) else 1
    return n_labels + max(1, math.ceil(_LAST_PART * step))


def _step(n_fitted):
    """Least number of labels between two refits."""
    if n_fitted is None:
        return 1
    return max(_LEAST_STEP, math.ceil(_LEAST_SHARE * n_fitted))
