"""Stacks of experts: weights, held-out predictions, what few labels can tell."""

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.ensemble import ExtraTreesClassifier

from sklearn_ase.losses import ZeroOne
from sklearn_ase.surrogate import ExpertSurrogate
from sklearn_ase.surrogate._experts import (
    JUDGES_OF_NUMBERS,
    Blocks,
    Normal,
    fit_logit,
    left_out_proba,
)
from sklearn_ase.testing import check_surrogate

CLASSES = np.array(["bad", "good"])


def judged(n_rows, strength, seed=0):
    """Labels, and the scores of a judge who is right more or less often."""
    rng = np.random.default_rng(seed)
    score = rng.uniform(size=n_rows)
    is_good = rng.uniform(size=n_rows) < expit(strength * (2 * score - 1))
    proba = np.column_stack([1 - score, score])
    return CLASSES[is_good.astype(int)], proba[:, None, :] - 0.5


def fitted(y, scores, X=None, estimator="drop"):
    surrogate = ExpertSurrogate("classification", estimator)
    rows, _ = surrogate.prepare(np.zeros((len(y), 1)) if X is None else X)
    return surrogate.fit(
        rows, y, classes=CLASSES, n_acquired=len(y), experts=scores, seed=0
    )


@pytest.mark.parametrize("n_classes", [2, 4])
def test_left_out_predictions_are_those_of_fits_without_the_row(n_classes):
    rng = np.random.default_rng(n_classes)
    design = rng.normal(size=(60, n_classes, 5))
    codes = np.array([rng.choice(n_classes, p=p) for p in softmax(design[..., 0], 1)])
    prior = np.zeros(5), np.eye(5)
    weights, covariance = fit_logit(design, codes, *prior)
    found = left_out_proba(design, codes, weights, covariance)
    others = [np.arange(60) != row for row in range(60)]
    exact = [
        softmax(design[row] @ fit_logit(design[some], codes[some], *prior)[0])
        for row, some in enumerate(others)
    ]
    with_row = softmax(design @ weights, axis=1)
    assert np.abs(found - exact).max() < 0.1 * np.abs(with_row - exact).max()


def test_left_out_numbers_are_those_of_fits_without_the_row():
    rng = np.random.default_rng(0)
    experts = rng.normal(size=(30, 3))
    target = experts @ [1.0, 0.5, -1.0] + rng.normal(size=30)
    likelihood, blocks = Normal(JUDGES_OF_NUMBERS, 0.0, 1.0), Blocks(experts=experts)
    stack = likelihood.fit("experts", blocks, target)
    mean, precision = likelihood.weights_before("experts", blocks)
    design = likelihood.design("experts", blocks, 30)
    centre, variance = stack.left_out
    for row in range(30):
        some = np.arange(30) != row
        inverse = np.linalg.inv(design[some].T @ design[some] / stack.noise + precision)
        gap = target[some] - design[some] @ mean
        weights = mean + inverse @ design[some].T @ gap / stack.noise
        assert centre[row] == pytest.approx(design[row] @ weights)
        spread = design[row] @ inverse @ design[row] + stack.noise
        assert variance[row] == pytest.approx(spread)


def test_a_good_judge_gets_a_large_weight_and_an_inverted_one_a_negative_weight():
    good = fitted(*judged(200, 4.0)).weights_[0]
    opposite = fitted(*judged(200, -4.0)).weights_[0]
    useless = fitted(*judged(200, 0.0)).weights_[0]
    assert good > 2.5
    assert opposite < -2.0
    assert abs(useless) < 0.8


def test_features_that_know_nothing_do_not_drown_a_good_judge():
    y, scores = judged(400, 6.0)
    noise = np.random.default_rng(1).normal(size=(400, 30))
    few = np.arange(15)
    surrogate = ExpertSurrogate("classification")
    surrogate.set_params(estimator=ExtraTreesClassifier(20, bootstrap=True))
    rows, _ = surrogate.prepare(noise)
    surrogate.fit(
        rows[few], y[few], classes=CLASSES, n_acquired=15, experts=scores[few], seed=0
    )
    loss = ZeroOne().build(np.full(400, "good"), CLASSES)
    proba = surrogate.belief(rows, loss, experts=scores).proba
    assert np.corrcoef(proba[:, 1], scores[:, 0, 1])[0, 1] > 0.85


def test_an_expert_who_says_nothing_about_a_row_does_not_count_there():
    y, scores = judged(100, 4.0)
    scores[50:] = 0.0
    surrogate = fitted(y, scores)
    loss = ZeroOne().build(np.full(100, "good"), CLASSES)
    proba = surrogate.belief(surrogate._pool[0], loss, experts=scores).proba
    assert np.ptp(proba[50:, 1]) < 1e-12
    assert np.ptp(proba[:50, 1]) > 0.5


def test_labels_in_another_order_give_the_same_belief():
    y, scores = judged(60, 3.0)
    loss = ZeroOne().build(np.full(60, "good"), CLASSES)
    found = []
    for batches in ([[20, 21], [20, 21, 22, 23]], [[20, 21, 22, 23]]):
        surrogate = ExpertSurrogate("classification", "drop")
        rows, _ = surrogate.prepare(np.zeros((60, 1)))
        surrogate.fit(
            rows[:20], y[:20], classes=CLASSES, n_acquired=20, experts=scores[:20]
        )
        belief = surrogate.belief(rows, loss, experts=scores)
        for new in batches:
            after = surrogate.update(belief, loss, np.array(new), y[new])
        found.append(after.proba)
    assert np.array_equal(*found)


@pytest.mark.parametrize(
    "surrogate",
    [ExpertSurrogate("classification", "drop"), ExpertSurrogate("regression", "drop")],
    ids=["classes", "numbers"],
)
def test_expert_surrogates_keep_the_contract(surrogate):
    check_surrogate(surrogate, surrogate.task)
