"""The name of a belief of either kind in signatures."""

from typing import TypeAlias

from sklearn_ase.belief._categorical import CategoricalBelief
from sklearn_ase.belief._gaussian import GaussianBelief

Belief: TypeAlias = CategoricalBelief | GaussianBelief
