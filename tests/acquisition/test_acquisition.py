"""Acquisitions that combine others: `Mixture` and `TrustWeighted`."""

import numpy as np
import pytest
from helpers.states import plain_sample, with_open, with_picks
from numpy.testing import assert_allclose
from sklearn.base import clone

from sklearn_ase._inference._evidence import weigh_evidence
from sklearn_ase.acquisition import (
    BALD,
    XWED,
    BaseAcquisition,
    ExpectedLoss,
    LossSpread,
    Mixture,
    TrustWeighted,
    Uniform,
    VarianceReduction,
)
from sklearn_ase.selection import Proportional
from sklearn_ase.testing import check_acquisition, make_state

MIXTURES = [
    Mixture(),
    Mixture([BALD()]),
    Mixture([BALD(), Uniform()], shares=[0.7, 0.3]),
    Mixture((ExpectedLoss(), VarianceReduction(), Uniform()), shares=(3, 2, 0)),
    Mixture([Uniform(), Mixture([Uniform()])]),
    Mixture([Mixture(), BALD()], shares=[1, 2]),
]


class Zero(BaseAcquisition):
    """An acquisition that sees no difference."""

    def score_samples(self, state):
        return np.zeros(state.n_samples)


@pytest.mark.parametrize("mixture", MIXTURES, ids=repr)
def test_mixtures_meet_the_contract(mixture):
    check_acquisition(mixture)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("mixture", MIXTURES, ids=repr)
def test_scores_sum_to_one(mixture, task):
    scores = mixture.score_samples(make_state(task))
    assert scores.sum() == pytest.approx(1.0, rel=1e-12)


def test_every_part_has_its_share():
    state, parts, shares = make_state(), [BALD(), ExpectedLoss()], [0.7, 0.3]
    expected = 0.0
    for part, share in zip(parts, shares, strict=True):
        expected += share * Proportional(0.0).distribution(part.score_samples(state))
    for scale in (1, 10):  # Only the proportions of the shares count.
        mixture = Mixture(parts, shares=[scale * share for share in shares])
        assert_allclose(mixture.score_samples(state), expected, rtol=1e-12)


def test_the_default_is_half_xwed_and_half_loss_spread():
    state = make_state()
    spelled = Mixture([XWED(), LossSpread()], shares=[0.5, 0.5])
    assert_allclose(Mixture().score_samples(state), spelled.score_samples(state))


def test_a_part_that_sees_no_difference_asks_for_uniform_picks():
    state = make_state()
    with_zero = Mixture([BALD(), Zero()]).score_samples(state)
    with_uniform = Mixture([BALD(), Uniform()]).score_samples(state)
    assert_allclose(with_zero, with_uniform, rtol=1e-12)


def test_a_mixture_is_uniform_if_all_parts_are():
    assert Mixture([Uniform(), Uniform()]).is_uniform
    assert not Mixture([Uniform(), BALD()]).is_uniform
    assert not Mixture().is_uniform


def test_a_mixture_needs_what_any_part_needs():
    assert Mixture([Uniform(), VarianceReduction()]).needs_member_loss
    assert not Mixture().needs_member_loss


def test_a_clone_has_clones_of_the_parts():
    mixture = Mixture([BALD(), Uniform()], shares=[2, 1])
    copy = clone(mixture)
    assert repr(copy) == repr(mixture)
    assert copy.acquisitions[0] is not mixture.acquisitions[0]


@pytest.mark.parametrize("shares", [[1], [1, 1, 1], [1, -1], [0, 0], [1, np.nan], 0.5])
def test_shares_that_are_not_valid_are_refused(shares):
    with pytest.raises(ValueError, match="must be 2 non-negative numbers"):
        Mixture([BALD(), Uniform()], shares=shares).score_samples(make_state())


@pytest.mark.parametrize("part", [BALD, "BALD", 3, None, object()])
def test_a_part_that_is_not_an_acquisition_is_refused_with_its_name(part):
    for read in (
        lambda mixture: mixture.score_samples(make_state()),
        lambda mixture: mixture.is_uniform,
    ):
        with pytest.raises(
            TypeError,
            match=r"acquisitions of Mixture must be.*BaseAcquis",
        ):
            read(Mixture([BALD(), part]))


@pytest.mark.parametrize("inner", [None, BALD(), Uniform(), VarianceReduction()])
def test_trusted_acquisitions_meet_the_contract(inner):
    trusted, plain = TrustWeighted(inner), Mixture() if inner is None else inner
    check_acquisition(trusted)
    assert trusted.is_uniform == plain.is_uniform
    assert trusted.needs_member_loss == plain.needs_member_loss


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_what_is_not_trusted_goes_to_uniform_picks(task):
    state = make_state(task)
    trust = weigh_evidence(state).trust
    expected = Mixture([BALD(), Uniform()], shares=[trust, 1 - trust])
    found = TrustWeighted(BALD()).score_samples(state)
    assert_allclose(found, expected.score_samples(state), rtol=1e-12)


def test_a_contradicted_surrogate_chooses_no_more_labels():
    chance = np.linspace(0.2, 0.6, 1000)
    state = plain_sample(chance, np.zeros(1000), 100)
    assert np.ptp(ExpectedLoss().score_samples(state)) > 0
    assert_allclose(TrustWeighted(ExpectedLoss()).score_samples(state), 1e-3, rtol=1e-3)


def test_without_evidence_the_other_acquisition_decides():
    state = make_state()
    for blind in (
        make_state(n_labels=0),
        with_picks(state, query_proba=np.full(state.n_labels, np.nan)),
        with_open(state, 0),
    ):
        found = TrustWeighted(BALD()).score_samples(blind)
        assert_allclose(found, BALD().score_samples(blind))
