"""The simple acquisitions: each gives the rows one score of what labels are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_ase._utils._typing import Floats
from sklearn_ase.acquisition._base import BaseAcquisition
from sklearn_ase.belief import _kernels

if TYPE_CHECKING:
    from sklearn_ase._state import PoolState


class Uniform(BaseAcquisition):
    """The same score for every sample, which gives a plain random sample.

    Examples
    --------
    >>> from sklearn_ase.acquisition import Uniform
    >>> Uniform()
    Uniform()
    """

    is_uniform = True

    def score_samples(self, state: PoolState) -> Floats:
        """Score of 1 for every sample."""
        return np.ones(state.n_samples)


class BALD(BaseAcquisition):
    """Information that the label of a sample gives about the surrogate's members.

    This is the mutual information of label and member. With a calibrated surrogate the
    mean is over the calibrated probabilities of the labels. The score is high where the
    surrogate can learn most, whether or not that matters for the risk of the model.

    See Also
    --------
    XWED : The same, weighted by the loss of the model.

    References
    ----------
    .. [1] Houlsby et al., "Bayesian Active Learning for Classification and
       Preference Learning", 2011.

    Examples
    --------
    >>> from sklearn_ase.acquisition import BALD
    >>> BALD()
    BALD()
    """

    def score_samples(self, state: PoolState) -> Floats:
        """Disagreement of the members at each sample."""
        return state.belief.disagreement()


class XWED(BaseAcquisition):
    """Expected weighted disagreement of the surrogate's members.

    This is the disagreement of :class:`BALD`, in which each possible label is weighted
    by the loss that the model would have. The paper's "XWED" is this with
    :class:`ArgMax`, its "~XWED" is this with :class:`Proportional`.

    See Also
    --------
    BALD : The same with a loss of 1 everywhere.

    References
    ----------
    .. [1] Kossen et al., "Active Surrogate Estimators", NeurIPS 2022, equation 6.

    Examples
    --------
    >>> from sklearn_ase.acquisition import XWED
    >>> XWED()
    XWED()
    """

    def score_samples(self, state: PoolState) -> Floats:
        """Weighted disagreement of the members at each sample."""
        return state.weighted_disagreement()


class ExpectedLoss(BaseAcquisition):
    """The loss that the surrogate expects, ``g(x)``.

    With :class:`Proportional` this is the sampling of active testing. It is optimal for
    :class:`LURE` if the surrogate predicts every loss exactly.

    References
    ----------
    .. [1] Kossen et al., "Active Testing: Sample-Efficient Model Evaluation",
       ICML 2021.

    Examples
    --------
    >>> from sklearn_ase.acquisition import ExpectedLoss
    >>> ExpectedLoss()
    ExpectedLoss()
    """

    def score_samples(self, state: PoolState) -> Floats:
        """Expected loss at each sample; for a metric, how much its label matters."""
        return state.distance


class LossSpread(BaseAcquisition):
    """Standard deviation of the loss under the surrogate's belief.

    Sampling in proportion to it gives :class:`CorrectedASE` the smallest variance, if
    the belief is right.

    Examples
    --------
    >>> from sklearn_ase.acquisition import LossSpread
    >>> LossSpread()
    LossSpread()
    """

    def score_samples(self, state: PoolState) -> Floats:
        """Standard deviation of the loss at each sample."""
        return np.sqrt(state.loss_variance)


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
        # Members are kept for the loss alone.
        member_loss: Any = None if state.is_question else state.belief.member_loss
        _kernels.check_members(member_loss)
        covariance = _kernels.covariance_with_pool_risk(member_loss)
        variance = member_loss.var(axis=0) + state.loss_variance
        return np.divide(
            covariance**2, variance, out=np.zeros_like(variance), where=variance > 0
        )
