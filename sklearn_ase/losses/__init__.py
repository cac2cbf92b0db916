"""Losses: what a prediction costs, for each sample and each possible label.

A loss applied to the predictions for a pool is a table (classification) or a function
of the label (regression). The rest of the package sees the model only through it.
"""

from sklearn_ase.losses._base import BaseLoss, LossTable, PointLoss
from sklearn_ase.losses._losses import (
    AbsoluteError,
    Brier,
    CustomLoss,
    LogLoss,
    SquaredError,
    ZeroOne,
    as_loss,
)

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
