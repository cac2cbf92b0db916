"""Risks: estimates of the model's mean loss on the pool, from the same labels."""

from typing import TypeAlias

from sklearn_ase.risk._base import BaseRisk
from sklearn_ase.risk._estimate import RiskEstimate
from sklearn_ase.risk._estimators import ASE, LURE, CorrectedASE, GuardedASE, MonteCarlo
from sklearn_ase.risk._metric_estimate import MetricEstimate

__all__ = [
    "ASE",
    "LURE",
    "BaseRisk",
    "CorrectedASE",
    "GuardedASE",
    "MetricEstimate",
    "MonteCarlo",
    "RiskEstimate",
]


# The name of an estimate of either kind in signatures.


Estimate: TypeAlias = RiskEstimate | MetricEstimate
