"""Requirements that all strategies share."""

import pickle
from contextlib import contextmanager
from numbers import Real

import numpy as np
from sklearn.base import clone

from sklearn_ase._utils._typing import Task

TASKS: tuple[Task, ...] = ("classification", "regression")


def require(condition, message):
    """Raise an AssertionError with a message unless a condition holds."""
    if not condition:
        raise AssertionError(message)


def check_object(strategy, base):
    """Check the class attributes of a strategy, and that it can be copied.

    Parameters
    ----------
    strategy : object
    base : type
        Base class of its kind, with `flags`.
    """
    for flag in base.flags:
        kind = bool if isinstance(getattr(base, flag), bool) else Real
        what = "True or False" if kind is bool else "a number"
        require(
            isinstance(getattr(strategy, flag, None), kind),
            f"the class attribute {flag} must be {what}: derive the class from "
            f"{base.__name__}",
        )
    check_copies(strategy)


def check_copies(strategy):
    """Check that clones and pickled copies have the same parameters."""
    require(
        hasattr(strategy, "get_params"),
        "parameters must be found by get_params: derive the class from a base class of "
        "sklearn_ase, or from sklearn.base.BaseEstimator",
    )
    parameters = repr(strategy.get_params(deep=False))
    try:
        copies = clone(strategy), pickle.loads(pickle.dumps(strategy))
    except (pickle.PicklingError, AttributeError, TypeError, RuntimeError) as error:
        raise AssertionError(
            f"clone and pickle must work, but failed: {error}. Store the arguments of "
            "__init__ unchanged, and define classes and functions in a module"
        ) from error
    for copy in copies:
        kept = repr(copy.get_params(deep=False)) == parameters
        require(kept, "clone and pickle must keep the parameters")


@contextmanager
def unchanged(*arrays):
    """Check that the code inside does not write to arrays."""
    before = [np.array(array) for array in arrays]
    yield
    for array, copy in zip(arrays, before, strict=True):
        require(np.array_equal(array, copy), "the caller's arrays must not change")
