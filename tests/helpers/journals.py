"""Campaigns that are kept in a journal: a very small one, and one on iris."""

import json
import os

import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from helpers.crashing_campaign import MODEL, X, Y
from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._labels._store import FileStore
from sklearn_ase._state import RECORDED
from sklearn_ase.risk import LURE
from sklearn_ase.surrogate import ClassifierSurrogate

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
POOL, LABELS = X[::5], Y[::5]
PROBA = GaussianNB().fit(X, Y).predict_proba(POOL) * 0.9 + 0.1 / 3
_OF_START = (
    "X_train",
    "y_train",
    "cost",
    "known_labels",
    "train_predictions",
    "ledger",
)


def start_small(path, X=POOL, predictions=PROBA, *, classes=(0, 1, 2), **parameters):
    """Start or resume a campaign of 30 rows whose surrogate is never fitted.

    Parameters
    ----------
    path : path
        Of the journal.
    X : array-like of shape (n_samples, ...)
        The pool.
    predictions : array-like
        Of the model.
    classes : sequence
    **parameters : parameters of the evaluator and of its `start`

    Returns
    -------
    evaluation : Evaluation
    """
    parameters = {"risk": LURE(), "refit": [10**6], "random_state": 0} | parameters
    given = {name: parameters.pop(name) for name in _OF_START if name in parameters}
    evaluator = ActiveRiskEstimator(
        **{"surrogate": GaussianNB(), "classes": list(classes)} | parameters
    )
    return evaluator.start(X, predictions=predictions, journal=path, **given)


def iris_evaluator(**parameters):
    """Evaluator of naive Bayes on iris whose surrogate is an ensemble of trees."""
    surrogate = ClassifierSurrogate(DecisionTreeClassifier(), n_members=3, cv=2)
    return ActiveRiskEstimator(
        MODEL, **{"surrogate": surrogate, "random_state": 0} | parameters
    )


def values_in(path):
    """Return the values of all whole lines of a journal, without their checksums."""
    *lines, _ = path.read_bytes().split(b"\n")
    header, *events = map(json.loads, lines)
    header.pop("check")
    return [header, *(event[:-1] for event in events)]


def write_values(path, values):
    """Write a journal of these values anew, with the right checksums."""
    path.unlink()
    store = FileStore(path)
    store.append(values)
    store.close()


def contents(ledger):
    """All that a ledger holds, with the picks as lists."""
    picks = {name: getattr(ledger.picks, name).tolist() for name in RECORDED}
    return vars(ledger) | {"picks": repr(picks)}  # NaN equals NaN.
