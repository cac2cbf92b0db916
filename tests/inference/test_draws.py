"""Intervals for the source of which the pool is a sample with known probabilities."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.states import uniform_state

from sklearn_ase._inference._bounds import (
    draw_variance,
    population_variance,
    undrawn_share,
)
from sklearn_ase.risk import GuardedASE, MonteCarlo
from sklearn_ase.testing import make_state


def drawn(state, share):
    """The same state as that of a sample of so many of the rows of a source."""
    return replace(state, inclusion_proba=np.full(state.n_samples, share))


def test_a_fully_labelled_uniform_sample_has_the_variance_of_the_textbook():
    state = drawn(make_state(n_samples=60, n_labels=60), 0.25)
    variance = state.losses.var() / 60 * (1 - 60 / 240)
    assert draw_variance(state) == pytest.approx(variance)
    assert undrawn_share(state) == pytest.approx(0.75)
    estimate = MonteCarlo().estimate(state)
    low, _ = estimate.interval(0.9)
    assert estimate.value - low == pytest.approx(1.67 * variance**0.5, rel=0.05)


def test_unequal_probabilities_have_the_variance_of_weighted_sums():
    rng = np.random.default_rng(0)
    state = make_state(n_samples=60, n_labels=60)
    proba = rng.uniform(0.1, 1.0, 60)
    # Rows that were taken for certain are not drawn: they add nothing.
    proba[:10] = 1.0
    weight = (1 / proba) / np.mean(1 / proba)
    losses = np.empty(60)
    losses[state.picks.indices] = state.losses
    picks = replace(state.picks, losses=(weight * losses)[state.picks.indices])
    state = replace(
        state,
        weight=weight,
        picks=picks,
        inclusion_proba=proba,
    )
    mean = weight @ losses / 60
    total = np.sum(1 / proba)
    expected = np.sum((1 - proba) * ((losses - mean) / proba) ** 2) / total**2
    assert draw_variance(state) == pytest.approx(expected)


@pytest.mark.parametrize("method", ["fixed", "anytime"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_source_that_was_drawn_whole_has_the_interval_of_the_pool(task, method):
    state = make_state(task, n_samples=80, n_labels=40)
    for target in ("pool", "population"):
        pool, whole = (
            GuardedASE().estimate(each).interval(0.9, method, target)
            for each in (state, drawn(state, 1.0))
        )
        assert whole == pool


def test_a_source_without_end_is_a_population():
    state = drawn(uniform_state(np.tile([0.0, 1.0, 0.0, 0.0], 10), 100), 1e-12)
    estimate = MonteCarlo().estimate(state)
    source, population = (
        estimate.interval(0.9, target=target) for target in ("pool", "population")
    )
    assert source == pytest.approx(population, rel=1e-6)
    assert draw_variance(state) == pytest.approx(population_variance(state))


@pytest.mark.parametrize("method", ["fixed", "anytime"])
def test_the_fewer_rows_were_drawn_the_wider_the_interval(method):
    state = uniform_state(np.tile([0.0, 1.0, 0.0, 0.0], 15), 100)
    widths = [
        np.ptp(MonteCarlo().estimate(drawn(state, share)).interval(0.9, method))
        for share in (1.0, 0.5, 0.1, 0.001)
    ]
    assert (np.diff(widths) > 0).all()


@pytest.mark.parametrize("n_source", [60, 100, 5000])
def test_a_fully_labelled_sample_has_the_interval_of_labels_drawn_from_the_source(
    n_source,
):
    """A plain sample of 50 rows, all labelled, is 50 labels of the source."""
    state = drawn(uniform_state(np.zeros(50), 50), 50 / n_source)
    source = MonteCarlo().estimate(uniform_state(np.zeros(50), n_source))
    estimate = MonteCarlo().estimate(state)
    assert estimate.interval() == pytest.approx(source.interval())
    assert estimate.interval()[1] > 0
