"""What a journal contains: lines of JSON that are only ever added."""

import json

import numpy as np
import pytest
from helpers.crashing_campaign import (
    differences,
    do_step,
    next_step,
    run_to_the_end,
    shown,
    start,
)
from helpers.journals import LABELS, start_small

from sklearn_ase.risk import LURE

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_ase.exceptions.NewClassWarning"
)


@pytest.mark.parametrize(
    "labels",
    [
        [0, -7, 2**62],
        [0.1 + 0.2, 1e-300, -1 / 3],
        [True, False, True],
        ["plain", 'with "quotes"', "back\\slash"],
        ["two\nlines", "carriage\r\nreturn", "tab\t\x07\u2028\u2029\x85"],
        ["Zürich", "東京", "🦜"],
        ["nan", "Infinity", "null"],
        ["", " spaces ", "1"],
    ],
    ids=["int", "float", "bool", "text", "lines", "unicode", "words", "spaces"],
)
def test_labels_survive_the_file(path, labels):
    classes = list(dict.fromkeys(labels))
    proba = np.full((30, len(classes)), 1 / len(classes))
    with start_small(path, predictions=proba, classes=classes) as evaluation:
        rows = evaluation.ask(5).indices
        evaluation.tell(rows[:3], np.array(labels))
        evaluation.tell(rows[3:4], [labels])  # Several answers for one row.
        evaluation.tell(rows[4:], labels[:1])
        evaluation.correct(rows[4], labels[::-1])
        before = shown(evaluation)
    with start_small(path, predictions=proba, classes=classes) as resumed:
        assert differences(resumed, before) == []
        ledger = resumed.ledger
    assert list(ledger.labels.values()) == [*labels, labels[0], labels[2]]
    assert ledger.more_labels == {rows[3]: labels[1:], rows[4]: labels[1::-1]}
    kinds = {type(label) for label in ledger.labels.values()}
    assert kinds == {type(labels[0])}


@pytest.mark.parametrize("label", [np.nan, np.inf, "many", None])
def test_a_label_that_is_refused_leaves_no_trace(
    path, diabetes, regression_evaluator, label
):
    with regression_evaluator.start(diabetes.X, journal=path) as evaluation:
        row = evaluation.ask().indices
        before, text = shown(evaluation), path.read_bytes()
        with pytest.raises((TypeError, ValueError)):
            evaluation.tell(row, [label])
        assert differences(evaluation, before) == []
        assert path.read_bytes() == text


def test_text_that_cannot_be_written_is_refused_at_the_start(path):
    given = {"predictions": np.full((30, 2), 0.5)}
    with pytest.raises(ValueError, match="surrogates not allowed"):
        start_small(path, classes=["a", "\ud800"], **given)
    assert path.read_bytes() == b""
    start_small(path, classes=["a", "b"], **given).close()


def test_the_journal_is_json_and_nothing_else(path):
    with start(path) as evaluation:
        run_to_the_end(evaluation)
    header, *lines = [
        json.loads(line, parse_constant=pytest.fail)
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert header["format"] == "sklearn_ase journal"
    assert header["version"] == 3
    assert {"seed", "pool", "predictions", "classes", "surrogate", "risk"} <= {*header}
    verbs = {"ask", "tell", "correct", "withdraw", "skip", "refit", "note"}
    assert {verb for verb, *_ in lines} == verbs


def test_lines_are_only_ever_added(path):
    text = b""
    with start(path) as evaluation:
        while step := next_step(evaluation.ledger):
            do_step(evaluation, step)
            assert path.read_bytes().startswith(text)
            text = path.read_bytes()
    start(path).close()
    assert path.read_bytes() == text


class Estimate32(LURE):
    """A risk by others, which answers with numpy's numbers."""

    def estimate(self, state):
        estimate = super().estimate(state)
        return type(estimate)(np.float32(estimate.value), np.float32(1), np.int64(3))


def test_risks_of_others_may_answer_with_the_numbers_of_numpy(path):
    with start_small(path, risk=Estimate32()) as evaluation:
        rows = evaluation.ask(2).indices
        evaluation.tell(rows, LABELS[rows])
        before = shown(evaluation)
    with start_small(path, risk=Estimate32()) as evaluation:
        assert differences(evaluation, before) == []
