"""Statistics of scores, from parts of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np


@dataclass(frozen=True)
class ScoreStats:
    """What a selection may know about the scores of all candidates.

    Attributes
    ----------
    n_candidates : int
    total : float
        Sum of the scores, in units of the greatest one. Sums of huge scores would
        overflow.
    top : float
        Greatest score; 0 without candidates.
    n_top : int
        Number of candidates that have it.
    """

    n_candidates: int
    total: float
    top: float
    n_top: int

    @classmethod
    def of(cls, scores: np.ndarray) -> Self:
        """Statistics of some scores, an array of shape (n_candidates,)."""
        top = float(scores.max(initial=0.0))
        total = float((scores / top).sum()) if top > 0 else 0.0
        return cls(len(scores), total, top, int(np.count_nonzero(scores == top)))

    @classmethod
    def joined(cls, parts: Iterable[ScoreStats]) -> Self:
        """Statistics of all candidates, from those of parts of them."""
        top = max(part.top for part in parts)
        totals = [part.total * (part.top / top) for part in parts if part.top > 0]
        return cls(
            sum(part.n_candidates for part in parts),
            float(np.sum(totals)),
            top,
            sum(part.n_top for part in parts if part.top == top),
        )
