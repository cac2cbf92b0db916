"""A surrogate that is wrong on training rows is not trusted on the pool."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits
from sklearn.ensemble import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._inference import _steps as _kernels
from sklearn_ase._inference._evidence import weigh_evidence
from sklearn_ase.losses import CustomLoss
from sklearn_ase.surrogate import (
    ClassifierSurrogate,
    LogLinearStack,
    RegressorSurrogate,
)
from sklearn_ase.testing import make_state

DIGITS = load_digits(return_X_y=True)


def started(surrogate, loss="zero_one", cv=5, with_training_rows=True):
    """An evaluation of naive Bayes on digits, before the first label."""
    X, y = DIGITS
    model = GaussianNB().fit(X[:500], y[:500])
    rows = {"X_train": X[:500], "y_train": y[:500]} if with_training_rows else {}
    evaluator = ActiveRiskEstimator(
        model, surrogate=surrogate, loss=loss, cv=cv, random_state=0
    )
    return evaluator.start(X[500:], **rows)


@pytest.mark.parametrize("loss", ["zero_one", "brier", "log_loss"])
def test_calibrated_trees_agree_with_training_rows_they_have_not_seen(loss):
    state = started(RandomForestClassifier(30), loss).state
    assert state.is_calibrated
    assert np.isnan(state.training_gap)  # Nothing is left to find.


def test_training_rows_show_the_error_of_an_uncalibrated_surrogate():
    stump = DecisionTreeClassifier(max_depth=1)
    evaluation = started(ClassifierSurrogate(stump, calibration=None))
    state, y = evaluation.state, DIGITS[1][500:]
    truth = state.loss.observed(np.arange(len(y)), y).mean()
    # What it expects too much on training rows is about what it does on the pool.
    assert state.training_gap == pytest.approx(
        state.expected_loss.mean() - truth, abs=0.15
    )
    assert state.training_gap > 0.3


def test_the_same_holds_for_regression():
    X, y = load_diabetes(return_X_y=True)
    model = Ridge(1.0).fit(X[:200], y[:200])
    gaps = []
    for calibration in ("auto", None):
        surrogate = RegressorSurrogate(
            RandomForestRegressor(30), calibration=calibration
        )
        evaluator = ActiveRiskEstimator(
            model, surrogate=surrogate, loss="squared_error", random_state=0
        )
        evaluation = evaluator.start(X[200:], X_train=X[:200], y_train=y[:200])
        assert evaluation.state.is_calibrated == (calibration == "auto")
        gaps.append(evaluation.state.training_gap / y.var())
    assert np.isnan(gaps[0])
    assert gaps[1] > 0  # It counts its own error beside the model's.


def test_the_model_is_not_fitted_again_where_its_predictions_are_not_used():
    class Counting(GaussianNB):
        n_fits = 0

        def fit(self, X, y):
            Counting.n_fits += 1
            return super().fit(X, y)

    X, y = DIGITS
    model = Counting().fit(X[:500], y[:500])
    trees = {
        5: RandomForestClassifier(5),
        0: ExtraTreesClassifier(5),  # Every tree has learned from every row.
    }
    for n_fits, surrogate in trees.items():
        Counting.n_fits = 0
        surrogate = ClassifierSurrogate(surrogate, calibration=None)
        ActiveRiskEstimator(model, surrogate=surrogate, random_state=0).start(
            X[500:], X_train=X[:500], y_train=y[:500]
        )
        assert Counting.n_fits == n_fits


def test_without_out_of_fold_predictions_there_is_no_training_gap():
    uncalibrated = ClassifierSurrogate(DecisionTreeClassifier(), calibration=None)
    for without in ({"cv": 0}, {"with_training_rows": False}):
        state = started(uncalibrated, **without).state
        assert not state.is_calibrated
        assert np.isnan(state.training_gap)


def test_a_surrogate_counts_as_calibrated_once_enough_rows_were_used():
    evaluation = started(RandomForestClassifier(10), with_training_rows=False)
    for n_rows, is_calibrated in ((24, False), (1, True)):
        query = evaluation.ask(n_rows)
        evaluation.tell(query, DIGITS[1][500:][query.indices])
        evaluation.refit()
        assert evaluation.surrogate.is_calibrated
        assert evaluation.state.is_calibrated == is_calibrated


def test_a_calibration_without_the_model_does_not_use_its_predictions():
    alone = LogLinearStack(use_estimator=False)
    surrogate = ClassifierSurrogate(RandomForestClassifier(10), calibration=alone)
    assert started(surrogate, cv=0).state.is_calibrated


def test_a_loss_without_a_value_at_training_rows_gives_no_training_gap():
    X, y = load_diabetes(return_X_y=True)
    relative = CustomLoss(relative_error, task="regression")
    model = Ridge(1.0).fit(X[:200], y[:200])
    evaluator = ActiveRiskEstimator(
        model,
        surrogate=RegressorSurrogate(RandomForestRegressor(10), calibration=None),
        loss=relative,
        random_state=0,
    )
    y_train = np.where(np.arange(200) == 7, 0.0, y[:200])  # No value at 0.
    evaluation = evaluator.start(X[200:], X_train=X[:200], y_train=y_train)
    assert np.isnan(evaluation.state.training_gap)


def relative_error(y_true, y_pred):
    with np.errstate(divide="ignore"):
        return np.abs(y_true - y_pred) / np.abs(y_true)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_further_off_on_training_rows_the_smaller_the_trust(task):
    state = replace(make_state(task), is_calibrated=False)
    trusts = [
        weigh_evidence(replace(state, training_gap=gap)).trust
        for gap in (0.0, 0.1, 0.2, 0.4)
    ]
    assert (np.diff(trusts) < 0).all()


def test_a_mean_is_clear_beyond_two_standard_errors():
    values = np.array([1.0, 3.0] * 50)
    error = values.std(ddof=1) / 10
    assert _kernels.clear_mean(values) == pytest.approx(2.0 - 2.0 * error)
    assert _kernels.clear_mean(-values) == pytest.approx(-2.0 + 2.0 * error)
    assert _kernels.clear_mean(values - 2.0) == 0


def test_the_diagnosis_shows_the_training_gap():
    stump = ClassifierSurrogate(DecisionTreeClassifier(max_depth=1), calibration=None)
    evaluation = started(stump)
    query = evaluation.ask(30)
    evaluation.tell(query, DIGITS[1][500:][query.indices])
    diagnosis = evaluation.diagnose()
    assert diagnosis.is_bad
    assert f"expected {diagnosis.training_gap:.3g} too much of training rows" in str(
        diagnosis
    )
