"""Forecasts: how many more labels an interval of a given width needs."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.iris_campaign import TRAINING, X, start_evaluation, tell

from sklearn_ase.acquisition import Uniform
from sklearn_ase.risk import ASE, LURE


def evaluation_after(n_labels, **parameters):
    evaluation = start_evaluation(acquisition=Uniform(), **parameters)
    tell(evaluation, evaluation.ask(n_labels).indices)
    return evaluation


@pytest.mark.parametrize("method", ["fixed", "anytime"])
@pytest.mark.parametrize("width", [0.03, 0.06, 0.09])
def test_the_forecast_is_the_first_number_of_labels_that_is_enough(method, width):
    evaluation = evaluation_after(50, risk=LURE())
    forecast = evaluation.labels_needed(width, 0.8, method)
    now = evaluation.estimate()

    def width_with(n):
        share = (1 / n - 1 / 150) / (1 / 50 - 1 / 150)
        interval = replace(
            now.uncertainty,
            standard_error=now.standard_error * np.sqrt(share),
            n_labels=n,
            degrees_of_freedom=n - 1,
            unseen=now.uncertainty.unseen * 50 / n,
            sample=replace(now.uncertainty.sample, free_share=1 - n / 150),
            least=0.0,
            most=np.inf,
            bets=None,
        )
        then = replace(now, uncertainty=interval)
        return np.ptp(then.interval(0.8, method=method))

    scale = np.ptp(now.interval(0.8, method=method)) / width_with(50)
    assert forecast.n_labels == 50 + int(forecast) == 50 + forecast.n_more
    assert scale * width_with(forecast.n_labels) <= width
    assert scale * width_with(forecast.n_labels - 1) > width
    assert forecast.basis.startswith("From the standard error after 50 labels")
    assert str(forecast).startswith(f"{int(forecast)} more labels, ")


def test_more_labels_for_less_width_and_more_certainty():
    evaluation = evaluation_after(40)
    by_width = [int(evaluation.labels_needed(w)) for w in (0.3, 0.2, 0.1, 0.03)]
    assert by_width == sorted(by_width)
    by_level = [int(evaluation.labels_needed(0.1, lev)) for lev in (0.5, 0.8, 0.95)]
    assert by_level == sorted(by_level)
    fixed, anytime = (
        int(evaluation.labels_needed(0.1, method=m)) for m in ("fixed", "anytime")
    )
    assert fixed < anytime


@pytest.mark.parametrize("method", ["fixed", "anytime"])
def test_no_more_labels_are_needed_for_the_width_there_is(method):
    evaluation = evaluation_after(50)
    width = np.ptp(evaluation.estimate().interval(0.9, method=method))
    assert int(evaluation.labels_needed(width * 1.0001, method=method)) == 0
    assert int(evaluation.labels_needed(width * 0.9, method=method)) > 0


def test_a_forecast_from_few_labels_rests_on_the_surrogate():
    forecast = evaluation_after(3).labels_needed(0.2)
    assert forecast.n_labels >= 25
    assert forecast.basis.startswith("From what the surrogate expects")
    few = "Too few labels for a forecast: ask again after 25. So far it says: "
    assert (
        str(forecast)
        == f"{few}{int(forecast)} more labels, {3 + int(forecast)} in all."
    )
    assert str(evaluation_after(12).labels_needed(0.2)).endswith("after 25 labels.")


def test_a_forecast_needs_labels_with_an_interval():
    evaluation = start_evaluation(training={}, risk=LURE(), refit=[10**6])
    with pytest.raises(ValueError, match="needs at least one label"):
        evaluation.labels_needed(0.1)
    tell(evaluation, evaluation.ask(1).indices)
    with pytest.raises(
        ValueError, match="forecast of labels needs an estimate with an interval"
    ):
        evaluation.labels_needed(0.1)
    for width in (0, -1, np.nan):
        with pytest.raises(ValueError, match="must be a number > 0"):
            evaluation.labels_needed(width)
    with pytest.raises(ValueError, match="level=2 must lie"):
        evaluation_after(30).labels_needed(0.1, 2)
    with pytest.raises(ValueError, match=r"level=90 must lie.* For 90 % give 0\.9\."):
        evaluation_after(30).labels_needed(0.1, 90)


@pytest.mark.parametrize("training", [{}, TRAINING], ids=["unfitted", "fitted"])
def test_a_pool_that_is_fully_labelled_needs_no_more_labels(training):
    evaluation = start_evaluation(training=training, risk=LURE(), refit=[10**6])
    tell(evaluation, evaluation.ask(150).indices)
    forecast = evaluation.labels_needed(0.1)
    assert (int(forecast), forecast.n_labels) == (0, 150)
    assert "too few" not in forecast.basis


def test_a_forecast_is_at_most_the_number_of_free_rows():
    evaluation = start_evaluation(X[:60], risk=LURE())
    rows = evaluation.ask(50).indices
    evaluation.skip(rows[::2])
    tell(evaluation, rows[1::2])
    forecast = evaluation.labels_needed(1e-9)
    assert int(forecast) <= 10


def test_no_forecast_for_a_risk_that_has_no_interval():
    with pytest.raises(ValueError, match="ASE has no interval that more labels would"):
        evaluation_after(60, risk=ASE()).labels_needed(0.1)


def test_a_forecast_cuts_the_interval_off_at_zero():
    evaluation = evaluation_after(60)
    low, high = evaluation.estimate().interval(0.9)
    assert int(evaluation.labels_needed(high - low + 1e-9)) == 0
