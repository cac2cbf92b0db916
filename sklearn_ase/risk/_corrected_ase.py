"""Corrected ASE: the surrogate's estimate, corrected by what the labels showed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn_ase._inference._steps import steps_with_power
from sklearn_ase.risk._base import BaseRisk, mean_of_steps

if TYPE_CHECKING:
    from sklearn_ase._inference._steps import Steps
    from sklearn_ase._state import PoolState
    from sklearn_ase.risk._estimate import RiskEstimate


class CorrectedASE(BaseRisk):
    """Surrogate estimate plus the weighted surprise of each label.

    Each step estimates the pool risk by
    ``(sum_{s<m} l_s + sum_{U_m} g_m + (l_m - g_m(x_m)) / q_m) / N`` with the
    surrogate *before* label m. It is unbiased whatever the surrogate, because
    ``g_m`` and ``q_m`` are fixed before the label is seen. The better the surrogate,
    the smaller the variance. With ``g = 0`` it is :class:`LURE`.

    Examples
    --------
    >>> from sklearn_ase.risk import CorrectedASE
    >>> CorrectedASE()
    CorrectedASE()
    """

    needs_query_proba = True
    allows_skips = True

    def estimate(self, state: PoolState) -> RiskEstimate:
        self.check(state)
        return mean_of_steps(self.steps(state), state)

    def steps(self, state: PoolState) -> Steps | None:
        return steps_with_power(state, 1.0)
