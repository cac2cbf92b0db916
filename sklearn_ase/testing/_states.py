"""States of random pools, to try strategies on."""

from __future__ import annotations

import pickle
from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone

from sklearn_ase._state import Picks, PoolState
from sklearn_ase._utils._typing import Task
from sklearn_ase.belief import CategoricalBelief, GaussianBelief
from sklearn_ase.losses import LogLoss, SquaredError


def make_state(
    task: Task = "classification",
    n_samples: int = 40,
    n_labels: int = 12,
    random_state: int = 0,
) -> PoolState:
    """Make a state of a random pool, with uniform picks and read-only arrays.

    States that differ only in `n_labels` have the same belief.

    Parameters
    ----------
    task : {"classification", "regression"}, default="classification"
    n_samples : int, default=40
    n_labels : int, default=12
    random_state : int, default=0

    Returns
    -------
    state : PoolState

    Examples
    --------
    >>> from sklearn_ase.acquisition import BALD
    >>> from sklearn_ase.testing import make_state
    >>> BALD().score_samples(make_state()).shape
    (40,)
    """
    rng = np.random.default_rng(random_state)
    if task == "classification":
        classes = np.array(["ant", "bee", "cat"])
        loss: Any = LogLoss().build(rng.dirichlet(np.ones(3), n_samples), classes)
        members = rng.dirichlet(np.ones(3), (5, n_samples))
        members[:, 0] = [1.0, 0.0, 0.0]  # Certain members are a case of their own.
        belief: Any = CategoricalBelief.from_members(members, loss)
        labels = rng.choice(classes, n_labels)
    else:
        loss = SquaredError().build(rng.normal(size=n_samples))
        members = rng.normal(size=(5, n_samples))
        members[:, 0] = 1.0
        belief = GaussianBelief.from_members(members, 0.3, loss)
        labels = rng.normal(size=n_labels)
    indices = rng.choice(n_samples, n_labels, replace=False)
    expected, variance = belief.expected_loss(loss), belief.loss_variance(loss)
    picked = expected[indices]
    state = PoolState(
        loss=loss,
        belief=belief,
        expected_loss=expected,
        picks=Picks(
            indices=indices,
            query_proba=1.0 / (n_samples - np.arange(n_labels)),
            expected_loss=picked,
            free_expected_loss=expected.sum() - np.cumsum(picked) + picked,
            residual_moment=np.full(n_labels, n_samples**2 * variance.mean()),
            loss_moment=np.full(
                n_labels, n_samples**2 * (variance + expected**2).mean()
            ),
            max_inverse_proba=n_samples - np.arange(n_labels, dtype=float),
            max_expected_ratio=np.full(n_labels, n_samples * expected.max()),
            losses=loss.observed(indices, labels),
            answered=np.ones(n_labels, dtype=bool),
            skipped=np.zeros(n_labels, dtype=bool),
        ),
        labels=labels,
        is_calibrated=True,
    )
    for array in _arrays(state):
        array.setflags(write=False)
    return state


def _arrays(bundle):
    """All arrays of a dataclass and of the dataclasses in it."""
    for value in vars(bundle).values():
        if isinstance(value, np.ndarray):
            yield value
        elif hasattr(value, "__dict__"):
            yield from _arrays(value)


# Requirements that all strategies share.


TASKS: tuple[Task, ...] = ("classification", "regression")


def require(condition, message):
    """Raise an AssertionError with a message unless a condition holds."""
    if not condition:
        raise AssertionError(message)


def check_object(strategy: Any, base) -> None:
    """Check the class attributes of a strategy, and that it can be copied."""
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
