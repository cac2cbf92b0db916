"""Acquisitions: how much a label of each sample is worth.

An acquisition scores the whole pool. A selection turns the scores into queries.
"""

from sklearn_ase.acquisition._base import BaseAcquisition
from sklearn_ase.acquisition._combined import BestModel, Mixture, TrustWeighted
from sklearn_ase.acquisition._scores import (
    BALD,
    XWED,
    ExpectedLoss,
    LossSpread,
    Uniform,
    VarianceReduction,
)

__all__ = [
    "BALD",
    "XWED",
    "BaseAcquisition",
    "BestModel",
    "ExpectedLoss",
    "LossSpread",
    "Mixture",
    "TrustWeighted",
    "Uniform",
    "VarianceReduction",
]
