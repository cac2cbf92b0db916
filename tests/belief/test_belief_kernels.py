"""Kernels of beliefs, and categorical beliefs, agree with the paper's loops."""

import numpy as np
import pytest
from helpers import paper_formulas as paper
from helpers.random_pools import CLOSE, SHAPES, random_pool, random_proba
from numpy.testing import assert_allclose

from sklearn_ase.belief import CategoricalBelief
from sklearn_ase.belief import _kernels as belief_kernels
from sklearn_ase.losses import LossTable


@pytest.fixture(params=SHAPES)
def pool(request):
    return random_pool(*request.param)


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


def test_kernels_of_beliefs_leave_their_inputs_alone(pool):
    mean, loss = pool.members.mean(axis=0), pool.loss.values
    inputs = [pool.members, pool.proba, mean, loss]
    before = [array.copy() for array in inputs]
    for array in inputs:
        array.flags.writeable = False
    belief_kernels.expected_loss(pool.proba, loss)
    belief_kernels.loss_variance(pool.proba, loss)
    belief_kernels.xlogx(pool.proba)
    belief_kernels.tilted_members(pool.members, pool.proba)
    belief_kernels.member_expected_loss(pool.members, mean, pool.proba, loss)
    CategoricalBelief.from_members(pool.members, pool.loss, pool.proba)
    belief_kernels.covariance_with_pool_risk(loss)
    for array, copy in zip(inputs, before, strict=True):
        assert_allclose(array, copy, rtol=0, atol=0)
