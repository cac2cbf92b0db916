"""Uniform: every sample has the same score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._utils._typing import Floats
from sklearn_ase.acquisition._base import BaseAcquisition

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
    is_local = True
    reads = ()

    def score_samples(self, state: PoolState) -> Floats:
        """Ones."""
        return np.ones(state.n_samples)
