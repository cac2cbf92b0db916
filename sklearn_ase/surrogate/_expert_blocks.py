"""What experts say and what features tell, in blocks of columns."""

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True, eq=False)
class Blocks:
    """What is known about some rows beside their labels; each part may be None.

    Attributes
    ----------
    experts : ndarray of shape (n_rows, n_experts, n_classes) or (n_rows, n_experts)
        What each expert says.
    model : ndarray of shape (n_rows, n_classes) or (n_rows,)
        What the model under test predicts.
    linear : ndarray of shape (n_rows, n_columns)
        A few features.
    learned : ndarray of shape (n_rows, n_classes) or (n_rows,)
        What the estimator on features predicts.
    """

    experts: np.ndarray | None = None
    model: np.ndarray | None = None
    linear: np.ndarray | None = None
    learned: np.ndarray | None = None

    def take(self, rows):
        """Some of the rows."""
        return Blocks(*(None if part is None else part[rows] for part in self.parts))

    def below(self, others):
        """These rows and, below them, others."""
        pairs = zip(self.parts, others.parts, strict=True)
        return Blocks(
            *(
                None if a is None or b is None else np.concatenate([a, b])
                for a, b in pairs
            )
        )

    @property
    def n_experts(self):
        """Number of experts."""
        return 0 if self.experts is None else self.experts.shape[1]

    @property
    def parts(self):
        """The parts, in order."""
        return [getattr(self, field.name) for field in fields(self)]


class WeightsBefore(NamedTuple):
    """What is likely of the weights before labels are seen.

    Attributes
    ----------
    of_one, of_all : float
        Mean of the weight of a single expert, and of the sum of several.
    sum_spread, each_spread : float
        Standard deviation of the sum, and of each around its mean.
    model, learned : tuple of two float
        Mean and standard deviation of the weight of the model under test, and of the
        estimator on features.
    offset, feature : float
        Standard deviation of an offset, and of the weight of a feature.
    """

    of_one: float
    of_all: float
    sum_spread: float
    each_spread: float
    model: tuple
    learned: tuple
    offset: float
    feature: float
