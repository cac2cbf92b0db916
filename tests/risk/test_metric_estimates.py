"""Estimates of metrics: what their intervals promise, and what they refuse."""

import json
import warnings
from functools import cache

import numpy as np
import pytest
from helpers.questions import X_TRAIN, Y_TRAIN, binary_pool, buy, start
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import Uniform
from sklearn_ase.exceptions import IntervalWarning
from sklearn_ase.metrics import LabelMean, MeanLoss, as_metric
from sklearn_ase.risk import (
    LURE,
    CorrectedASE,
    Estimate,
    GuardedASE,
    MonteCarlo,
)

X, Y = binary_pool(200, 3)
RATIOS = ["f1", "recall", "precision", "matthews_corrcoef", "jaccard", "specificity"]
CURVED = [name for name in RATIOS if name != "precision"]  # No straight lines.
OTHERS = ["f1_macro", "roc_auc", "average_precision", "f1_weighted"]
METRICS = ["accuracy", *RATIOS, *OTHERS]
FROZEN = FrozenEstimator(GaussianNB().fit(X_TRAIN, Y_TRAIN))
metrics = pytest.mark.parametrize("metric", METRICS)
risks = pytest.mark.parametrize(
    "risk", [LURE(), CorrectedASE(), GuardedASE()], ids=repr
)


@cache
def after(n_labels):
    evaluation = start(X, loss="zero_one", surrogate=FROZEN)
    return buy(evaluation, n_labels, Y, batch_size=n_labels)


@risks
@metrics
def test_an_anytime_interval_is_wider_and_that_of_the_population_too(metric, risk):
    found = after(60).estimate(risk, metric=metric)
    low, high = found.interval()
    for other in ({"method": "anytime"}, {"target": "population"}, {"level": 0.99}):
        wide = found.interval(**other)
        assert wide[0] <= low < high <= wide[1]


@risks
@pytest.mark.parametrize("metric", RATIOS)
def test_an_interval_shrinks_with_labels(metric, risk):
    widths = [
        np.ptp(after(n).estimate(risk, metric=metric).interval())
        for n in (30, 120, 190)
    ]
    assert widths[0] > widths[1] > widths[2]


@risks
@pytest.mark.parametrize("metric", ["recall", "precision", "f1"])
def test_no_end_contradicts_a_label(metric, risk):
    """The remaining rows may all be labelled for or against the model."""
    evaluation = after(120)
    rows, predicted = evaluation.state.indices, evaluation.problem.predictions.response
    found = evaluation.estimate(risk, metric=metric)
    if metric == "precision" and not risk.leans_on_surrogate:
        return  # An unbiased estimate of a mean may lie, by chance, where none can.
    best, worst = predicted.copy(), 1 - predicted
    best[rows] = worst[rows] = Y[rows]
    low, high = found.interval(0.9999)
    assert as_metric(metric)(worst, predicted) - 1e-9 <= low
    assert high <= as_metric(metric)(best, predicted) + 1e-9


@pytest.mark.parametrize("metric", [*CURVED, *OTHERS])
def test_fewer_than_25_labels_are_refused_with_the_reason(metric):
    found = after(20).estimate(metric=metric)
    assert "fewer than 25" in found.refusal
    assert np.isfinite(float(found))
    with pytest.warns(IntervalWarning, match="fewer than 25"):
        assert found.interval() == (-np.inf, np.inf)


@pytest.mark.parametrize("metric", ["accuracy", "precision"])
def test_a_mean_of_bounded_values_has_an_interval_from_two_labels_on(metric):
    assert not after(20).estimate(metric=metric).refusal


@pytest.mark.parametrize("metric", OTHERS)
def test_a_surrogate_that_is_certain_and_right_so_far_is_no_proof(metric):
    tree = FrozenEstimator(DecisionTreeClassifier(max_depth=1).fit(X, X[:, 0] > 1))
    y = (X[:, 0] > 1).astype(int)
    evaluation = start(X, loss="brier", surrogate=tree)
    found = buy(evaluation, 40, y, batch_size=40).estimate(metric=metric)
    if not found.refusal:
        assert np.ptp(found.interval()) > 0.0
    else:
        assert "certain" in found.refusal


@pytest.mark.parametrize("metric", ["f1", "recall", "roc_auc"])
def test_without_a_positive_anywhere_there_is_no_false_certainty(metric):
    nobody = np.zeros(200, dtype=int)
    evaluation = start(X, loss="zero_one", surrogate=FROZEN)
    found = buy(evaluation, 60, nobody, batch_size=60).estimate(metric=metric)
    assert found.refusal or np.ptp(found.interval()) > 0.05
    everything = buy(evaluation, 140, nobody, batch_size=140)
    found = everything.estimate(metric=metric)
    if metric != "f1":  # Predicted positives are all wrong: F1 is 0.
        assert np.isnan(float(found))
        assert "not defined" in found.refusal


@risks
def test_a_mean_of_another_unbounded_loss_is_as_careful_as_that_of_the_own(risk):
    own = start(X, loss="log_loss", surrogate=FROZEN)
    rows = own.ask(60).indices
    own.tell(rows, Y[rows])
    asked = own.estimate(risk, metric=MeanLoss("log_loss"), sample_weight=np.ones(200))
    mean = own.estimate(risk)
    assert asked.uncertainty.mean.tail_degrees == pytest.approx(
        mean.uncertainty.tail_degrees, rel=0.2
    )
    assert asked.interval()[1] == pytest.approx(mean.interval()[1], rel=0.05)


def test_a_plain_sample_answers_like_lure():
    evaluation = buy(start(X, acquisition=Uniform()), 30, Y, batch_size=30)
    plain, lure = (evaluation.estimate(r, metric="f1") for r in (MonteCarlo(), LURE()))
    assert float(plain) == pytest.approx(float(lure))
    assert plain.interval() == pytest.approx(lure.interval(), abs=0.1)


@metrics
def test_an_estimate_can_be_kept_in_a_file(metric):
    found = after(60).estimate(metric=metric)
    text = json.dumps(found.to_dict())
    again = Estimate.from_dict(json.loads(text), as_metric(metric))
    for options in ({}, {"method": "anytime"}, {"target": "population"}):
        assert again.interval(**options) == pytest.approx(found.interval(**options))


@metrics
def test_an_estimate_is_described_in_words(metric):
    found = after(60).estimate(metric=metric)
    words = found.describe(0.95, "anytime")
    assert found.name in words
    assert "95 % interval, anytime" in words
    assert found.name in repr(found)
    assert "<table" in found._repr_html_()
    assert f"{found:.2f}" == f"{float(found):.2f}"


def test_a_forecast_of_more_labels_is_narrower():
    found = after(60).estimate(metric="f1")
    widths = [np.ptp(found.with_labels(n, 200).interval()) for n in (60, 100, 199)]
    assert widths[0] == pytest.approx(np.ptp(found.interval()), rel=0.1)
    assert widths[0] > widths[1] > widths[2]


def value_after(seed, n_labels, risk, metric):
    evaluation = start(X, loss="zero_one", surrogate=FROZEN, random_state=seed)
    rows = evaluation.ask(n_labels).indices
    evaluation.tell(rows, Y[rows])
    return float(evaluation.estimate(risk, metric=metric))


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["recall", "f1"])
def test_the_bias_of_a_ratio_falls_with_the_labels(metric):
    """Its bias is of the order 1 / M, much below the error of one estimate."""
    truth = as_metric(metric)(Y, FROZEN.predict(X))
    bias, noise = [], []
    for n_labels in (10, 80):
        found = [value_after(i, n_labels, CorrectedASE(), metric) for i in range(150)]
        found = np.array(found)[np.isfinite(found)]
        bias.append(abs(found.mean() - truth))
        noise.append(found.std() / len(found) ** 0.5)
    assert bias[1] <= bias[0] / 4 + 2 * noise[1]
    assert bias[1] < 0.03


def test_answers_never_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for metric in METRICS:
            after(20).estimate(metric=metric)
            after(190).estimate(metric=metric).interval(target="population")


@pytest.mark.parametrize("metric", ["precision", "accuracy", "f1"])
def test_skips_that_follow_the_prediction_do_not_mislead(metric):
    """Of the predicted positives every second row cannot be labelled."""
    predicted = FROZEN.predict(X)
    can = (predicted == 0) | (np.arange(len(X)) % 2 == 0)
    truth = as_metric(metric)(Y[can], predicted[can])
    found = []
    for seed in range(40):
        evaluation = start(X, loss="zero_one", surrogate=FROZEN, random_state=seed)
        rows = evaluation.ask(100).indices
        evaluation.tell(rows[can[rows]], Y[rows[can[rows]]])
        evaluation.skip(rows[~can[rows]])
        found.append(float(evaluation.estimate(CorrectedASE(), metric=metric)))
    assert abs(np.mean(found) - truth) < 0.02 + 3 * np.std(found) / 40**0.5


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision"])
@pytest.mark.parametrize("which", ["low scores", "any"])
def test_skips_do_not_mislead_about_a_ranking(metric, which):
    """Without care for them, two fifths of the rows make an AUC wrong by a tenth."""
    pool, labels = binary_pool(600, 3)
    scores = FROZEN.predict_proba(pool)[:, 1]
    by = scores if which == "low scores" else np.random.default_rng(0).random(600)
    can = by > np.quantile(by, 0.4)
    truth = as_metric(metric)(labels[can], scores[can])
    found = []
    for seed in range(30):
        evaluation = start(pool, loss="zero_one", random_state=seed)
        rows = evaluation.ask(200).indices
        evaluation.tell(rows[can[rows]], labels[rows[can[rows]]])
        evaluation.skip(rows[~can[rows]])
        found.append(float(evaluation.estimate(CorrectedASE(), metric=metric)))
    assert np.mean(found) == pytest.approx(truth, abs=0.03)


def test_a_heavy_tail_widens_the_interval_of_a_metric_of_numbers():
    """A few large labels carry the variance, so there are few degrees of freedom."""
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(300, 2))
    degrees = []
    for noise in (rng.normal(size=300), rng.standard_t(2.5, 300)):
        evaluator = ActiveRiskEstimator(metric=LabelMean(), random_state=0)
        evaluator.set_params(acquisition=Uniform())
        evaluation = evaluator.start(pool, predictions=np.zeros(300))
        evaluation.run(noise, 80)
        degrees.append(evaluation.estimate(CorrectedASE()).degrees_of_freedom)
    assert degrees[0] > 40
    assert degrees[1] < 30


@risks
def test_an_interval_counts_only_labels_that_can_change_the_answer(risk):
    evaluation = after(120)
    rows, where = evaluation.state.indices, X[:, 1] > 0
    is_positive = evaluation.problem.predictions.response == 1

    def degrees(metric, **rows):
        return evaluation.estimate(risk, metric=metric, **rows).degrees_of_freedom

    assert degrees("accuracy") == degrees("recall") == degrees("f1") == 119
    assert degrees("precision") == is_positive[rows].sum() - 1 < 40
    assert degrees("accuracy", where=where) == where[rows].sum() - 1 < 80
    assert degrees("precision", where=where) == (where & is_positive)[rows].sum() - 1
    weight = np.arange(200) % 3.0
    assert degrees("accuracy", sample_weight=weight) == (weight[rows] > 0).sum() - 1


@risks
def test_precision_has_the_interval_of_accuracy_among_predicted_positives(risk):
    evaluation = after(60)
    where = evaluation.problem.predictions.response == 1
    precision = evaluation.estimate(risk, metric="precision")
    accuracy = evaluation.estimate(risk, metric="accuracy", where=where)
    assert float(precision) == pytest.approx(float(accuracy))
    assert precision.interval() == pytest.approx(accuracy.interval())


def test_labels_that_cannot_matter_leave_at_least_two_degrees_of_freedom():
    where = np.zeros(200, dtype=bool)
    where[after(30).state.indices[0]] = True
    where[np.flatnonzero(after(30).state.free)[:50]] = True
    for metric in ("accuracy", "f1"):
        found = after(30).estimate(metric=metric, where=where)
        assert found.degrees_of_freedom == 2
    evaluation = buy(start(X, loss="zero_one"), 2, Y)
    assert evaluation.estimate(metric="accuracy", where=where).degrees_of_freedom == 1


@pytest.mark.parametrize("metric", ["precision", "f1", "recall"])
def test_as_many_of_the_labels_to_come_matter_as_of_those_so_far(metric):
    found = after(60).estimate(metric=metric, where=X[:, 1] > 0)
    now, later = found.with_labels(60, 200), found.with_labels(120, 200)
    assert now.degrees_of_freedom == pytest.approx(found.degrees_of_freedom)
    assert later.degrees_of_freedom == 2 * found.degrees_of_freedom + 1
    assert np.ptp(later.interval()) < np.ptp(now.interval())
