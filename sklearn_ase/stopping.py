"""Stopping rules: when the labels are enough."""

from abc import ABCMeta, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_ase._inference._intervals import METHODS

__all__ = ["BaseStop", "Plateau", "TargetWidth"]


class BaseStop(BaseEstimator, metaclass=ABCMeta):
    """Base class of the stopping rules.

    Attributes
    ----------
    needs_interval : bool
        Whether it looks at intervals, so that a risk that has none is refused.
    """

    needs_interval = False

    @abstractmethod
    def reason(self, estimates):
        """Say why no more labels are needed.

        Parameters
        ----------
        estimates : list of RiskEstimate or None
            The estimate after each label so far, None where there was none.

        Returns
        -------
        reason : str
            Empty to go on.
        """


class TargetWidth(BaseStop):
    """Stop when the interval is narrow enough.

    Parameters
    ----------
    width : float
        From end to end, in units of the loss.
    level : float, default=0.9
    method : {"anytime", "fixed"}, default="anytime"
        An interval that decides when to stop is looked at after every label, which
        the fixed one does not allow for: it would miss the risk too often.

    Examples
    --------
    >>> from sklearn_ase.risk import RiskEstimate
    >>> from sklearn_ase.stopping import TargetWidth
    >>> estimate = RiskEstimate(0.4, 0.01, n_labels=50, degrees_of_freedom=49)
    >>> TargetWidth(0.1).reason([estimate])
    'The 90 % interval is 0.0574 wide, at most 0.1.'
    """

    needs_interval = True

    def __init__(self, width, level=0.9, method="anytime"):
        self.width = width
        self.level = level
        self.method = method

    def reason(self, estimates):
        if not self.width > 0 or not 0 < self.level < 1:
            raise ValueError(
                f"width={self.width} must be greater than 0, and level={self.level} "
                "must lie between 0 and 1."
            )
        if self.method not in METHODS:
            raise ValueError(f"method={self.method!r} must be one of {METHODS}.")
        if not estimates or estimates[-1] is None or estimates[-1].refusal:
            return ""
        low, high = estimates[-1].interval(self.level, method=self.method)
        if high - low > self.width:
            return ""
        return (
            f"The {100 * self.level:g} % interval is {high - low:.3g} wide, at most "
            f"{self.width:g}."
        )


class Plateau(BaseStop):
    """Stop when the estimate has stopped moving.

    That it stands still does not make it right: with few labels it may rest on a
    surrogate that has yet to meet what it does not know. :class:`TargetWidth` promises
    more.

    Parameters
    ----------
    tolerance : float
        Greatest difference between any two of the last estimates.
    n_labels : int, default=25
        How many labels it has to last.

    Examples
    --------
    >>> from sklearn_ase.risk import RiskEstimate
    >>> from sklearn_ase.stopping import Plateau
    >>> values = (0.6, 0.41, 0.4, 0.4)
    >>> estimates = [RiskEstimate(v, 0.1, n_labels=n) for n, v in enumerate(values)]
    >>> Plateau(0.02, n_labels=3).reason(estimates)
    'The estimates of the last 3 labels differ by 0.01, at most 0.02.'
    """

    def __init__(self, tolerance, n_labels=25):
        self.tolerance = tolerance
        self.n_labels = n_labels

    def reason(self, estimates):
        if not (self.tolerance >= 0 and self.n_labels >= 2):
            raise ValueError(
                f"tolerance={self.tolerance} must be at least 0 and n_labels="
                f"{self.n_labels} at least 2."
            )
        # Labels told together share one estimate, which starts with the last of them.
        first = len(estimates) - self.n_labels
        while first > 0 and _same(estimates[first], estimates[first + 1]):
            first -= 1
        last = estimates[first:]
        if first < 0 or None in last or _same(last[0], last[-1]):
            return ""
        spread = np.ptp([estimate.value for estimate in last])
        if not spread <= self.tolerance:
            return ""
        return (
            f"The estimates of the last {self.n_labels} labels differ by {spread:.3g}, "
            f"at most {self.tolerance:g}."
        )


def _same(first, second):
    """Whether two estimates are one; NaN is like NaN."""
    if first is None or second is None:
        return first is second
    return repr(vars(first)) == repr(vars(second))
