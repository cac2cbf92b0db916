"""What works for a mean loss works for a metric: stops, forecasts, reports, scores."""

import warnings

import matplotlib
import numpy as np
import pytest
from helpers.campaigns import Vote
from helpers.questions import (
    MODEL,
    SURROGATE,
    TARGET,
    TRAINING,
    X_TRAIN,
    Y_TRAIN,
    N,
    X,
    Y,
    buy,
    start,
    start_regression,
)
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import (
    AcquisitionDisplay,
    ActiveRiskEstimator,
    LossCalibrationDisplay,
    RiskCurveDisplay,
)
from sklearn_ase.acquisition import BALD, XWED, ExpectedLoss, LossSpread, Uniform
from sklearn_ase.metrics import BaseMetric, Recall, as_metric
from sklearn_ase.risk import ASE, LURE, CorrectedASE, GuardedASE
from sklearn_ase.selection import ArgMax
from sklearn_ase.stopping import Plateau, TargetWidth

METRICS = ["accuracy", "f1", "precision", "roc_auc", "f1_macro", "matthews_corrcoef"]
metrics = pytest.mark.parametrize("metric", METRICS)


@pytest.fixture(scope="module", params=METRICS)
def evaluation(request):
    return buy(start(metric=request.param), 30)


def evaluator(**parameters):
    given = {"surrogate": SURROGATE, "n_labels": 30, "random_state": 0}
    return ActiveRiskEstimator(MODEL, **given | parameters)


@metrics
@pytest.mark.filterwarnings("ignore:The labels contradict")
def test_a_wide_enough_target_stops_and_a_narrow_one_does_not(metric):
    fitted = evaluator(
        metric=metric, stop=TargetWidth(0.8, method="fixed"), n_labels=50
    )
    n_labels = len(fitted.fit(X, Y, **TRAINING).ledger_)
    assert n_labels < 50
    fitted.set_params(stop=TargetWidth(1e-9)).fit(X, Y, **TRAINING)
    assert len(fitted.ledger_) >= n_labels


def test_a_plateau_is_one_of_the_metric(evaluation):
    reach = np.ptp(evaluation.history["risk"][-6:])
    assert evaluation.stop_reason(Plateau(reach + 1e-6, 6))
    if reach > 0:
        assert not evaluation.stop_reason(Plateau(reach / 2, 6))


def test_a_forecast_needs_more_labels_for_less_width(evaluation):
    low, high = evaluation.estimate().interval()
    assert int(evaluation.labels_needed(high - low + 1e-6)) == 0
    if high > low:
        forecasts = [
            int(evaluation.labels_needed(f * (high - low))) for f in (0.8, 0.3)
        ]
        assert 0 < forecasts[0] <= forecasts[1] <= N - 30


def test_the_diagnosis_is_about_the_metric(evaluation):
    found = evaluation.diagnose()
    estimate = evaluation.estimate(GuardedASE(worth=0))
    assert found.surrogate_risk == float(evaluation.estimate(ASE()))
    assert found.corrected_risk == float(estimate)
    assert found.interval == estimate.interval()
    assert f"{estimate.name} by the surrogate" in str(found)
    assert found.verdict in ("good", "unsure", "bad")


def test_reports_name_the_metric(evaluation):
    name = evaluation.plan.metric.name
    assert f"{name} " in repr(evaluation)
    assert name in evaluation._repr_html_()


@pytest.mark.parametrize(
    "display", [RiskCurveDisplay, LossCalibrationDisplay, AcquisitionDisplay]
)
def test_displays_draw_an_evaluation_of_a_metric(evaluation, display):
    matplotlib.use("Agg")
    assert display.from_evaluation(evaluation).ax_ is not None


@pytest.mark.parametrize(
    "acquisition", [XWED(), BALD(), ExpectedLoss(), LossSpread(), Uniform()], ids=repr
)
@pytest.mark.parametrize("metric", ["f1", "roc_auc", "f1_macro"])
def test_every_acquisition_looks_at_the_metric(metric, acquisition):
    evaluation = buy(start(metric=metric, acquisition=acquisition), 26)
    low, high = evaluation.estimate().interval()
    assert 0.0 <= low <= high <= 1.0


def test_argmax_buys_for_the_metric_and_asks_the_surrogate():
    evaluation = buy(start(metric="f1", selection=ArgMax()), 20)
    found = evaluation.estimate()
    assert 0.0 < float(found) < 1.0
    assert "ASE has no confidence interval" in found.refusal


@metrics
def test_the_score_is_the_metric_or_minus_the_error_of_its_estimate(metric):
    fitted = evaluator(metric=metric).fit(X, Y, **TRAINING)
    assert fitted.score() == float(fitted.estimate_)
    expected = fitted.score(X_TRAIN)
    predict = MODEL.predict_proba if metric == "roc_auc" else MODEL.predict
    truth = as_metric(metric)(Y_TRAIN, predict(X_TRAIN))
    assert fitted.score(X_TRAIN, Y_TRAIN) == pytest.approx(-abs(expected - truth))


def test_the_score_of_an_error_is_negative():
    evaluation = buy(start_regression(metric="absolute_error"), 30, TARGET)
    fitted = ActiveRiskEstimator(metric="absolute_error")
    fitted.evaluation_ = evaluation
    assert fitted.score() == -float(evaluation.estimate()) < 0


def test_a_search_over_evaluators_prefers_the_best_estimate():
    search = GridSearchCV(
        evaluator(metric="f1", n_labels=10), {"risk": [ASE(), LURE()]}
    )
    search.set_params(cv=2).fit(X, Y)
    assert (search.cv_results_["mean_test_score"] <= 0).all()


def test_an_oracle_can_look_at_the_metric_while_labels_are_bought():
    seen = []
    evaluation = start(metric="f1")
    evaluation.run(lambda rows: seen.append(evaluation.estimate()) or Y[rows], 6)
    assert [each.n_labels for each in seen] == list(range(6))
    assert {each.name for each in seen} == {"F1"}


def test_a_frozen_and_an_own_surrogate_serve_metrics():
    frozen = FrozenEstimator(GaussianNB().fit(X_TRAIN, Y_TRAIN))
    for surrogate in (frozen, Vote()):
        found = buy(start(metric="roc_auc", surrogate=surrogate), 30).estimate()
        assert abs(float(found) - roc_auc_score(Y, MODEL.predict_proba(X)[:, 1])) < 0.3


def test_text_labels_and_many_classes(digits):
    names = np.array(["zero", "one", "two", "three"])
    model = GaussianNB(var_smoothing=0.01).fit(digits.X_train, names[digits.y_train])
    evaluator = ActiveRiskEstimator(FrozenEstimator(model), surrogate=SURROGATE)
    evaluator.set_params(metric="f1_macro", random_state=0, refit=[40])
    y, training = names[digits.y], {"y_train": names[digits.y_train]}
    evaluation = evaluator.start(digits.X, X_train=digits.X_train, **training)
    buy(evaluation, 120, y, batch_size=40)
    expected = f1_score(y, model.predict(digits.X), average="macro")
    assert float(evaluation.estimate()) == pytest.approx(expected)
    recall = evaluation.estimate(metric=Recall(pos_label="two"))
    assert float(recall) == pytest.approx(
        np.mean(model.predict(digits.X)[y == "two"] == "two")
    )


def test_a_metric_bought_in_batches_costs_no_more_than_its_labels():
    asked = []
    fitted = evaluator(metric="f1", n_labels=12, batch_size=4)
    fitted.fit(X, lambda rows: asked.extend(rows) or Y[rows], **TRAINING)
    assert len(asked) == len(set(asked)) == 12


def test_a_metric_of_the_users_own_is_bought_for():
    class Cost(BaseMetric):
        task, bounds = "classification", (0.0, 5.0)

        def row_values(self, y_true, y_pred):
            missed, alarm = (y_true == 1) & (y_pred == 0), (y_true == 0) & (y_pred == 1)
            return (5.0 * missed + alarm)[:, None]

        def value(self, means):
            return means[0]

    evaluation = buy(start(metric=Cost()), 60)
    wrong = MODEL.predict(X) != Y
    expected = np.mean(wrong * np.where(Y == 1, 5.0, 1.0))
    assert float(evaluation.estimate()) == pytest.approx(expected)
    assert clone(evaluator(metric=Cost())).metric is not None


@pytest.mark.parametrize("risk", [LURE(), CorrectedASE()], ids=repr)
def test_no_campaign_warns(risk):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        buy(start(metric="matthews_corrcoef", risk=risk), 30)
