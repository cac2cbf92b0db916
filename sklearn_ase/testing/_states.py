"""States of random pools, and requirements that all checks share."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone

from sklearn_ase._state import Picks, PoolState
from sklearn_ase._utils._typing import Floats, Ints, Task
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
    state = PoolState(
        loss=loss,
        belief=belief,
        expected_loss=belief.expected_loss(loss),
        picks=_uniform_picks(belief, loss, indices, labels),
        labels=labels,
        is_calibrated=True,
    )
    for array in _arrays(state):
        array.setflags(write=False)
    return state


def _uniform_picks(belief: Any, loss: Any, indices: Ints, labels: np.ndarray) -> Picks:
    """Picks with equal probabilities, all of them answered."""
    n_samples, n_labels = loss.n_samples, len(indices)
    expected, variance = belief.expected_loss(loss), belief.loss_variance(loss)
    picked = expected[indices]
    n_free = n_samples - np.arange(n_labels, dtype=float)
    return Picks(
        indices=indices,
        query_proba=1.0 / n_free,
        expected_loss=picked,
        free_expected_loss=expected.sum() - np.cumsum(picked) + picked,
        residual_moment=np.full(n_labels, n_samples**2 * variance.mean()),
        loss_moment=np.full(n_labels, n_samples**2 * (variance + expected**2).mean()),
        max_inverse_proba=n_free,
        max_expected_ratio=np.full(n_labels, n_samples * expected.max()),
        losses=loss.observed(indices, labels),
        answered=np.ones(n_labels, dtype=bool),
        skipped=np.zeros(n_labels, dtype=bool),
    )


def _arrays(bundle: Any) -> Iterator[np.ndarray]:
    """All arrays of a dataclass and of the dataclasses in it."""
    for value in vars(bundle).values():
        if isinstance(value, np.ndarray):
            yield value
        elif hasattr(value, "__dict__"):
            yield from _arrays(value)


# Requirements.


TASKS: tuple[Task, ...] = ("classification", "regression")


def require(condition: Any, message: str) -> None:
    """Raise an AssertionError with a message unless a condition holds."""
    if not condition:
        raise AssertionError(message)


def check_task(task: Task | None) -> None:
    """Check that the task of a loss or a metric is known."""
    require(
        task in TASKS,
        f"the task is not known: set the class attribute task to one of {TASKS}, or "
        "pass task=...",
    )


@contextmanager
def refusals_count() -> Iterator[None]:
    """What the start of an evaluation would refuse does not meet the contract."""
    try:
        yield
    except ValueError as error:
        raise AssertionError(str(error)) from error


def require_close(
    found: float, exact: float, message: str, rtol: float = 1e-9, atol: float = 1e-9
) -> None:
    """Raise an AssertionError unless two numbers agree, and say what they are."""
    close = np.isclose(found, exact, rtol=rtol, atol=atol)
    require(close, f"{message}, but is {found:.6g}, not {exact:.6g}")


def checked(
    values: Any,
    shape: tuple[int, ...],
    name: str,
    *,
    what: str,
    where: str = "",
    least: float = 0.0,
) -> Floats:
    """Return values as an array; they must have this shape, and be finite."""
    values = np.asarray(values)
    require(
        values.shape == shape,
        f"{name} must be {what} {shape}, but are of shape {values.shape}{where}",
    )
    is_finite = values.dtype.kind in "biuf" and np.isfinite(values).all()
    require(is_finite, f"{name} must be finite numbers{where}")
    require((values >= least).all(), f"{name} must be non-negative{where}")
    return values.astype(float)


def check_tasks(tasks: Task | Sequence[Task]) -> tuple[Task, ...]:
    """Return the tasks, of which one may be given by itself."""
    tasks = (tasks,) if isinstance(tasks, str) else tuple(tasks)
    unknown = [task for task in tasks if task not in TASKS]
    if unknown or not tasks:
        raise ValueError(f"tasks={tasks} must be some of {TASKS}.")
    return tasks


@contextmanager
def works_for(strategy: Any, task: Task, check: str) -> Iterator[None]:
    """Say of errors inside for which task they occurred, and how to leave it out."""
    try:
        yield
    except (AttributeError, TypeError) as error:  # Beliefs differ by the task.
        (other,) = {*TASKS} - {task}
        raise AssertionError(
            f"{type(strategy).__name__} must work for {task}, but failed: {error!r}. "
            f"If it is made for {other} only: {check}(..., tasks={other!r})"
        ) from error


def check_object(strategy: Any, base: Any) -> None:
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


def check_copies(strategy: Any) -> None:
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
def unchanged(*arrays: np.ndarray) -> Iterator[None]:
    """Check that the code inside does not write to arrays."""
    before = [np.array(array) for array in arrays]
    yield
    for array, copy in zip(arrays, before, strict=True):
        require(np.array_equal(array, copy), "the caller's arrays must not change")
