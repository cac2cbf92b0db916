"""Strategies of users that return nonsense: an error names them, no label is lost."""

import numpy as np
import pytest
from helpers.iris_campaign import TRAINING, X, Y, make_evaluator
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import Query
from sklearn_ase.acquisition import BaseAcquisition
from sklearn_ase.belief import CategoricalBelief
from sklearn_ase.losses import BaseLoss, LossTable
from sklearn_ase.risk import BaseRisk, Estimate
from sklearn_ase.selection import BaseSelection
from sklearn_ase.stopping import BaseStop
from sklearn_ase.surrogate import BaseSurrogate, ClassifierSurrogate

N = len(X)


def no_label(rows):
    pytest.fail("A label was read.")


def refused_before_a_label(message, **parameters):
    with pytest.raises((TypeError, ValueError), match=message):
        make_evaluator(**parameters).fit(X, no_label, **TRAINING)


class Scores(BaseAcquisition):
    def __init__(self, scores):
        self.scores = scores

    def score_samples(self, state):
        return self.scores


@pytest.mark.parametrize(
    "scores",
    [None, "many", 1.0, 1j * np.ones(N), np.ones(N - 1), np.full(N, np.nan), ["a"] * N],
)
def test_scores_are_checked(scores):
    refused_before_a_label(
        r"Scores\.score_samples must return", acquisition=Scores(scores)
    )


class Distribution(BaseSelection):
    def __init__(self, values):
        self.values = values

    def distribution(self, scores):
        return self.values


@pytest.mark.parametrize(
    "values",
    [
        None,
        "all",
        np.full(N, np.nan),
        np.full(N, 1j / N),
        np.ones(1),
        np.array([2.0, -1.0, *np.zeros(N - 2)]),
    ],
)
def test_distributions_are_checked(values):
    refused_before_a_label(
        r"Distribution\.distribution must return", selection=Distribution(values)
    )


class Pick(BaseSelection):
    def __init__(self, query):
        self.query = query

    def distribution(self, scores):
        return np.full(len(scores), 1 / len(scores))

    def pick(self, scores, candidates, n_queries, rng):
        return self.query


def _query(rows, proba):
    return Query(np.array(rows), np.array(proba))


@pytest.mark.parametrize(
    "query",
    [
        None,
        [3],
        _query([N], [0.1]),
        _query([-1], [0.1]),
        _query([1, 1], [0.1, 0.1]),
        _query([1], [np.nan]),
        _query([1], [0.0]),
        _query([1], [1.5]),
        _query([1], [0.1, 0.2]),
    ],
)
def test_picks_are_checked(query):
    refused_before_a_label(r"Pick\.pick must return", selection=Pick(query))


class Table(BaseLoss):
    task = "classification"

    def __init__(self, values):
        self.values = values

    def __call__(self, y_true, y_pred):
        return np.zeros(len(y_true))

    def build(self, prediction, classes=None):
        return LossTable(self.values, classes)


@pytest.mark.parametrize(
    "values",
    [
        np.zeros((N, 2)),
        -np.ones((N, 3)),
        np.full((N, 3), np.nan),
        1j * np.ones((N, 3)),
    ],
)
def test_loss_tables_are_checked(values):
    refused_before_a_label("The loss table of Table must hold", loss=Table(values))


@pytest.mark.parametrize(
    "value", [None, "much", 1j, np.nan, -1.0, np.zeros((N, 2)), [0.0], {}]
)
def test_values_of_a_loss_function_are_checked(value):
    def wrong(y_true, y_pred):
        return np.full(len(y_true), value) if np.isscalar(value) else value

    refused_before_a_label("The loss function", loss=wrong)


class Belief(BaseSurrogate):
    task = "classification"

    def __init__(self, kind):
        self.kind = kind

    def fit(self, X, y, *, classes=None, **_):
        self.n_classes_ = len(classes)
        return self

    def belief(self, X, loss, expert=None, keep_member_loss=False):
        members = np.full((2, len(X), self.n_classes_), 1 / self.n_classes_)
        if self.kind == "NaN":
            members[:, 0] = np.nan
        return (
            None
            if self.kind == "None"
            else CategoricalBelief.from_members(members, loss)
        )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", ["None", "NaN"])
def test_beliefs_are_checked(kind):
    refused_before_a_label(r"Belief\.belief must", surrogate=Belief(kind))


class Unsure(GaussianNB):
    """A classifier whose probabilities are not finite."""

    def predict_proba(self, X):
        return super().predict_proba(X) * np.nan


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_predictions_of_a_surrogate_are_checked():
    surrogate = ClassifierSurrogate(Unsure(), n_members=2, calibration=None)
    refused_before_a_label(r"ClassifierSurrogate\.belief must", surrogate=surrogate)


class Returned(BaseRisk):
    def __init__(self, value):
        self.value = value

    def estimate(self, state):
        return self.value


class Reason(BaseStop):
    def __init__(self, value):
        self.value = value

    def reason(self, estimates):
        return self.value


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"risk": Returned(0.3)}, r"Returned\.estimate must return an Estimate"),
        ({"risk": Returned(None)}, r"Returned\.estimate must return an Estimate"),
        ({"risk": Returned(Estimate(np.nan, 0.1, 1))}, "with a finite value"),
        ({"risk": Returned(Estimate("low", 0.1, 1))}, "with a finite value"),
        ({"risk": Returned(Estimate(1j, 0.1, 1))}, "with a finite value"),
        ({"risk": Returned(Estimate(0.3, None, 1))}, "standard_error is None"),
        ({"stop": Reason(None)}, r"Reason\.reason must return a str"),
        ({"stop": Reason(1)}, r"Reason\.reason must return a str"),
    ],
)
def test_what_can_only_be_seen_after_a_label_loses_none(parameters, message):
    evaluator = make_evaluator(n_labels=10, **parameters)
    with pytest.raises((TypeError, ValueError), match=message):
        evaluator.fit(X, Y, **TRAINING)
    assert len(evaluator.ledger_) == 1
    parameter = next(iter(parameters))
    evaluator.set_params(**{parameter: None}).fit(
        X, Y, ledger=evaluator.ledger_, **TRAINING
    )
    assert evaluator.risk_.n_labels == 10
