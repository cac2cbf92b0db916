"""Beliefs that remember the weights they come from."""

from dataclasses import dataclass

from sklearn_ase.belief import CategoricalBelief, GaussianBelief


@dataclass(frozen=True, eq=False)
class VoteBelief(CategoricalBelief):
    """Belief from votes.

    Attributes
    ----------
    stack : VoteSurrogate
        As it was fitted.
    """

    stack: object = None


@dataclass(frozen=True, eq=False)
class PredictionBelief(GaussianBelief):
    """Belief from predicted values.

    Attributes
    ----------
    stack : PredictionSurrogate
        As it was fitted.
    """

    stack: object = None
