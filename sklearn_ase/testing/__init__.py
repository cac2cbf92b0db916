"""Checks for strategies, losses, metrics and surrogates: ours and your own.

Each function raises an ``AssertionError`` that says what is wrong.
"""

from sklearn_ase.testing._acquisition import check_acquisition
from sklearn_ase.testing._loss import check_loss
from sklearn_ase.testing._metric import check_metric
from sklearn_ase.testing._risk import check_risk
from sklearn_ase.testing._selection import check_selection
from sklearn_ase.testing._states import make_state
from sklearn_ase.testing._stopping import check_stopping
from sklearn_ase.testing._surrogate import check_surrogate

__all__ = [
    "check_acquisition",
    "check_loss",
    "check_metric",
    "check_risk",
    "check_selection",
    "check_stopping",
    "check_surrogate",
    "make_state",
]
