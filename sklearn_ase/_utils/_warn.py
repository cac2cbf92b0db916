"""Warn with the line of the user's code that caused the warning."""

import sys
import warnings

# scikit-learn calls fit through its callbacks, so these frames are skipped as well.
_INSIDE = ("sklearn_ase.", "sklearn.callback.")


def warn_caller(message, category):
    """Issue a warning that points at the code that called the package.

    Parameters
    ----------
    message : str
    category : type of warning
    """
    frame, level, depth = sys._getframe(), 1, 1
    # Look for the outermost frame of the package: in between it may call other code,
    # which calls the package again.
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(_INSIDE):
            level = depth + 1
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, category, stacklevel=level)
