"""Risks: values, standard errors, intervals, and what they refuse."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import paper_formulas as paper
from helpers.states import first_picks, random_state, with_open, with_picks
from numpy.testing import assert_array_equal
from scipy import stats

from sklearn_ase.exceptions import IntervalWarning
from sklearn_ase.risk import (
    ASE,
    LURE,
    CorrectedASE,
    Estimate,
    GuardedASE,
    MonteCarlo,
)

N_SAMPLES = 40
weighted = pytest.mark.parametrize("risk", [LURE(), CorrectedASE(), GuardedASE()])
design_based = pytest.mark.parametrize(
    "risk", [MonteCarlo(), LURE(), CorrectedASE(), GuardedASE()]
)


def test_monte_carlo_is_the_mean_with_the_error_of_a_finite_population():
    state = random_state(n_labels=24)  # With more, the surrogate's variance has a say.
    estimate = MonteCarlo().estimate(state)
    error = stats.sem(state.losses) * np.sqrt(1 - 24 / N_SAMPLES)
    assert estimate.value == pytest.approx(state.losses.mean(), rel=1e-14)
    assert estimate.standard_error == pytest.approx(error, rel=1e-12)


def test_monte_carlo_on_the_whole_pool_has_no_error():
    estimate = MonteCarlo().estimate(random_state(n_labels=N_SAMPLES))
    assert estimate.standard_error == 0.0
    assert estimate.interval() == (estimate.value, estimate.value)


def test_monte_carlo_refuses_unequal_probabilities():
    with pytest.raises(ValueError, match=r"unequal probabilities.*LURE\(\)"):
        MonteCarlo().estimate(random_state(uniform=False))


def test_monte_carlo_refuses_picks_with_replacement():
    state = random_state()
    constant = np.full(state.n_labels, 1 / N_SAMPLES)
    with pytest.raises(ValueError, match="unequal probabilities"):
        MonteCarlo().estimate(with_picks(state, query_proba=constant))


def test_lure_has_the_value_and_the_error_of_the_paper():
    state = random_state(uniform=False)
    estimate = LURE().estimate(state)
    surrogates = np.zeros((state.n_labels, N_SAMPLES))
    steps = paper.corrected_steps(
        state.indices.tolist(),
        state.losses,
        state.picks.query_proba,
        surrogates,
        N_SAMPLES,
    )
    assert estimate.value == pytest.approx(
        paper.lure(state.losses, state.picks.query_proba, N_SAMPLES), rel=1e-12
    )
    assert estimate.standard_error == pytest.approx(
        np.sqrt(paper.variance_of_steps(steps, N_SAMPLES)), rel=1e-12
    )


def test_corrected_ase_has_the_value_and_the_error_of_the_definition():
    state = random_state(uniform=False)
    rng = np.random.default_rng(1)
    surrogates = rng.normal(size=(state.n_labels, N_SAMPLES))
    places = state.indices.tolist()
    free = [np.delete(g, places[:m]).sum() for m, g in enumerate(surrogates)]
    state = with_picks(
        state,
        expected_loss=surrogates[range(len(places)), places],
        free_expected_loss=np.array(free),
    )
    steps = paper.corrected_steps(
        places, state.losses, state.picks.query_proba, surrogates, N_SAMPLES
    )
    estimate = CorrectedASE().estimate(state)
    assert estimate.value == pytest.approx(paper.mean_of_steps(steps, N_SAMPLES))
    assert estimate.standard_error == pytest.approx(
        np.sqrt(paper.variance_of_steps(steps, N_SAMPLES))
    )


def believed_error(variances):
    """Standard error if each step had the variance the surrogate expected."""
    parts, total = [], 0.0
    for m, variance in enumerate(variances, start=1):
        w = 1 / ((N_SAMPLES - m + 1) * (N_SAMPLES - m))
        parts.append(w**2 * variance / N_SAMPLES**2)
        total += w
    return np.sqrt(sum(parts)) / total


@pytest.mark.parametrize("scale", [0.0, 0.1, 1000.0])
def test_standard_error_is_the_greater_of_the_observed_and_the_believed(scale):
    """Few labels miss what is rare, a bad surrogate what it does not know."""
    state = random_state()
    moments = scale * (10.0 + np.arange(6))
    state = with_picks(state, residual_moment=moments, loss_moment=2.0 * moments)
    # Of the loss moment the squared mean is taken off; less than nothing is nothing.
    of_loss = np.maximum(2.0 * moments - state.picks.free_expected_loss**2, 0.0)
    for risk, believed in (
        (CorrectedASE(), believed_error(moments)),
        (LURE(), believed_error(of_loss)),
        (MonteCarlo(), believed_error(of_loss)),
    ):
        observed = risk.estimate(random_state()).standard_error
        found = risk.estimate(state).standard_error
        assert found == pytest.approx(max(observed, believed), rel=1e-12)
        assert (believed > observed) == (scale == 1000.0)


@design_based
def test_labels_without_a_probability_are_refused(risk):
    state = random_state(n_labels=5)
    state.picks.query_proba[[1, 3]] = np.nan
    message = rf"{type(risk).__name__} weighs .* 2 of the 5 rows .*\(ArgMax\)"
    with pytest.raises(ValueError, match=message):
        risk.estimate(state)


@design_based
def test_design_based_risks_use_only_the_labels_in_order(risk):
    """A later label may have come only because an earlier one was slow."""
    state = random_state(n_labels=6)
    state.picks.query_proba[5] = np.nan
    estimate = risk.estimate(with_open(state, 4))
    assert estimate == risk.estimate(first_picks(state, 4))
    assert estimate.n_labels == 4


def test_without_a_label_in_order_the_guarded_estimate_is_plain_ase():
    state = with_open(random_state(n_labels=4), 0)
    estimate = GuardedASE().estimate(state)
    assert estimate.value == ASE().estimate(state).value
    assert "before the first row that was asked for is answered" in estimate.refusal
    state = random_state(n_labels=0)
    assert "no label yet" in GuardedASE().estimate(state).refusal


@pytest.mark.parametrize("risk", [MonteCarlo(), LURE(), CorrectedASE()])
def test_an_open_first_query_leaves_nothing_to_estimate(risk):
    state = with_open(random_state(n_labels=4), 0)
    with pytest.raises(ValueError, match=r"has none \(3 labels in all\)"):
        risk.estimate(state)


@design_based
def test_one_label_gives_an_infinite_interval(risk):
    estimate = risk.estimate(random_state(n_labels=1))
    assert np.isfinite(estimate.value)
    assert np.isnan(estimate.standard_error)
    with pytest.warns(IntervalWarning, match="from 1 labels"):
        assert estimate.interval() == (-np.inf, np.inf)


@weighted
def test_weighted_risks_have_intervals_around_their_value(risk):
    estimate = risk.estimate(random_state(n_labels=30, uniform=False))
    low, high = estimate.interval(0.8)
    assert low < estimate.value < high
    assert estimate.degrees_of_freedom == 29
    assert estimate.refusal == ""


def test_ase_is_the_mean_expected_loss():
    state = random_state()
    estimate = ASE().estimate(state)
    beliefs = state.belief.proba
    slow = paper.ase(beliefs, state.loss.values)
    assert estimate.value == pytest.approx(slow, rel=1e-12)
    assert estimate.member_spread == np.std(state.belief.member_risk, ddof=1)
    assert np.isnan(estimate.standard_error)


def test_ase_can_use_observed_losses_where_labels_are_known():
    state = random_state()
    before = state.expected_loss.copy()
    estimate = ASE(use_observed=True).estimate(state)
    total = state.losses.sum() + state.expected_loss[state.free].sum()
    assert estimate.value == pytest.approx(total / N_SAMPLES, rel=1e-12)
    assert_array_equal(state.expected_loss, before)


def test_ase_uses_observed_losses_in_whatever_order_they_came():
    late = with_open(random_state(n_labels=6), 0)
    labelled = late.picks.take(slice(1, None))
    risk = ASE(use_observed=True)
    assert risk.estimate(late) == risk.estimate(replace(late, picks=labelled))


def test_ase_of_a_single_member_has_no_spread():
    state = random_state()
    belief = replace(state.belief, member_risk=state.belief.member_risk[:1])
    estimate = ASE().estimate(replace(state, belief=belief))
    assert np.isnan(estimate.member_spread)


def test_ase_without_a_belief_is_refused():
    state = replace(random_state(n_labels=2), belief=None, expected_loss=None)
    with pytest.raises(ValueError, match="needs a fitted surrogate, but 2 labels"):
        ASE().estimate(state)


def test_a_risk_estimate_is_a_number():
    estimate = Estimate(0.4, 0.1, n_labels=50)
    assert float(estimate) == 0.4
    assert f"{float(estimate):.2f}" == "0.40"


def test_interval_widens_with_its_level_and_with_fewer_labels():
    estimate = Estimate.of_mean(0.4, 0.1, n_labels=50, degrees_of_freedom=49)
    reach = [estimate.interval(level)[1] - 0.4 for level in (0.5, 0.8, 0.9, 0.99)]
    assert (np.diff(reach) > 0).all()
    fewer = Estimate.of_mean(0.4, 0.1, n_labels=50, degrees_of_freedom=4)
    assert fewer.interval(0.9)[1] > estimate.interval(0.9)[1]


def test_interval_with_infinite_degrees_of_freedom_is_normal():
    estimate = Estimate(0.4, 0.1, n_labels=50)
    normal = stats.norm.interval(0.9, loc=0.4, scale=0.1)
    assert estimate.interval(0.9) == pytest.approx(normal, rel=1e-12)


@pytest.mark.parametrize("level", [0, 1, -0.1, 95, np.nan])
def test_a_level_out_of_range_is_refused(level):
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        Estimate(0.4, 0.1, n_labels=50).interval(level)
