"""When every row is labelled, every question has the answer of scikit-learn."""

from functools import cache

import numpy as np
import pytest
from helpers.questions import (
    GROUPS,
    MODEL,
    REGRESSOR,
    SLICE,
    TARGET,
    WEIGHT,
    WEIGHTED,
    N,
    X,
    Y,
    buy,
    start,
    start_regression,
)
from sklearn.metrics import cohen_kappa_score, get_scorer, get_scorer_names

from sklearn_ase.metrics import LabelMean, LabelShare, as_metric, metric_names

TASKS = {name: as_metric(name).task for name in metric_names()}
CLASSIFICATION = [name for name, task in TASKS.items() if task != "regression"]
REGRESSION = [name for name, task in TASKS.items() if task == "regression"]
KNOWN = [name for name in CLASSIFICATION if name in get_scorer_names()]
risks = pytest.mark.parametrize("risk", WEIGHTED, ids=repr)


@cache
def labelled(loss="zero_one"):
    return buy(start(loss=loss, refit=[10]), N, batch_size=10)


@cache
def labelled_regression():
    evaluation = start_regression(loss="absolute_error", refit=[10])
    return buy(evaluation, N, TARGET, batch_size=10)


def scored(name, model, X, y, weight=None):
    return get_scorer(name)(model, X, y, sample_weight=weight)


@risks
@pytest.mark.parametrize("name", KNOWN)
def test_a_metric_of_the_whole_pool_is_that_of_scikit_learn(name, risk):
    found = labelled().estimate(risk, metric=name)
    assert float(found) == pytest.approx(scored(name, MODEL, X, Y), abs=1e-12)
    assert np.ptp(found.interval()) == pytest.approx(0.0, abs=1e-12)


@risks
@pytest.mark.parametrize("name", KNOWN)
def test_a_metric_of_a_slice_is_that_of_scikit_learn(name, risk):
    found = labelled().estimate(risk, metric=name, where=SLICE)
    expected = scored(name, MODEL, X[SLICE], Y[SLICE])
    assert float(found) == pytest.approx(expected, abs=1e-12)
    assert np.ptp(found.interval()) == pytest.approx(0.0, abs=1e-12)


@risks
@pytest.mark.parametrize("name", KNOWN)
def test_a_weighted_metric_is_that_of_scikit_learn(name, risk):
    found = labelled().estimate(risk, metric=name, sample_weight=WEIGHT)
    expected = scored(name, MODEL, X, Y, WEIGHT)
    assert float(found) == pytest.approx(expected, abs=1e-12)


@risks
@pytest.mark.parametrize("name", REGRESSION)
def test_a_metric_of_a_regressor_is_that_of_scikit_learn(name, risk):
    evaluation = labelled_regression()
    expected = as_metric(name)(TARGET, REGRESSOR.predict(X))
    if name in get_scorer_names():
        assert expected == pytest.approx(scored(name, REGRESSOR, X, TARGET), abs=1e-9)
    found = evaluation.estimate(risk, metric=name)
    assert float(found) == pytest.approx(expected, abs=1e-9)
    assert np.ptp(found.interval()) == pytest.approx(0.0, abs=1e-9)


@risks
@pytest.mark.parametrize("name", ["r2", "explained_variance"])
def test_a_weighted_slice_of_a_regression_is_that_of_scikit_learn(name, risk):
    found = labelled_regression().estimate(
        risk, metric=name, where=SLICE, sample_weight=WEIGHT
    )
    rows = X[SLICE], TARGET[SLICE], WEIGHT[SLICE]
    expected = scored(name, REGRESSOR, *rows)
    assert float(found) == pytest.approx(expected, abs=1e-9)


@risks
def test_the_metrics_that_are_no_scorers_agree_too(risk):
    evaluation, predicted = labelled(), MODEL.predict(X)
    kappa = cohen_kappa_score(Y, predicted)
    found = evaluation.estimate(risk, metric="cohen_kappa")
    assert float(found) == pytest.approx(kappa, abs=1e-12)
    found = evaluation.estimate(risk, metric="specificity")
    assert float(found) == pytest.approx(np.mean(predicted[Y == 0] == 0), abs=1e-12)


@risks
def test_shares_and_means_of_labels_are_exact(risk):
    found = labelled().estimate(risk, metric=LabelShare(1), sample_weight=WEIGHT)
    assert float(found) == pytest.approx(np.average(Y, weights=WEIGHT), abs=1e-12)
    found = labelled_regression().estimate(risk, metric=LabelMean(), where=SLICE)
    assert float(found) == pytest.approx(TARGET[SLICE].mean(), abs=1e-9)


@pytest.mark.parametrize("name", ["accuracy", "f1", "roc_auc", "f1_macro"])
def test_every_group_has_its_own_exact_value(name):
    table = labelled().estimate_by(GROUPS, metric=name)
    for group, value, low, high in zip(
        *(table[column] for column in ("group", "estimate", "low", "high")), strict=True
    ):
        rows = group == GROUPS
        expected = scored(name, MODEL, X[rows], Y[rows])
        assert value == pytest.approx(expected, abs=1e-12)
        assert low == pytest.approx(high, abs=1e-12)


@pytest.mark.parametrize("name", ["accuracy", "f1", "recall", "roc_auc", "f1_macro"])
def test_the_population_stays_uncertain(name):
    found = labelled().estimate(metric=name)
    low, high = found.interval(target="population")
    assert low + 0.05 < float(found) < high - 0.05


@pytest.mark.parametrize("loss", ["zero_one", "brier", "log_loss"])
@pytest.mark.parametrize("name", ["roc_auc", "neg_log_loss", "f1", "average_precision"])
def test_any_metric_can_be_asked_of_labels_bought_for_any_loss(loss, name):
    found = labelled(loss).estimate(metric=name)
    assert float(found) == pytest.approx(scored(name, MODEL, X, Y), abs=1e-12)
