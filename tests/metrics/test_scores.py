"""Metrics of a score that is known at each row, against values that labels decide."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from sklearn_ase.metrics import LabelMean, LabelShare
from sklearn_ase.metrics._agreement import (
    AgreementOnOne,
    KappaOnOne,
    ScoreCorrelation,
    score_bias,
    score_correlation,
)

RNG = np.random.default_rng(0)
CLASSES = np.array(["a", "b", "c"])
LABELS = RNG.choice(CLASSES, 50)
SCORE = RNG.random(50)
WEIGHT = RNG.integers(0, 4, 50).astype(float)
WEIGHT /= WEIGHT.mean()


def _value(metric, labels):
    rows = np.arange(len(labels))
    means = [part.observed(rows, labels).mean() for part in metric.parts]
    return metric.value(np.array(means))


@pytest.mark.parametrize("half", [None, "b"])
def test_of_a_share_with_all_labels_they_are_those_of_numpy(half):
    metric = LabelShare("a", half=half)
    values = metric.on_pool(None, CLASSES, n_samples=50).parts[0]
    z = metric.row_values(LABELS)[:, 0]
    bias = score_bias(values, SCORE, WEIGHT, slope=2.0)
    gap = np.average(SCORE - z, weights=WEIGHT)
    assert _value(bias, LABELS) == pytest.approx(2.0 * gap)
    found = score_correlation(values, SCORE, WEIGHT)
    covariance = np.cov(SCORE, z, aweights=WEIGHT)
    expected = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    assert _value(found, LABELS) == pytest.approx(expected)
    assert len(found.parts) == (2 if half is None else 3)


def test_of_numbers_far_from_0_the_correlation_keeps_its_digits():
    labels = 1e7 + RNG.normal(size=50)
    values = LabelMean().on_pool(None, n_samples=50).parts[0]
    score = labels + RNG.normal(size=50)
    found = score_correlation(values, score, np.ones(50), labels.mean())
    assert _value(found, labels) == pytest.approx(np.corrcoef(score, labels)[0, 1])


def differences(function, means, step=1e-6):
    steps = step * np.eye(len(means))
    return [(function(means + s) - function(means - s)) / (2 * step) for s in steps]


@pytest.mark.parametrize("means", [[0.4, 0.1, 0.2, 1.1], [0.4, 0.1, 0.5, 0.2, 1.1]])
def test_the_gradient_of_the_correlation_is_its_derivative(means):
    metric, means = ScoreCorrelation(), np.array(means)
    expected = differences(metric.value, means)
    np.testing.assert_allclose(metric.gradient(means), expected, rtol=1e-6)


def test_the_correlation_is_not_defined_if_all_values_are_equal():
    values = LabelShare("a").on_pool(None, CLASSES, n_samples=50).parts[0]
    found = score_correlation(values, SCORE, WEIGHT)
    assert np.isnan(_value(found, np.full(50, "a")))


@pytest.mark.parametrize(
    ("metric", "reference"),
    [
        (AgreementOnOne("b"), lambda y, said: np.mean(y == said)),
        (KappaOnOne("b"), cohen_kappa_score),
    ],
)
def test_one_class_against_all_others(metric, reference):
    said = RNG.choice(CLASSES, 50)
    pool = metric.on_pool(said, CLASSES)
    expected = reference(LABELS == "b", said == "b")
    assert _value(pool, LABELS) == pytest.approx(expected)
    means = np.array([0.2, 0.1, 0.25])
    numeric = differences(metric.value, means)
    np.testing.assert_allclose(metric.gradient(means), numeric, rtol=1e-6)
