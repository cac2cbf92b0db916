"""Stopping rules: when to stop buying labels."""

from abc import ABCMeta, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_ase._inference._intervals import check_interval
from sklearn_ase._utils._checks import check_integer, check_number

__all__ = ["BaseStop", "Plateau", "TargetWidth"]


class BaseStop(BaseEstimator, metaclass=ABCMeta):
    """Base class of the stopping rules. A rule needs one method, :meth:`reason`.

    :func:`sklearn_ase.testing.check_stopping` checks whether a rule works.

    Attributes
    ----------
    needs_interval : bool
        Whether the rule reads intervals. If True, a risk estimator that has no
        intervals is refused at the start.
    flags : tuple of str
        Names of the class attributes that the package reads.

    Examples
    --------
    >>> from sklearn_ase.stopping import BaseStop
    >>> class GoodEnough(BaseStop):
    ...     def __init__(self, risk):
    ...         self.risk = risk
    ...
    ...     def reason(self, estimates):
    ...         low, high = estimates[-1].interval(0.9, method="anytime")
    ...         return f"The risk is below {self.risk}." if high < self.risk else ""
    """

    flags = ("needs_interval",)
    needs_interval = False

    def validate(self):
        """Check the parameters. Called at the start, before a label is spent.

        The default accepts everything.

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """

    @abstractmethod
    def reason(self, estimates):
        """Explain why no more labels are needed.

        Parameters
        ----------
        estimates : list of RiskEstimate
            The estimate after each label, in the order in which the labels came. Never
            empty, and no entry is None: the rule is not called before there is an
            estimate. After labels from which no estimate could be made, the list
            starts anew. Labels that came together share one estimate. An estimate may
            be without an interval; its `refusal` then explains why.

        Returns
        -------
        reason : str
            Empty to continue.
        """


class TargetWidth(BaseStop):
    """Stop when the interval is narrow enough.

    Parameters
    ----------
    width : float
        Distance between the two ends, in units of the loss.
    level : float, default=0.9
        Coverage of the interval.
    method : {"anytime", "anytime_normal", "fixed"}, default="anytime"
        The interval is checked after every label. The first two allow for that,
        ``"fixed"`` does not: it would miss the risk too often. See
        :meth:`RiskEstimate.interval`.

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

    def validate(self):
        """Check that the width is positive, and that the interval exists."""
        check_number(self.width, "width", 0, ends="()")
        check_interval(self.level, self.method)

    def reason(self, estimates):
        """Explain that the last interval is narrow enough."""
        self.validate()
        if estimates[-1].refusal:
            return ""
        low, high = estimates[-1].interval(self.level, method=self.method)
        if high - low > self.width:
            return ""
        return (
            f"The {100 * self.level:g} % interval is {high - low:.3g} wide, at most "
            f"{self.width:g}."
        )


class Plateau(BaseStop):
    """Stop when the estimate has stopped changing.

    A stable estimate can still be wrong. With few labels it may come from a surrogate
    that has not yet seen what it does not know. :class:`TargetWidth` is safer.

    Parameters
    ----------
    tolerance : float
        Greatest difference between any two of the last estimates.
    n_labels : int, default=25
        Number of last labels whose estimates are compared.

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

    def validate(self):
        """Check that tolerance >= 0 and n_labels >= 2."""
        check_number(self.tolerance, "tolerance", 0)
        check_integer(self.n_labels, "n_labels", 2)

    def reason(self, estimates):
        """Explain that the last estimates are close to each other."""
        self.validate()
        last = self._last(estimates)
        # A single batch has only one estimate, which cannot show a plateau.
        if not last or _same(last[0], last[-1]):
            return ""
        spread = np.ptp([estimate.value for estimate in last])
        if not spread <= self.tolerance:
            return ""
        return (
            f"The estimates of the last {self.n_labels} labels differ by {spread:.3g}, "
            f"at most {self.tolerance:g}."
        )

    def _last(self, estimates):
        """The estimates to compare; none if there are fewer than `n_labels`."""
        first = len(estimates) - self.n_labels
        if first < 0:
            return []
        # Labels that came together share one estimate, which is valid only from the
        # last of them on. So start at the last label of a batch.
        while first > 0 and _same(estimates[first], estimates[first + 1]):
            first -= 1
        return estimates[first:]


def _same(first, second):
    """Whether two estimates are one, with NaN equal to NaN."""
    return repr(vars(first)) == repr(vars(second))
