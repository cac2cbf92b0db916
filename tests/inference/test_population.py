"""Intervals for the population that the pool was drawn from."""

import numpy as np
import pytest
from helpers.estimates import of_population
from helpers.questions import MODEL, binary_pool, buy, start
from helpers.states import uniform_state
from scipy import stats

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._inference._bounds import grouped_variance
from sklearn_ase.exceptions import IntervalWarning
from sklearn_ase.metrics import as_metric
from sklearn_ase.risk import ASE, Estimate, MonteCarlo
from sklearn_ase.testing import make_state


def plain_mean(standard_error, **known):
    return Estimate.of_mean(0.4, standard_error, 50, degrees_of_freedom=1e9, **known)


def test_the_variance_of_a_sample_of_rows_is_added():
    estimate = plain_mean(0.03, sample=of_population(variance=0.0016))
    low, high = estimate.interval(0.9, target="population")
    wide = plain_mean(0.05).interval(0.9)
    assert (low, high) == pytest.approx(wide)
    assert estimate.interval(0.9) == plain_mean(0.03).interval(0.9)


@pytest.mark.parametrize("method", ["fixed", "anytime"])
def test_the_population_is_less_certain_than_the_pool(evaluator, digits, method):
    evaluator.set_params(loss="zero_one", n_labels=40)
    risk = evaluator.fit(digits.X, digits.y).risk_
    pool, population = (
        risk.interval(method=method, target=target) for target in ("pool", "population")
    )
    assert population[0] <= pool[0] < pool[1] <= population[1]
    assert np.ptp(population) > np.ptp(pool)


def test_a_pool_that_is_fully_labelled_is_a_plain_sample_of_the_population():
    state = make_state(n_samples=60, n_labels=60)
    estimate = MonteCarlo().estimate(state)
    assert estimate.interval() == (estimate.value, estimate.value)
    error = state.losses.std() / np.sqrt(60)
    low, _ = estimate.interval(0.9, target="population")
    assert estimate.value - low == pytest.approx(1.645 * error, rel=0.05)


def test_a_pool_without_errors_does_not_prove_that_the_population_has_none():
    state = uniform_state(np.zeros(50), 50)
    estimate = MonteCarlo().estimate(state)
    assert estimate.interval() == (0.0, 0.0)
    z2 = stats.norm.ppf(0.95) ** 2
    _, high = estimate.interval(0.9, target="population")
    assert high == pytest.approx(z2 / (50 + z2))


def test_an_estimate_without_an_interval_refuses_both_targets():
    estimate = ASE().estimate(make_state())
    with pytest.warns(IntervalWarning):
        assert estimate.interval(target="population") == (-np.inf, np.inf)


def test_a_target_is_one_of_two():
    with pytest.raises(ValueError, match=r"target='world' must be one of \('pool'"):
        Estimate(0.4, 0.1, 50).interval(target="world")


def test_an_estimate_by_hand_does_not_know_the_population():
    with pytest.raises(ValueError, match=r"evaluation.estimate\(\)"):
        Estimate(0.4, 0.1, 50).interval(target="population")


# Groups


def test_each_row_its_own_group_has_the_variance_of_rows():
    state = make_state(n_samples=50, n_labels=50)
    found = grouped_variance(state, np.arange(50))
    assert found == pytest.approx(state.losses.var(ddof=1) / 50)


def test_groups_of_copies_count_once():
    """Thirty patients with ten equal rows each are thirty rows."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 10)
    X = rng.normal(size=(30, 2))[groups]
    wrong = (rng.random(30) < 0.4)[groups]
    y = np.where(wrong, 1, 0)
    evaluator = ActiveRiskEstimator(
        lambda X: np.zeros(len(X), dtype=int),
        loss="zero_one",
        classes=[0, 1],
        n_labels=60,
        random_state=0,
    )
    evaluation = evaluator.fit(X, y).evaluation_
    plain = evaluation.estimate()
    grouped = evaluation.estimate(groups=groups)
    assert grouped.value == plain.value
    assert grouped.interval() == plain.interval()
    expected = wrong.var() / 30
    assert grouped.uncertainty.sample.population_variance == pytest.approx(
        expected, rel=0.3
    )
    assert (
        grouped.uncertainty.sample.population_variance
        > 5 * plain.uncertainty.sample.population_variance
    )


def test_few_groups_have_few_degrees_of_freedom():
    sample = of_population(variance=0.01, degrees=2.0)
    estimate = Estimate.of_mean(0.4, 0.0, 60, degrees_of_freedom=59, sample=sample)
    _, high = estimate.interval(0.9, target="population")
    assert high - 0.4 == pytest.approx(0.1 * stats.t.ppf(0.95, 2))


def test_groups_must_fit_the_pool(evaluator, digits):
    evaluation = evaluator.fit(digits.X, digits.y).evaluation_
    with pytest.raises(ValueError, match=r"groups must have one entry per row"):
        evaluation.estimate(groups=[1, 2])
    with pytest.raises(ValueError, match="at least two groups"):
        evaluation.estimate(groups=np.zeros(len(digits.X)))


# Metrics


def population_variance(estimate):
    return estimate.uncertainty.sample.population_variance


@pytest.mark.parametrize(
    "name",
    ["accuracy", "precision", "recall", "f1", "roc_auc", "average_precision"],
)
def test_the_variance_of_a_metric_is_that_of_the_jackknife(name):
    """Every label is known; one row after the other gets a little more weight."""
    X, y = binary_pool(200, 5)
    evaluation = buy(start(X, loss="zero_one", refit=[50]), 200, y, batch_size=50)
    metric, step = as_metric(name), 1e-4
    scores = name in ("roc_auc", "average_precision")
    predicted = MODEL.predict_proba(X) if scores else MODEL.predict(X)
    value = metric(y, predicted)
    weights = 1.0 + step * np.eye(200)
    slopes = [(metric(y, predicted, weight) - value) / step for weight in weights]
    expected = np.sum(np.square(slopes))
    found = evaluation.estimate(metric=name)
    assert population_variance(found) == pytest.approx(expected, rel=0.01)
    found = evaluation.estimate(metric=name, groups=np.arange(200))
    assert population_variance(found) == pytest.approx(expected, rel=0.01)
