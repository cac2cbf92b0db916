"""Stopping rules: when a campaign has enough labels."""

import numpy as np
import pytest
from helpers.iris_campaign import TRAINING, X, Y, make_evaluator, start_evaluation, tell

from sklearn_ase import LabelLedger, Picks
from sklearn_ase._evaluation._history import recent_estimates
from sklearn_ase.risk import ASE, LURE, CorrectedASE, Estimate
from sklearn_ase.selection import ArgMax
from sklearn_ase.stopping import BaseStop, Plateau, TargetWidth


def test_target_width_stops_at_the_first_interval_that_is_narrow_enough():
    evaluator = make_evaluator(n_labels=150, stop=TargetWidth(0.15, level=0.8))
    evaluator.fit(X, Y, **TRAINING)
    low, high = evaluator.evaluation_.intervals(0.8, method="anytime")
    width = high - low
    assert 25 <= len(width) < 150
    assert (width[:-2] > 0.15).all()
    assert evaluator.stop_reason_.startswith("The 80 % interval is 0.1")
    assert evaluator.stop_reason_.endswith("at most 0.15.")


def test_target_width_never_stops_without_an_interval():
    evaluator = make_evaluator(
        n_labels=24, risk=LURE(), stop=TargetWidth(1e9), loss="log_loss"
    )
    evaluator.fit(X, Y, **TRAINING)
    assert evaluator.stop_reason_ == "n_labels=24 were bought."


@pytest.mark.parametrize("parameters", [{"risk": ASE()}, {"selection": ArgMax()}])
def test_target_width_refuses_a_risk_that_has_no_interval(parameters):
    message = "TargetWidth waits for a narrow interval, but ASE has none"
    with pytest.raises(ValueError, match=message):
        start_evaluation(stop=TargetWidth(0.1), **parameters)
    evaluation = start_evaluation(**parameters)
    with pytest.raises(ValueError, match=message):
        evaluation.stop_reason(TargetWidth(0.1))
    with pytest.raises(ValueError, match=message):
        evaluation.run(lambda rows: Y[rows], 9, stop=TargetWidth(0.1))
    assert evaluation.ledger.indices == []


def test_a_rule_asked_by_hand_stops_where_fit_stops():
    stop = TargetWidth(0.15, level=0.8)
    fitted = make_evaluator(n_labels=150, stop=stop, batch_size=3).fit(X, Y, **TRAINING)
    evaluation = start_evaluation(stop=stop)
    assert evaluation.stop_reason(stop) == ""
    while not evaluation.stop_reason(stop):
        tell(evaluation, evaluation.ask(3).indices)
    assert evaluation.stop_reason(stop) == fitted.stop_reason_
    assert list(evaluation.ledger.labels) == list(fitted.ledger_.labels)


def test_a_constant_loss_does_not_stop_the_campaign():
    """All labels show what was expected, but that does not make the interval narrow."""
    evaluator = make_evaluator(loss=lambda y_true, y_pred: np.ones(len(y_true)))
    evaluator.set_params(n_labels=30, stop=TargetWidth(0.02), risk=CorrectedASE())
    assert evaluator.fit(X, Y).stop_reason_ == "n_labels=30 were bought."


def estimates_of(*values):
    return [Estimate(value, 0.1, n_labels=n) for n, value in enumerate(values, 1)]


def test_a_rule_sees_the_estimates_since_the_last_label_without_one():
    ledger = LabelLedger()
    ledger.ask(Picks.unanswered(range(5), *[np.zeros(5)] * 5))
    ledger.tell(range(5), [0] * 5)
    for row, value in enumerate([0.9, None, 0.5, None, 0.4]):
        estimate = None if value is None else Estimate(value, 0.1, n_labels=row + 1)
        ledger.note([row], None if estimate is None else estimate.to_dict(), False)
    assert [estimate.value for estimate in recent_estimates(ledger)] == [0.4]
    ledger.note([4], None, False)
    assert recent_estimates(ledger) == []


@pytest.mark.parametrize(
    ("values", "stops"),
    [
        ([], False),
        ([0.5, 0.5], False),
        ([0.5, 0.5, 0.5], True),
        ([0.9, 0.5, 0.52, 0.51], True),
        ([0.5, 0.52, 0.55], False),
        ([0.5, np.nan, 0.5], False),
    ],
)
def test_a_plateau_is_a_run_of_estimates_that_are_close(values, stops):
    assert bool(Plateau(0.03, n_labels=3).reason(estimates_of(*values))) == stops


@pytest.mark.parametrize("batch_size", [3, 10])
def test_one_batch_is_not_a_plateau(batch_size):
    evaluator = make_evaluator(n_labels=40, batch_size=batch_size, stop=Plateau(0.0, 3))
    assert evaluator.fit(X, Y).stop_reason_ == "n_labels=40 were bought."


@pytest.mark.parametrize(
    "stop",
    [TargetWidth(0), TargetWidth(-1), Plateau(-0.1), Plateau(0.1, n_labels=1)]
    + [TargetWidth(0.1, level=90), TargetWidth(0.1, method="always")]
    + [TargetWidth, "width", 3, TargetWidth(np.nan), Plateau(np.nan)],
    ids=str,
)
def test_a_rule_that_cannot_work_is_refused_before_a_label_is_bought(stop):
    evaluator = make_evaluator(n_labels=40, stop=stop)
    for attempt in (
        lambda: evaluator.fit(X, lambda rows: pytest.fail("a label was bought")),
        lambda: evaluator.start(X),
        lambda: start_evaluation().stop_reason(stop),
    ):
        with pytest.raises((TypeError, ValueError), match=r"must|cannot serve as stop"):
            attempt()


class Enough(BaseStop):
    """A rule by others."""

    def reason(self, estimates):
        return "That will do." if len(estimates) == 7 else ""


@pytest.mark.parametrize("batch_size", [1, 7])
def test_a_rule_needs_one_method(batch_size):
    evaluator = make_evaluator(n_labels=30, batch_size=batch_size, stop=Enough())
    evaluator.fit(X, Y)
    assert (evaluator.stop_reason_, len(evaluator.ledger_)) == ("That will do.", 7)


def test_no_label_is_bought_when_the_rule_is_met_already():
    evaluator = make_evaluator(n_labels=30, stop=Enough())
    ledger = evaluator.fit(X, Y).ledger_
    evaluator.fit(X, lambda rows: pytest.fail("enough"), ledger=ledger)
    assert evaluator.stop_reason_ == "That will do."


@pytest.mark.parametrize("batch_size", [1, 5])
def test_a_run_ends_when_every_row_was_asked_for(batch_size):
    evaluation = start_evaluation(X[1:13])
    evaluation.skip(evaluation.ask(3))
    reason = evaluation.run(lambda rows: Y[1:13][rows], 12, batch_size)
    assert reason == "Every row of the pool was asked for."
    assert len(evaluation.ledger) == 9
