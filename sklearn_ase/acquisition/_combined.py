"""Mixture: several acquisitions, each with a share of the picks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._utils._checks import shown
from sklearn_ase._utils._typing import Floats
from sklearn_ase.acquisition._base import BaseAcquisition, check_part
from sklearn_ase.acquisition._loss_spread import LossSpread
from sklearn_ase.acquisition._xwed import XWED

if TYPE_CHECKING:
    from sklearn_ase._state import PoolState


class Mixture(BaseAcquisition):
    """Weighted mean of several acquisitions, each scaled to sum to 1 over the pool.

    With :class:`Proportional` each of them makes its share of the picks. The default is
    half :class:`XWED`, which improves the surrogate, and half :class:`LossSpread`,
    which keeps the variance of the corrected estimate small.

    Parameters
    ----------
    acquisitions : sequence of BaseAcquisition, default=None
        None means XWED and LossSpread.
    shares : array-like of shape (n_acquisitions,), default=None
        Share of each. None means equal shares.

    Examples
    --------
    >>> from sklearn_ase.acquisition import BALD, ExpectedLoss, Mixture
    >>> from sklearn_ase.testing import make_state
    >>> mixture = Mixture([BALD(), ExpectedLoss()], shares=[0.7, 0.3])
    >>> float(mixture.score_samples(make_state()).sum().round(6))
    1.0
    """

    def __init__(
        self,
        acquisitions: Sequence[BaseAcquisition] | None = None,
        shares: ArrayLike | None = None,
    ) -> None:
        self.acquisitions = acquisitions
        self.shares = shares

    def validate(self) -> None:
        self._shares(len(self._parts()))

    @property
    def is_uniform(self) -> bool:
        """Whether all parts are uniform."""
        return all(part.is_uniform for part in self._parts())

    @property
    def needs_member_loss(self) -> bool:
        """Whether any part needs it."""
        return any(part.needs_member_loss for part in self._parts())

    @property
    def follows_labels(self) -> bool:
        """Whether any part follows the labels."""
        return any(part.follows_labels for part in self._parts())

    def score_samples(self, state: PoolState) -> Floats:
        """Weighted mean of the scaled scores, which sums to 1."""
        parts = self._parts()
        scores = np.zeros(state.n_samples)
        for part, share in zip(parts, self._shares(len(parts)), strict=True):
            values = np.asarray(part.score_samples(state), dtype=float)
            total = values.sum()
            # A part that scores 0 everywhere asks for uniform picks.
            scores += share * (values / total if total > 0 else 1.0 / len(values))
        return scores

    def local_parts(self) -> list[BaseAcquisition] | None:
        found = [part.local_parts() for part in self._parts()]
        return None if None in found else [one for some in found for one in some]

    def blend(self, state: PoolState, totals: np.ndarray) -> tuple[np.ndarray, float]:
        """Weights by which each part has its share of the whole."""
        weights, constant, n_samples = [], 0.0, state.n_samples
        parts, start = self._parts(), 0
        for part, share in zip(parts, self._shares(len(parts)), strict=True):
            inside = totals[start : (start := start + len(part.local_parts()))]
            found, rest = part.blend(state, inside)
            total = found @ inside + rest * n_samples
            if not total > 0:  # Such a part asks for uniform picks.
                found, rest, total = np.zeros(len(inside)), 1.0, n_samples
            weights.extend(share * found / total)
            constant += share * rest / total
        return np.array(weights), constant

    def _parts(self):
        if self.acquisitions is None:
            return [XWED(), LossSpread()]
        if not isinstance(self.acquisitions, (list, tuple)) or not self.acquisitions:
            raise ValueError(
                "acquisitions of Mixture must be a list with at least one acquisition, "
                f"got {shown(self.acquisitions)}."
            )
        return [check_part(part, self, "acquisitions") for part in self.acquisitions]

    def _shares(self, n_parts):
        """Shares that sum to 1, of shape (n_parts,)."""
        shares = np.ones(n_parts)
        if self.shares is not None:
            shares = np.array(self.shares)
        is_valid = shares.dtype.kind in "biuf" and shares.shape == (n_parts,)
        is_valid = is_valid and np.isfinite(shares).all() and (shares >= 0).all()
        if not is_valid or not shares.any():
            raise ValueError(
                f"shares={shown(self.shares)} must be {n_parts} non-negative numbers, "
                "one for each acquisition, not all 0."
            )
        return shares / shares.sum()
