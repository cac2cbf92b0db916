"""Risks: estimates of the model's mean loss on the pool, from the same labels."""

from sklearn_ase.risk._ase import ASE
from sklearn_ase.risk._base import BaseRisk
from sklearn_ase.risk._corrected_ase import CorrectedASE
from sklearn_ase.risk._estimate import RiskEstimate
from sklearn_ase.risk._guarded_ase import GuardedASE
from sklearn_ase.risk._lure import LURE
from sklearn_ase.risk._metric_estimate import MetricEstimate
from sklearn_ase.risk._monte_carlo import MonteCarlo

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
