"""Corrections: a label is replaced, and all that followed from the old one."""

import numpy as np
import pytest
from helpers.iris_campaign import (
    TRAINING,
    WEIGHTED,
    X,
    Y,
    brier_losses,
    start_evaluation,
    tell,
)
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

from sklearn_ase._state import RECORDED
from sklearn_ase.acquisition import LossSpread
from sklearn_ase.risk import ASE, LURE


def test_a_correction_changes_the_loss_and_nothing_about_the_pick():
    evaluation = start_evaluation()
    rows = evaluation.ask(6).indices
    tell(evaluation, rows, (Y + 1) % 3)
    before = evaluation.state
    evaluation.correct(rows[2], Y[rows[2]])
    after = evaluation.state
    expected = brier_losses(rows, (Y[rows] + 1) % 3)
    expected[2] = brier_losses(rows, Y[rows])[2]
    assert_allclose(after.losses, expected, atol=1e-12)
    for name in RECORDED:
        assert_array_equal(getattr(after.picks, name), getattr(before.picks, name))
    assert after.settled.n_labels == 6
    assert evaluation.history["index"].tolist() == rows.tolist()


@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.NewClassWarning")
@pytest.mark.parametrize("wrong", [1, 7])
@pytest.mark.parametrize("n_answered", [3, 6])
def test_after_a_correction_all_is_as_with_the_right_label_at_once(wrong, n_answered):
    """The surrogate forgets the mistake, and the class that only the mistake had."""
    right, corrected = start_evaluation(), start_evaluation()
    rows = right.ask(6).indices
    corrected.ask(6)
    mistaken = Y.copy()
    mistaken[rows[1]] = wrong
    tell(right, rows[:3])
    tell(corrected, rows[:3], mistaken)
    for evaluation in (right, corrected):
        tell(evaluation, rows[3:n_answered])
        evaluation.refit()
    if wrong == 7:
        assert corrected.classes_.tolist() == [0, 1, 2, 7]
    corrected.correct(rows[1], Y[rows[1]])
    assert corrected.classes_.tolist() == [0, 1, 2]
    assert_array_equal(corrected.state.expected_loss, right.state.expected_loss)
    for risk in (None, ASE(), *WEIGHTED):
        assert corrected.estimate(risk) == right.estimate(risk)
    assert_array_equal(corrected.ask(4).indices, right.ask(4).indices)


def test_the_surrogate_is_fitted_again_only_if_it_had_learned_the_mistake():
    evaluation = start_evaluation(refit=[4])
    rows = evaluation.ask(6).indices
    tell(evaluation, rows[:4])
    tell(evaluation, rows[4:])
    belief = evaluation.state.belief
    evaluation.correct(rows[5], (Y[rows[5]] + 1) % 3)
    assert evaluation.state.belief is belief
    evaluation.correct(rows[3], (Y[rows[3]] + 1) % 3)
    assert evaluation.state.belief is not belief


def test_several_answers_can_be_corrected_to_one_and_one_to_several():
    evaluation = start_evaluation()
    rows = evaluation.ask(2).indices
    evaluation.tell(rows, [[0, 1], [2, 2]])
    evaluation.correct(rows[0], 1)
    evaluation.correct(rows[1], [0, 1, 1, 2])
    assert evaluation.ledger.more_labels == {rows[1]: [1, 1, 2]}
    assert evaluation.ledger.labels == {rows[0]: 1, rows[1]: 0}
    mean = np.mean([brier_losses(rows[1:], [label]) for label in (0, 1, 1, 2)])
    assert_allclose(evaluation.state.losses, [brier_losses(rows[:1], [1])[0], mean])


def test_the_last_estimate_of_the_history_follows_a_correction():
    evaluation = start_evaluation()
    rows = evaluation.ask(4).indices
    tell(evaluation, rows)
    for verb, *words in [
        ("correct", rows[0], (Y[rows[0]] + 1) % 3),
        ("withdraw", rows[3]),
        ("skip", rows[3:]),
        ("refit",),
    ]:
        getattr(evaluation, verb)(*words)
        assert evaluation.history["risk"][-1] == evaluation.estimate().value


@pytest.mark.parametrize("verb", ["correct", "skip", "withdraw"])
def test_the_history_remembers_refits_whatever_comes_after(verb):
    evaluation = start_evaluation(refit=[2])
    rows = evaluation.ask(4).indices
    tell(evaluation, rows[:2])
    assert evaluation.history["refit"].tolist() == [False, True]
    if verb == "correct":
        tell(evaluation, rows[2:3])
        evaluation.correct(rows[2], (Y[rows[2]] + 1) % 3)
    if verb == "withdraw":
        tell(evaluation, rows[2:3])
        evaluation.withdraw(rows[2])
    if verb == "skip":
        evaluation.skip(rows[2:3])
    assert evaluation.history["refit"].tolist()[:2] == [False, True]


@pytest.mark.parametrize("verb", ["correct", "withdraw"])
@pytest.mark.parametrize("which", ["open", "skipped", "never asked for", "outside"])
def test_only_labels_can_be_changed(verb, which):
    evaluation = start_evaluation()
    rows = evaluation.ask(3).indices
    tell(evaluation, rows[:1])
    evaluation.skip(rows[2:])
    free = int(np.flatnonzero(evaluation.state.free)[0])
    row = {"open": rows[1], "skipped": rows[2], "never asked for": free, "outside": -1}
    words = [row[which], 0][: 2 if verb == "correct" else 1]
    if (verb, which) == ("withdraw", "skipped"):
        evaluation.withdraw(*words)
        assert evaluation.pending.indices.tolist() == rows[1:].tolist()
        return
    with pytest.raises(ValueError, match=rf"Row {words[0]} has no label .*{rows[1]}"):
        getattr(evaluation, verb)(*words)


def test_a_correction_must_be_a_label():
    evaluation = start_evaluation(classes=[0, 1, 2])
    rows = evaluation.ask(2).indices
    tell(evaluation, rows)
    for label, message in [
        (3, "not among the classes"),
        ("one", "different kinds|not among"),
        (None, "Missing labels"),
        (np.nan, "Missing labels"),
        ([0, 9], "not among the classes"),
    ]:
        with pytest.raises(ValueError, match=message):
            evaluation.correct(rows[0], label)
    assert evaluation.ledger.labels[rows[0]] == Y[rows[0]]


def test_a_frozen_surrogate_can_be_corrected_too():
    surrogate = FrozenEstimator(DecisionTreeClassifier().fit(X[::5], Y[::5]))
    evaluation = start_evaluation(
        surrogate=surrogate, training={}, acquisition=LossSpread()
    )
    rows = evaluation.ask(5).indices
    tell(evaluation, rows)
    belief = evaluation.state.belief
    evaluation.correct(rows[0], (Y[rows[0]] + 1) % 3)
    evaluation.withdraw(rows[1])
    evaluation.skip(rows[1:2])
    assert evaluation.state.belief is belief
    assert not evaluation.history["refit"].any()
    assert evaluation.estimate(LURE()).n_labels == 4


def test_labels_of_several_rows_are_corrected_together_or_not_at_all(tmp_path):
    path = tmp_path / "labels.jsonl"
    evaluation = start_evaluation(training={**TRAINING, "journal": path})
    rows = evaluation.ask(4).indices
    wrong = (Y[rows[:3]] + 1) % 3
    evaluation.tell(rows[:3], wrong)
    for some, labels in [
        (rows, Y[rows]),  # One of them is open.
        (rows[[0, 0]], [0, 0]),
        (rows[:3], [0, 0]),
    ]:
        with pytest.raises(ValueError, match=r"no label|each once"):
            evaluation.correct(some, labels)
        assert [*evaluation.ledger.labels.values()] == wrong.tolist()
    evaluation.correct(rows[:3], Y[rows[:3]])
    assert [*evaluation.ledger.labels.values()] == Y[rows[:3]].tolist()
    evaluation.correct(rows[:2], [[0, 1], [2, 2]])
    assert evaluation.ledger.more_labels == {rows[0]: [1], rows[1]: [2]}
    evaluation.close()
    again = start_evaluation(training={**TRAINING, "journal": path})
    assert again.ledger.labels == evaluation.ledger.labels
    assert again.estimate() == evaluation.estimate()
