"""LURE: observed losses, weighted by the probability of their pick."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn_ase._inference._steps import steps_with_power
from sklearn_ase.risk._base import BaseRisk, mean_of_steps

if TYPE_CHECKING:
    from sklearn_ase._inference._steps import Steps
    from sklearn_ase._state import PoolState
    from sklearn_ase.risk._estimate import RiskEstimate


class LURE(BaseRisk):
    """Levelled unbiased risk estimator.

    ``(1/M) sum v_m l_m`` with ``v_m = 1 + (N-M)/(N-m) (1/((N-m+1) q_m) - 1)``,
    computed as the equal weighted mean of unbiased one-step estimates, which gives
    it a standard error. Of other values than the loss, ``l_m`` is the distance from
    the least value of the row, or from the greatest one if most rows are closer to it.

    References
    ----------
    .. [1] Farquhar et al., "On Statistical Bias in Active Learning", ICLR 2021.
    .. [2] Kossen et al., "Active Surrogate Estimators", NeurIPS 2022, equation 2.

    Examples
    --------
    >>> from sklearn_ase.risk import LURE
    >>> LURE()
    LURE()
    """

    needs_query_proba = True
    allows_skips = True

    def estimate(self, state: PoolState) -> RiskEstimate:
        self.check(state)
        return mean_of_steps(self.steps(state), state)

    def steps(self, state: PoolState) -> Steps | None:
        return steps_with_power(state, 0.0)
