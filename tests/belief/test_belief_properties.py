"""What must hold of beliefs for any probabilities and losses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from sklearn_ase.belief import CategoricalBelief, _kernels
from sklearn_ase.losses import LossTable

quick = settings(derandomize=True, max_examples=150)
masses = st.one_of(
    st.sampled_from([0.0, 1.0, 1e-300, 1e-12]), st.floats(0.0, 1.0, width=32)
)


def finite_losses(largest):
    return st.one_of(st.sampled_from([0.0, 1e-300, largest]), st.floats(0.0, 100.0))


@st.composite
def members_and_loss(draw, largest_loss=1e300):
    """Members and losses; a single member, sample or class, and float32, included."""
    shape = tuple(draw(st.integers(1, most)) for most in (4, 3, 5))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    weights = draw(arrays(float, shape, elements=masses))
    weights[..., 0] += weights.sum(axis=-1) == 0
    members = (weights / weights.sum(axis=-1, keepdims=True)).astype(dtype)
    loss = draw(arrays(float, shape[1:], elements=finite_losses(largest_loss)))
    return members, LossTable(loss, np.arange(shape[2]))


@quick
@given(members_and_loss())
def test_disagreement_is_finite_and_not_negative(problem):
    disagreement = _kernels.disagreement(problem[0])
    assert np.isfinite(disagreement).all()
    assert (disagreement >= 0).all()


@quick
@given(members_and_loss())
def test_xwed_is_finite_and_not_negative(problem):
    members, loss = problem
    belief = CategoricalBelief.from_members(members, loss)
    xwed = belief.weighted_disagreement(loss)
    assert np.isfinite(xwed).all()
    assert (xwed >= 0).all()


@quick
@given(members_and_loss())
def test_bald_is_at_most_the_entropy_of_a_label_and_of_a_member(problem):
    members, _ = problem
    n_members, _, n_classes = members.shape
    bald = _kernels.disagreement(members).sum(axis=1)
    assert (bald <= np.log(min(n_members, n_classes)) + 1e-5).all()


@quick
@given(members_and_loss())
def test_equal_members_do_not_disagree(problem):
    members, loss = problem
    alike = np.repeat(members[:1], 3, axis=0)
    belief = CategoricalBelief.from_members(alike, loss)
    assert_allclose(belief.disagreement(), 0.0, atol=1e-14)


@quick
@given(members_and_loss())
def test_expected_loss_lies_between_the_losses(problem):
    members, loss = problem
    expected = _kernels.expected_loss(members[0], loss.values)
    assert (expected >= loss.values.min(axis=1) * (1 - 1e-6)).all()
    assert (expected <= loss.values.max(axis=1) * (1 + 1e-6)).all()


@quick
@given(members_and_loss(largest_loss=1e12))
def test_loss_variance_is_finite_and_not_negative(problem):
    members, loss = problem
    variance = _kernels.loss_variance(members[0], loss.values)
    assert np.isfinite(variance).all()
    assert (variance >= 0).all()


@quick
@given(members_and_loss(largest_loss=1e12), st.data())
def test_belief_tilted_to_any_probabilities_is_finite(problem, data):
    members, loss = problem
    shape = members.shape[1:]
    target = data.draw(arrays(float, shape, elements=st.floats(1e-3, 1.0)))
    target /= target.sum(axis=1, keepdims=True)
    belief = CategoricalBelief.from_members(members, loss, target)
    xwed = belief.weighted_disagreement(loss)
    assert np.isfinite(belief.member_loss).all()
    assert np.isfinite(xwed).all()
    assert (xwed >= 0).all()


@pytest.mark.parametrize("mass", [1e-300, 1e-310, 5e-324])
def test_tilt_survives_members_that_all_but_rule_out_a_class(mass):
    """Naive Bayes gives such masses; the calibrated belief does not share them."""
    members = np.array([[[1.0, mass]], [[1.0, 0.0]]])
    loss = LossTable(np.array([[0.1, 16.0]]), np.arange(2))
    target = np.array([[0.99, 0.01]])
    belief = CategoricalBelief.from_members(members, loss, target)
    assert np.isfinite(belief.class_disagreement).all()
    assert_allclose(belief.member_loss.mean(axis=0), belief.expected_loss(loss))
