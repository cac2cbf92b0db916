"""Losses: what a prediction costs, for each sample and each possible label.

A loss applied to the predictions for a pool is a table (classification) or a function
of the label (regression). The rest of the package sees the model only through it.
"""

from sklearn_ase.losses._base import BaseLoss
from sklearn_ase.losses._classification import Brier, LogLoss, ZeroOne
from sklearn_ase.losses._custom import CustomLoss
from sklearn_ase.losses._lookup import as_loss
from sklearn_ase.losses._pool_loss import LossTable, PointLoss
from sklearn_ase.losses._regression import AbsoluteError, SquaredError

__all__ = [
    "AbsoluteError",
    "BaseLoss",
    "Brier",
    "CustomLoss",
    "LogLoss",
    "LossTable",
    "PointLoss",
    "SquaredError",
    "ZeroOne",
    "as_loss",
]
