"""Corrected ASE: the surrogate's estimate, corrected by what the labels showed."""

from sklearn_ase._inference import _kernels
from sklearn_ase._inference._steps import moments_with_prior, over_answerable
from sklearn_ase.risk._base import BaseRisk, mean_of_steps


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

    def estimate(self, state):
        self.check(state)
        picks = state.settled
        steps = _kernels.step_estimates(
            picks.losses,
            picks.query_proba,
            state.n_samples,
            picks.expected_loss,
            picks.free_expected_loss,
        )
        steps = over_answerable(steps, state)
        residual, _ = moments_with_prior(state)
        return mean_of_steps(steps, residual / state.n_samples**2, state)
