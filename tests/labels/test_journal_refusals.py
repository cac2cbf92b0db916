"""Files that are refused: other campaigns, newer formats, damage. None is changed."""

import json

import numpy as np
import pytest
from helpers.crashing_campaign import X, Y
from helpers.journals import (
    LABELS,
    POOL,
    PROBA,
    start_small,
    values_in,
    write_values,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator, LabelLedger, MemoryStore
from sklearn_ase.exceptions import JournalError


def assert_refused(path, message, **changes):
    """Assert that a journal is refused, whole and torn, and left as it is."""
    for torn in (b"", b'["tell", [3'):
        text = path.read_bytes() + torn
        path.write_bytes(text)
        with pytest.raises(JournalError, match=message):
            start_small(path, **changes)
        assert path.read_bytes() == text
        path.write_bytes(text[: len(text) - len(torn)])


def with_value(rows, place, value):
    rows = rows.copy()
    rows[place] = value
    return rows


FOUR = np.column_stack([PROBA * 0.9, np.full(len(PROBA), 0.1)])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": POOL[:-1], "predictions": PROBA[:-1]}, "the size of the pool"),
        ({"X": with_value(POOL, (7, 2), 0.0)}, "the rows of the pool"),
        ({"X": POOL[::-1]}, "the rows of the pool"),
        ({"X": POOL[:, ::-1]}, "the rows of the pool"),
        ({"predictions": PROBA[::-1]}, "the predictions of the model"),
        ({"predictions": PROBA[:, ::-1]}, "the predictions of the model"),
        ({"predictions": with_value(PROBA, 3, PROBA[3, ::-1])}, "the predictions"),
        ({"predictions": FOUR, "classes": [0, 1, 2, 3]}, "the predictions|classes"),
        ({"classes": [0, 1, 5]}, "the classes"),
        (
            {"predictions": PROBA[:, 0], "loss": "squared_error", "surrogate": None}
            | {"classes": ()},
            "the predictions|task",
        ),
    ],
)
def test_a_journal_of_another_campaign_is_refused_and_left_alone(
    written, changes, message
):
    if changes.get("classes") == ():
        changes = {**changes, "classes": []}
    assert_refused(written, f"belongs to another evaluation: .*{message}", **changes)


@pytest.mark.parametrize(
    "labels", [["a", "b"], [True, False], [3, 4]], ids=["text", "bool", "int"]
)
def test_predictions_of_another_label_are_refused(path, labels):
    given = {"loss": "zero_one", "classes": labels}
    start_small(path, predictions=np.array(labels[:1] * 30), **given).close()
    assert_refused(
        path, "the predictions", predictions=np.array(labels[1:] * 30), **given
    )


def test_predictions_that_differ_by_rounding_are_the_same(written):
    rounded = PROBA.astype(np.float32).astype(float)
    assert (rounded != PROBA).any()
    with start_small(written, predictions=rounded) as evaluation:
        assert len(evaluation.ledger) == 3


def test_other_decisions_from_the_same_probabilities_are_another_model(path):
    base = LogisticRegression().fit(X[::5], Y[::5] > 0)
    often, always = (
        FixedThresholdClassifier(FrozenEstimator(base), threshold=t).fit(X, Y > 0)
        for t in (0.5, 1e-6)
    )
    given = {"loss": "zero_one", "surrogate": GaussianNB()}
    ActiveRiskEstimator(often, **given).start(POOL, journal=path).close()
    with pytest.raises(JournalError, match="the predictions of the model differ"):
        ActiveRiskEstimator(always, **given).start(POOL, journal=path)


@pytest.mark.parametrize("level", [0.0, 2000.0])
@pytest.mark.parametrize(("error", "is_same"), [(1e-7, True), (0.02, False)])
def test_values_are_compared_by_how_they_spread(path, level, error, is_same):
    rng = np.random.default_rng(0)
    values = level + rng.normal(size=30)
    given = {"loss": "squared_error", "surrogate": BayesianRidge(), "classes": None}
    evaluator = ActiveRiskEstimator(**given)
    evaluator.start(POOL, predictions=values, journal=path).close()
    others = values + error * rng.normal(size=30)
    if is_same:
        evaluator.start(POOL, predictions=others, journal=path).close()
        return
    with pytest.raises(JournalError, match="the predictions of the model differ"):
        evaluator.start(POOL, predictions=others, journal=path)


@pytest.mark.parametrize("version", [4, 99, None, "1", 1.5])
def test_a_journal_of_a_newer_format_is_refused_and_left_alone(written, version):
    header, *lines = written.read_bytes().splitlines(keepends=True)
    header = json.dumps(json.loads(header) | {"version": version}).encode() + b"\n"
    written.write_bytes(header + b"".join(lines))
    assert_refused(written, rf"has format {version}; .*Upgrade sklearn_ase")


def test_a_newer_format_is_named_even_if_its_lines_cannot_be_read(written):
    header = json.loads(written.read_bytes().splitlines()[0]) | {"version": 4}
    written.write_bytes(json.dumps(header).encode() + b"\n\x28\xb5\x2f\xfd\n")
    assert_refused(written, "Upgrade sklearn_ase")


@pytest.mark.parametrize(
    "text",
    [
        b"row,label\n3,cat\n",
        b"no line end",
        b'{"format": "another"}\n',
        b'{"format": "another"}',
        b"[1, 2]\n",
        b"42",
        b"\n",
        b"\x00" * 40,
        b"\xff\xfe\x00{",
        b"{}\n",
        b'{"a": 1}\n{"b": 2}\n',
    ],
)
def test_a_file_that_is_not_a_journal_is_refused_and_left_alone(path, text):
    path.write_bytes(text)
    with pytest.raises(
        JournalError, match=r"is not valid JSON|is not a sklearn_ase journal"
    ):
        start_small(path)
    assert path.read_bytes() == text


UNREADABLE = [b'["tell", [3, 4', b"", b"\x00\x00\x00"]
UNFITTING = [
    b"5",
    b"null",
    b"{}",
    b"[]",
    b'["dance", 3]',
    b'["close"]',
    b'["tell", [4]]',
    b'["tell", [4], [0, 1], []]',
    b'["tell", [999], [0], []]',
    b'["correct", 999, 0, []]',
    b'["skip", [999]]',
    b'["withdraw", 999]',
    b'["ask", [999], [0.1], [0.0], [0.0], ["nan"], ["nan"]]',
    b'["ask", [-1], [0.1], [0.0], [0.0], ["nan"], ["nan"]]',
    b'["ask", [0, 0], [0.1, 0.1], [0, 0], [0, 0], [0, 0], [0, 0]]',
    b'["ask", [0], [0.1, 0.2], [0], [0], [0], [0]]',
    b'["note", [999], null, false]',
    b'["refit", 99]',
    b'["refit", "two"]',
]


@pytest.mark.parametrize("line", [*UNREADABLE, *UNFITTING])
def test_a_line_damaged_in_the_middle_is_refused_and_the_file_left_alone(written, line):
    lines = written.read_bytes().split(b"\n")
    written.write_bytes(b"\n".join([*lines[:2], line, *lines[2:]]))
    assert_refused(written, r"Line \d.*left as it is")


@pytest.mark.parametrize("line", UNFITTING)
def test_an_event_that_does_not_fit_is_refused_in_any_store(written, line):
    header, *events = values_in(written)
    store = MemoryStore()
    store.append([header, events[0], json.loads(line), *events[1:]])
    before = store.read()
    with pytest.raises(JournalError, match=r"Line 3 of .*MemoryStore.* does not fit"):
        start_small(store)
    assert store.read() == before


@pytest.mark.parametrize("verb", ["ask", "tell", "skip", "withdraw"])
@pytest.mark.parametrize("has_checksums", [True, False])
def test_a_repeated_line_is_refused(path, verb, has_checksums):
    """Also where it came into the file by other means than an editor."""
    with start_small(path) as evaluation:
        rows = evaluation.ask(5).indices
        evaluation.tell(rows[:3], LABELS[rows[:3]])
        evaluation.skip(rows[3:4])
        evaluation.withdraw(rows[0])
    lines = path.read_bytes().splitlines(keepends=True)
    place = next(
        k for k, line in enumerate(lines) if line.startswith(b'["%b' % verb.encode())
    )
    if has_checksums:
        values = values_in(path)
        write_values(path, [*values[: place + 1], *values[place:]])
    else:
        path.write_bytes(b"".join([*lines[: place + 1], *lines[place:]]))
    message = "fit what came before it" if has_checksums else "agree with its checksum"
    assert_refused(path, f"does not {message}")


@pytest.mark.parametrize("label", ["dog", 9])
def test_a_label_that_is_not_a_class_is_refused_and_the_file_left_alone(written, label):
    header, asked, *events = values_in(written)
    last = asked[1][-1]
    write_values(written, [header, asked, *events, ["tell", [last], [label], []]])
    text = written.read_bytes()
    with pytest.raises(ValueError, match=r"different kinds|not among the classes"):
        start_small(written)
    assert written.read_bytes() == text


def test_journal_and_ledger_cannot_both_be_given(path):
    evaluator = ActiveRiskEstimator(surrogate=GaussianNB(), classes=[0, 1, 2])
    with pytest.raises(ValueError, match="ledger= or journal=, not both"):
        evaluator.start(POOL, predictions=PROBA, ledger=LabelLedger(), journal=path)
    assert not path.exists()
