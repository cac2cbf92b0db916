"""What must hold for any probabilities, losses and scores."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from sklearn_ase.belief import CategoricalBelief, _kernels
from sklearn_ase.losses import LossTable
from sklearn_ase.selection import ArgMax, Proportional, UniformMixed

quick = settings(deadline=None, derandomize=True, max_examples=150)

masses = st.one_of(
    st.sampled_from([0.0, 1.0, 1e-300, 1e-12]), st.floats(0.0, 1.0, width=32)
)
shares = st.one_of(st.just(1.0), st.floats(1e-6, 1.0))
scores = st.one_of(
    st.sampled_from([0.0, 5e-324, 1e-300, 1.0, 1e300, 1.7e308]), st.floats(0.0, 1e6)
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
def test_members_of_one_mind_do_not_disagree(problem):
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


@st.composite
def selections(draw):
    inner = st.one_of(
        st.just(ArgMax()), shares.map(Proportional), st.just(Proportional(0.0))
    )
    return draw(st.one_of(inner, st.builds(UniformMixed, inner, shares)))


@quick
@given(selections(), arrays(float, st.integers(1, 8), elements=scores))
def test_distribution_is_one(selection, values):
    proba = selection.distribution(values)
    assert proba.shape == values.shape
    assert (proba >= 0).all()
    assert proba.sum() == pytest.approx(1.0, abs=1e-12)


@quick
@given(shares, shares, arrays(float, st.integers(1, 8), elements=scores))
def test_a_uniform_share_gives_every_candidate_its_chance(share, uniform_share, values):
    floor = (1 - 1e-12) / len(values)
    for selection, least in [
        (Proportional(uniform_share), uniform_share),
        (UniformMixed(uniform_share=share), share),
        (UniformMixed(Proportional(0.0), share), share),
    ]:
        assert selection.has_query_proba
        assert (selection.distribution(values) >= least * floor).all()


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1.0, 1e300])
def test_proportional_does_not_depend_on_the_scale_of_the_scores(scale):
    proba = Proportional(0.2).distribution(np.array([0.0, 1.0, 3.0]) * scale)
    assert_allclose(proba, 0.8 * np.array([0, 0.25, 0.75]) + 0.2 / 3, rtol=1e-3)


def test_proportional_is_uniform_when_no_score_is_positive():
    assert_allclose(Proportional(0.0).distribution(np.zeros(4)), 0.25)


@quick
@given(
    selections(), arrays(float, 7, elements=scores), st.integers(0, 2**32), st.data()
)
def test_picks_are_distinct_candidates_with_their_true_probabilities(
    selection, values, seed, data
):
    candidates = np.array(
        data.draw(st.lists(st.integers(0, 6), min_size=1, unique=True))
    )
    n_queries = data.draw(st.integers(1, len(candidates)))
    query = selection.pick(values, candidates, n_queries, np.random.default_rng(seed))
    assert len(query) == len(set(query.indices.tolist())) == n_queries
    left = candidates.tolist()
    for index, reported in zip(query.indices, query.proba, strict=True):
        true = selection.distribution(values[left])[left.index(index)]
        assert true > 0
        assert reported == true if selection.has_query_proba else np.isnan(reported)
        left.remove(index)


class FixedDraw:
    """Generator whose uniform numbers are all the same."""

    def __init__(self, value):
        self.value = value

    def random(self):
        return self.value


@quick
@given(selections(), arrays(float, st.integers(1, 5), elements=scores))
def test_picks_follow_the_distribution(selection, values):
    n_draws = 200
    candidates = np.arange(len(values))
    picked = [
        selection.pick(values, candidates, 1, FixedDraw((k + 0.5) / n_draws)).indices[0]
        for k in range(n_draws)
    ]
    frequency = np.bincount(picked, minlength=len(values)) / n_draws
    distribution = selection.distribution(values)
    assert_allclose(frequency, distribution, atol=1.001 / n_draws)
    assert (frequency[distribution == 0] == 0).all()


@pytest.mark.parametrize("value", [0.0, 1.0 - 2.0**-53])
def test_extreme_draws_pick_what_has_a_chance(value):
    values = np.array([0.0, 1.0, 1.0, 0.0])
    for selection in (ArgMax(), Proportional(0.0)):
        query = selection.pick(values, np.arange(4), 1, FixedDraw(value))
        assert query.indices[0] in (1, 2)


@quick
@given(arrays(float, st.integers(2, 8), elements=scores))
def test_argmax_gives_nothing_to_all_but_the_best(values):
    assume(len(np.unique(values)) > 1)
    proba = ArgMax().distribution(values)
    assert (proba[values < values.max()] == 0).all()


def test_argmax_breaks_ties_at_random():
    values = np.array([3.0, 1.0, 3.0])
    rngs = [np.random.default_rng(seed) for seed in range(40)]
    picks = [ArgMax().pick(values, np.arange(3), 1, rng).indices[0] for rng in rngs]
    assert set(picks) == {0, 2}


@pytest.mark.parametrize(
    "selection", [Proportional(1.5), UniformMixed(uniform_share=-0.1)]
)
def test_a_share_outside_the_unit_interval_is_refused(selection):
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        selection.distribution(np.ones(3))


def test_an_audit_without_a_share_claims_no_more_than_what_it_audits():
    assert not UniformMixed(ArgMax(), uniform_share=0.0).has_query_proba
    assert UniformMixed(Proportional(), uniform_share=0.0).has_query_proba
