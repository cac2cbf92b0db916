"""Run many evaluations against known labels, to see how good an estimate is.

Every table of the documentation was made with it. Results are plain columns that can be
saved, continued and drawn later.
"""

from sklearn_ase.simulation._curve import LabelEfficiency, label_efficiency_curve
from sklearn_ase.simulation._scenario import Scenario

__all__ = ["LabelEfficiency", "Scenario", "label_efficiency_curve"]
