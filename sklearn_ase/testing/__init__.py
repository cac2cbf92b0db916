"""Checks for strategies, losses, metrics and surrogates: ours and your own.

Each function raises an ``AssertionError`` that says what is wrong.
"""

from sklearn_ase.testing._states import make_state
from sklearn_ase.testing._strategies import (
    check_acquisition,
    check_risk,
    check_selection,
    check_stopping,
    check_surrogate,
)
from sklearn_ase.testing._values import check_loss, check_metric

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
