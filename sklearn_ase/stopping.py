"""Rules that look at the estimates of one model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._inference._intervals import check_interval
from sklearn_ase._utils._checks import check_integer, check_number
from sklearn_ase._utils._typing import Method
from sklearn_ase.stopping._base import BaseStop

if TYPE_CHECKING:
    from sklearn_ase.risk._either import Estimate


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

    def __init__(
        self, width: float, level: float = 0.9, method: Method = "anytime"
    ) -> None:
        self.width = width
        self.level = level
        self.method = method

    def validate(self) -> None:
        """Check that the width is positive, and that the interval exists."""
        check_number(self.width, "width", 0, ends="()")
        check_interval(self.level, self.method)

    def reason(self, estimates: Sequence[Estimate]) -> str:
        """Explain that the last interval is narrow enough."""
        self.validate()
        if estimates[-1].refusal_of(self.method):
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

    def __init__(self, tolerance: float, n_labels: int = 25) -> None:
        self.tolerance = tolerance
        self.n_labels = n_labels

    def validate(self) -> None:
        """Check that tolerance >= 0 and n_labels >= 2."""
        check_number(self.tolerance, "tolerance", 0)
        check_integer(self.n_labels, "n_labels", 2)

    def reason(self, estimates: Sequence[Estimate]) -> str:
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
