"""Displays in the style of scikit-learn: they hold numbers and ``plot`` draws them."""

from sklearn_ase._plot._curves import LabelEfficiencyDisplay, RiskCurveDisplay
from sklearn_ase._plot._rows import AcquisitionDisplay, LossCalibrationDisplay
from sklearn_ase._plot._tables import ComparisonDisplay, SliceDisplay

__all__ = [
    "AcquisitionDisplay",
    "ComparisonDisplay",
    "LabelEfficiencyDisplay",
    "LossCalibrationDisplay",
    "RiskCurveDisplay",
    "SliceDisplay",
]
