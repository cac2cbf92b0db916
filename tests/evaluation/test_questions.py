"""One set of labels answers many questions."""

import pickle
import re
import warnings

import numpy as np
import pytest
from helpers.questions import (
    MODEL,
    SLICE,
    SURROGATE,
    TARGET,
    WEIGHT,
    WEIGHTED,
    X,
    Y,
    buy,
    start,
    start_regression,
)
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeClassifier

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.exceptions import IntervalWarning, NewClassWarning
from sklearn_ase.metrics import (
    BaseMetric,
    ConfusionMetric,
    FBeta,
    LabelMean,
    LabelShare,
    MeanLoss,
    Precision,
    Recall,
    metric_names,
)
from sklearn_ase.risk import ASE, LURE, CorrectedASE, Estimate, GuardedASE
from sklearn_ase.selection import ArgMax

risks = pytest.mark.parametrize("risk", WEIGHTED, ids=repr)


@pytest.fixture(scope="module")
def evaluation():
    return buy(start(loss="zero_one"), 35)


@risks
def test_accuracy_is_one_minus_the_zero_one_loss(risk):
    metric, loss = (
        buy(start(risk=risk, **of), 30)
        for of in ({"metric": "accuracy"}, {"loss": "zero_one"})
    )
    assert metric.history["index"].tolist() == loss.history["index"].tolist()
    assert 1.0 - metric.history["risk"] == pytest.approx(loss.history["risk"])
    for method in ("fixed", "anytime"):
        low, high = (1.0 - end for end in loss.intervals(method=method)[::-1])
        inside = np.clip([low, high], 0.0, 1.0)
        inside[:, ~np.isfinite(low)] = [[-np.inf], [np.inf]]
        assert np.array(metric.intervals(method=method)) == pytest.approx(inside)


@pytest.mark.parametrize("name", ["brier", "neg_brier_score", "neg_log_loss"])
def test_the_mean_of_the_own_loss_is_the_risk_with_its_sign(name):
    loss = MeanLoss("log_loss", negative=True) if "log" in name else name
    evaluation = buy(start(loss=name.replace("neg_", "").replace("_score", "")), 30)
    found, risk = evaluation.estimate(metric=loss), evaluation.estimate()
    sign = -1.0 if "neg" in name else 1.0
    if name == "neg_brier_score":  # scikit-learn's counts one of the two classes.
        sign = float(found) / float(risk)
    assert float(found) == pytest.approx(sign * float(risk))
    assert found.standard_error == pytest.approx(abs(sign) * risk.standard_error)


@risks
def test_a_question_does_not_depend_on_what_the_labels_were_bought_for(risk):
    """The same picks, labels and beliefs: the answer is the same."""
    first = start(loss="zero_one", acquisition=None, metric="f1")
    second = start(loss="zero_one", acquisition=None, metric="f1", risk=LURE())
    answers = [buy(e, 30).estimate(risk, metric="recall") for e in (first, second)]
    assert answers[0].interval() == answers[1].interval()


@risks
@pytest.mark.parametrize("metric", ["precision", "f1_macro", "roc_auc"])
def test_labels_are_bought_for_the_metric(metric, risk):
    rows = buy(start(metric=metric, risk=risk), 30).ledger.indices
    assert rows != buy(start(loss="zero_one", risk=risk), 30).ledger.indices


def test_the_answer_without_labels_is_the_surrogates_word():
    evaluation = start(metric="f1")
    found = evaluation.estimate()
    assert float(found) == float(evaluation.estimate(ASE()))
    assert "no label yet" in found.refusal


def test_a_ranking_worse_than_chance_is_found_to_be_so():
    def upside_down(X):
        return MODEL.predict_proba(X)[:, ::-1] * 0.9 + 0.05

    evaluator = ActiveRiskEstimator(upside_down, classes=[0, 1], surrogate=SURROGATE)
    evaluator.set_params(loss="log_loss", random_state=0)
    evaluation = evaluator.start(X, X_train=X, y_train=Y)
    assert float(evaluation.estimate(metric="roc_auc")) < 0.4
    buy(evaluation, 30)
    values = [float(evaluation.estimate(risk, metric="roc_auc")) for risk in WEIGHTED]
    assert max(values) < 0.45


@risks
def test_means_of_negative_labels_are_negative(risk):
    evaluation = buy(start_regression(loss="squared_error"), 30, TARGET)
    found = evaluation.estimate(risk, metric=LabelMean())
    assert abs(float(found) - TARGET.mean()) < 4 * found.standard_error
    assert found.interval()[1] < -3.0


@pytest.mark.parametrize("name", ["r2", "explained_variance", "absolute_error"])
def test_a_regression_can_be_evaluated_by_a_metric(name):
    evaluation = buy(start_regression(metric=name), 30, TARGET)
    low, high = evaluation.estimate().interval()
    truth = evaluation.plan.metric(TARGET, evaluation.problem.predictions.response)
    assert low < truth < high


@risks
def test_a_ranking_needs_no_fitted_surrogate(risk):
    evaluator = ActiveRiskEstimator(MODEL, surrogate=SURROGATE, classes=[0, 1])
    evaluator.set_params(metric="roc_auc", risk=risk, refit=[10**6], random_state=0)
    evaluation = buy(evaluator.start(X), 20)
    assert 0.0 <= float(evaluation.estimate()) <= 1.0


@risks
@pytest.mark.parametrize("name", metric_names())
def test_every_answer_is_inside_its_interval_and_bounds(evaluation, name, risk):
    if name in ("r2", "explained_variance") or "error" in name:
        evaluation = buy(start_regression(loss="squared_error"), 26, TARGET)
    found = evaluation.estimate(risk, metric=name)
    low, high = found.interval()
    least, most = found.bounds
    assert least <= low <= np.clip(float(found), least, most) <= high <= most
    assert np.isfinite(float(found))


def test_a_metric_that_the_model_cannot_serve_is_refused():
    model = FrozenEstimator(RidgeClassifier().fit(X, Y))
    evaluator = ActiveRiskEstimator(model, surrogate=SURROGATE, metric="neg_log_loss")
    with pytest.raises(ValueError, match="predict_proba"):
        evaluator.start(X, X_train=X, y_train=Y)
    ranked = evaluator.set_params(metric="roc_auc").start(X, X_train=X, y_train=Y)
    assert float(buy(ranked, 20).estimate()) > 0.5  # decision_function will do.


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("r2", "for regression"),
        (Recall(pos_label="yes"), "pos_label='yes' is not among"),
        (LabelShare("yes"), "label='yes' is not among"),
        ("f2", "is not known"),
        (FBeta(beta=-1), "beta"),
    ],
)
def test_a_metric_that_does_not_fit_costs_no_label(metric, message, evaluation):
    with pytest.raises(ValueError, match=re.escape(message)):
        start(metric=metric).ask()
    with pytest.raises(ValueError, match=re.escape(message)):
        evaluation.estimate(metric=metric)


def test_a_positive_class_must_be_named_among_three(digits):
    evaluator = ActiveRiskEstimator(digits.model, metric="f1", surrogate=SURROGATE)
    with pytest.raises(ValueError, match="Give average='macro'"):
        evaluator.start(digits.X, **digits.training)


def test_no_predicted_positive_is_a_refusal_with_its_reason(evaluation):
    where = MODEL.predict(X) == 0
    found = evaluation.estimate(metric="precision", where=where)
    assert np.isnan(float(found))
    assert "not defined" in found.refusal
    with pytest.warns(IntervalWarning, match="not defined"):
        assert found.interval() == (-np.inf, np.inf)


def test_a_class_that_comes_late_leaves_the_positive_one_as_it_was():
    evaluation = buy(start(metric="f1"), 12)
    row = evaluation.ask().indices
    with pytest.warns(NewClassWarning):
        evaluation.tell(row, [7])
    buy(evaluation, 5)
    same = evaluation.estimate(metric=FBeta(pos_label=1))
    assert float(evaluation.estimate()) == float(same)
    assert float(evaluation.estimate(metric=LabelShare(7))) > 0
    evaluation.correct(int(row[0]), 1)  # The class is gone again.
    assert np.isfinite(float(evaluation.estimate()))


@pytest.mark.parametrize("metric", ["f1", "roc_auc", "accuracy"])
def test_several_answers_of_a_row_count_by_their_share(metric):
    evaluation = start(loss="brier", refit=[10**6])
    rows = evaluation.ask(60).indices
    evaluation.tell(rows, np.column_stack([Y[rows]] * 3))
    same = buy(start(loss="brier", refit=[10**6]), 60, batch_size=60)
    found = [float(each.estimate(metric=metric)) for each in (evaluation, same)]
    assert found[0] == pytest.approx(found[1], abs=1e-12)


def test_an_own_metric_of_means_and_one_of_the_confusion_matrix_agree(evaluation):
    class Misses(BaseMetric):
        task, bounds = "classification", (0.0, 1.0)

        def row_values(self, y_true, y_pred):
            positive = y_true == 1
            return np.column_stack([positive & (y_pred == 0), positive])

        def value(self, means):
            return means[0] / means[1]

    def misses(matrix):
        return matrix[1, 0] / matrix[1].sum()

    recall = evaluation.estimate(CorrectedASE(), metric="recall")
    for metric in (Misses(), ConfusionMetric(misses, bounds=(0, 1))):
        found = evaluation.estimate(CorrectedASE(), metric=metric)
        assert float(found) == pytest.approx(1.0 - float(recall), abs=1e-6)


def test_argmax_picks_answer_by_the_surrogate_alone():
    evaluation = buy(start(metric="f1", selection=ArgMax()), 30)
    assert isinstance(evaluation.risk, ASE)
    with pytest.raises(ValueError, match="picked without one"):
        evaluation.estimate(GuardedASE(), metric="recall")
    assert "no confidence interval" in evaluation.estimate(metric="recall").refusal


def test_a_weight_of_two_is_a_row_given_twice():
    rows = np.repeat(np.arange(len(X)), 1 + (WEIGHT > 1))
    twice = start(X[rows], loss="zero_one")
    weight = 1.0 + (WEIGHT > 1)
    for name in ("accuracy", "f1", "roc_auc", "matthews_corrcoef", "brier"):
        found = start(loss="zero_one").estimate(
            ASE(), metric=name, sample_weight=weight
        )
        # Unknown labels of two rows may differ, those of one row do not.
        tolerance = 1e-2 if name == "roc_auc" else 1e-9
        expected = float(twice.estimate(ASE(), metric=name))
        assert float(found) == pytest.approx(expected, abs=tolerance)


@risks
def test_a_weight_of_zero_is_a_row_outside_the_slice(evaluation, risk):
    for name in ("accuracy", "f1", "roc_auc", "neg_log_loss"):
        weighted = evaluation.estimate(risk, metric=name, sample_weight=3.0 * SLICE)
        slice_ = evaluation.estimate(risk, metric=name, where=SLICE)
        assert weighted.value == pytest.approx(slice_.value)
        assert weighted.interval() == pytest.approx(slice_.interval())


def test_weights_of_the_start_shape_everything_that_is_reported():
    evaluation = buy(start(loss="zero_one", sample_weight=WEIGHT), 60)
    wrong = MODEL.predict(X) != Y
    expected = np.average(wrong, weights=WEIGHT)
    assert float(evaluation.estimate()) == pytest.approx(expected)
    assert evaluation.history["risk"][-1] == pytest.approx(expected)
    assert evaluation.intervals()[0][-1] == pytest.approx(expected)
    unweighted = evaluation.estimate(sample_weight=np.ones(60))
    assert float(unweighted) == pytest.approx(wrong.mean())


def test_evaluators_with_a_metric_are_cloned_and_pickled():
    evaluator = ActiveRiskEstimator(MODEL, metric=Precision(pos_label=1))
    assert clone(evaluator).get_params()["metric__pos_label"] == 1
    found = buy(start(metric="f1"), 30).estimate()
    again = pickle.loads(pickle.dumps(found))
    assert isinstance(again, Estimate)
    assert again.interval() == found.interval()


def test_rows_may_be_chosen_by_a_list(evaluation):
    found = evaluation.estimate(metric="f1", where=SLICE.tolist())
    assert float(found) == float(evaluation.estimate(metric="f1", where=SLICE))


def test_answers_do_not_warn(evaluation):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("accuracy", "f1", "roc_auc", "precision_macro"):
            evaluation.estimate(metric=name, where=SLICE)
