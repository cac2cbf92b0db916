"""GuardedASE: the surrogate counts as many labels as the labels say it is worth."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.states import plain_sample, with_picks

from sklearn_ase._evaluation._diagnosis import diagnose
from sklearn_ase._inference._evidence import has_evidence, skill_of, weigh_evidence
from sklearn_ase.risk import ASE, LURE, CorrectedASE, GuardedASE
from sklearn_ase.testing import make_state

tasks = pytest.mark.parametrize("task", ["classification", "regression"])
seeds = pytest.mark.parametrize("seed", range(4))


def mixed_errors(n_samples=200, n_labels=60, seed=0):
    """Errors that the surrogate foresees: half of the rows are three times as hard."""
    rng = np.random.default_rng(seed)
    chance = rng.permutation(np.repeat([0.15, 0.45], n_samples // 2))
    return plain_sample(chance, rng.random(n_samples) < chance, n_labels)


def with_surrogate_risk(state, risk):
    """The same labels, but the surrogate now expects this loss in the mean."""
    return replace(state, expected_loss=np.full(state.n_samples, risk))


def expecting(state, expected):
    """The same labels, but the surrogate expected other losses all along."""
    n_labels = state.n_labels
    state = with_picks(
        state,
        expected_loss=expected[:n_labels],
        free_expected_loss=np.cumsum(expected[::-1])[::-1][:n_labels],
    )
    return replace(state, expected_loss=expected)


def in_agreement(state):
    """The same labels, but the surrogate now says what the corrected estimate does."""
    return with_surrogate_risk(state, weigh_evidence(state).corrected)


@tasks
@seeds
def test_worth_nothing_it_is_the_tuned_corrected_estimate(task, seed):
    state = make_state(task, random_state=seed)
    corrected = weigh_evidence(state, worth=50).corrected  # Whatever the worth.
    assert GuardedASE(worth=0).estimate(state).value == corrected
    assert GuardedASE().estimate(state).centre == corrected


@tasks
@seeds
def test_worth_all_labels_it_is_ase(task, seed):
    """In regression ASE with observed losses: the surrogate has learned the labels."""
    state = make_state(task, random_state=seed)
    expected = ASE(use_observed=task == "regression").estimate(state).value
    assert GuardedASE(worth=np.inf).estimate(state).value == pytest.approx(
        expected, rel=1e-12
    )


@tasks
@seeds
def test_it_lies_between_the_surrogate_and_the_corrected_estimate(task, seed):
    state = make_state(task, random_state=seed)
    evidence = weigh_evidence(state)
    worths = [0, 1, 30, 400, 3000, np.inf]
    values = np.array([GuardedASE(worth).estimate(state).value for worth in worths])
    # Between 0 at the corrected estimate and 1 at the surrogate's.
    place = (values - evidence.corrected) / (evidence.surrogate - evidence.corrected)
    assert place[[0, -1]] == pytest.approx([0, 1], abs=1e-12)
    assert (np.diff(place) > 0).all()
    assert values[3] == pytest.approx(evidence.surrogate - evidence.bias, rel=1e-12)


@tasks
def test_a_surrogate_that_is_right_counts_as_the_labels_it_is_worth(task):
    """As if two samples were pooled, where nothing speaks against it."""
    state = in_agreement(make_state(task, n_samples=2000, n_labels=40))
    nearly = state.expected_loss.mean() * (1 + 1e-6)
    evidence = weigh_evidence(with_surrogate_risk(state, nearly))
    gap = evidence.surrogate - evidence.corrected
    finite = 1 - 40 / 2000
    right, wrong = (40 / (40 + finite * n) for n in (300, 10))
    assert right < evidence.bias / gap < 0.9 * right + 0.1 * wrong


def off_by(state, distance, **changes):
    """The same labels, but the surrogate is so many standard errors from C."""
    error = GuardedASE(worth=0).estimate(state).standard_error
    risk = weigh_evidence(state).corrected + distance * error
    return replace(with_surrogate_risk(state, risk), **changes), error


@pytest.mark.parametrize("n_labels", [10, 60])
def test_the_labels_tell_what_it_is_worth(n_labels):
    """However far the surrogate is off, the guarded estimate stays with the labels."""
    state = mixed_errors(n_samples=2000, n_labels=n_labels)
    taken, left = [], []
    for distance in (0.01, 1, 2, 4, 8, 100):
        off, error = off_by(state, distance)
        evidence = weigh_evidence(off)
        taken.append(evidence.bias / (distance * error))
        left.append(distance * (1 - taken[-1]))
    assert (np.diff(taken) > 0).all()
    assert taken[0] < 0.25
    assert max(left) < 4
    assert left[-2] < 1


UNCALIBRATED = {"is_calibrated": False}


@pytest.mark.parametrize("n_labels", [10, 60])
def test_what_training_rows_showed_is_expected_of_the_pool(n_labels):
    state = mixed_errors(n_samples=2000, n_labels=n_labels)
    off, error = off_by(state, 5)
    known = GuardedASE().estimate(replace(off, training_gap=5 * error, **UNCALIBRATED))
    unknown = GuardedASE().estimate(replace(off, **UNCALIBRATED))
    assert abs(known.value - known.centre) < abs(unknown.value - unknown.centre) / 2


@pytest.mark.parametrize("n_labels", [25, 60, 200])
def test_labels_that_agree_with_the_surrogate_outweigh_training_rows(n_labels):
    state = mixed_errors(n_samples=2000, n_labels=n_labels)
    agreed, error = off_by(state, 0)
    contradicted = replace(agreed, training_gap=4 * error, **UNCALIBRATED)
    assert diagnose(contradicted).verdict != "bad"
    assert GuardedASE().estimate(contradicted).value == pytest.approx(
        GuardedASE().estimate(agreed).value, abs=error
    )


def test_before_the_first_label_what_training_rows_showed_is_taken_off():
    state = replace(make_state(n_labels=0), **UNCALIBRATED)
    ase, gap = ASE().estimate(state).value, 0.01
    for training_gap, value in ((0.0, ase), (np.nan, ase), (gap, ase - gap), (9, 0)):
        found = GuardedASE().estimate(replace(state, training_gap=training_gap))
        assert found.value == pytest.approx(value)
        assert "no label yet" in found.refusal


def test_a_surrogate_without_calibration_or_training_gap_is_worth_less():
    state, _ = off_by(mixed_errors(n_samples=2000), 0.5)
    biases = [
        weigh_evidence(replace(state, **vouched)).bias
        for vouched in ({}, {"training_gap": 0.0, **UNCALIBRATED}, UNCALIBRATED)
    ]
    assert (np.diff(biases) > 0).all()


@pytest.mark.parametrize("n_labels", [60, 300, 540])
def test_a_perfect_surrogate_is_seldom_contradicted(n_labels):
    """However many labels there are."""
    states = (mixed_errors(600, n_labels, seed) for seed in range(60))
    assert np.mean([diagnose(state).is_bad for state in states]) < 0.1


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_where_all_labels_were_expected_rounding_does_not_contradict(chance):
    state = plain_sample(np.full(100, chance), np.full(100, chance), 30)
    state = with_surrogate_risk(state, abs(chance - 1e-14))
    evidence = weigh_evidence(state)
    assert evidence.distance < 1e-6
    assert GuardedASE().estimate(state).value == pytest.approx(chance, abs=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_it_does_not_depend_on_the_unit_of_the_loss(scale):
    state = make_state("regression", random_state=1)
    names = ("losses", "expected_loss", "free_expected_loss")
    columns = {name: scale * getattr(state.picks, name) for name in names}
    moments = ("residual_moment", "loss_moment")
    columns |= {name: scale**2 * getattr(state.picks, name) for name in moments}
    scaled = with_picks(state, **columns)
    scaled = replace(scaled, expected_loss=scale * state.expected_loss)
    for worth in (0, 300, np.inf):
        value = GuardedASE(worth).estimate(scaled).value
        assert value == pytest.approx(scale * GuardedASE(worth).estimate(state).value)


def test_without_a_surrogate_it_is_lure():
    state = make_state()
    nothing = np.zeros(state.n_labels)
    names = ["expected_loss", "free_expected_loss", "residual_moment"]
    blank = dict.fromkeys([*names, "loss_moment"], nothing)
    state = replace(with_picks(state, **blank), belief=None, expected_loss=None)
    assert not has_evidence(state)
    estimate, lure = GuardedASE().estimate(state), LURE().estimate(state)
    assert estimate.value == lure.value
    assert estimate.standard_error == lure.standard_error


def test_the_whole_pool_gives_its_risk_whatever_the_trust():
    state = make_state(n_samples=30, n_labels=30)
    for worth in (0, 300, np.inf):
        estimate = GuardedASE(worth).estimate(state)
        assert estimate.value == pytest.approx(state.losses.mean())
        assert estimate.standard_error == 0


@tasks
@seeds
def test_the_interval_is_that_of_the_corrected_estimate(task, seed):
    state = make_state(task, n_samples=80, n_labels=30, random_state=seed)
    estimate = GuardedASE().estimate(state)
    corrected = GuardedASE(worth=0).estimate(state)
    assert estimate.standard_error == corrected.standard_error
    low, high = corrected.interval()
    assert estimate.interval() == (
        min(low, estimate.value),
        max(high, estimate.value),
    )


def test_trust_falls_with_the_distance_to_the_corrected_estimate():
    state = mixed_errors()
    corrected = weigh_evidence(state).corrected
    for side in (-1, 1):
        gaps = np.array([0.0, 0.02, 0.05, 0.1, 0.2, 0.5])
        evidence = [
            weigh_evidence(with_surrogate_risk(state, corrected + side * gap))
            for gap in gaps
        ]
        distance = np.array([each.distance for each in evidence])
        trust = np.array([each.trust for each in evidence])
        assert distance[1:] / gaps[1:] == pytest.approx(distance[1] / gaps[1])
        assert (np.diff(trust) < 0).all()
        assert trust[0] > 0.9
        assert trust[-1] < 0.01


def test_skill_is_negative_where_one_number_explains_the_losses_better():
    state = mixed_errors()
    mistaken = expecting(state, 0.6 - state.expected_loss)  # Hard is taken for easy.
    assert skill_of(state) > 0 > skill_of(mistaken)


def mean_distances(change):
    """Of the tuned estimate to LURE and to corrected ASE, over twenty pools."""
    distances = []
    for seed in range(20):
        state = change(mixed_errors(n_labels=100, seed=seed))
        tuned = GuardedASE(worth=0).estimate(state).value
        others = [risk.estimate(state).value for risk in (LURE(), CorrectedASE())]
        distances.append(np.abs(tuned - np.array(others)))
    return np.mean(distances, axis=0)


def test_expected_losses_are_used_as_far_as_they_were_of_use():
    def told_exactly(state):
        return with_picks(state, losses=state.picks.expected_loss.copy())

    def mistaken(state):
        return expecting(state, 0.6 - state.expected_loss)

    to_lure, to_corrected = mean_distances(told_exactly)
    assert to_corrected < to_lure / 5
    to_lure, to_corrected = mean_distances(mistaken)
    assert to_lure < to_corrected


@pytest.mark.parametrize("error_rate", [0.003, 0.01])
@pytest.mark.parametrize("n_labels", [5, 25, 60])
def test_rare_errors_that_were_not_met_do_not_contradict(error_rate, n_labels):
    """No error among the labels is what a rare one looks like."""
    state = plain_sample(np.full(1000, error_rate), np.zeros(1000), n_labels)
    assert diagnose(state).verdict != "bad"


@pytest.mark.parametrize("error_rate", [0.2, 0.4])
def test_frequent_errors_that_were_not_met_cost_the_trust(error_rate):
    state = plain_sample(np.full(1000, error_rate), np.zeros(1000), 60)
    assert weigh_evidence(state).trust < 0.1


def test_labels_before_the_first_fit_do_not_count_against_the_surrogate():
    """Nothing was expected of them, so none of them was a surprise."""
    blank = np.zeros(5)
    state = with_picks(
        plain_sample(np.full(1000, 0.01), np.zeros(1000), 5),
        expected_loss=blank,
        free_expected_loss=blank,
        residual_moment=np.full(5, np.nan),
        loss_moment=np.full(5, np.nan),
    )
    assert diagnose(state).verdict != "bad"
    assert np.isfinite(GuardedASE(worth=np.inf).estimate(state).value)


@pytest.mark.parametrize("worth", [-1, np.nan])
def test_a_worth_that_is_not_a_number_of_labels_is_refused(worth):
    with pytest.raises(ValueError, match=r"worth=.* must be a number >= 0"):
        GuardedASE(worth).estimate(make_state())


def test_it_is_never_negative():
    state = make_state()
    state = with_picks(
        state,
        losses=np.zeros(state.n_labels),
        expected_loss=state.picks.expected_loss + 1.0,
    )
    assert weigh_evidence(state).corrected < 0
    assert GuardedASE(worth=0).estimate(state).value == 0


def test_the_verdict_says_whether_labels_or_training_rows_contradict():
    state = mixed_errors(n_samples=2000, n_labels=30)
    off, error = off_by(state, 0.9)
    by_rows = replace(off, training_gap=1.5 * error, **UNCALIBRATED)
    assert "The training rows contradict" in diagnose(by_rows).advice
    by_labels, _ = off_by(state, 6)
    assert "The labels contradict" in diagnose(by_labels).advice


def test_before_the_first_fit_nothing_was_expected_of_the_labels():
    state = mixed_errors(n_labels=30)
    unknown = np.full(30, np.nan)
    state = with_picks(state, residual_moment=unknown, loss_moment=unknown)
    diagnosis = diagnose(state)
    assert np.isnan([diagnosis.expected_loss, diagnosis.observed_loss]).all()
