"""Stopping rules: when to stop buying labels."""

from sklearn_ase.stopping._base import BaseStop
from sklearn_ase.stopping._of_estimates import Plateau, TargetWidth
from sklearn_ase.stopping._of_models import OneCandidate, RegretBelow

__all__ = ["BaseStop", "OneCandidate", "Plateau", "RegretBelow", "TargetWidth"]
