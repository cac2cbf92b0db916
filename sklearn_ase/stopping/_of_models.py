"""Rules about the choice of one of several models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sklearn_ase._utils._checks import check_level, check_number
from sklearn_ase.stopping._base import BaseStop

if TYPE_CHECKING:
    from sklearn_ase._model_selection._selection import ModelSelection
    from sklearn_ase.risk._either import Estimate


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
