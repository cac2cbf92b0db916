"""The contract of risk estimators."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from sklearn.base import clone

from sklearn_ase._utils._typing import Task
from sklearn_ase.exceptions import IntervalWarning
from sklearn_ase.risk import BaseRisk, RiskEstimate
from sklearn_ase.testing._require import TASKS, check_object, require
from sklearn_ase.testing._states import make_state


def check_risk(risk: BaseRisk, tasks: Sequence[Task] = TASKS) -> None:
    """Check that an object can serve as risk estimator.

    The estimate must be finite, lie in its interval, and be the same for the same
    state.

    Parameters
    ----------
    risk : BaseRisk
    tasks : sequence of {"classification", "regression"}
        The tasks it is made for.

    Raises
    ------
    AssertionError
        If the risk estimator does not work; the message says why.

    Examples
    --------
    >>> from sklearn_ase.risk import LURE
    >>> from sklearn_ase.testing import check_risk
    >>> check_risk(LURE())
    """
    check_object(risk, BaseRisk)
    for task in tasks:
        for n_samples, n_labels in ((40, 12), (40, 1), (8, 8)):
            _check_estimate(risk, make_state(task, n_samples, n_labels))
        _check_estimate(risk, _with_open(make_state(task, 40, 12), 7))


def _check_estimate(risk, state):
    found = risk.estimate(state)
    require(isinstance(found, RiskEstimate), "estimate must be a RiskEstimate")
    require(np.isfinite(float(found)), "the value must be finite")
    fits = found.n_labels <= state.n_labels
    require(fits, "n_labels must not exceed the number of labels")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IntervalWarning)
        low, high = found.interval(0.9)
    require(low <= float(found) <= high, "the interval must contain the value")
    again = clone(risk).estimate(state)
    require(float(found) == float(again), "same state must give same estimate")


def _with_open(state, place):
    """The state with a query that is open: weighted estimates stop in front of it."""
    answered = state.picks.answered.copy()
    answered[place] = False
    losses = np.where(answered, state.picks.losses, 0.0)
    picks = replace(state.picks, answered=answered, losses=losses)
    return replace(state, picks=picks, labels=np.delete(state.labels, place))
