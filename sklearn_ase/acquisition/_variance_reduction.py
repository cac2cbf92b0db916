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
    n_samples).

    Examples
    --------
    >>> from sklearn_ase.acquisition import VarianceReduction
    >>> VarianceReduction()
    VarianceReduction()
    """

    needs_member_loss = True

    def score_samples(self, state: PoolState) -> Floats:
        """Expected decrease of the variance by the label of each sample."""
        member_loss = state.belief.member_loss
        if member_loss is None or len(member_loss) < 2:
            raise ValueError(
                "VarianceReduction compares the members of the surrogate, but it has "
                "fewer than two. Use an ensemble as surrogate or another acquisition."
            )
        covariance = _kernels.covariance_with_pool_risk(member_loss)
        variance = member_loss.var(axis=0) + state.belief.loss_variance(state.loss)
        return np.divide(
            covariance**2, variance, out=np.zeros_like(variance), where=variance > 0
        )
