"""Expected loss: label where the model is expected to be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn_ase._utils._typing import Floats
from sklearn_ase.acquisition._base import BaseAcquisition

if TYPE_CHECKING:
    from sklearn_ase._state import PoolState


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

    is_local = True
    reads = ()

    def score_samples(self, state: PoolState) -> Floats:
        """Expected loss at each sample; for a metric, how much its label matters."""
        return state.belief.expected_loss(state.loss)
