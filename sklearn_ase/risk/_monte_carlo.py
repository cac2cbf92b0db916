"""Monte Carlo: the mean loss of a random sample."""

import numpy as np

from sklearn_ase.risk._base import BaseRisk, design
from sklearn_ase.risk._estimate import RiskEstimate


class MonteCarlo(BaseRisk):
    """Mean of the observed losses.

    Valid only when every pick was uniform. The standard error carries the
    finite-population factor ``sqrt(1 - M/N)``.

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
        error = np.nan
        if n_labels > 1:
            factor = np.sqrt((1.0 - n_labels / n_samples) / n_labels)
            error = float(losses.std(ddof=1) * factor)
        elif n_labels == n_samples:
            error = 0.0
        return RiskEstimate(
            value=float(losses.mean()),
            standard_error=error,
            n_labels=n_labels,
            degrees_of_freedom=max(n_labels - 1, 1),
        )
