"""Variance reduction: label what reduces the uncertainty about the risk most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._utils._typing import Floats
from sklearn_ase.acquisition._base import BaseAcquisition
from sklearn_ase.belief import _kernels

if TYPE_CHECKING:
    from sklearn_ase._state import PoolState


class VarianceReduction(BaseAcquisition):
    """Expected decrease of the members' variance of the pool risk.

    The score is ``Cov_e(G_e, g_e(x))² / (Var_e g_e(x) + Var_π L)``. Here ``g_e(x)`` is
    the loss that member e expects at x, and ``G_e`` the pool risk that it expects. The
    score is the variance of the best linear prediction of the pool risk from the loss
    at x. It needs a surrogate with members, and keeps an array of shape (n_members,
    n_samples). A pool that is read in chunks takes two passes for each fit instead.

    Examples
    --------
    >>> from sklearn_ase.acquisition import VarianceReduction
    >>> VarianceReduction()
    VarianceReduction()
    """

    needs_member_loss = True
    is_local = True  # Given the pool risk of each member.
    reads = ("risk_covariance", "member_variance")

    def score_samples(self, state: PoolState) -> Floats:
        """Expected decrease of the variance by the label of each sample."""
        belief, member_loss = state.belief, state.belief.member_loss
        if hasattr(belief, "risk_covariance"):  # The pool is read in chunks.
            covariance, spread = belief.risk_covariance(), belief.member_variance()
        else:
            _kernels.check_members(member_loss)
            covariance = _kernels.covariance_with_pool_risk(member_loss)
            spread = member_loss.var(axis=0)
        variance = spread + belief.loss_variance(state.loss)
        return np.divide(
            covariance**2, variance, out=np.zeros_like(variance), where=variance > 0
        )
