"""Displays in the style of scikit-learn: they hold numbers and ``plot`` draws them."""

from sklearn_ase._plot._acquisition import AcquisitionDisplay
from sklearn_ase._plot._comparison import ComparisonDisplay
from sklearn_ase._plot._label_efficiency import LabelEfficiencyDisplay
from sklearn_ase._plot._loss_calibration import LossCalibrationDisplay
from sklearn_ase._plot._risk_curve import RiskCurveDisplay
from sklearn_ase._plot._slices import SliceDisplay

__all__ = [
    "AcquisitionDisplay",
    "ComparisonDisplay",
    "LabelEfficiencyDisplay",
    "LossCalibrationDisplay",
    "RiskCurveDisplay",
    "SliceDisplay",
]
