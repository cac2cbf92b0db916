"""Kernels and categorical beliefs agree with the paper's loops."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers import paper_formulas as paper
from numpy.testing import assert_allclose
from scipy import stats

from sklearn_ase._inference import _kernels
from sklearn_ase.acquisition import VarianceReduction
from sklearn_ase.belief import CategoricalBelief
from sklearn_ase.belief import _kernels as belief_kernels
from sklearn_ase.losses import LossTable

CLOSE = {"rtol": 1e-12, "atol": 1e-14}


def random_proba(rng, *shape):
    """Probabilities, about a fifth of them exactly zero."""
    weights = rng.gamma(0.5, size=shape) * (rng.random(shape) > 0.2)
    weights[..., 0] += weights.sum(axis=-1) == 0
    return weights / weights.sum(axis=-1, keepdims=True)


@pytest.fixture(params=[(6, 8, 4), (2, 5, 2), (1, 3, 3), (3, 1, 10), (3, 4, 1)])
def pool(request):
    n_members, n_samples, n_classes = request.param
    rng = np.random.default_rng(n_classes)
    return SimpleNamespace(
        members=random_proba(rng, n_members, n_samples, n_classes),
        proba=random_proba(rng, n_samples, n_classes),
        loss=LossTable(
            rng.exponential(size=(n_samples, n_classes)), np.arange(n_classes)
        ),
    )


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


def test_expected_loss_and_its_variance_are_those_of_the_paper(pool):
    loss = pool.loss.values
    rows = list(zip(pool.proba, loss, strict=True))
    expected = [paper.expected_loss(p, row) for p, row in rows]
    assert_allclose(belief_kernels.expected_loss(pool.proba, loss), expected, **CLOSE)
    variance = [paper.loss_variance(p, row) for p, row in rows]
    assert_allclose(belief_kernels.loss_variance(pool.proba, loss), variance, **CLOSE)


def test_disagreement_is_that_of_the_paper(pool):
    n_samples = pool.members.shape[1]
    slow = [paper.disagreement(pool.members[:, i]) for i in range(n_samples)]
    assert_allclose(
        belief_kernels.disagreement(pool.members), slow, rtol=1e-12, atol=1e-15
    )


def test_belief_answers_as_the_paper_does(pool):
    belief = CategoricalBelief.from_members(pool.members, pool.loss)
    loss = pool.loss.values
    by_sample = [pool.members[:, i] for i in range(len(loss))]
    means = [paper.mean_belief(members) for members in by_sample]
    bald = [paper.bald(members) for members in by_sample]
    xwed = [
        paper.xwed(members, row) for members, row in zip(by_sample, loss, strict=True)
    ]
    assert_allclose(belief.proba, means, **CLOSE)
    assert_allclose(belief.disagreement(), bald, **CLOSE)
    assert_allclose(belief.weighted_disagreement(pool.loss), xwed, **CLOSE)
    assert belief.expected_loss(pool.loss).mean() == pytest.approx(
        paper.ase(means, loss), rel=1e-12
    )


def test_xwed_with_unit_loss_is_bald(pool):
    unit = LossTable(np.ones_like(pool.loss.values), pool.loss.classes)
    belief = CategoricalBelief.from_members(pool.members, unit, pool.proba)
    assert_allclose(belief.weighted_disagreement(unit), belief.disagreement(), **CLOSE)


def test_tilted_members_average_to_the_belief_they_are_tilted_to(pool):
    """Also on classes that no member gives any mass."""
    tilted = belief_kernels.tilted_members(pool.members, pool.proba)
    assert_allclose(tilted.mean(axis=0), pool.proba, **CLOSE)


def test_tilt_multiplies_the_disagreement(pool):
    mean = pool.members.mean(axis=0)
    factor = np.divide(pool.proba, mean, out=np.zeros_like(mean), where=mean > 0)
    belief = CategoricalBelief.from_members(pool.members, pool.loss, pool.proba)
    rows = range(len(factor))
    slow = [factor[i] * paper.disagreement(pool.members[:, i]) for i in rows]
    assert_allclose(belief.class_disagreement, slow, rtol=1e-12, atol=1e-13)


def test_tilt_to_the_members_own_mean_changes_nothing(pool):
    mean = pool.members.mean(axis=0)
    plain = CategoricalBelief.from_members(pool.members, pool.loss)
    tilted = CategoricalBelief.from_members(pool.members, pool.loss, mean)
    assert_allclose(tilted.class_disagreement, plain.class_disagreement, **CLOSE)
    assert_allclose(tilted.member_loss, plain.member_loss, **CLOSE)


def test_member_losses_average_to_the_expected_loss(pool):
    """Also on classes that no member gives any mass."""
    loss = pool.loss.values
    mean = pool.members.mean(axis=0)
    member_loss = belief_kernels.member_expected_loss(
        pool.members, mean, pool.proba, loss
    )
    expected = belief_kernels.expected_loss(pool.proba, loss)
    assert_allclose(member_loss.mean(axis=0), expected, **CLOSE)


def test_untilted_member_losses_are_those_of_the_paper(pool):
    belief = CategoricalBelief.from_members(pool.members, pool.loss)
    rows = range(len(pool.loss.values))
    slow = [
        [paper.expected_loss(member[i], pool.loss.values[i]) for i in rows]
        for member in pool.members
    ]
    assert_allclose(belief.member_loss, slow, **CLOSE)
    assert_allclose(belief.member_risk, [paper.mean(row) for row in slow], **CLOSE)


def test_variance_reduction_is_that_of_the_definition():
    rng = np.random.default_rng(0)
    loss = LossTable(rng.exponential(size=(9, 3)), np.arange(3))
    belief = CategoricalBelief.from_members(random_proba(rng, 5, 9, 3), loss)
    scores = VarianceReduction().score_samples(
        SimpleNamespace(belief=belief, loss=loss)
    )
    slow = paper.variance_reduction(belief.member_loss, belief.loss_variance(loss))
    assert_allclose(scores, slow, rtol=1e-11)


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
    assert _kernels.variance_of_steps(fast, weights, labels.n_samples) == pytest.approx(
        paper.variance_of_steps(slow, labels.n_samples), rel=1e-12
    )


def test_variance_of_equal_weights_is_that_of_a_mean():
    steps = np.random.default_rng(0).normal(size=9)
    found = _kernels.variance_of_steps(steps, np.full(9, 1 / 9), 10**15)
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


@pytest.mark.parametrize("keep", [True, False])
def test_joined_chunks_are_the_belief_of_the_whole(keep):
    rng = np.random.default_rng(1)
    members, proba = random_proba(rng, 4, 10, 3), random_proba(rng, 10, 3)
    loss = LossTable(rng.exponential(size=(10, 3)), np.arange(3))
    whole = CategoricalBelief.from_members(members, loss, proba, keep)
    chunks = (
        CategoricalBelief.from_members(
            members[:, rows], loss.take(rows), proba[rows], keep
        )
        for rows in (slice(0, 3), slice(3, 4), slice(4, 10))
    )
    joined = CategoricalBelief.concatenate(chunks, n_samples=10)
    assert_allclose(joined.proba, whole.proba, **CLOSE)
    assert_allclose(joined.class_disagreement, whole.class_disagreement, **CLOSE)
    assert_allclose(joined.member_risk, whole.member_risk, **CLOSE)
    if keep:
        assert_allclose(joined.member_loss, whole.member_loss, **CLOSE)
    else:
        assert joined.member_loss is None


def test_kernels_leave_their_inputs_alone(pool, labels):
    mean, loss = pool.members.mean(axis=0), pool.loss.values
    q, losses = labels.query_proba, labels.losses
    inputs = [pool.members, pool.proba, mean, loss, q, losses]
    before = [array.copy() for array in inputs]
    for array in inputs:
        array.flags.writeable = False
    belief_kernels.expected_loss(pool.proba, loss)
    belief_kernels.loss_variance(pool.proba, loss)
    belief_kernels.xlogx(pool.proba)
    belief_kernels.tilted_members(pool.members, pool.proba)
    CategoricalBelief.from_members(pool.members, pool.loss, pool.proba)
    belief_kernels.covariance_with_pool_risk(loss)
    _kernels.lure_weights(q, labels.n_samples)
    steps = _kernels.step_estimates(losses, q, labels.n_samples, losses, losses)
    _kernels.variance_of_steps(steps, q, 100)
    _kernels.predictable_power(losses, q, 10)
    _kernels.step_moments(q, losses, losses)
    for array, copy in zip(inputs, before, strict=True):
        assert_allclose(array, copy, rtol=0, atol=0)


@pytest.mark.parametrize("gap", [-0.3, 0.0, 0.05, 0.4])
@pytest.mark.parametrize("expected", [0.0, 0.2])
def test_the_bias_given_the_gap_is_bayes_rule(gap, expected):
    """Integrated over a grid of biases, story by story."""
    variance, spread = 0.01, np.array([0.0004, 0.02])
    prior = np.array([0.8, 0.2])
    bias = np.linspace(-3, 3, 600_001)
    density = sum(
        p * stats.norm.pdf(bias, expected, v**0.5)
        for p, v in zip(prior, spread, strict=True)
    ) * stats.norm.pdf(gap, bias, variance**0.5)
    density /= density.sum()
    mean, within = _kernels.bias_given_gap(
        gap, variance, np.full(2, expected), spread, prior, bound=0.1
    )
    assert mean == pytest.approx(density @ bias, abs=1e-6)
    assert within == pytest.approx(density[np.abs(bias) < 0.1].sum(), abs=1e-4)
