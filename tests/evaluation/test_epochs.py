"""Beliefs of the past answer later questions, live and after a restart."""

import shutil

import numpy as np
import pytest
from helpers.questions import MODEL, SLICE, WEIGHT, WEIGHTED, N, Y, buy, start

from sklearn_ase.exceptions import JournalWarning
from sklearn_ase.metrics import LabelShare
from sklearn_ase.risk import CorrectedASE
from sklearn_ase.stopping import Plateau, TargetWidth

METRICS = ["accuracy", "f1", "roc_auc", "f1_macro"]
ASKED = [{"metric": "recall"}, {"metric": "roc_auc"}, {"where": SLICE}]
ASKED += [{"metric": "f1_macro", "where": SLICE}, {"sample_weight": WEIGHT}]
metrics = pytest.mark.parametrize("metric", METRICS)


def same(first, second, tolerance=1e-6):
    """Whether two evaluations answer all questions alike."""
    for asked in ASKED:
        answers = [each.estimate(**asked) for each in (first, second)]
        assert float(answers[0]) == pytest.approx(float(answers[1]), abs=tolerance)
        ends = [each.interval() for each in answers]
        assert ends[0] == pytest.approx(ends[1], abs=10 * tolerance)
    return True


def reopened(evaluation, path, **parameters):
    """The same campaign in a new session, from a copy of its journal."""
    copy = path.with_name(f"copy of {path.name}")
    shutil.copy(path, copy)
    return start(journal=copy, **parameters)


@metrics
def test_a_reopened_campaign_is_the_same(metric, tmp_path):
    path = tmp_path / "labels.jsonl"
    live = buy(start(metric=metric, journal=path), 30)
    again = reopened(live, path, metric=metric)
    assert float(again.estimate()) == float(live.estimate())
    assert np.array_equal(again.intervals(), live.intervals())
    assert np.array_equal(again.history["risk"], live.history["risk"], equal_nan=True)
    for stop in (TargetWidth(0.2), TargetWidth(0.9), Plateau(0.5, 5)):
        assert again.stop_reason(stop) == live.stop_reason(stop)


@metrics
def test_beliefs_are_made_again_as_they_were(metric, tmp_path):
    path = tmp_path / "labels.jsonl"
    live = buy(start(metric=metric, journal=path), 30)
    again = reopened(live, path, metric=metric)
    assert len(live.epochs) > 5
    for old, new in zip(live.epochs, again.epochs, strict=True):
        assert old.start == new.start
        assert new.belief.proba == pytest.approx(old.belief.proba, abs=1e-6)
        assert new.query_proba == pytest.approx(old.query_proba, abs=1e-6)
    assert same(live, again)


def test_a_campaign_without_a_metric_answers_after_a_restart_as_before(tmp_path):
    path = tmp_path / "labels.jsonl"
    live = buy(start(loss="zero_one", journal=path), 30)
    again = reopened(live, path, loss="zero_one")
    assert same(live, again)
    # A restart keeps one belief more.
    assert same(buy(live, 8), buy(again, 8), tolerance=1e-3)


@pytest.mark.parametrize("then", [{"metric": "recall"}, {"loss": "zero_one"}])
def test_notes_of_another_metric_are_not_mixed_with_the_new_one(then, tmp_path):
    path = tmp_path / "labels.jsonl"
    live = buy(start(metric="f1", journal=path), 28)
    with pytest.warns(JournalWarning, match="different metric"):
        again = reopened(live, path, **then)
    assert np.isnan(again.history["risk"]).all()
    assert np.isinf(again.intervals()).all()
    assert again.stop_reason(Plateau(0.9, 3)) == ""
    buy(again, 2)
    assert again.history["risk"][-1] == float(again.estimate())


def test_other_weights_are_told_like_other_settings(tmp_path):
    path = tmp_path / "labels.jsonl"
    live = buy(start(metric="f1", journal=path, sample_weight=WEIGHT), 5)
    with pytest.warns(JournalWarning, match="different sample_weight"):
        reopened(live, path, metric="f1", sample_weight=WEIGHT + 1)


def test_batches_answered_out_of_order_answer_questions_alike(tmp_path):
    path = tmp_path / "labels.jsonl"
    live = start(loss="zero_one", journal=path, refit=[10])
    for size in (10, 10, 10):
        rows = live.ask(size).indices[::-1]
        live.tell(rows[:3], Y[rows[:3]])
        live.tell(rows[3:], Y[rows[3:]])
    again = reopened(live, path, loss="zero_one", refit=[10])
    for asked in ASKED:
        found = [each.estimate(CorrectedASE(), **asked) for each in (live, again)]
        error = found[0].standard_error
        assert float(found[0]) == pytest.approx(float(found[1]), abs=error)


@pytest.mark.parametrize("risk", WEIGHTED, ids=repr)
def test_corrections_withdrawals_and_skips_leave_the_answers_finite(risk):
    evaluation = buy(start(loss="zero_one"), 30)
    rows = evaluation.state.indices
    evaluation.correct(int(rows[3]), 1 - int(Y[rows[3]]))
    evaluation.withdraw(int(rows[7]))
    evaluation.skip([int(rows[7])])
    buy(evaluation, 5)
    for metric in (*METRICS, LabelShare(1), "precision"):
        found = evaluation.estimate(risk, metric=metric)
        low, high = found.interval()
        assert 0.0 <= low <= high <= 1.0
        assert found.n_skipped == 1


def test_known_labels_answer_questions():
    known = {row: int(Y[row]) for row in range(0, N, 3)}
    evaluation = buy(start(loss="zero_one", known_labels=known), 10)
    for asked in ASKED:
        assert np.isfinite(float(evaluation.estimate(**asked)))
    while len(evaluation.ledger.indices) < N:
        rows = evaluation.ask(1).indices
        evaluation.tell(rows, Y[rows])
    found = evaluation.estimate(metric="accuracy", where=SLICE)
    expected = np.mean(MODEL.predict(evaluation.problem.X[SLICE]) == Y[SLICE])
    assert float(found) == pytest.approx(expected)


def test_no_belief_knows_a_label_of_its_own_run_of_picks():
    """Another label from some pick on leaves the beliefs before it as they were."""
    first = buy(start(loss="zero_one"), 20)
    place = 12
    other = Y.copy()
    other[first.ledger.indices[place]] = 1 - other[first.ledger.indices[place]]
    second = buy(start(loss="zero_one"), 20, other)
    pairs = zip(first.epochs, second.epochs, strict=False)
    before = [pair for pair in pairs if pair[0].start <= place]
    assert len(before) >= 5
    for one, two in before:
        assert np.array_equal(one.belief.proba, two.belief.proba)
