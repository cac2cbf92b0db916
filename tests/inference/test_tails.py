"""Heavy tails: how heavy they are, and what follows for an interval."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.estimates import with_interval
from scipy import stats

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._inference._tails import (
    beyond_largest,
    heaviest_tail,
    loss_tail,
    tail_shape,
)
from sklearn_ase.exceptions import IntervalWarning
from sklearn_ase.risk import CorrectedASE
from sklearn_ase.stopping import TargetWidth
from sklearn_ase.testing import make_state


@pytest.mark.parametrize("shape", [0.2, 0.6, 1.0])
def test_the_shape_of_a_pareto_tail_is_found(shape):
    """The upper half of a generalised Pareto distribution is one of the same shape."""
    found = [
        tail_shape(stats.genpareto.rvs(shape, size=400, random_state=seed))
        for seed in range(20)
    ]
    assert np.mean(found) == pytest.approx(shape, abs=0.08)


def test_scale_and_location_do_not_matter():
    values = stats.genpareto.rvs(0.5, size=100, random_state=0)
    assert tail_shape(7.0 + 3.0 * values) == pytest.approx(tail_shape(values))


@pytest.mark.parametrize("values", [[], [1.0], np.ones(50), np.arange(8.0)])
def test_few_or_equal_values_say_nothing(values):
    assert np.isnan(tail_shape(np.asarray(values)))


def fitted(noise, seed, n_labels=60, n_training=50, loss="squared_error"):
    """Evaluator of a model that predicts the mean of labels with some noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400 + n_training, 2))
    y = X[:, 0] + noise.rvs(size=len(X), random_state=rng)
    evaluator = ActiveRiskEstimator(
        lambda X: X[:, 0], loss=loss, n_labels=n_labels, random_state=seed
    )
    training = {"X_train": X[400:], "y_train": y[400:]} if n_training else {}
    return evaluator.fit(X[:400], y[:400], **training)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.SurrogateWarning")
def test_squared_errors_with_infinite_variance_get_no_interval_most_of_the_time():
    risks = [fitted(stats.t(2.1), seed).risk_ for seed in range(6)]
    refused = [risk for risk in risks if "heavy tail" in risk.refusal]
    assert len(refused) >= 3
    with pytest.warns(IntervalWarning, match="absolute_error"):
        assert refused[0].interval() == (-np.inf, np.inf)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.SurrogateWarning")
def test_squared_errors_of_normal_noise_have_an_interval():
    risks = [fitted(stats.norm(), seed).risk_ for seed in range(6)]
    assert sum(bool(risk.refusal) for risk in risks) <= 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.SurrogateWarning")
def test_training_rows_show_a_heavy_tail_that_few_labels_have_missed():
    evaluators = [fitted(stats.t(2.1), seed, 25, 300) for seed in range(6)]
    shapes = [e.evaluation_.state.training_tail for e in evaluators]
    assert np.median(shapes) > 0.8  # Half of 1.05 degrees, for the square is 0.95.
    assert sum("heavy tail" in e.risk_.refusal for e in evaluators) >= 5
    for evaluator in evaluators:
        assert evaluator.evaluation_.diagnose().tail_shape > 0.5


@pytest.mark.parametrize(("n_labels", "most"), [(25, 0.85), (400, 0.45)])
def test_many_labels_outvote_the_tail_of_training_rows(n_labels, most):
    rng = np.random.default_rng(0)
    losses = rng.normal(size=n_labels) ** 2
    alone, together = tail_shape(losses), tail_shape(losses, 0.9, 50.0)
    assert alone < together < most


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_normal_training_rows_have_no_heavy_tail(loss):
    evaluator = fitted(stats.norm(), 0, 25, 300, loss)
    assert evaluator.evaluation_.state.training_tail < 0.4
    assert not evaluator.risk_.refusal


def test_without_training_rows_nothing_is_known_of_their_tail():
    evaluator = fitted(stats.norm(), 0, 25, 0)
    assert np.isnan(evaluator.evaluation_.state.training_tail)


def heavy_then_light(n_heavy=30, n_light=170):
    """A state whose first labels met large losses and whose later ones did not."""
    state = make_state("regression", n_samples=500, n_labels=n_heavy + n_light)
    heavy = stats.genpareto.rvs(1.2, size=n_heavy, random_state=0)
    light = np.random.default_rng(1).uniform(1.0, 3.0, size=n_light)
    losses = state.picks.expected_loss * np.concatenate([heavy, light])
    return replace(state, picks=replace(state.picks, losses=losses))


def test_a_tail_that_was_heavy_once_ends_the_anytime_interval_only():
    state = heavy_then_light()
    assert loss_tail(state) < 0.7 < heaviest_tail(state, 25)
    estimate = CorrectedASE().estimate(state)
    assert not estimate.refusal_of("fixed")
    assert np.isfinite(estimate.interval()).all()
    assert "after fewer labels" in estimate.refusal_of("anytime")
    assert "after fewer labels" in estimate.describe(method="anytime").popitem()[1]
    with pytest.warns(IntervalWarning, match="after fewer labels"):
        assert estimate.interval(method="anytime") == (-np.inf, np.inf)
    assert TargetWidth(1e9).reason([estimate]) == ""
    assert TargetWidth(1e9, method="fixed").reason([estimate])


def test_few_labels_have_no_past_that_could_be_heavy():
    assert heaviest_tail(heavy_then_light(20, 10), 25) == 0.0
    assert heaviest_tail(heavy_then_light(1, 199), 25) < 0.7


def with_tail(losses, training_tail=np.nan, n_samples=2000):
    """A state with these losses, relative to what was expected, and a training tail."""
    state = make_state("regression", n_samples=n_samples, n_labels=len(losses))
    losses = state.picks.expected_loss * losses
    picks = replace(state.picks, losses=losses)
    return replace(state, picks=picks, training_tail=training_tail)


def normal_squares(n_values, seed=0):
    return np.random.default_rng(seed).normal(size=n_values) ** 2


@pytest.mark.parametrize("n_labels", [25, 50, 100])
def test_a_few_harmless_labels_do_not_outvote_a_clearly_heavy_training_tail(n_labels):
    state = with_tail(normal_squares(n_labels), training_tail=0.9)
    assert loss_tail(state) > 0.7
    assert "heavy tail" in CorrectedASE().estimate(state).refusal


def test_very_many_harmless_labels_outvote_a_heavy_training_tail():
    state = with_tail(normal_squares(1500), training_tail=0.8)
    assert loss_tail(state) < 0.5


def test_a_training_tail_that_is_not_clearly_heavy_is_outvoted_as_before():
    state = with_tail(normal_squares(100), training_tail=0.74)
    assert loss_tail(state) < 0.6
    assert not CorrectedASE().estimate(state).refusal


@pytest.mark.parametrize("shape", [0.3, 0.5])
def test_the_allowance_is_one_to_two_times_the_mean_beyond_the_largest_loss(shape):
    tail, found, missed = stats.genpareto(shape), [], []
    for seed in range(100):
        losses = tail.rvs(size=100, random_state=seed)
        found.append(beyond_largest(with_tail(losses, shape)) * losses.mean())
        largest = losses.max()
        missed.append(tail.sf(largest) * (1 + shape * largest) / (1 - shape))
    exponential = (1 + shape * tail.median()) / 100  # The interval allows for it.
    more = np.mean(found) / (np.mean(missed) - exponential)
    assert 1.0 < more < 1.4 / (1 - shape)


@pytest.mark.parametrize("method", ["fixed", "anytime"])
def test_the_upper_end_allows_for_losses_beyond_the_largest_one(method):
    state = with_tail(stats.genpareto.rvs(0.5, size=60, random_state=3))
    estimate = CorrectedASE().estimate(state)
    without = with_interval(estimate, beyond=0.0)
    assert estimate.uncertainty.beyond == pytest.approx(
        estimate.value * beyond_largest(state)
    )
    raised = estimate.uncertainty.beyond * estimate.uncertainty.sample.free_share
    low, high = estimate.interval(method=method)
    assert raised > 0
    assert (low, high - raised) == pytest.approx(without.interval(method=method))


def test_the_allowance_of_a_population_is_not_cut_by_the_labels_of_the_pool():
    losses = stats.genpareto.rvs(0.5, size=60, random_state=3)
    estimate = CorrectedASE().estimate(with_tail(losses, n_samples=100))
    without = with_interval(estimate, beyond=0.0)
    high, plain = (e.interval(target="population")[1] for e in (estimate, without))
    assert high - plain == pytest.approx(estimate.uncertainty.beyond)


def test_normal_errors_are_hardly_wider_by_the_allowance():
    wider = []
    for seed in range(20):
        state = with_tail(normal_squares(50, seed), training_tail=0.15)
        estimate = CorrectedASE().estimate(state)
        width, plain = (
            np.subtract(*each.interval()[::-1])
            for each in (estimate, with_interval(estimate, beyond=0.0))
        )
        wider.append(width / plain)
    assert 1.0 < np.median(wider) < 1.08


def test_losses_of_classifiers_have_nothing_beyond_the_greatest_one():
    state = make_state("classification", n_samples=80, n_labels=40)
    assert np.isfinite(state.loss.max_loss)
    assert CorrectedASE().estimate(state).uncertainty.beyond == 0.0


def test_equal_losses_have_nothing_beyond():
    assert beyond_largest(with_tail(np.ones(40))) == 0.0
    assert beyond_largest(with_tail(np.zeros(40))) == 0.0
