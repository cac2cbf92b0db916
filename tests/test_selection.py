"""Selections: what must hold for any scores."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from sklearn_ase.selection import ArgMax, Proportional, UniformMixed

quick = settings(derandomize=True, max_examples=150)
shares = st.one_of(st.just(1.0), st.floats(1e-6, 1.0))
scores = st.one_of(
    st.sampled_from([0.0, 5e-324, 1e-300, 1.0, 1e300, 1.7e308]), st.floats(0.0, 1e6)
)


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
