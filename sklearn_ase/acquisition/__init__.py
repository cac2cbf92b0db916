"""Acquisitions: how much a label of each sample is worth.

An acquisition scores the whole pool. A selection turns the scores into queries.
"""

from sklearn_ase.acquisition._bald import BALD
from sklearn_ase.acquisition._base import BaseAcquisition
from sklearn_ase.acquisition._best_model import BestModel
from sklearn_ase.acquisition._expected_loss import ExpectedLoss
from sklearn_ase.acquisition._loss_spread import LossSpread
from sklearn_ase.acquisition._mixture import Mixture
from sklearn_ase.acquisition._trust_weighted import TrustWeighted
from sklearn_ase.acquisition._uniform import Uniform
from sklearn_ase.acquisition._variance_reduction import VarianceReduction
from sklearn_ase.acquisition._xwed import XWED

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
