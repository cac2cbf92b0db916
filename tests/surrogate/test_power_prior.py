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
from sklearn_ase.surrogate._power_prior import PRIOR, WORTHS

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


def log_likelihood(grid, proba, codes, stack):
    """Log-likelihood at each exponent of a grid, summed over the rows."""
    smooth = (1.0 - stack.smoothing) * proba + stack.smoothing / proba.shape[1]
    scores = grid[:, None, None] * np.log(smooth)
    return log_softmax(scores, axis=2)[:, np.arange(len(codes)), codes].sum(axis=1)


@pytest.mark.parametrize("temperature", [1.0, 3.0])
@pytest.mark.parametrize("n_acquired", [5, 20, 60])
def test_shares_are_posterior_probabilities(temperature, n_acquired):
    """Compared with integrals on a dense grid."""
    proba, codes, is_acquired = two_worlds(n_acquired, temperature)
    stack = LogLinearStack().fit(proba, None, codes, is_acquired=is_acquired)
    grid = np.linspace(0.0, 6.0, 6001)
    old, new = ~is_acquired, is_acquired
    prior = log_likelihood(grid, proba[old], codes[old], stack)
    prior -= stack.ridge * (grid - 1.0) ** 2
    gain = log_likelihood(grid, proba[new], codes[new], stack)
    worths = np.minimum(WORTHS, N_TRAINING)
    evidence = [
        logsumexp(s * prior + gain) - logsumexp(s * prior) for s in worths / N_TRAINING
    ]
    assert_allclose(stack.shares_, softmax(np.log(PRIOR) + evidence), atol=0.03)


def test_without_acquired_labels_the_shares_are_the_prior():
    proba, codes, is_acquired = two_worlds(0, 1.0)
    stack = LogLinearStack().fit(proba, None, codes, is_acquired=is_acquired)
    assert_allclose(stack.shares_, PRIOR, atol=1e-9)
    assert_allclose(np.ptp(stack.weights_, axis=0), 0.0, atol=1e-6)


def test_without_training_rows_it_is_the_penalised_likelihood():
    proba, codes = draw(40, 2.0, 3)
    stack = LogLinearStack().fit(proba, None, codes)
    found = minimize(
        lambda a: 5.0 * (a[0] - 1.0) ** 2 - log_likelihood(a, proba, codes, stack)[0],
        [1.0],
    )
    assert stack.shares_.tolist() == [1.0]
    assert_allclose(stack.weights_, [found.x], rtol=1e-4)


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
