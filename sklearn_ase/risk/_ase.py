"""ASE: the mean loss that the surrogate expects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_ase.risk._base import BaseRisk
from sklearn_ase.risk._estimate import RiskEstimate

if TYPE_CHECKING:
    from sklearn_ase._state import PoolState


class ASE(BaseRisk):
    """Active surrogate estimate, ``mean_i g(x_i)`` over the pool.

    Its error is the error of the surrogate, which it cannot see. It therefore has no
    standard error and no confidence interval, only a ``member_spread``.

    Parameters
    ----------
    use_observed : bool, default=False
        Use the observed loss in place of the expected one where a label is known.

    References
    ----------
    .. [1] Kossen et al., "Active Surrogate Estimators", NeurIPS 2022, equation 4.

    Examples
    --------
    >>> from sklearn_ase.risk import ASE
    >>> ASE(use_observed=True)
    ASE(use_observed=True)
    """

    needs_belief = True
    leans_on_surrogate = True

    def __init__(self, use_observed: bool = False) -> None:
        self.use_observed = use_observed

    def estimate(self, state: PoolState) -> RiskEstimate:
        self.check(state)
        losses: Any = state.expected_loss
        if self.use_observed:
            losses = losses.copy()
            losses[state.indices] = state.losses
        member_risk = state.belief.member_risk
        spread = np.std(member_risk, ddof=1) if len(member_risk) > 1 else np.nan
        if self.use_observed:
            spread *= 1.0 - state.n_labels / state.n_samples
        return RiskEstimate(
            value=float(losses.mean()),
            standard_error=np.nan,
            n_labels=state.n_labels,
            member_spread=float(spread),
            refusal="ASE has no confidence interval: its error is the surrogate's, "
            "which no label measures. Use GuardedASE() or CorrectedASE() with the same "
            "labels; member_spread is the spread of the surrogate's members.",
        )
