"""Base class of the stopping rules."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sklearn.base import BaseEstimator

if TYPE_CHECKING:
    from sklearn_ase.risk._either import Estimate


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
        estimates : list of RiskEstimate
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
