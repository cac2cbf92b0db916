"""Losses: what a label would cost the model, for every sample and every label.

The model under test and the loss enter an evaluation here and nowhere else: as a
table (classification) or as a function of the prediction (regression).
"""

from sklearn_ase.losses._classification import Brier, LogLoss, ZeroOne
from sklearn_ase.losses._custom import CustomLoss
from sklearn_ase.losses._lookup import as_loss
from sklearn_ase.losses._pool_loss import LossTable, PointLoss
from sklearn_ase.losses._regression import AbsoluteError, SquaredError

__all__ = [
    "AbsoluteError",
    "Brier",
    "CustomLoss",
    "LogLoss",
    "LossTable",
    "PointLoss",
    "SquaredError",
    "ZeroOne",
    "as_loss",
]
