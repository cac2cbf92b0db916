"""Errors say what is wrong and what to do, and come before a label is spent."""

import numpy as np
import pandas as pd
import pytest
from helpers.journals import contents
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import BaseAcquisition, VarianceReduction
from sklearn_ase.risk import ASE, LURE, GuardedASE, MonteCarlo
from sklearn_ase.selection import ArgMax


def _never(indices):
    pytest.fail("a label was spent")


class Returns(BaseAcquisition):
    """An acquisition that returns whatever it is told to."""

    def __init__(self, scores):
        self.scores = scores

    def score_samples(self, state):
        return self.scores


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"estimator": GaussianNB()}, "GaussianNB, is not fitted.*FrozenEstimator"),
        ({"estimator": None}, "no model to evaluate.*predictions="),
        ({"n_labels": 121}, "n_labels=121 is more than the pool holds.*120"),
        ({"n_labels": -1}, "n_labels=-1 must be an integer"),
        (
            {"n_labels": 4, "risk": ASE()},
            "ASE needs a fitted surrogate.*at least 5.*n_labels=4",
        ),
        ({"risk": LURE(), "selection": ArgMax()}, "LURE.*ArgMax.*Proportional"),
        (
            {"risk": GuardedASE(), "selection": ArgMax()},
            "GuardedASE.*ArgMax.*Proportional",
        ),
        ({"risk": MonteCarlo()}, "MonteCarlo needs a plain random.*Uniform"),
        (
            {"loss": "squared_error"},
            "for regression, but the estimator is a classifier",
        ),
        ({"surrogate": Ridge()}, "classification.*Ridge"),
        ({"loss": "accuracy"}, "'accuracy' is not known.*zero_one"),
        ({"loss": 3}, "loss must be one of.*got 3"),
        ({"refit": 0.9}, "refit=0.9 must be"),
        ({"refit": 0}, "refit=0 must be"),
        ({"refit": [0, 3]}, "refit=.*must be"),
        ({"refit": "often"}, "refit='often' must be"),
        ({"refit": None}, "refit=None must be"),
        ({"batch_size": 0}, "batch_size=0 must be"),
        ({"batch_size": 2.5}, "batch_size=2.5 must be"),
        (
            {"classes": [0, 1]},
            r"Labels \[2, 3\] of estimator are not among.*\[0, 1\]",
        ),
        ({"risk": "lure"}, "risk.*'lure'"),
        ({"acquisition": "xwed"}, "acquisition.*'xwed'"),
        (
            {"surrogate": FrozenEstimator(RandomForestClassifier())},
            "surrogate.*not fitted",
        ),
    ],
)
def test_bad_parameters_are_refused_before_a_label_is_spent(
    digits, evaluator, params, message
):
    evaluator.set_params(**params)
    with pytest.raises((ValueError, TypeError), match=message):
        evaluator.fit(digits.X, _never)


@pytest.mark.parametrize(
    ("name", "predictions", "message"),
    [
        ("nan", lambda proba: np.where(proba == proba.max(), np.nan, proba), "is NaN"),
        ("logits", lambda proba: np.log(proba + 1e-9), "logits.*softmax"),
        ("rows", lambda proba: proba[:7], "7 rows, but the pool has 120"),
        ("columns", lambda proba: proba[:, :3], "3 columns, but 4 classes"),
        ("labels", lambda proba: proba.argmax(axis=1), "one-dimensional, labels"),
    ],
)
def test_bad_predictions_are_refused(digits, evaluator, name, predictions, message):
    proba = predictions(digits.model.predict_proba(digits.X))
    evaluator.set_params(classes=range(4))
    with pytest.raises(ValueError, match=message):
        evaluator.fit(digits.X, _never, predictions=proba)
    evaluator.set_params(estimator=lambda X: proba)
    with pytest.raises(ValueError, match=message):
        evaluator.fit(digits.X, _never)


def test_predictions_of_a_regressor_are_one_column(diabetes, regression_evaluator):
    with pytest.raises(ValueError, match=r"\(120, 2\)"):
        regression_evaluator.fit(diabetes.X, _never, predictions=diabetes.X[:, :2])


@pytest.mark.parametrize(
    ("pool", "rows", "message"),
    [
        (slice(0, 0), {}, "0 sample|0 rows"),
        ((slice(None), slice(5)), {}, "fitted on 64 features, but the pool has 5"),
        (..., {"X_train": True}, "They go together"),
        (..., {"y_train": True}, "They go together"),
    ],
)
def test_bad_rows_are_refused(digits, evaluator, pool, rows, message):
    rows = {name: getattr(digits, name) for name in rows}
    with pytest.raises(ValueError, match=message):
        evaluator.fit(digits.X[pool], _never, **rows)


def test_training_rows_of_another_width_are_refused(digits, evaluator):
    with pytest.raises(
        ValueError, match=r"rows of shape \(5,\) and the pool of shape \(64,\)"
    ):
        evaluator.fit(
            digits.X, _never, X_train=digits.X_train[:, :5], y_train=digits.y_train
        )


def test_log_loss_of_a_model_without_probabilities_is_refused(digits, evaluator):
    model = LinearSVC(max_iter=20).fit(digits.X_train > 8, digits.y_train)
    evaluator.set_params(estimator=FrozenEstimator(model))
    with pytest.raises(ValueError, match=r"LinearSVC has no predict_proba.*zero_one"):
        evaluator.fit(digits.X, _never)


def test_variance_reduction_without_members_is_refused(diabetes, regression_evaluator):
    regression_evaluator.set_params(
        surrogate=BayesianRidge(), acquisition=VarianceReduction()
    )
    with pytest.raises(ValueError, match="BayesianRidge has none"):
        regression_evaluator.fit(diabetes.X, _never)


def test_frozen_regressor_that_knows_no_noise_is_refused(
    diabetes, regression_evaluator
):
    surrogate = FrozenEstimator(Ridge().fit(diabetes.X_train, diabetes.y_train))
    regression_evaluator.set_params(surrogate=surrogate)
    with pytest.raises(ValueError, match="noise"):
        regression_evaluator.start(diabetes.X)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.full(120, np.nan), "Returns.score_samples must return finite"),
        (np.full(120, -1.0), "Returns.score_samples must return finite"),
        (np.ones((120, 2)), r"shape \(120,\), but returned shape \(120, 2\)"),
    ],
)
def test_bad_scores_are_refused(digits, evaluator, scores, message):
    evaluator.set_params(acquisition=Returns(scores))
    with pytest.raises(ValueError, match=message):
        evaluator.fit(digits.X, _never, X_train=digits.X_train, y_train=digits.y_train)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed.*start"),
        (np.zeros(7), "y has 7 labels, but the pool has 120 rows"),
        (lambda rows: np.zeros(2), "1 rows were to be answered, but 2 labels"),
        (lambda rows: [None], "Missing labels: None, NaN or infinite in rows"),
        (lambda rows: [np.nan], "Missing labels: None, NaN or infinite in rows"),
        (lambda rows: np.zeros((1, 2, 2)), "labels must be one-dimensional"),
        (lambda rows: ["three"], "Labels"),
    ],
)
def test_bad_labels_are_refused(digits, evaluator, y, message):
    with pytest.raises(ValueError, match=message):
        evaluator.fit(digits.X, y)


def test_score_needs_a_label_for_each_row(digits, evaluator):
    evaluator.fit(digits.X, digits.y)
    with pytest.raises(ValueError, match="5"):
        evaluator.score(digits.X, digits.y[:5])


def test_labels_outside_the_classes_are_refused(digits, evaluator):
    evaluator.set_params(classes=range(4))
    with pytest.raises(ValueError, match=r"Labels \[7\] are not among.*classes="):
        evaluator.fit(digits.X, lambda rows: np.full(len(rows), 7))
    assert len(evaluator.ledger_) == 0


def test_answers_must_match_the_queries(digits, evaluator):
    evaluation = evaluator.start(digits.X)
    query = evaluation.ask(2)
    other = next(row for row in range(120) if row not in query.indices)
    with pytest.raises(ValueError, match=rf"Rows \[{other}\] were not asked for"):
        evaluation.tell([query.indices[0], other], [0, 1])
    assert len(evaluation.ledger) == 0
    evaluation.tell(query, [0, 1])
    with pytest.raises(ValueError, match="have a label already"):
        evaluation.tell(query, [0, 1])
    with pytest.raises(ValueError, match=r"119.*between 1 and 118, .*of 120"):
        evaluation.ask(119)


def test_nothing_can_be_had_before_fit(digits, evaluator):
    with pytest.raises(NotFittedError):
        evaluator.predict(digits.X)
    assert not hasattr(evaluator, "risk_")


@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.NewClassWarning")
@pytest.mark.parametrize("params", [{}, {"refit": 3}, {"batch_size": 4}])
@pytest.mark.parametrize("known", [4, 2])
def test_an_oracle_that_breaks_loses_no_label(digits, evaluator, params, known):
    rows = digits.y_train < known  # With 2 of 4 the classes grow on the way.
    model = GaussianNB(var_smoothing=0.01).fit(
        digits.X_train[rows], digits.y_train[rows]
    )
    evaluator.set_params(estimator=FrozenEstimator(model), n_labels=20, **params)
    paid, limit = [], 8

    def oracle(indices):
        if len(paid) >= limit:
            raise ConnectionError("gone")
        paid.extend(indices.tolist())
        return digits.y[indices]

    with pytest.raises(ConnectionError):
        evaluator.fit(digits.X, oracle)
    broken = evaluator.ledger_
    assert list(broken.labels) == paid
    assert len(broken.pending) == params.get("batch_size", 1)
    assert evaluator.risk_.n_labels == 8
    limit = 100
    evaluator.fit(digits.X, oracle, ledger=broken)
    assert paid[8 : 8 + len(broken.pending)] == broken.pending
    assert len(paid) == len(set(paid)) == 20
    resumed = evaluator.ledger_
    np.testing.assert_equal(
        contents(resumed), contents(evaluator.fit(digits.X, digits.y).ledger_)
    )


def test_model_that_only_looks_like_an_estimator(digits):
    class Remote:
        classes_ = digits.model.classes_

        def predict_proba(self, X):
            return digits.model.predict_proba(X)

    evaluator = ActiveRiskEstimator(
        Remote(), surrogate=GaussianNB(), n_labels=6, random_state=0
    )
    assert evaluator.fit(digits.X, digits.y).risk_.n_labels == 6


@pytest.mark.parametrize("risk", [None, ASE(), LURE()])
def test_a_budget_of_nothing_is_refused_where_nothing_can_be_said(digits, risk):
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(digits.model), risk=risk, n_labels=0, random_state=0
    )
    with pytest.raises(ValueError, match=r"nothing to estimate|needs a fitted"):
        evaluator.fit(digits.X, digits.y)


def test_a_model_may_pick_its_columns_from_a_frame(digits):
    """What its own predict accepts is a pool."""
    pick = make_column_transformer(("passthrough", ["x0", "x1"]))
    frame = pd.DataFrame(digits.X[:, 2:5], columns=["x0", "x1", "extra"])
    model = make_pipeline(pick, GaussianNB()).fit(frame[["x0", "x1"]], digits.y)
    evaluator = ActiveRiskEstimator(FrozenEstimator(model), surrogate=GaussianNB())
    assert evaluator.start(frame).n_samples == len(frame)
    with pytest.raises(ValueError, match="columns are missing"):
        evaluator.start(frame[["x0", "extra"]])
