"""Import: answers in files become labels, or nothing is recorded."""

import numpy as np
import pytest
from helpers.annotations import (
    POOL,
    TEXTS,
    annotation,
    fill_in,
    open_rows,
    write,
    write_studio_export,
)
from helpers.campaigns import campaign
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._annotation._answers import SKIP, plan_answers, read_answers
from sklearn_ase.losses import CustomLoss
from sklearn_ase.risk import LURE

quick = settings(derandomize=True, max_examples=30)
words = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=6
)


@quick
@given(
    labels=st.one_of(
        st.lists(words, min_size=12, max_size=12),
        st.lists(st.integers(-(10**15), 10**15), min_size=12, max_size=12),
        st.lists(st.booleans(), min_size=12, max_size=12),
        st.lists(st.floats(-1e9, 1e9), min_size=12, max_size=12),
    ),
    n_asked=st.integers(1, 12),
)
def test_what_goes_out_comes_back(tmp_path_factory, labels, n_asked):
    path = tmp_path_factory.mktemp("round") / "batch.csv"
    classes = None if isinstance(labels[0], float) else sorted({*labels})
    evaluation = campaign(classes, TEXTS if classes else POOL)
    evaluation.export(evaluation.ask(n_asked), path)
    fill_in(path, labels)
    assert evaluation.import_answers(path) == n_asked
    told = evaluation.ledger.labels
    assert told == {row: labels[row] for row in evaluation.ledger.indices}
    assert {type(label) for label in told.values()} == {type(labels[0])}
    assert evaluation.import_answers(path) == 0  # Nothing is new the second time.


@pytest.mark.parametrize(
    "text",
    [
        "row,label\n{1},cat\n{0},dog\n",
        "\ufeffrow,label\r\n{0},dog\r\n{1},cat\r\n",
        "who;label;row\nAnn; dog ;{0}\nBob;cat; {1}.0\n",
        'row\tnote\tlabel\n{0}\t"two\nlines"\tdog\n\n{1}\t\tcat\n',
        "row,label\n{0},dog\n{1},cat\n{0},dog\n{2},\n{3}\n",
        "row,label\n{0},dog\n{1},cat\n{2},NaN\n{3},nan\n",
    ],
    ids=[
        "re-ordered",
        "byte order mark",
        "semicolons",
        "tabs",
        "twice and empty",
        "nan",
    ],
)
def test_files_are_read_as_spreadsheets_write_them(tmp_path, asked, text):
    rows = open_rows(asked)
    path = write(tmp_path / "batch.csv", text.format(*rows))
    assert asked.import_answers(path) == 2
    assert asked.ledger.labels == {rows[0]: "dog", rows[1]: "cat"}
    assert open_rows(asked) == rows[2:]


@pytest.mark.parametrize(
    ("classes", "texts", "labels"),
    [
        ([0, 1, 2], ["2.0", "1", "7"], [2, 1, 7]),
        ([False, True], ["TRUE", "false", "1"], [True, False, True]),
        ([0.5, 1.5], ["0.5", "1.5", "0.5"], [0.5, 1.5, 0.5]),
        (["1", "2"], ["1", "2", "1.0"], ["1", "2", "1.0"]),
        (None, ["1", "-2.5", "1e3"], [1.0, -2.5, 1000.0]),
        (None, ["1", "-2,5", "1,5E+03"], [1.0, -2.5, 1500.0]),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.NewClassWarning")
def test_texts_become_labels_of_the_kind_of_the_evaluation(
    tmp_path, classes, texts, labels
):
    evaluation = campaign(classes, POOL)
    rows = evaluation.ask(3).indices.tolist()
    lines = [f"{row};{text}" for row, text in zip(rows, texts, strict=True)]
    path = write(tmp_path / "batch.csv", "\n".join(["row;label", *lines]))
    evaluation.import_answers(path, new_classes=[7, "1.0"])
    told = [evaluation.ledger.labels[row] for row in rows]
    assert told == labels
    assert [type(label) for label in told] == [type(label) for label in labels]


@pytest.mark.parametrize(
    ("classes", "is_closed", "text", "allowed"),
    [
        ([0, 1, 2], False, "2.5", r"such as \[0, 1, 2\]"),
        ([0, 1, 2], False, "two", r"such as \[0, 1, 2\]"),
        ([0, 1, 2], True, "3", r"one of \[0, 1, 2\]"),
        (["cat", "dog"], True, "Dog", r"one of \['cat', 'dog'\]"),
        ([False, True], False, "maybe", r"one of \[False, True\]"),
        (None, False, "about 3", "a finite number"),
        (None, False, "1,5", "a finite number"),
        (None, False, "inf", "a finite number"),
    ],
)
def test_an_answer_that_is_not_a_label_is_named_and_nothing_recorded(
    tmp_path, classes, is_closed, text, allowed
):
    evaluation = campaign(classes, POOL, is_closed)
    rows = evaluation.ask(2).indices.tolist()
    good = 1 if classes is None else classes[0]
    path = write(
        tmp_path / "batch.csv", f'row,label\n{rows[0]},{good}\n{rows[1]},"{text}"\n'
    )
    with pytest.raises(ValueError, match=rf"Row {rows[1]}: '{text}' is not.*{allowed}"):
        evaluation.import_answers(path)
    assert open_rows(evaluation) == rows


def test_rows_that_were_not_asked_for_are_refused_with_all_others(tmp_path, asked):
    rows = open_rows(asked)
    odd = sorted(set(range(12)) - set(rows))[:2]
    lines = "".join(f"{row},cat\n" for row in [*rows, *odd])
    path = write(tmp_path / "batch.csv", "row,label\n" + lines)
    with pytest.raises(ValueError, match=rf"Rows \[{odd[0]}, {odd[1]}\] were not"):
        asked.import_answers(path)
    assert open_rows(asked) == rows


def test_a_label_without_a_loss_stops_the_import_before_anything_is_recorded(tmp_path):
    """Whether it is new, one of several answers, or a correction."""
    loss = CustomLoss(no_loss_of_dogs, task="classification")
    evaluator = ActiveRiskEstimator(loss=loss, surrogate=GaussianNB(), risk=LURE())
    evaluation = evaluator.start(POOL, predictions=np.array(["cat", "cow"] * 6))
    rows = evaluation.ask(4).indices.tolist()
    evaluation.tell(rows[:1], ["cat"])
    cow, dog = annotation({"choices": ["cow"]}), annotation({"choices": ["dog"]})
    before = evaluation.history
    for more in ({rows[2]: [cow, dog]}, {rows[0]: [dog]}):
        path = write_studio_export(tmp_path / "export.json", {rows[1]: [cow]} | more)
        with pytest.raises(ValueError, match="negative or not finite"):
            evaluation.import_answers(path, correct=True)
        assert open_rows(evaluation) == rows[1:]
        np.testing.assert_equal(evaluation.history, before)


def no_loss_of_dogs(y_true, y_pred):
    return np.where(y_true == "dog", np.inf, (y_true != y_pred) * 1.0)


def test_another_label_is_refused_unless_it_corrects(tmp_path, asked):
    rows = open_rows(asked)
    asked.tell(rows[:2], ["cat", "cat"])
    path = write(
        tmp_path / "batch.csv",
        f"row,label\n{rows[0]},dog\n{rows[1]},cat\n{rows[2]},dog\n",
    )
    with pytest.raises(ValueError, match=rf"Rows \[{rows[0]}\].*correct=True"):
        asked.import_answers(path)
    assert list(asked.ledger.labels.values()) == ["cat", "cat"]
    assert asked.import_answers(path, correct=True) == 1
    assert asked.ledger.labels == {rows[0]: "dog", rows[1]: "cat", rows[2]: "dog"}


def test_a_word_of_the_file_may_mean_that_a_row_is_skipped(tmp_path, asked):
    rows = open_rows(asked)
    path = write(tmp_path / "batch.csv", f"row,label\n{rows[0]},???\n{rows[1]},cat\n")
    for n_new in (1, 0):
        assert asked.import_answers(path, skip="???") == n_new
        assert asked.ledger.skipped == [rows[0]]
    write(path, f"row,label\n{rows[0]},dog\n{rows[1]},???\n")
    with pytest.raises(ValueError, match=rf"Rows \[{rows[1]}\] have another label"):
        asked.import_answers(path, skip="???")
    assert asked.import_answers(path, correct=True, skip="???") == 1
    assert asked.ledger.labels == {rows[0]: "dog"}
    assert asked.ledger.skipped == [rows[1]]


def test_planning_answers_records_nothing(asked):
    rows = open_rows(asked)
    asked.tell(rows[:2], ["cat", "cat"])
    answers = {rows[0]: ["dog"], rows[1]: ["cat"], rows[2]: ["dog"], rows[3]: SKIP}
    before = asked.history
    told, corrected, skipped = plan_answers(asked, answers, correct=True)
    assert (told, corrected, skipped) == (
        {rows[2]: ["dog"]},
        {rows[0]: ["dog"]},
        [rows[3]],
    )
    assert open_rows(asked) == rows[2:]
    np.testing.assert_equal(asked.history, before)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("row,label\n3,cat\n3,dog\n", r"Row 3 has different answers.*'cat', 'dog'"),
        ("row,label\n3,cat\n,dog\n", r"batch.csv: '' is not a row"),
        ("row,label\n3.5,cat\n", r"batch.csv: '3.5' is not a row"),
        ("index,label\n3,cat\n", r"one column named row.*starts with 'index,label"),
        ("row,label,label\n3,cat,dog\n", r"one column named row and one named label"),
        ("", r"one column named row"),
        ("row,label\n3,Käse\n".encode("latin-1"), r"batch.csv is not in UTF-8"),
    ],
)
def test_a_sheet_that_cannot_be_understood_is_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_answers(write(tmp_path / "batch.csv", text))
