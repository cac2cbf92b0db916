"""Warnings that point at the line of the user's that caused them."""

import sys
import warnings

# Callbacks of scikit-learn stand around fit.
_OURS = ("sklearn_ase.", "sklearn.callback.")


def warn_caller(message, category):
    """Warn of what a caller of the package did, however deep inside it is noticed.

    Parameters
    ----------
    message : str
    category : type of warning
    """
    frame, level, depth = sys._getframe(), 1, 1
    while frame is not None:  # What calls the package, not what it calls in between.
        if frame.f_globals.get("__name__", "").startswith(_OURS):
            level = depth + 1
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, category, stacklevel=level)
