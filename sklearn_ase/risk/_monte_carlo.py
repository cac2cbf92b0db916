"""Monte Carlo: the mean loss of a random sample."""

import numpy as np

from sklearn_ase._inference import _kernels
from sklearn_ase.risk._base import (
    BaseRisk,
    believed_loss_variance,
    check_design,
    design_based,
)


class MonteCarlo(BaseRisk):
    """Mean of the observed losses.

    Valid only when every pick was uniform. The standard error carries the
    finite-population factor ``sqrt(1 - M/N)``; like that of the other risks it is not
    smaller than what the surrogate expects it to be.

    Examples
    --------
    >>> from sklearn_ase.risk import MonteCarlo
    >>> MonteCarlo()
    MonteCarlo()
    """

    needs_query_proba = True
    allows_skips = True
    needs_uniform = True

    def estimate(self, state):
        design, n_samples = check_design(state, "MonteCarlo"), state.n_samples
        losses, n_picks = design.losses[design.answered], len(design.answered)
        n_labels, is_known = len(losses), n_picks == n_samples
        uniform = 1.0 / (n_samples - np.arange(n_picks))
        if not np.allclose(design.query_proba, uniform, rtol=1e-9, atol=0.0):
            raise ValueError(
                "MonteCarlo averages the labels of a plain random sample, but some "
                "were picked with unequal probabilities. Use LURE() or CorrectedASE() "
                "with these labels, or acquisition=Uniform() for new ones."
            )
        seen = believed = 0.0
        if not is_known:
            weights = _kernels.step_weights(n_picks, n_samples)
            believed = weights**2 @ believed_loss_variance(state, design)
        if n_labels > 1 and not is_known:
            seen = losses.var(ddof=1) * (1.0 - n_picks / n_samples) / n_labels
        return design_based(losses.mean(), (seen, believed), design)
