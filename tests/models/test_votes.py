"""Belief from the votes, or the predictions, of several models."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import logsumexp

from sklearn_ase.losses import SquaredError, ZeroOne
from sklearn_ase.surrogate._experts import (
    ModelSurrogate,
    exchangeable_precision,
    fit_logit,
)

CLASSES = np.array(["cat", "dog", "owl"])


def _votes(n_samples=60, n_models=5, seed=0, errors=0.3):
    rng = np.random.default_rng(seed)
    y = rng.choice(CLASSES, n_samples)
    wrong = rng.random((n_samples, n_models)) < errors
    return np.where(wrong, rng.choice(CLASSES, wrong.shape), y[:, None]), y


def _fit(votes, y, n_labels, classes=CLASSES, **params):
    surrogate = ModelSurrogate("classification", votes, **params)
    rows, _ = surrogate.prepare(np.zeros((len(y), 1)))
    return surrogate.fit(rows[:n_labels], y[:n_labels], classes=classes)


def _belief(surrogate, n_samples):
    classes = surrogate.classes_
    loss = ZeroOne().build(np.repeat(classes[:1], n_samples), classes)
    return surrogate.belief(np.arange(n_samples), loss)


def _proba(surrogate, n_samples=60):
    return _belief(surrogate, n_samples).proba


def test_newton_finds_the_minimum():
    rng = np.random.default_rng(1)
    design, codes = rng.normal(size=(30, 3, 4)), rng.integers(3, size=30)
    mean, precision = rng.normal(size=4), exchangeable_precision(4, 2.0, 0.7)

    def cost(weights):
        scores, gap = design @ weights, weights - mean
        lost = logsumexp(scores, axis=1) - scores[np.arange(30), codes]
        return lost.sum() + 0.5 * gap @ precision @ gap

    weights, _ = fit_logit(design, codes, mean, precision)
    expected = minimize(cost, mean, tol=1e-12).x
    assert_allclose(weights, expected, atol=1e-5)


def test_newton_does_not_diverge_far_from_the_labels():
    # All models vote wrongly with much weight: full steps would overshoot.
    design = 20.0 * np.eye(2)[np.zeros(40, dtype=int)][:, :, None]
    precision = exchangeable_precision(1, 2.0, 0.7)
    codes = np.ones(40, dtype=int)
    weights, covariance = fit_logit(design, codes, np.full(1, 4.0), precision)
    assert -1 < weights[0] < 0
    assert 0 < covariance[0, 0] < 4


@pytest.mark.parametrize("n_models", [1, 3, 30])
def test_prior_has_the_spread_that_it_is_made_for(n_models):
    covariance = np.linalg.inv(exchangeable_precision(n_models, 2.0, 0.7))
    assert covariance.sum() == pytest.approx(4.0)


def test_belief_is_the_vote_before_any_label():
    votes, y = _votes()
    proba = _proba(_fit(votes, y, 0))
    counts = (votes[:, :, None] == CLASSES).sum(axis=1)
    expected = np.exp(4.0 / 5 * counts)
    assert_allclose(proba, expected / expected.sum(axis=1, keepdims=True))


def test_a_wrong_majority_is_found_out():
    votes, y = _votes(errors=0.1)
    shifted = np.roll(CLASSES, 1)[np.searchsorted(CLASSES, votes[:, :3])]
    votes[:, :3] = shifted
    before, after = (_proba(_fit(votes, y, n)) for n in (0, 25))
    rows, codes = np.arange(25, 60), np.searchsorted(CLASSES, y)[25:]
    assert before[rows, codes].mean() < 0.4
    assert after[rows, codes].mean() > 0.8


def test_clones_get_the_same_weight():
    votes, y = _votes()
    votes = np.column_stack([votes, votes[:, 2]])
    weights = _fit(votes, y, 30).weights_
    assert weights[5] == pytest.approx(weights[2])


def test_a_swapped_model_gets_the_mirrored_weight():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=80)
    model = np.where(rng.random(80) < 0.2, 1 - y, y)
    other = np.where(rng.random(80) < 0.3, 1 - y, y)
    fits = [
        _fit(np.column_stack([each, other]), y, 80, np.array([0, 1]))
        for each in (model, 1 - model)
    ]
    assert fits[0].weights_[0] > 0.5
    assert fits[1].weights_[0] < 0


def test_probabilities_count_as_experts():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=100)
    good = np.clip(0.8 * y + 0.1 + 0.1 * rng.normal(size=100), 0.01, 0.99)
    noise = rng.uniform(0.1, 0.9, 100)
    proba = [(np.column_stack([1 - p, p]), np.array([0, 1])) for p in (good, noise)]
    surrogate = _fit(None, y, 50, np.array([0, 1]), proba=proba)
    assert surrogate.weights_[0] > surrogate.weights_[1]
    assert _proba(surrogate, 100)[np.arange(50, 100), y[50:]].mean() > 0.85


def test_belief_of_votes_has_the_loss_that_it_expects():
    votes, y = _votes()
    surrogate = _fit(votes, y, 20)
    loss = ZeroOne().build(votes[:, 0], CLASSES)
    belief = surrogate.belief(np.arange(60), loss)
    right = np.take_along_axis(
        belief.proba, np.searchsorted(CLASSES, votes[:, :1]), axis=1
    )
    assert_allclose(belief.expected_loss(loss), 1 - right[:, 0])


def _predictions(seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=200)
    spread = np.array([0.2, 1.0, 2.0])
    return y[:, None] + spread * rng.normal(size=(200, 3)), y


def _fit_numbers(values, y):
    surrogate = ModelSurrogate("regression", values)
    rows, _ = surrogate.prepare(np.zeros((len(values), 1)))
    return surrogate.fit(rows[: len(y)], y)


def test_predictions_are_averaged_before_any_label():
    values, _ = _predictions()
    surrogate = _fit_numbers(values, np.empty(0))
    belief = surrogate.belief(np.arange(200), SquaredError().build(values[:, 0]))
    assert_allclose(belief.mean, values.mean(axis=1))


def test_the_better_predictions_get_more_weight():
    values, y = _predictions()
    surrogate = _fit_numbers(values, y[:60])
    belief = surrogate.belief(np.arange(200), SquaredError().build(values[:, 0]))
    error = np.mean((belief.mean - y)[60:] ** 2)
    assert error < 0.1
    assert 0.3 < np.mean((belief.mean - y)[60:] ** 2 / belief.variance[60:]) < 3


def test_slopes_are_derivatives_of_means():
    votes, y = _votes()
    surrogate = _fit(votes, y, 20)
    rows, table = np.arange(60), np.random.default_rng(3).normal(size=(60, 3, 2))
    belief = _belief(surrogate, 60)
    pool, proba = belief.stack, belief.proba
    centred = table - np.einsum("nc,nck->nk", proba, table)[:, None]
    slopes = pool.slopes(rows, proba, centred)
    design = pool.likelihood.design("experts", pool.blocks, 60)
    weights = pool.stack.weights
    for place in (0, 4, 6):
        moved = []
        for step in (1e-5, -1e-5):
            scores = design @ (weights + step * np.eye(len(weights))[place])
            p = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
            moved.append(np.einsum("nc,nck->k", p, table))
        assert_allclose(slopes[:, place], (moved[0] - moved[1]) / 2e-5, atol=1e-5)


def test_weights_of_numbers_say_which_model_is_right():
    truth = np.linspace(0, 1, 20)
    surrogate = ModelSurrogate("regression", np.column_stack([truth, 1 - truth]))
    rows, _ = surrogate.prepare(np.zeros((20, 1)))
    surrogate.fit(rows[::3], truth[::3])
    assert_allclose(surrogate.weights_, [1.0, 0.0], atol=0.1)
