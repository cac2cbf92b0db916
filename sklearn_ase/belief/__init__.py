"""What the surrogate believes about the labels of the pool.

The two kinds of task meet here and nowhere else: both beliefs answer the same
questions about a loss.
"""

from typing import TypeAlias

from sklearn_ase.belief._categorical import CategoricalBelief
from sklearn_ase.belief._gaussian import GaussianBelief
from sklearn_ase.belief._kernels import TrainingWorth

__all__ = ["CategoricalBelief", "GaussianBelief", "TrainingWorth"]


# The name of a belief of either kind in signatures.


Belief: TypeAlias = CategoricalBelief | GaussianBelief
