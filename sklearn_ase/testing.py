"""Contracts that every strategy meets, for those of this package and your own.

Each function raises an ``AssertionError`` that says what is not met.
"""

import pickle
import warnings
from dataclasses import replace

import numpy as np
from sklearn.base import clone

from sklearn_ase._state import PoolState
from sklearn_ase.belief import CategoricalBelief, GaussianBelief
from sklearn_ase.exceptions import IntervalWarning
from sklearn_ase.losses import LogLoss, SquaredError
from sklearn_ase.risk import RiskEstimate
from sklearn_ase.surrogate import as_surrogate

__all__ = ["check_acquisition", "check_risk", "check_surrogate", "make_state"]

TASKS = ("classification", "regression")


def make_state(task="classification", n_samples=40, n_labels=12, random_state=0):
    """A state of a random pool, with uniform picks and arrays that cannot be written.

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
        loss = LogLoss().build(rng.dirichlet(np.ones(3), n_samples), classes)
        members = rng.dirichlet(np.ones(3), (5, n_samples))
        members[:, 0] = [1.0, 0.0, 0.0]  # Certain members are a case of their own.
        belief = CategoricalBelief.from_members(members, loss)
        labels = rng.choice(classes, n_labels)
    else:
        loss = SquaredError().build(rng.normal(size=n_samples))
        members = rng.normal(size=(5, n_samples))
        members[:, 0] = 1.0
        belief = GaussianBelief.from_members(members, 0.3, loss)
        labels = rng.normal(size=n_labels)
    indices = rng.choice(n_samples, n_labels, replace=False)
    free = np.ones(n_samples, dtype=bool)
    free[indices] = False
    expected, variance = belief.expected_loss(loss), belief.loss_variance(loss)
    picked = expected[indices]
    state = PoolState(
        loss=loss,
        belief=belief,
        expected_loss=expected,
        free=free,
        indices=indices,
        labels=labels,
        losses=loss.observed(indices, labels),
        query_proba=1.0 / (n_samples - np.arange(n_labels)),
        query_expected_loss=picked,
        free_expected_loss=expected.sum() - np.cumsum(picked) + picked,
        residual_moment=np.full(n_labels, n_samples**2 * variance.mean()),
        loss_moment=np.full(n_labels, n_samples**2 * (variance + expected**2).mean()),
        n_in_order=n_labels,
        is_calibrated=True,
    )
    for array in _arrays(state):
        array.setflags(write=False)
    return state


def check_acquisition(acquisition, tasks=TASKS):
    """Check that an object can serve as acquisition.

    Parameters
    ----------
    acquisition : object with ``score_samples(state)``
    tasks : sequence of {"classification", "regression"}
        The tasks it is made for.

    Examples
    --------
    >>> from sklearn_ase.acquisition import XWED
    >>> from sklearn_ase.testing import check_acquisition
    >>> check_acquisition(XWED())
    """
    _check_object(acquisition, ("is_uniform", "needs_member_loss", "follows_labels"))
    for task in tasks:
        for n_samples, n_labels in ((40, 12), (40, 0), (1, 0)):
            state = make_state(task, n_samples, n_labels)
            scores = np.asarray(acquisition.score_samples(state))
            _require(scores.shape == (n_samples,), "scores must be one a sample")
            _require(np.isfinite(scores).all(), "scores must be finite")
            _require((scores >= 0).all(), "scores must be non-negative")
            even = not acquisition.is_uniform or np.ptp(scores) == 0
            _require(even, "scores must be equal where is_uniform says so")
            again = clone(acquisition).score_samples(state)
            _require(np.array_equal(scores, again), "same state must give same scores")


def check_risk(risk, tasks=TASKS):
    """Check that an object can serve as risk.

    Parameters
    ----------
    risk : object with ``estimate(state)``
    tasks : sequence of {"classification", "regression"}
        The tasks it is made for.

    Examples
    --------
    >>> from sklearn_ase.risk import LURE
    >>> from sklearn_ase.testing import check_risk
    >>> check_risk(LURE())
    """
    _check_object(
        risk,
        ("needs_query_proba", "needs_uniform", "needs_belief", "leans_on_surrogate"),
    )
    for task in tasks:
        for n_samples, n_labels, n_open in (
            (40, 12, 0),
            (40, 12, 5),
            (40, 1, 0),
            (8, 8, 0),
        ):
            state = make_state(task, n_samples, n_labels)
            # Behind an open query labels do not count for design-based risks.
            state = replace(state, n_in_order=n_labels - n_open)
            found = risk.estimate(state)
            _require(isinstance(found, RiskEstimate), "estimate must be a RiskEstimate")
            _require(np.isfinite(float(found)), "the value must be finite")
            _require(found.n_labels <= n_labels, "n_labels must not exceed the labels")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", IntervalWarning)
                low, high = found.interval(0.9)
            _require(low <= float(found) <= high, "the interval must hold the value")
            again = clone(risk).estimate(state)
            _require(float(found) == float(again), "same state must give same estimate")


def check_surrogate(surrogate, task="classification"):
    """Check that a classifier or regressor can serve as surrogate.

    Parameters
    ----------
    surrogate : classifier, regressor or BaseSurrogate
        Unfitted.
    task : {"classification", "regression"}, default="classification"

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_ase.testing import check_surrogate
    >>> check_surrogate(GaussianNB())
    """
    rng = np.random.default_rng(0)
    X, X_pool = rng.normal(size=(30, 3)), rng.normal(size=(50, 3))
    classes = None
    y = X[:, 0] + 0.1 * rng.normal(size=30)
    expert = X_pool[:, 0]
    loss = SquaredError().build(expert)
    if task == "classification":
        classes = np.array(["ant", "bee", "cat"])  # No row is a cat.
        y = np.where(y > 0, "bee", "ant")
        expert = np.tile([0.5, 0.5, 0.0], (50, 1))
        loss = LogLoss().build(expert, classes)
    before = [X.copy(), X_pool.copy(), y.copy()]
    shell = as_surrogate(surrogate, task, X)

    def believe(n_acquired=0, honest=None):
        fitted = clone(shell).fit(
            X, y, classes=classes, expert=honest, n_acquired=n_acquired, seed=1
        )
        return fitted.belief(X_pool, loss, None if honest is None else expert)

    blended = believe(10, np.resize(expert, (30, *expert.shape[1:])))
    _require(np.isfinite(blended.expected_loss(loss)).all(), "the blend must be finite")
    belief = believe()
    arrays = [belief.expected_loss(loss), belief.loss_variance(loss)]
    arrays += [belief.disagreement(), belief.weighted_disagreement(loss)]
    for array in arrays:
        _require(array.shape == (50,), "beliefs must have one entry a sample")
        _require(np.isfinite(array).all(), "beliefs must be finite")
        _require((array >= 0).all(), "beliefs must be non-negative")
    if task == "classification":
        _require(belief.proba.shape == (50, 3), "every class must have a column")
        _require(np.allclose(belief.proba.sum(axis=1), 1), "rows must sum to 1")
        _require((belief.proba[:, 2] > 0).all(), "unseen classes must have some mass")
    again = believe().expected_loss(loss)
    _require(np.array_equal(arrays[0], again), "same seed must give the same belief")
    for now, then in zip([X, X_pool, y], before, strict=True):
        _require(np.array_equal(now, then), "the caller's arrays must not change")


def _check_object(strategy, flags):
    for flag in flags:
        _require(
            isinstance(getattr(strategy, flag, None), bool),
            f"the class attribute {flag} must be True or False",
        )
    parameters = strategy.get_params(deep=False)
    copies = clone(strategy), pickle.loads(pickle.dumps(strategy))
    for copy in copies:
        kept = repr(copy.get_params(deep=False)) == repr(parameters)
        _require(kept, "clone and pickle must keep the parameters")


def _require(condition, message):
    if not condition:
        raise AssertionError(message)


def _arrays(bundle):
    for value in vars(bundle).values():
        if isinstance(value, np.ndarray):
            yield value
        elif hasattr(value, "__dict__"):
            yield from _arrays(value)
