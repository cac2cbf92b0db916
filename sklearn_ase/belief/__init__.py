"""What the surrogate believes about the labels of the pool.

The two kinds of task meet here and nowhere else: both beliefs answer the same
questions about a loss.
"""

from sklearn_ase.belief._categorical import CategoricalBelief
from sklearn_ase.belief._gaussian import GaussianBelief
from sklearn_ase.belief._training_worth import TrainingWorth

__all__ = ["CategoricalBelief", "GaussianBelief", "TrainingWorth"]
