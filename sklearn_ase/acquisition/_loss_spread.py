"""Loss spread: label where the loss is most uncertain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._utils._typing import Floats
from sklearn_ase.acquisition._base import BaseAcquisition

if TYPE_CHECKING:
    from sklearn_ase._state import PoolState


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

    is_local = True
    reads = ()

    def score_samples(self, state: PoolState) -> Floats:
        """Standard deviation of the loss at each sample."""
        return np.sqrt(state.belief.loss_variance(state.loss))
