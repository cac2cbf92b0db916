"""Monte Carlo: the mean loss of a random sample."""

import numpy as np

from sklearn_ase import _kernels
from sklearn_ase.risk._base import (
    BaseRisk,
    believed_loss_variance,
    design,
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
    needs_uniform = True

    def estimate(self, state):
        losses, query_proba = design(state, "MonteCarlo")
        n_labels, n_samples = len(losses), state.n_samples
        uniform = 1.0 / (n_samples - np.arange(n_labels))
        if not np.allclose(query_proba, uniform, rtol=1e-9, atol=0.0):
            raise ValueError(
                "MonteCarlo averages the labels of a plain random sample, but some "
                "were picked with unequal probabilities. Use LURE() or CorrectedASE() "
                "with these labels, or acquisition=Uniform() for new ones."
            )
        seen = believed = 0.0
        if n_labels < n_samples:
            weights = _kernels.step_weights(n_labels, n_samples)
            believed = weights**2 @ believed_loss_variance(state)
        if 1 < n_labels < n_samples:
            seen = losses.var(ddof=1) * (1.0 - n_labels / n_samples) / n_labels
        return design_based(losses.mean(), (seen, believed), n_labels, n_samples)
