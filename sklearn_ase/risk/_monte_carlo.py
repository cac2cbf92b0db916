"""Monte Carlo: the mean loss of a random sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._inference._steps import steps_with_power, variances_of_mean
from sklearn_ase.risk._base import BaseRisk, design_based

if TYPE_CHECKING:
    from sklearn_ase._inference._steps import Steps
    from sklearn_ase._state import PoolState
    from sklearn_ase.risk._estimate import RiskEstimate


class MonteCarlo(BaseRisk):
    """Mean of the observed losses.

    Valid only if every pick was uniform. The standard error has the
    finite-population factor ``sqrt(1 - M/N)``. As for the other
    estimators, what the surrogate expects of it counts as ten labels.

    Examples
    --------
    >>> from sklearn_ase.risk import MonteCarlo
    >>> MonteCarlo()
    MonteCarlo()
    """

    needs_query_proba = True
    allows_skips = True
    needs_uniform = True

    def obstacle(self, state: PoolState) -> str:
        obstacle = super().obstacle(state)
        if obstacle:
            return obstacle
        picks = state.settled
        uniform = 1.0 / (state.n_samples - np.arange(len(picks)))
        if not np.allclose(picks.query_proba, uniform, rtol=1e-9, atol=0.0):
            return (
                "MonteCarlo averages the labels of a plain random sample, but some "
                "were picked with unequal probabilities. Use LURE() or CorrectedASE() "
                "with these labels, or acquisition=Uniform() for new ones."
            )
        return ""

    def estimate(self, state: PoolState) -> RiskEstimate:
        self.check(state)
        picks, n_samples = state.settled, state.n_samples
        losses, n_picks = picks.losses[picks.answered], len(picks)
        n_labels, is_known = len(losses), n_picks == n_samples
        steps, seen = self.steps(state), 0.0
        _, believed = variances_of_mean(*steps[:2], n_samples)
        if n_labels > 1 and not is_known:
            seen = losses.var(ddof=1) * (1.0 - n_picks / n_samples) / n_labels
        mean = losses.mean()
        return design_based(mean, (seen, believed), losses - mean, steps, state)

    def steps(self, state: PoolState) -> Steps:
        return steps_with_power(state, 0.0)
