"""The ledger keeps queries and labels, can be saved as a journal, and resumed."""

import numpy as np
import pytest
from helpers.journals import contents
from numpy.testing import assert_array_equal
from sklearn.linear_model import BayesianRidge

from sklearn_ase import LabelLedger, Picks
from sklearn_ase._labels._journal import read_journal
from sklearn_ase._labels._store import FORMAT, VERSION
from sklearn_ase._state import RECORDED
from sklearn_ase.risk import ASE, LURE, CorrectedASE


def _round_trip(ledger, path):
    if ledger.header is None:  # It was filled by hand.
        ledger.header = {"format": FORMAT, "version": VERSION, "n_samples": 10}
    (path / "labels.jsonl").unlink(missing_ok=True)
    ledger.save(path / "labels.jsonl")
    return read_journal(path / "labels.jsonl")


@pytest.mark.parametrize(
    "labels",
    [
        [0, -7, 10**12],
        [0.1 + 0.2, 1e-300, -1 / 3],
        ["plain", "with, comma", 'with "quotes"'],
        ["two\nlines", "", " spaces "],
        ["1", "1.0", "True"],
        ["Zürich", "東京", "carriage\r\nreturn"],
        [True, False, True],
    ],
)
def test_labels_survive_the_file(tmp_path, labels):
    ledger = LabelLedger()
    numbers = np.random.default_rng(0).exponential(size=(7, 3))
    numbers[:, 1] = [1 / 3, 1e-17, 2 / 3, 1e300, 0.0, 7.0, 0.1]
    ledger.ask(Picks.unanswered([5, 3, 8], *numbers))
    ledger.tell([5, 3, 8], np.array(labels))
    copy = _round_trip(ledger, tmp_path)
    assert contents(copy) == contents(ledger)
    assert copy.labels == dict(zip([5, 3, 8], labels, strict=True))
    assert [type(label) for label in copy.labels.values()] == [type(labels[0])] * 3


def test_open_queries_and_the_order_of_answers_survive_the_file(tmp_path):
    ledger = LabelLedger()
    ledger.ask(Picks.unanswered([4, 2, 9, 7], [0.25] * 4, *[[0.0] * 4] * 4))
    ledger.tell([9], ["late"])
    ledger.tell([4], ["early"])
    copy = _round_trip(ledger, tmp_path)
    assert list(copy.labels) == [9, 4]
    assert copy.indices == [4, 2, 9, 7]
    assert copy.pending == [2, 7]
    copy.tell([7], ["more"])
    assert list(_round_trip(copy, tmp_path).labels) == [9, 4, 7]


def test_picks_without_probability_survive_the_file(tmp_path):
    ledger = LabelLedger()
    ledger.ask(Picks.unanswered([1, 2], *[[np.nan, 0.5]] * 7))
    copy = _round_trip(ledger, tmp_path)
    for name in RECORDED[1:]:
        assert_array_equal(getattr(copy.picks, name), [np.nan, 0.5])


def test_an_empty_ledger_survives_the_file(tmp_path):
    ledger = LabelLedger()
    copy = _round_trip(ledger, tmp_path)
    assert contents(copy) == contents(ledger)
    assert copy.indices == []


def test_a_copy_is_independent():
    ledger = LabelLedger()
    ledger.ask(Picks.unanswered([1, 2], [0.5, 0.5], *[[0.0, 0.0]] * 4))
    copy = ledger.copy()
    copy.tell([1], ["cat"])
    assert ledger.pending == [1, 2]


def test_nothing_is_recorded_unless_all_of_it_can_be():
    ledger = LabelLedger()
    ledger.ask(Picks.unanswered([1, 2], [0.5, 0.5], *[[0.0, 0.0]] * 4))
    with pytest.raises(ValueError, match="answered twice"):
        ledger.tell([1, 1], ["cat", "dog"])
    with pytest.raises(ValueError, match=r"Rows \[3\] were not asked for"):
        ledger.tell([1, 3], ["cat", "dog"])
    assert len(ledger) == 0


def test_what_happens_together_is_undone_together(tmp_path):
    ledger = LabelLedger()
    ledger.ask(Picks.unanswered([1, 2], [0.5, 0.5], *[[0.0, 0.0]] * 4))
    before = contents(ledger.copy())

    def answer(skipped):
        with ledger.together():
            ledger.tell([1], ["cat"])
            ledger.skip(skipped)

    with pytest.raises(ValueError, match="were not asked for"):
        answer([3])
    assert contents(ledger) == before
    answer([2])
    assert (ledger.labels, ledger.skipped) == ({1: "cat"}, [2])
    assert _round_trip(ledger, tmp_path).skipped == [2]


@pytest.mark.parametrize("n_labels", [0, 3, 7, 12])
def test_resumed_evaluation_equals_uninterrupted_one(
    digits, evaluator, tmp_path, n_labels
):
    evaluation = evaluator.start(digits.X)
    for _ in range(n_labels):
        query = evaluation.ask()
        evaluation.tell(query, digits.y[query.indices])
    resumed = evaluator.start(digits.X, ledger=_round_trip(evaluation.ledger, tmp_path))
    if n_labels >= 5:
        for risk in (None, ASE(), LURE(), CorrectedASE()):
            assert resumed.estimate(risk) == evaluation.estimate(risk)
    for name in ("n_labels", "index", "label", "query_proba", "loss"):
        assert_array_equal(resumed.history[name], evaluation.history[name])
    query, expected = resumed.ask(3), evaluation.ask(3)
    assert_array_equal(query.indices, expected.indices)
    assert_array_equal(query.proba, expected.proba)


def test_resumed_regression_keeps_open_queries(
    diabetes, regression_evaluator, tmp_path
):
    regression_evaluator.set_params(surrogate=BayesianRidge(), n_labels=20)
    evaluation = regression_evaluator.start(diabetes.X)
    query = evaluation.ask(8)
    evaluation.tell(query.indices[3:], diabetes.y[query.indices[3:]])
    ledger = _round_trip(evaluation.ledger, tmp_path)
    resumed = regression_evaluator.start(diabetes.X, ledger=ledger)
    assert_array_equal(resumed.pending.indices, query.indices[:3])
    # What weighs labels by their probability waits for the first one asked.
    assert resumed.estimate(ASE()) == evaluation.estimate(ASE())
    assert resumed.ask().indices == evaluation.ask().indices


def test_the_given_ledger_stays_as_it_was(digits, evaluator):
    ledger = evaluator.fit(digits.X, digits.y).ledger_.copy()
    before = contents(ledger.copy())
    evaluator.set_params(n_labels=15).fit(digits.X, digits.y, ledger=ledger)
    assert contents(ledger) == before


def test_a_ledger_of_a_larger_pool_is_refused(digits, evaluator):
    ledger = evaluator.fit(digits.X, digits.y).ledger_
    with pytest.raises(ValueError, match="ledger"):
        evaluator.start(digits.X[:20], ledger=ledger)
