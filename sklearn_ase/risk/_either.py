"""The name of an estimate of either kind in signatures."""

from typing import TypeAlias

from sklearn_ase.risk._estimate import RiskEstimate
from sklearn_ase.risk._metric_estimate import MetricEstimate

Estimate: TypeAlias = RiskEstimate | MetricEstimate
