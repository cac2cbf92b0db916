"""Intervals: what they cover, when they are refused, where they end."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from sklearn_ase._inference._bounds import tail_degrees
from sklearn_ase.exceptions import IntervalWarning
from sklearn_ase.risk import (
    ASE,
    LURE,
    CorrectedASE,
    Estimate,
    GuardedASE,
    MonteCarlo,
)
from sklearn_ase.testing import make_state

EVERYTHING = (-np.inf, np.inf)
design_based = pytest.mark.parametrize(
    "risk", [MonteCarlo(), LURE(), CorrectedASE(), GuardedASE(worth=0)]
)
methods = pytest.mark.parametrize("method", ["fixed", "anytime"])


def reach(method, n_labels, level=0.9):
    """Standard errors from the middle of an interval to its ends."""
    estimate = Estimate.of_mean(1e6, 1.0, n_labels, degrees_of_freedom=n_labels - 1)
    return estimate.interval(level, method=method)[1] - 1e6


@design_based
@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_lower_end_is_students_without_a_bound(risk, level):
    estimate = risk.estimate(make_state(n_samples=80, n_labels=30))
    low, _ = stats.t.interval(
        level, df=29, loc=estimate.value, scale=estimate.standard_error
    )
    assert estimate.interval(level)[0] == pytest.approx(max(low, 0), rel=1e-12)


@design_based
@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_upper_end_is_students_on_the_logarithmic_scale(risk, level):
    estimate = risk.estimate(make_state(n_samples=80, n_labels=30))
    quantile = stats.t.ppf((1 + level) / 2, estimate.uncertainty.tail_degrees)
    end = estimate.value * np.exp(quantile * estimate.standard_error / estimate.value)
    expected = min(end, estimate.uncertainty.max_loss)
    assert estimate.interval(level)[1] == pytest.approx(expected, rel=1e-12)


def test_few_values_that_carry_the_variance_have_few_degrees_of_freedom():
    rng = np.random.default_rng(0)
    normal, outlier = rng.normal(size=200), np.eye(1, 200)[0]
    assert tail_degrees(normal) == pytest.approx(199, rel=0.2)
    assert tail_degrees(outlier - outlier.mean()) < 2.1
    assert tail_degrees(np.repeat([-1.0, 1.0], 10)) == 19  # Never more than n - 1.


@design_based
@pytest.mark.parametrize("n_labels", [1, 2, 24])
@methods
def test_few_labels_of_a_loss_without_a_bound_give_no_interval(risk, n_labels, method):
    estimate = risk.estimate(make_state(n_samples=80, n_labels=n_labels))
    assert f"from {n_labels} labels: the loss has no greatest value" in estimate.refusal
    with pytest.warns(IntervalWarning, match="Label more rows") as caught:
        assert estimate.interval(method=method) == EVERYTHING
    assert caught[0].filename == __file__  # It points to who asked for it.


@design_based
def test_twenty_five_labels_give_one_without_a_warning(risk):
    estimate = risk.estimate(make_state(n_samples=80, n_labels=25))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(estimate.interval()).all()
    assert estimate.refusal == ""


@design_based
@pytest.mark.parametrize("n_samples", [1, 8, 40])
@methods
def test_the_interval_of_a_pool_that_is_fully_labelled_has_no_width(
    risk, n_samples, method
):
    state = make_state(n_samples=n_samples, n_labels=n_samples)
    estimate = risk.estimate(state)
    assert estimate.value == pytest.approx(state.losses.mean())
    assert estimate.interval(method=method) == (estimate.value, estimate.value)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("n_labels", [1, 12, 40])
def test_ase_never_has_an_interval(task, n_labels):
    state = make_state(task, n_labels=n_labels)
    estimate = ASE().estimate(state)
    with pytest.warns(
        IntervalWarning, match="ASE has no confidence interval.*GuardedASE"
    ):
        assert estimate.interval() == EVERYTHING
    assert np.isnan(estimate.standard_error)
    spread = np.std(state.belief.member_risk, ddof=1)
    assert estimate.member_spread == pytest.approx(spread)
    assert f"member_spread={spread:.3g}" in repr(estimate)
    assert "standard_error" not in repr(estimate)


def test_observed_losses_narrow_the_spread_of_ase_by_their_share():
    state = make_state(n_samples=40, n_labels=12)
    plain, observed = (ASE(use).estimate(state).member_spread for use in (False, True))
    assert observed == pytest.approx(0.7 * plain)


def test_other_estimates_show_their_standard_error():
    estimate = LURE().estimate(make_state())
    assert f"standard_error={estimate.standard_error:.3g}" in repr(estimate)
    assert "member_spread" not in repr(estimate)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("n_labels", [25, 50, 200, 5000])
def test_anytime_is_wider_than_fixed(n_labels, level):
    assert reach("anytime", n_labels, level) > reach("fixed", n_labels, level)


@methods
def test_intervals_widen_with_their_level(method):
    reaches = [reach(method, 50, level) for level in (0.5, 0.8, 0.9, 0.99)]
    assert (np.diff(reaches) > 0).all()


def test_anytime_covers_a_gaussian_mean_at_all_times_and_fixed_does_not():
    rng = np.random.default_rng(0)
    draws = rng.normal(5.0, 2.0, size=(400, 200))
    n = np.arange(1, 201)
    mean = np.cumsum(draws, axis=1) / n
    spread = np.cumsum(draws**2, axis=1) / n - mean**2
    error = np.sqrt(spread[:, 24:] / (n[24:] - 1))
    deviation = np.abs(mean[:, 24:] - 5.0)
    held = {}
    for method in ("fixed", "anytime"):
        reaches = np.array([reach(method, count) for count in n[24:]])
        held[method] = np.mean((deviation <= reaches * error).all(axis=1))
        # At any one time both cover as they say.
        assert (deviation <= reaches * error)[:, -1].mean() > 0.87
    assert held["anytime"] >= 0.9
    assert held["fixed"] < 0.8


def test_anytime_with_hardly_any_label_excludes_nothing():
    low, high = Estimate.of_mean(0.4, 0.1, 2, degrees_of_freedom=1).interval(
        0.9, method="anytime"
    )
    assert (low, high) == (0.0, np.inf)


def test_anytime_is_not_narrower_for_a_normal_estimate():
    estimate = Estimate(0.4, 0.1, n_labels=50)  # Infinite degrees of freedom.
    low, high = estimate.interval(0.9, method="anytime")
    assert low < estimate.interval(0.9)[0]
    assert high > estimate.interval(0.9)[1]


@methods
def test_no_interval_goes_below_zero(method):
    estimate = Estimate.of_mean(0.01, 0.1, n_labels=50, degrees_of_freedom=49)
    low, high = estimate.interval(method=method)
    assert low == 0.0
    assert high > 0.1


@methods
def test_an_interval_holds_its_value_even_below_zero(method):
    """An unbiased estimate may be negative, by chance."""
    estimate = Estimate.of_mean(-0.01, 0.1, n_labels=50, degrees_of_freedom=49)
    assert estimate.interval(method=method)[0] == -0.01


@methods
@pytest.mark.parametrize("value", [0.1, 0.4, 0.9])
def test_an_interval_stands_around_its_centre_and_holds_the_value(method, value):
    plain = Estimate.of_mean(0.4, 0.1, n_labels=50, degrees_of_freedom=49)
    low, high = plain.interval(method=method)
    interval = replace(plain.uncertainty, value=value, centre=0.4)
    moved = replace(plain, value=value, uncertainty=interval)
    assert moved.interval(method=method) == (min(low, value), max(high, value))


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match=r"'exact' must be one of \('fixed'.*anytime"):
        Estimate(0.4, 0.1, n_labels=50).interval(method="exact")


def test_intervals_end_where_losses_do():
    """An error rate is not above 1, however few labels there are."""
    estimate = Estimate.of_mean(0.9, 0.1, 30, degrees_of_freedom=29, max_loss=1.0)
    assert estimate.interval(0.9)[1] == 1.0
    assert replace(estimate, value=1.1).interval(0.9)[1] == 1.1  # Holds the value.


def test_the_interval_of_a_model_that_is_always_wrong_ends_at_one(digits, evaluator):
    evaluator.set_params(loss="zero_one", n_labels=30, batch_size=10)
    wrong = (evaluator.estimator.predict(digits.X) + 1) % 4
    risk = evaluator.fit(digits.X, wrong).risk_
    assert risk.value <= risk.interval(0.9)[1] <= 1.0
