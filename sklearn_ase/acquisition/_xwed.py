"""XWED: label where the members disagree and the model may lose much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn_ase._utils._typing import Floats
from sklearn_ase.acquisition._base import BaseAcquisition

if TYPE_CHECKING:
    from sklearn_ase._state import PoolState


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

    is_local = True
    reads = ("weighted_disagreement",)

    def score_samples(self, state: PoolState) -> Floats:
        """Weighted disagreement of the members at each sample."""
        return state.belief.weighted_disagreement(state.loss)
