"""Risks: estimates of the model's mean loss on the pool, from the same labels."""

from sklearn_ase._inference._steps import Steps, steps_with_power
from sklearn_ase.risk._base import BaseRisk, mean_of_steps
from sklearn_ase.risk._estimate import Estimate
from sklearn_ase.risk._estimators import ASE, LURE, CorrectedASE, GuardedASE, MonteCarlo
from sklearn_ase.risk._intervals import BoundedInterval, Interval, MeanInterval

__all__ = [
    "ASE",
    "LURE",
    "BaseRisk",
    "BoundedInterval",
    "CorrectedASE",
    "Estimate",
    "GuardedASE",
    "Interval",
    "MeanInterval",
    "MonteCarlo",
    "Steps",
    "mean_of_steps",
    "steps_with_power",
]
