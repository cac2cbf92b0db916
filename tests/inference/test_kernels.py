"""Kernels of estimates agree with the paper's loops."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers import paper_formulas as paper
from helpers.random_pools import CLOSE, SHAPES, random_pool
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import softmax

from sklearn_ase._inference import _steps as _kernels
from sklearn_ase.belief import _kernels as belief_kernels


@pytest.fixture(params=SHAPES)
def pool(request):
    return random_pool(*request.param)


@pytest.fixture
def labels():
    rng = np.random.default_rng(7)
    n_samples, n_labels = 12, 7
    return SimpleNamespace(
        n_samples=n_samples,
        indices=rng.permutation(n_samples)[:n_labels].tolist(),
        losses=rng.exponential(size=n_labels),
        query_proba=rng.uniform(0.05, 0.9, size=n_labels),
        surrogates=rng.normal(size=(n_labels, n_samples)),
    )


def test_lure_weights_are_those_of_the_paper(labels):
    slow = paper.lure_weights(labels.query_proba, labels.n_samples)
    fast = _kernels.lure_weights(labels.query_proba, labels.n_samples)
    assert_allclose(fast, slow, **CLOSE)


@pytest.mark.parametrize("n_labels", [1, 2, 6, 7])
@pytest.mark.parametrize("n_samples", [7, 8, 12, 10_000])
def test_weighted_mean_of_steps_is_lure(labels, n_labels, n_samples):
    losses, q = labels.losses[:n_labels], labels.query_proba[:n_labels].copy()
    if n_labels == n_samples:
        q[-1] = 1.0
    steps = _kernels.step_estimates(losses, q, n_samples)
    by_steps = _kernels.step_weights(n_labels, n_samples) @ steps
    by_weights = np.mean(_kernels.lure_weights(q, n_samples) * losses)
    assert by_steps == pytest.approx(paper.lure(losses, q, n_samples), rel=1e-12)
    assert by_weights == pytest.approx(paper.lure(losses, q, n_samples), rel=1e-12)


def test_corrected_steps_are_those_of_the_definition(labels):
    slow = paper.corrected_steps(
        labels.indices,
        labels.losses,
        labels.query_proba,
        labels.surrogates,
        labels.n_samples,
    )
    steps, places = range(len(labels.indices)), labels.indices
    free = [np.delete(labels.surrogates[m], places[:m]).sum() for m in steps]
    fast = _kernels.step_estimates(
        labels.losses,
        labels.query_proba,
        labels.n_samples,
        labels.surrogates[steps, places],
        np.array(free),
    )
    weights = _kernels.step_weights(len(slow), labels.n_samples)
    assert_allclose(fast, slow, **CLOSE)
    assert weights @ fast == pytest.approx(
        paper.mean_of_steps(slow, labels.n_samples), rel=1e-12
    )
    assert _kernels.variance_of_steps(fast, labels.n_samples) == pytest.approx(
        paper.variance_of_steps(slow, labels.n_samples), rel=1e-12
    )


def test_variance_of_equal_weights_is_that_of_a_mean():
    steps = np.random.default_rng(0).normal(size=9)
    found = _kernels.variance_of_steps(steps, 10**15)
    assert found == pytest.approx(steps.var(ddof=1) / 9, rel=1e-12)


def test_step_moments_are_those_of_the_definition(pool):
    n_samples = len(pool.proba)
    query_proba = np.random.default_rng(3).dirichlet(np.ones(n_samples))
    slow = paper.step_moments(query_proba, pool.proba, pool.loss.values)
    fast = _kernels.step_moments(
        query_proba,
        belief_kernels.expected_loss(pool.proba, pool.loss.values),
        belief_kernels.loss_variance(pool.proba, pool.loss.values),
    )
    assert_allclose(fast, slow, **CLOSE)


def test_samples_that_cannot_be_picked_are_left_out_of_the_moments():
    query_proba, beliefs = np.array([0.0, 1.0]), [[0.5, 0.5], [0.9, 0.1]]
    losses = [[1.0, 9.0], [0.0, 2.0]]
    g, v = (
        np.array([kernel(p, loss) for p, loss in zip(beliefs, losses, strict=True)])
        for kernel in (paper.expected_loss, paper.loss_variance)
    )
    fast = _kernels.step_moments(query_proba, g, v)
    assert_allclose(fast, paper.step_moments(query_proba, beliefs, losses), **CLOSE)


@pytest.mark.parametrize("n_trusted", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("slope", [-1.0, 0.0, 0.4, 1.0, 3.0])
def test_predictable_power_is_that_of_the_definition(slope, n_trusted):
    rng = np.random.default_rng(2)
    control = np.append(0.0, rng.normal(size=12))  # Nothing to learn from the first.
    plain = 5.0 + slope * control + 0.3 * rng.normal(size=13)
    fast = _kernels.predictable_power(plain, control, n_trusted)
    assert_allclose(fast, paper.predictable_power(plain, control, n_trusted), **CLOSE)
    assert fast[0] == fast[1] == 1.0


def test_predictable_power_knows_only_the_past():
    rng = np.random.default_rng(4)
    plain, control = rng.normal(size=(2, 10))
    power = _kernels.predictable_power(plain, control, 10)
    plain[6:], control[6:] = rng.normal(size=(2, 4))
    again = _kernels.predictable_power(plain, control, 10)
    assert_allclose(again[:7], power[:7], rtol=1e-12)


def test_power_goes_to_what_the_control_explains():
    rng = np.random.default_rng(5)
    control = rng.normal(size=2000)
    for slope in (0.0, 0.5, 1.0):
        plain = slope * control + 0.1 * rng.normal(size=2000)
        power = _kernels.predictable_power(plain, control, 10)[-1]
        assert power == pytest.approx(slope, abs=0.02)


def test_labelling_the_whole_pool_gives_its_mean(labels):
    n = len(labels.losses)
    q = np.append(labels.query_proba[:-1], 1.0)
    steps = _kernels.step_estimates(labels.losses, q, n)
    assert _kernels.step_weights(n, n) @ steps == pytest.approx(labels.losses.mean())
    assert_allclose(_kernels.lure_weights(q, n), 1.0)


def test_lure_with_uniform_picks_is_the_plain_mean(labels):
    uniform = 1.0 / (labels.n_samples - np.arange(len(labels.losses)))
    assert_allclose(_kernels.lure_weights(uniform, labels.n_samples), 1.0, rtol=1e-12)
    steps = _kernels.step_estimates(labels.losses, uniform, labels.n_samples)
    weights = _kernels.step_weights(len(steps), labels.n_samples)
    assert weights @ steps == pytest.approx(labels.losses.mean(), rel=1e-12)


def test_kernels_leave_their_inputs_alone(labels):
    q, losses = labels.query_proba, labels.losses
    inputs = [q, losses]
    before = [array.copy() for array in inputs]
    for array in inputs:
        array.flags.writeable = False
    _kernels.lure_weights(q, labels.n_samples)
    steps = _kernels.step_estimates(losses, q, labels.n_samples, losses, losses)
    _kernels.variance_of_steps(steps, 100)
    _kernels.predictable_power(losses, q, 10)
    _kernels.step_moments(q, losses, losses)
    for array, copy in zip(inputs, before, strict=True):
        assert_allclose(array, copy, rtol=0, atol=0)


@pytest.mark.parametrize("gap", [-0.3, 0.0, 0.05, 0.4])
@pytest.mark.parametrize("expected", [0.0, 0.2])
def test_the_bias_given_the_gap_is_bayes_rule(gap, expected):
    """Integrated over a grid of biases, hypothesis by hypothesis."""
    variance, spread = 0.01, np.array([0.0004, 0.02])
    prior = np.array([0.8, 0.2])
    bias = np.linspace(-3, 3, 600_001)
    density = sum(
        p * stats.norm.pdf(bias, expected, v**0.5)
        for p, v in zip(prior, spread, strict=True)
    ) * stats.norm.pdf(gap, bias, variance**0.5)
    density /= density.sum()
    given = gap, variance, np.full(2, expected), spread
    weight = softmax(np.log(prior) + _kernels.gap_log_density(*given))
    mean, within = _kernels.bias_given_gap(*given, weight, bound=0.1)
    assert mean == pytest.approx(density @ bias, abs=1e-6)
    assert within == pytest.approx(density[np.abs(bias) < 0.1].sum(), abs=1e-4)
