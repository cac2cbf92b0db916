"""Bayesian active learning by disagreement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn_ase._utils._typing import Floats
from sklearn_ase.acquisition._base import BaseAcquisition

if TYPE_CHECKING:
    from sklearn_ase._state import PoolState


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

    is_local = True
    reads = ("disagreement",)

    def score_samples(self, state: PoolState) -> Floats:
        """Disagreement of the members at each sample."""
        return state.belief.disagreement()
