"""Withdrawals: a label is taken back, and its row is open again."""

import numpy as np
import pytest
from helpers.iris_campaign import WEIGHTED, start_evaluation, tell
from numpy.testing import assert_array_equal

from sklearn_ase.risk import ASE, LURE


def test_a_withdrawn_row_is_open_at_its_old_place():
    evaluation = start_evaluation()
    query = evaluation.ask(5)
    rows = query.indices
    tell(evaluation, rows)
    evaluation.withdraw(rows[2])
    assert evaluation.pending.indices.tolist() == [rows[2]]
    assert evaluation.pending.proba.tolist() == [query.proba[2]]
    assert len(evaluation.ledger) == len(evaluation.history["risk"]) == 4
    assert evaluation.state.settled.n_labels == 2
    assert rows[2] not in evaluation.ask(140).indices


@pytest.mark.parametrize("risk", WEIGHTED)
def test_weighted_estimates_wait_for_a_withdrawn_row(risk):
    late = {"refit": [10**6], "loss": "log_loss"}
    evaluation, other = start_evaluation(**late), start_evaluation(**late)
    rows = evaluation.ask(5).indices
    other.ask(5)
    tell(evaluation, rows)
    whole = evaluation.estimate(risk)
    evaluation.withdraw(rows[2])
    tell(other, rows[:2])
    found, expected = evaluation.estimate(risk), other.estimate(risk)
    assert (found.value, found.n_labels) == (expected.value, 2)
    assert f"2 labels wait behind the open query of row {rows[2]}." in found.refusal
    tell(evaluation, rows[2:3])
    assert evaluation.estimate(risk) == whole


def test_the_surrogate_forgets_a_withdrawn_label():
    evaluation, other = start_evaluation(), start_evaluation()
    rows = evaluation.ask(5).indices
    other.ask(5)
    tell(evaluation, rows)
    evaluation.refit()
    evaluation.withdraw(rows[2])
    tell(other, np.delete(rows, 2))
    other.refit()
    assert_array_equal(evaluation.state.expected_loss, other.state.expected_loss)
    assert evaluation.estimate(ASE()) == other.estimate(ASE())


def test_a_campaign_can_be_withdrawn_to_its_beginning():
    evaluation = start_evaluation(training={}, risk=LURE())
    rows = evaluation.ask(8).indices
    tell(evaluation, rows)
    assert evaluation.is_fitted
    for row in rows:
        evaluation.withdraw(row)
    assert not evaluation.is_fitted
    assert evaluation.pending.indices.tolist() == rows.tolist()
    assert len(evaluation.history["risk"]) == 0
    with pytest.raises(ValueError, match="Answer the open queries first"):
        evaluation.estimate()
    tell(evaluation, rows)
    again = start_evaluation(training={}, risk=LURE())
    again.ask(8)
    tell(again, rows)
    assert evaluation.estimate() == again.estimate()
    assert_array_equal(evaluation.history["refit"], again.history["refit"])


def _with_an_open_row(place, **parameters):
    """40 rows that were asked for, of which one has no answer; and that row."""
    evaluation = start_evaluation(loss="zero_one", **parameters)
    rows = evaluation.ask(40).indices
    tell(evaluation, np.delete(rows, place))
    return evaluation, rows[place]


def test_an_estimate_says_how_many_labels_count_and_what_the_others_wait_for():
    evaluation, row = _with_an_open_row(10)
    for found in (evaluation.estimate(), evaluation.estimate(metric="accuracy")):
        assert found.n_labels == 10
        says = f"29 labels wait behind the open query of row {row}. Answer that row"
        assert says in found.describe()["note"]
        assert says in repr(found)
    assert "29 labels wait" in evaluation.report().to_markdown()
    assert "Others wait behind a row that is open" in evaluation.diagnose().advice
    assert evaluation.estimate(ASE()).n_labels == 39
    assert not evaluation.estimate(ASE()).note
    tell(evaluation, [row])
    found = evaluation.estimate()
    assert (found.n_labels, found.note) == (40, "")
    assert "wait" not in repr(found)


def test_groups_count_the_labels_that_their_estimates_use():
    evaluation, row = _with_an_open_row(10)
    groups = np.arange(150) % 2
    assert sum(evaluation.estimate_by(groups)["n_labels"]) == 10
    assert sum(evaluation.estimate_by(groups, risk=ASE())["n_labels"]) == 39
    both = [evaluation.estimate(where=groups == group) for group in (0, 1)]
    assert sum(found.n_inside for found in both) == 10
    tell(evaluation, [row])
    assert sum(evaluation.estimate_by(groups)["n_labels"]) == 40


def test_behind_the_first_row_no_label_counts():
    evaluation, row = _with_an_open_row(0)
    found = evaluation.estimate()
    assert found.n_labels == 0
    assert f"39 labels wait behind the open query of row {row}" in found.refusal


def test_the_journal_does_not_keep_what_waits(tmp_path):
    evaluation, _ = _with_an_open_row(10)
    assert evaluation.estimate().note
    assert all(
        "note" not in note["estimate"] for note in evaluation.ledger.notes.values()
    )
