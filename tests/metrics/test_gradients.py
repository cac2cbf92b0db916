"""Derivatives agree with finite differences; influence agrees with the derivative."""

import numpy as np
import pytest
from helpers.names import plain_repr
from numpy.testing import assert_allclose

from sklearn_ase._inference._questions import BeliefColumns
from sklearn_ase.belief import GaussianBelief
from sklearn_ase.metrics import (
    R2,
    Accuracy,
    BalancedAccuracy,
    CohenKappa,
    ConfusionMetric,
    ExplainedVariance,
    FBeta,
    Jaccard,
    LabelMean,
    LabelShare,
    Matthews,
    MeanLoss,
    Precision,
    Recall,
    RootMeanSquaredError,
    Specificity,
)

N_SAMPLES = 50


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def differences(function, means, step=1e-6):
    steps = step * np.eye(len(means))
    return np.array(
        [(function(means + one) - function(means - one)) / (2 * step) for one in steps]
    )


def odds(matrix):
    return matrix[0, 0] * matrix[1, 1] / (matrix[0, 1] + 0.1)


AVERAGED = [
    kind(average=average)
    for kind in (Precision, Recall, Specificity, FBeta, Jaccard)
    for average in ("macro", "weighted", "micro")
]
AGREEMENTS = [BalancedAccuracy(), BalancedAccuracy(True), Matthews(), CohenKappa()]
BINARY = [Precision(), Recall(), Specificity(), FBeta(), FBeta(0.5), Jaccard()]
ALL_CLASSES = [*AVERAGED, *AGREEMENTS, Accuracy(), ConfusionMetric(odds)]
NUMBERS = [R2(), ExplainedVariance(), RootMeanSquaredError(), LabelMean()]
NUMBERS += [RootMeanSquaredError(negative=True), MeanLoss("squared_error", True)]


def assert_gradient_is_right(metric, values):
    means = values.mean(axis=0)
    gradient = metric.gradient(means)
    assert_allclose(gradient, differences(metric.value, means), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("metric", BINARY + ALL_CLASSES, ids=plain_repr)
def test_the_gradient_for_two_classes_is_right(rng, metric):
    y, guess = rng.choice([0, 1], (2, N_SAMPLES), p=[0.7, 0.3])
    assert_gradient_is_right(metric, metric.row_values(y, guess, classes=[0, 1]))


@pytest.mark.parametrize("metric", ALL_CLASSES, ids=plain_repr)
def test_the_gradient_for_five_classes_is_right(rng, metric):
    y, guess = rng.choice(5, (2, N_SAMPLES), p=[0.4, 0.2, 0.2, 0.1, 0.1])
    guess = np.where(rng.random(N_SAMPLES) < 0.5, y, guess)
    assert_gradient_is_right(metric, metric.row_values(y, guess, classes=np.arange(5)))


@pytest.mark.parametrize("metric", NUMBERS, ids=plain_repr)
def test_the_gradient_for_numbers_is_right(rng, metric):
    y = rng.normal(1.0, 1.0, N_SAMPLES)
    prediction = 0.5 * y + rng.normal(0.2, 0.6, N_SAMPLES)
    assert_gradient_is_right(metric, metric.row_values(y, prediction))


@pytest.mark.parametrize(
    "metric",
    [FBeta(average="macro"), CohenKappa(), ConfusionMetric(odds), LabelShare(1, 2)],
    ids=plain_repr,
)
def test_influence_is_the_change_of_the_value_by_one_label(rng, metric):
    y, guess = rng.choice(3, (2, N_SAMPLES))
    needs_no_model = metric.response_method is None
    pool = metric.on_pool(
        None if needs_no_model else guess, np.arange(3), n_samples=N_SAMPLES
    )
    rows = np.arange(N_SAMPLES)
    values = np.array([part.observed(rows, y) for part in pool.parts])
    means = values.mean(axis=1)
    influence = pool.linearised(means).observed(rows, y)
    expected = pool.gradient(means) @ values
    assert_allclose(influence, expected, atol=1e-12)


@pytest.mark.parametrize("metric", [R2(), ExplainedVariance()], ids=plain_repr)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_influence_on_a_metric_of_numbers_is_right_far_from_0(rng, metric, offset):
    y = offset + rng.normal(size=N_SAMPLES)
    prediction = y + rng.normal(size=N_SAMPLES)
    pool, rows = metric.on_pool(prediction), np.arange(N_SAMPLES)
    values = np.array([part.observed(rows, y) for part in pool.parts])
    means = values.mean(axis=1)
    influence = pool.linearised(means).observed(rows, y)
    assert_allclose(influence, pool.gradient(means) @ values, atol=1e-9)
    # Another label for a row changes the value by the change of its influence, / N.
    changed, eps = y.copy(), 1e-3
    changed[3] += eps
    slope = (metric(changed, prediction) - metric(y, prediction)) * N_SAMPLES / eps
    moved = pool.linearised(means).observed(rows[3:4], changed[3:4])[0]
    assert slope == pytest.approx((moved - influence[3]) / eps, abs=2e-3)


def normal_belief(mean, variance):
    return GaussianBelief(mean, 0.0 * mean, variance, np.empty(0))


@pytest.mark.parametrize(
    "metric", [*NUMBERS, MeanLoss("absolute_error")], ids=plain_repr
)
def test_moments_of_numbers_agree_with_draws(rng, metric):
    prediction, mean = rng.normal(5.0, 1.0, (2, 4))
    variance, weight = rng.uniform(0.3, 1.0, 4), np.array([0.5, 1.5, 0.8, 1.2])
    pool = metric.on_pool(prediction, weight=weight)
    draws = mean + np.sqrt(variance) * rng.normal(size=(40000, 4))
    rows = np.broadcast_to(np.arange(4), draws.shape)
    means = np.array([1.0, 0.5, 3.0])[: len(pool.parts)]
    parts = [*pool.parts, pool.linearised(means)]
    for part in parts:
        values = part.observed(rows.ravel(), draws.ravel()).reshape(draws.shape)
        expected, spread = part.moments(normal_belief(mean, variance))
        error = 5 * values.std(axis=0) / 200 + 1e-12
        assert (np.abs(values.mean(axis=0) - expected) <= error).all()
        assert_allclose(spread, values.var(axis=0), rtol=0.1)


def test_moments_of_classes_are_those_of_the_table(rng):
    classes, weight = np.arange(4), rng.uniform(0.5, 1.5, N_SAMPLES)
    belief = BeliefColumns(classes, proba=rng.dirichlet(np.ones(4), N_SAMPLES))
    guess = rng.choice(4, N_SAMPLES)
    pool = FBeta(average="weighted").on_pool(guess, classes, weight)
    rows = np.arange(N_SAMPLES)
    for part in pool.parts:
        table = np.column_stack(
            [part.observed(rows, np.full(N_SAMPLES, label)) for label in classes]
        )
        expected = (belief.proba * table).sum(axis=1)
        gap = table - expected[:, None]
        found = part.moments(belief)
        assert_allclose(found[0], expected, atol=1e-15)
        assert_allclose(found[1], (belief.proba * gap**2).sum(axis=1), atol=1e-15)


def test_limits_of_losses_follow_weights_and_signs():
    pool = MeanLoss("squared_error", negative=True).on_pool(np.zeros(2))
    least, most = pool.linearised(np.ones(1)).limits()
    assert_allclose(least, -np.inf)
    assert_allclose(most, 0.0)
