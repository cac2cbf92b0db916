"""Training rows count in the calibration for what the acquired labels say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp, softmax
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.surrogate import GaussianStack, LogLinearStack
from sklearn_ase.surrogate._gaussian_stack import GaussianLikelihood
from sklearn_ase.surrogate._log_linear_stack import ClassLikelihood
from sklearn_ase.surrogate._power_prior import (
    PRIOR,
    WORTHS,
    ParameterPrior,
    training_hypotheses,
    weigh_hypotheses,
)

N_TRAINING = 300


def draw(n_rows, temperature, seed):
    """Probabilities, and labels of a world in which they are off by a temperature."""
    rng = np.random.default_rng(seed)
    logits = 2.0 * rng.normal(size=(n_rows, 3))
    truth = softmax(logits / temperature, axis=1)
    codes = (rng.random((n_rows, 1)) > np.cumsum(truth, axis=1)).sum(axis=1)
    return softmax(logits, axis=1), np.minimum(codes, 2)


def two_worlds(n_acquired, temperature, seed=0):
    """Training rows that are calibrated, and rows of a pool that perhaps are not."""
    proba, codes = draw(N_TRAINING, 1.0, seed)
    new_proba, new_codes = draw(n_acquired, temperature, seed + 1)
    is_acquired = np.arange(N_TRAINING + n_acquired) >= N_TRAINING
    return (
        np.concatenate([proba, new_proba]),
        np.concatenate([codes, new_codes]),
        is_acquired,
    )


def log_likelihood(grid, proba, codes):
    """Log-likelihood at each exponent of a grid, summed over the rows."""
    scores = grid[:, None, None] * np.log(proba)
    return log_softmax(scores, axis=2)[:, np.arange(len(codes)), codes].sum(axis=1)


def exponents_only(proba, codes):
    return ClassLikelihood(np.log(proba.T)[None], codes, has_offsets=False)


def hypotheses_of(proba, codes, precision=10.0):
    centre, zero = np.ones(1), np.zeros(1)
    bounds = zero, np.inf
    rows = exponents_only(proba, codes)
    prior = ParameterPrior(centre, discounted=np.full(1, precision), kept=zero)
    return training_hypotheses(rows, len(codes), prior, bounds)


@pytest.mark.parametrize("temperature", [1.0, 3.0])
@pytest.mark.parametrize("n_acquired", [5, 20, 60])
def test_shares_are_posterior_probabilities(temperature, n_acquired):
    """Compared with integrals on a dense grid."""
    proba, codes, is_acquired = two_worlds(n_acquired, temperature)
    old, new = ~is_acquired, is_acquired
    hypotheses = hypotheses_of(proba[old], codes[old])
    rows = exponents_only(proba[new], codes[new])
    fit = weigh_hypotheses(hypotheses, rows, (np.zeros(1), np.inf))
    grid = np.linspace(-4.0, 8.0, 12001)
    gain = log_likelihood(grid, proba[new], codes[new])
    evidence = []
    for hypothesis in hypotheses:
        prior = -0.5 * hypothesis.precision[0, 0] * (grid - hypothesis.mean) ** 2
        evidence.append(logsumexp(prior + gain) - logsumexp(prior))
    expected = softmax(np.log([h.prior for h in hypotheses]) + evidence)
    found = np.zeros(len(hypotheses))
    found[[[h.worth for h in hypotheses].index(w) for w in fit.worths]] = fit.shares
    assert_allclose(found, expected, atol=0.03)


def test_each_worth_is_a_power_of_the_likelihood_of_the_training_rows():
    proba, codes = draw(N_TRAINING, 1.5, 0)
    hypotheses = hypotheses_of(proba, codes)

    def minus(exponent):
        penalty = 5.0 * (exponent[0] - 1.0) ** 2
        return penalty - log_likelihood(exponent, proba, codes)[0]

    mode = minimize(minus, [1.0], tol=1e-10).x
    step = 1e-3
    around = [minus(mode + step), minus(mode), minus(mode - step)]
    curvature = (around[0] - 2.0 * around[1] + around[2]) / step**2
    worths = np.minimum(WORTHS, N_TRAINING)
    for hypothesis, worth in zip(hypotheses, worths, strict=False):
        assert_allclose(hypothesis.mean, mode, rtol=1e-3)
        expected = worth / N_TRAINING * curvature
        assert_allclose(hypothesis.precision, [[expected]], rtol=1e-2)


def test_prior_probabilities_sum_to_one_and_small_training_sets_merge_worths():
    for n_training, n_worths in ((300, 5), (30, 3), (1, 1)):
        proba, codes = draw(n_training, 1.0, 0)
        hypotheses = hypotheses_of(proba, codes)
        assert len(hypotheses) == n_worths + 1
        assert sum(h.prior for h in hypotheses) == pytest.approx(1.0)


def test_the_last_hypothesis_leaves_out_labels_that_look_wrong():
    proba, codes = draw(3000, 0.2, 0)
    rng = np.random.default_rng(1)
    wrong = rng.random(len(codes)) < 0.3
    noisy = np.where(wrong, rng.permutation(codes), codes)
    whole, clean = hypotheses_of(proba, noisy)[-2:]
    truth = hypotheses_of(proba, codes)[-2].mean
    assert abs(clean.mean - truth) < 0.5 * abs(whole.mean - truth)
    n_wrong = np.sum(noisy != codes)
    assert clean.worth == pytest.approx(len(codes) - 1.5 * n_wrong, rel=0.1)


def test_labels_of_the_pool_tell_whether_training_labels_were_wrong():
    proba, codes = draw(640, 0.2, 0)
    is_acquired = np.arange(640) >= 600
    rng = np.random.default_rng(1)
    wrong = (rng.random(640) < 0.3) & ~is_acquired
    noisy = np.where(wrong, rng.permutation(codes), codes)
    stack = LogLinearStack().fit(proba, None, noisy, is_acquired=is_acquired)
    right = stack.predict_proba(proba)[np.arange(640), codes]
    alone = LogLinearStack().fit(proba[~is_acquired], None, noisy[~is_acquired])
    before = alone.predict_proba(proba)[np.arange(640), codes]
    assert right.mean() > 0.85
    assert before.mean() < 0.75


def test_hypotheses_that_are_fitted_together_are_what_each_is_alone():
    """Some need more steps than others, and one exponent ends at its bound."""
    proba, codes, is_acquired = two_worlds(6, -4.0)
    hypotheses = hypotheses_of(proba[~is_acquired], codes[~is_acquired])
    rows = exponents_only(proba[is_acquired], codes[is_acquired])
    bounds = np.zeros(1), np.inf
    fit = weigh_hypotheses(hypotheses, rows, bounds)
    alone = [
        weigh_hypotheses([only], rows, bounds).parameters[0] for only in fit.hypotheses
    ]
    assert len(fit.hypotheses) > 1
    assert_allclose(fit.parameters, alone, rtol=1e-12)
    assert 0.0 in fit.parameters
    assert fit.parameters.max() > 0.9


def test_hypotheses_of_a_regression_are_fitted_together_as_alone():
    rng = np.random.default_rng(0)
    gap, shift = rng.normal(size=(2, 340))
    error = np.where(np.arange(340) < 300, 1.0, 3.0) * rng.normal(size=340)
    variance = rng.uniform(0.5, 2.0, size=340)
    training, acquired = (
        GaussianLikelihood(
            error[part], gap[part], variance[part], shift[part], np.zeros(300), degrees
        )
        for part, degrees in ((slice(300), np.inf), (slice(300, 340), 10.0))
    )
    bounds = np.array([0.0, -12, -12, -12, -1]), np.array([1.0, 6, 6, 6, 1])
    centre, penalty = np.array([0.5, -1.0, -1.0, -2.0, 0.0]), np.full(5, 2.0)
    prior = ParameterPrior(centre, discounted=penalty, kept=np.zeros(5))
    hypotheses = training_hypotheses(
        training, 300, prior, bounds, discounts_cleaned=True
    )
    fit = weigh_hypotheses(hypotheses, acquired, bounds)
    alone = [
        weigh_hypotheses([only], acquired, bounds).parameters[0]
        for only in fit.hypotheses
    ]
    assert len(fit.hypotheses) > 2
    assert_allclose(fit.parameters, alone, rtol=1e-10)


def test_without_acquired_labels_the_shares_are_the_prior():
    proba, codes, is_acquired = two_worlds(0, 1.0)
    stack = LogLinearStack().fit(proba, None, codes, is_acquired=is_acquired)
    assert_allclose(stack.shares_, [*(0.8 * np.array(PRIOR)), 0.2], atol=1e-9)
    assert_allclose(np.ptp(stack.weights_[:-1], axis=0), 0.0, atol=1e-6)


def test_without_training_rows_it_is_the_penalised_likelihood():
    proba, codes = draw(40, 2.0, 3)
    stack = LogLinearStack().fit(proba, None, codes)
    smooth = 0.99 * proba + 0.01 / 3

    def minus(parameters):
        exponent, offsets = parameters[0], parameters[1:]
        scores = exponent * np.log(smooth) + offsets
        value = log_softmax(scores, axis=1)[np.arange(40), codes].sum()
        return 5.0 * (exponent - 1.0) ** 2 + offsets @ offsets - value

    found = minimize(minus, [1.0, 0.0, 0.0, 0.0]).x
    assert stack.shares_.tolist() == [1.0]
    assert_allclose(stack.parameters_, [found], atol=1e-3)


def test_chosen_labels_do_not_decide_what_training_rows_are_worth():
    proba, codes, is_acquired = two_worlds(80, 6.0)
    fits = {}
    for by_evidence in (True, False):
        stack = LogLinearStack().fit(
            proba, None, codes, is_acquired=is_acquired, by_evidence=by_evidence
        )
        fits[by_evidence] = stack
    assert fits[False].worths_.tolist() == [N_TRAINING]
    # Each label counts as one training row.
    exponents = [hypotheses_of(*draw(N_TRAINING, 1.0, 0))[0].mean[0]]
    exponents += [fits[by_evidence].weights_.mean() for by_evidence in (False, True)]
    assert exponents[0] > exponents[1] > exponents[2]


def test_labels_that_contradict_training_rows_make_them_worth_less():
    worth = {}
    for temperature in (1.0, 6.0):
        proba, codes, is_acquired = two_worlds(80, temperature)
        stack = LogLinearStack().fit(proba, None, codes, is_acquired=is_acquired)
        worth[temperature] = stack.shares_ @ stack.worths_
    assert worth[1.0] > 150
    assert worth[6.0] < 30


@pytest.mark.parametrize(("noise", "least", "most"), [(1.0, 120, 300), (4.0, 0, 60)])
def test_noisier_labels_make_training_rows_worth_less_in_regression(noise, least, most):
    rng = np.random.default_rng(0)
    n_acquired = 80
    mean = rng.normal(size=N_TRAINING + n_acquired)
    is_acquired = np.arange(len(mean)) >= N_TRAINING
    error = np.where(is_acquired, noise, 1.0) * rng.normal(size=len(mean))
    given = np.ones(len(mean)), mean + 0.1
    stack = GaussianStack().fit(mean, *given, mean + error, is_acquired)
    assert least < stack.shares_ @ stack.worths_ < most


def test_the_risk_of_the_belief_is_the_mean_over_the_worths():
    X, y = load_digits(return_X_y=True)
    model = FrozenEstimator(GaussianNB().fit(X[:200], y[:200]))
    evaluator = ActiveRiskEstimator(model, n_labels=20, random_state=0)
    evaluator.fit(X[200:700], y[200:700], X_train=X[:200], y_train=y[:200])
    state = evaluator.evaluation_.state
    worth = state.belief.training_worth
    assert worth.shares @ worth.risk == pytest.approx(state.expected_loss.mean())
    assert evaluator.evaluation_.diagnose().training_labels == worth.n_labels
    assert f"worth {worth.n_labels:.0f} labels" in str(evaluator.evaluation_.diagnose())


@pytest.mark.parametrize("smoothing", [0.0, 1.0, -0.1])
def test_smoothing_lies_between_0_and_1(smoothing):
    proba, codes = draw(40, 1.0, 0)
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        LogLinearStack(smoothing=smoothing).fit(proba, None, codes)


def test_predictions_that_are_not_finite_are_an_error():
    proba, codes = draw(40, 1.0, 0)
    proba[0, 0] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        LogLinearStack().fit(proba, None, codes)


def test_declared_classes_that_nobody_has_met_do_not_count_as_common():
    """The model knows two classes; a third was met once, the others never."""
    rng = np.random.default_rng(0)
    codes = np.array([0, 1, 0, 1, 0, 0, 2])
    believed = []
    for n_classes in (3, 40):
        proba = np.full((7, n_classes), 1e-9)
        proba[:, :2] = 0.45
        proba[:, 2] = 0.1 + 0.02 * rng.random(7)
        proba /= proba.sum(axis=1, keepdims=True)
        known = np.arange(n_classes) < 2
        stack = LogLinearStack().fit(proba, proba, codes, model_classes=known)
        believed.append(stack.predict_proba(proba, proba)[:, 2:].sum(axis=1).mean())
    assert believed[1] == pytest.approx(believed[0], abs=0.1)


def test_a_model_that_is_sure_and_right_is_believed():
    """A floor under its probabilities would add positives to the pool."""
    rng = np.random.default_rng(0)
    sure = rng.random(3000) < 0.9
    positive = np.where(sure, 1e-4, 0.3)
    expert = np.column_stack([1.0 - positive, positive])
    codes = (rng.random(3000) < positive).astype(int)
    trees = np.tile([[0.97, 0.03]], (3000, 1))
    stack = LogLinearStack().fit(
        trees, expert, codes, is_acquired=np.zeros(3000, dtype=bool)
    )
    believed = stack.predict_proba(trees, expert)[:, 1]
    assert believed[sure].mean() < 0.002
    assert believed.sum() == pytest.approx(codes.sum(), rel=0.1)
