"""Stopping rules: when to stop buying labels."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_ase._inference._bounds import check_interval
from sklearn_ase._utils._checks import check_integer, check_level, check_number
from sklearn_ase._utils._typing import Method

if TYPE_CHECKING:
    from sklearn_ase._evaluation._choice import ModelSelection
    from sklearn_ase.risk import Estimate


# The base class.


class BaseStop(BaseEstimator, metaclass=ABCMeta):
    """Base class of the stopping rules. A rule needs one method, :meth:`reason`.

    :func:`sklearn_ase.testing.check_stopping` checks whether a rule works.

    Attributes
    ----------
    needs_interval : bool
        Whether the rule reads intervals. If True, a risk estimator that has no
        intervals is refused at the start.
    needs_models : bool
        Whether the rule is about the choice of one of several models. It then has a
        method ``reason_to_choose(run)`` that gets the :class:`ModelSelection`.
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

    flags: tuple[str, ...] = ("needs_interval",)
    needs_interval: bool = False
    needs_models: bool = False

    def validate(self) -> None:
        """Check the parameters. Called at the start, before a label is spent.

        The default accepts everything.

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """

    @abstractmethod
    def reason(self, estimates: Sequence[Estimate]) -> str:
        """Explain why no more labels are needed.

        Parameters
        ----------
        estimates : list of Estimate
            The estimate after each label, in the order in which the labels came. Never
            empty, and no entry is None: the rule is not called before there is an
            estimate. After labels from which no estimate could be made, the list
            starts again. Labels that came together share one estimate. An estimate may
            be without an interval; its `refusal` then explains why.

        Returns
        -------
        reason : str
            Empty to continue.
        """


# Rules that look at the estimates of one model.


class TargetWidth(BaseStop):
    """Stop when the interval is narrow enough.

    Parameters
    ----------
    width : float
        Distance between the two ends, in units of the loss.
    level : float, default=0.9
        Coverage of the interval.
    method : {"anytime", "fixed"}, default="anytime"
        The interval is checked after every label. The first two allow for that,
        ``"fixed"`` does not: it would miss the risk too often. See
        :meth:`Estimate.interval`.

    Examples
    --------
    >>> from sklearn_ase.risk import Estimate
    >>> from sklearn_ase.stopping import TargetWidth
    >>> estimate = Estimate.of_mean(0.4, 0.01, n_labels=50, degrees_of_freedom=49)
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
    >>> from sklearn_ase.risk import Estimate
    >>> from sklearn_ase.stopping import Plateau
    >>> values = (0.6, 0.41, 0.4, 0.4)
    >>> estimates = [Estimate(v, 0.1, n_labels=n) for n, v in enumerate(values)]
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

    def _last(self, estimates: Sequence[Estimate]) -> Sequence[Estimate]:
        """The estimates to compare; none if there are fewer than `n_labels`."""
        first = len(estimates) - self.n_labels
        if first < 0:
            return []
        # Labels that came together share one estimate, which is valid only from the
        # last of them on. So start at the last label of a batch.
        while first > 0 and _same(estimates[first], estimates[first + 1]):
            first -= 1
        return estimates[first:]


def _same(first: Estimate, second: Estimate) -> bool:
    """Whether two estimates are one, with NaN equal to NaN."""
    return repr(vars(first)) == repr(vars(second))


# Rules about a choice between models.


class _ModelStop(BaseStop):
    """Rule about the choice of one of several models."""

    needs_models = True

    def __init__(self, level: float = 0.9) -> None:
        self.level = level

    def validate(self) -> None:
        """Check that the level is between 0 and 1."""
        check_level(self.level)

    def reason(self, estimates: Sequence[Estimate]) -> str:
        """Return an empty text: estimates of one model do not decide."""
        self.validate()
        return ""


class OneCandidate(_ModelStop):
    """Stop when only one model may be the best.

    For :class:`ActiveModelSelector`. Models that predict the same at all rows count as
    one, because no label tells them apart.

    Parameters
    ----------
    level : float, default=0.9
        Probability that the model that is left is the best. All comparisons count
        together, and looks after every label are allowed for: see ``"anytime"`` of
        :meth:`Comparison.candidates`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase import ActiveModelSelector
    >>> from sklearn_ase.stopping import OneCandidate
    >>> y = np.arange(200) % 2
    >>> selector = ActiveModelSelector(stop=OneCandidate(), random_state=0)
    >>> selector.fit(None, y, predictions={"good": y, "poor": 1 - y}).stop_reason_
    "Only 'good' may be the best."
    """

    def reason_to_choose(self, run: ModelSelection) -> str:
        """Explain that no other model may be the best.

        Parameters
        ----------
        run : ModelSelection

        Returns
        -------
        reason : str
            Empty to continue.
        """
        comparison = run.compare()
        names = comparison.candidates(self.level, "anytime")
        if not set(names) <= set(comparison.same_as_best()):
            return ""
        others = "" if len(names) == 1 else ", or one that predicts the same"
        return f"Only {comparison.best_name!r} may be the best{others}."


class RegretBelow(_ModelStop):
    """Stop when no model is much better than the chosen one.

    For :class:`ActiveModelSelector`.

    Parameters
    ----------
    regret : float
        How much better another model may be at most, in units of the metric.
    level : float, default=0.9
        See :class:`OneCandidate`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase import ActiveModelSelector
    >>> from sklearn_ase.stopping import RegretBelow
    >>> y = np.arange(200) % 2
    >>> near = np.where(np.arange(200) < 2, 1 - y, y)  # Two rows differ.
    >>> selector = ActiveModelSelector(n_labels=100, stop=RegretBelow(0.02))
    >>> selector.fit(None, y, predictions={"good": y, "near": near}).stop_reason_
    'No model is better than the chosen one by more than 0..., at most 0.02.'
    """

    def __init__(self, regret: float, level: float = 0.9) -> None:
        self.regret = regret
        self.level = level

    def validate(self) -> None:
        """Check that the regret is positive, and the level between 0 and 1."""
        super().validate()
        check_number(self.regret, "regret", 0, ends="()")

    def reason_to_choose(self, run: ModelSelection) -> str:
        """Explain that no model is much better; see :class:`OneCandidate`."""
        regret = run.compare().regret(self.level, "anytime")
        if regret > self.regret:
            return ""
        return (
            f"No model is better than the chosen one by more than {regret:.3g}, at "
            f"most {self.regret:g}."
        )


__all__ = ["BaseStop", "OneCandidate", "Plateau", "RegretBelow", "TargetWidth"]
