"""How much the training rows count in a calibrated belief."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class TrainingWorth:
    """Alternatives for the number of labels that the training rows are worth.

    A belief is a mixture of calibrations. In each of them all training rows together
    count as another number of labels of the pool.

    Attributes
    ----------
    worths : ndarray of shape (n_worths,)
        Number of labels.
    shares : ndarray of shape (n_worths,)
        Probability of each, given the labels; they sum to 1.
    risk : ndarray of shape (n_worths,)
        Pool risk that each calibration expects. Their mean, weighted by the shares, is
        the risk that the belief expects.
    """

    worths: np.ndarray
    shares: np.ndarray
    risk: np.ndarray

    @property
    def n_labels(self) -> float:
        """Number of labels that the training rows are worth, on average."""
        return float(self.shares @ self.worths)

    def plus(self, other: TrainingWorth | None, share: float) -> TrainingWorth:
        """Add the risk on another part of the pool, which is `share` of the whole."""
        before = 0.0 if other is None else other.risk
        return TrainingWorth(self.worths, self.shares, before + share * self.risk)
