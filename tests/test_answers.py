"""Files for annotators: answers come back as labels, or nothing is recorded."""

import csv
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers.campaigns import campaign
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._annotation._export import export_rows
from sklearn_ase._annotation._import import SKIP, plan_answers, read_answers
from sklearn_ase.losses import CustomLoss
from sklearn_ase.risk import LURE

POOL = np.arange(24.0).reshape(12, 2) / 10
TEXTS = [f"line {i},\nsecond; line" for i in range(12)]
quick = settings(deadline=None, derandomize=True, max_examples=60)


@pytest.fixture
def asked():
    """An evaluation with classes of text and five open rows."""
    evaluation = campaign(["cat", "dog"], POOL)
    evaluation.ask(5)
    return evaluation


def _table(path):
    with open(path, newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def _fill(path, labels):
    """Answer the rows of an exported file, as somebody with a spreadsheet would."""
    lines = [line | {"label": labels[int(line["row"])]} for line in _table(path)]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def _write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def _pending(evaluation):
    return evaluation.pending.indices.tolist()


def _annotation(value, control="label", **more):
    result = [{"from_name": control, "to_name": "item", "value": value}]
    return {"result": result, "was_cancelled": False, **more}


CANCELLED = {"result": [], "was_cancelled": True}


def _studio(path, annotations):
    """Label Studio's full export of annotations by row."""
    tasks = [
        {"id": 100 + row, "data": {"row": row}, "annotations": some, "predictions": []}
        for row, some in annotations.items()
    ]
    return _write(path, json.dumps(tasks))


# What goes out.


@pytest.mark.parametrize(
    ("X", "features"),
    [
        (POOL, {"x0": "0.4", "x1": "0.5"}),
        (pd.DataFrame(POOL, columns=["age", "label"]), {"age": "0.4"}),
        (pd.DataFrame({"town": ["Zürich"] * 12}, dtype="category"), {"town": "Zürich"}),
        (pd.DataFrame({"age": [np.nan] * 12, "at": pd.NaT}), {"age": "", "at": ""}),
        (pl.DataFrame({"town": ["東京"] * 12, "n": 5}), {"town": "東京", "n": "5"}),
        (TEXTS, {"text": TEXTS[2]}),
        (POOL.reshape(12, 2, 1), {}),
        (sparse.csr_matrix(POOL), {}),
    ],
    ids=[
        "array",
        "frame",
        "categories",
        "missing",
        "polars",
        "text",
        "image",
        "sparse",
    ],
)
def test_a_sheet_has_an_empty_label_and_what_can_be_read(tmp_path, X, features):
    export_rows(X, [2, 7], tmp_path / "batch.csv")
    first, second = _table(tmp_path / "batch.csv")
    assert [first["row"], second["row"]] == ["2", "7"]
    assert first["label"] == second["label"] == ""
    assert first.items() >= features.items()
    assert "prediction" not in first


def test_a_feature_named_label_does_not_hide_the_label(tmp_path):
    X = pd.DataFrame(POOL, columns=["row", "label"])
    evaluation = campaign(["cat", "dog"], X)
    rows = evaluation.ask(2).indices.tolist()
    evaluation.export(rows, tmp_path / "batch.csv")
    assert list(_table(tmp_path / "batch.csv")[0])[2:] == [
        "row (feature)",
        "label (feature)",
    ]
    assert evaluation.import_answers(tmp_path / "batch.csv") == 0


def test_predictions_are_those_of_the_whole_pool(tmp_path, asked):
    asked.export([3, 1], tmp_path / "batch.csv", predictions=np.arange(12) * 10)
    assert [line["prediction"] for line in _table(tmp_path / "batch.csv")] == [
        "30",
        "10",
    ]
    with pytest.raises(ValueError, match=r"shape \(2,\), but the pool has 12 rows"):
        asked.export([3, 1], tmp_path / "other.csv", predictions=["cat", "dog"])


@pytest.mark.parametrize("name", ["batch.csv", "batch.json"])
def test_answers_in_a_file_are_not_overwritten_by_mistake(tmp_path, asked, name):
    path = _write(tmp_path / name, "answers")
    with pytest.raises(FileExistsError, match=rf"{name} exists.*overwrite=True"):
        asked.export(asked.pending, path)
    assert path.read_text() == "answers"
    asked.export(asked.pending, path, overwrite=True)
    assert path.read_text() != "answers"


def test_tasks_of_label_studio_hold_row_features_and_prediction(tmp_path, asked):
    guess = np.array(["cat", "dog"] * 6)
    asked.export([3], tmp_path / "batch.json", predictions=guess)
    (task,) = json.loads((tmp_path / "batch.json").read_text())
    assert task["data"] == {"row": 3, "features": {"x0": 0.6, "x1": 0.7}}
    (result,) = task["predictions"][0]["result"]
    assert result == {
        "from_name": "label",
        "to_name": "item",
        "type": "choices",
        "value": {"choices": ["dog"]},
    }


def test_tasks_of_texts_and_images(tmp_path):
    campaign(["a", "b"], TEXTS).export([4], tmp_path / "batch.json")
    task = {"data": {"row": 4, "text": TEXTS[4]}}
    assert json.loads((tmp_path / "batch.json").read_text()) == [task]
    campaign(["a", "b"], POOL.reshape(12, 2, 1)).export([4], tmp_path / "image.json")
    assert json.loads((tmp_path / "image.json").read_text()) == [{"data": {"row": 4}}]


def test_a_number_is_predicted_as_a_number(tmp_path):
    evaluation = campaign(None, POOL)
    evaluation.export([3], tmp_path / "batch.json", predictions=np.full(12, 2.5))
    (task,) = json.loads((tmp_path / "batch.json").read_text())
    (result,) = task["predictions"][0]["result"]
    assert (result["type"], result["value"]) == ("number", {"number": 2.5})


def test_a_file_of_another_kind_is_refused(tmp_path, asked):
    with pytest.raises(ValueError, match=r"batch.xlsx must end in .csv.*or in .json"):
        asked.export(asked.pending, tmp_path / "batch.xlsx")
    with pytest.raises(ValueError, match=r"batch.xlsx must end in .csv.*or in .json"):
        asked.import_answers(tmp_path / "batch.xlsx")


def test_a_query_is_a_frame():
    X = pd.DataFrame({"town": ["Rome", "Oslo"] * 6, "query_proba": 1})
    query = campaign(["cat", "dog"], X).ask(3)
    frame = query.to_frame(X, predictions=np.arange(12))
    names = ["row", "town", "query_proba (feature)", "prediction", "query_proba"]
    assert list(frame.columns) == names
    assert frame["row"].tolist() == frame["prediction"].tolist()
    assert frame["town"].tolist() == X["town"].iloc[query.indices].tolist()
    assert frame["query_proba"].tolist() == query.proba.tolist()
    assert list(query.to_frame(TEXTS).columns) == ["row", "text", "query_proba"]


# What comes back.

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
    _fill(path, labels)
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
    rows = _pending(asked)
    path = _write(tmp_path / "batch.csv", text.format(*rows))
    assert asked.import_answers(path) == 2
    assert asked.ledger.labels == {rows[0]: "dog", rows[1]: "cat"}
    assert _pending(asked) == rows[2:]


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
    evaluation.import_answers(
        _write(tmp_path / "batch.csv", "\n".join(["row;label", *lines]))
    )
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
    path = _write(
        tmp_path / "batch.csv", f'row,label\n{rows[0]},{good}\n{rows[1]},"{text}"\n'
    )
    with pytest.raises(ValueError, match=rf"Row {rows[1]}: '{text}' is not.*{allowed}"):
        evaluation.import_answers(path)
    assert _pending(evaluation) == rows


def test_rows_that_were_not_asked_for_are_refused_with_all_others(tmp_path, asked):
    rows = _pending(asked)
    odd = sorted(set(range(12)) - set(rows))[:2]
    lines = "".join(f"{row},cat\n" for row in [*rows, *odd])
    path = _write(tmp_path / "batch.csv", "row,label\n" + lines)
    with pytest.raises(ValueError, match=rf"Rows \[{odd[0]}, {odd[1]}\] were not"):
        asked.import_answers(path)
    assert _pending(asked) == rows


def test_a_label_without_a_loss_stops_the_import_before_anything_is_recorded(tmp_path):
    """Whether it is new, one of several answers, or a correction."""
    loss = CustomLoss(_no_loss_of_dogs, task="classification")
    evaluator = ActiveRiskEstimator(loss=loss, surrogate=GaussianNB(), risk=LURE())
    evaluation = evaluator.start(POOL, predictions=np.array(["cat", "cow"] * 6))
    rows = evaluation.ask(4).indices.tolist()
    evaluation.tell(rows[:1], ["cat"])
    cow, dog = _annotation({"choices": ["cow"]}), _annotation({"choices": ["dog"]})
    before = evaluation.history
    for more in ({rows[2]: [cow, dog]}, {rows[0]: [dog]}):
        path = _studio(tmp_path / "export.json", {rows[1]: [cow]} | more)
        with pytest.raises(ValueError, match="negative or not finite"):
            evaluation.import_answers(path, correct=True)
        assert _pending(evaluation) == rows[1:]
        np.testing.assert_equal(evaluation.history, before)


def _no_loss_of_dogs(y_true, y_pred):
    return np.where(y_true == "dog", np.inf, (y_true != y_pred) * 1.0)


def test_another_label_is_refused_unless_it_corrects(tmp_path, asked):
    rows = _pending(asked)
    asked.tell(rows[:2], ["cat", "cat"])
    path = _write(
        tmp_path / "batch.csv",
        f"row,label\n{rows[0]},dog\n{rows[1]},cat\n{rows[2]},dog\n",
    )
    with pytest.raises(ValueError, match=rf"Rows \[{rows[0]}\].*correct=True"):
        asked.import_answers(path)
    assert list(asked.ledger.labels.values()) == ["cat", "cat"]
    assert asked.import_answers(path, correct=True) == 1
    assert asked.ledger.labels == {rows[0]: "dog", rows[1]: "cat", rows[2]: "dog"}


def test_a_word_may_stand_for_cannot_tell(tmp_path, asked):
    rows = _pending(asked)
    path = _write(tmp_path / "batch.csv", f"row,label\n{rows[0]},???\n{rows[1]},cat\n")
    for n_new in (1, 0):
        assert asked.import_answers(path, skip="???") == n_new
        assert asked.ledger.skipped == [rows[0]]
    _write(path, f"row,label\n{rows[0]},dog\n{rows[1]},???\n")
    with pytest.raises(ValueError, match=rf"Rows \[{rows[1]}\] have another label"):
        asked.import_answers(path, skip="???")
    assert asked.import_answers(path, correct=True, skip="???") == 1
    assert asked.ledger.labels == {rows[0]: "dog"}
    assert asked.ledger.skipped == [rows[1]]


def test_planning_answers_records_nothing(asked):
    rows = _pending(asked)
    asked.tell(rows[:2], ["cat", "cat"])
    answers = {rows[0]: ["dog"], rows[1]: ["cat"], rows[2]: ["dog"], rows[3]: SKIP}
    before = asked.history
    told, corrected, skipped = plan_answers(asked, answers, correct=True)
    assert (told, corrected, skipped) == (
        {rows[2]: ["dog"]},
        {rows[0]: ["dog"]},
        [rows[3]],
    )
    assert _pending(asked) == rows[2:]
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
        read_answers(_write(tmp_path / "batch.csv", text))


# Label Studio.


def test_annotations_of_several_people_are_several_answers(tmp_path, asked):
    rows = _pending(asked)
    cat, dog = _annotation({"choices": ["cat"]}), _annotation({"choices": ["dog"]})
    path = _studio(
        tmp_path / "export.json",
        {
            rows[2]: [cat, dog, dog],
            rows[0]: [dog],
            rows[1]: [cat, CANCELLED],
            rows[3]: [CANCELLED, CANCELLED],
            rows[4]: [_annotation({"choices": []}), {"result": []}],
        },
    )
    assert asked.import_answers(path) == 3
    assert asked.ledger.labels == {rows[0]: "dog", rows[1]: "cat", rows[2]: "cat"}
    assert asked.ledger.more_labels[rows[2]] == ["dog", "dog"]
    assert asked.ledger.skipped == [rows[3]]
    assert _pending(asked) == [rows[4]]
    assert asked.import_answers(path) == 0


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        (["cat", "dog"], ["dog", "cat", "cow"] * 4),
        ([0, 1, 2], [2, 0, 7] * 4),
        ([False, True], [True, False, True] * 4),
        (None, [0.1 + 0.2, -3.0, 1e-300] * 4),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.NewClassWarning")
def test_what_goes_to_label_studio_comes_back(tmp_path, classes, labels):
    evaluation = campaign(classes, POOL)
    path = tmp_path / "tasks.json"
    guess = np.array(labels)
    evaluation.export(evaluation.ask(7), path, predictions=guess)
    tasks = json.loads(path.read_text())
    for task in tasks:  # Whoever labels them accepts what was predicted.
        task["annotations"] = [{**task["predictions"][0], "was_cancelled": False}]
    assert evaluation.import_answers(_write(path, json.dumps(tasks[::-1]))) == 7
    told = evaluation.ledger.labels
    assert told == {row: labels[row] for row in evaluation.ledger.indices}
    assert {type(label) for label in told.values()} == {type(labels[0])}


def test_a_further_annotation_corrects_the_answers_of_a_row(tmp_path, asked):
    row = _pending(asked)[0]
    asked.tell([row], ["cat"])
    cat, dog = _annotation({"choices": ["cat"]}), _annotation({"choices": ["dog"]})
    path = _studio(tmp_path / "export.json", {row: [cat, dog]})
    with pytest.raises(ValueError, match="have another label already"):
        asked.import_answers(path)
    assert asked.import_answers(path, correct=True) == 0
    assert asked.ledger.labels == {row: "cat"}
    assert asked.ledger.more_labels == {row: ["dog"]}


@pytest.mark.parametrize(
    "value", [{"number": 2.5}, {"rating": 2.5}, {"text": ["2.5"]}, {"text": "2.5"}]
)
def test_numbers_of_label_studio(tmp_path, value):
    evaluation = campaign(None, POOL)
    (row,) = evaluation.ask().indices.tolist()
    path = _studio(tmp_path / "export.json", {row: [_annotation(value)]})
    assert evaluation.import_answers(path) == 1
    assert evaluation.ledger.labels == {row: 2.5}


def test_the_short_export_of_label_studio(tmp_path, asked):
    rows = _pending(asked)
    about = {"annotator": 1, "annotation_id": 7, "created_at": "2024", "lead_time": 2.5}
    records = [
        {"row": rows[0], "features": {"x0": 1.0}, "id": 1, "label": "dog", **about},
        {"row": rows[1], "text": "words", "id": 2, "animal": "cat", **about},
        {"row": rows[2], "id": 3, "label": "cat", "comment": "blurred", **about},
        {"row": rows[2], "id": 3, "label": {"choices": ["dog"]}, **about},
        {"row": rows[3], "id": 4, "label": "cannot tell", **about},
        {"row": rows[4], "id": 5, "annotation_id": None},
    ]
    path = _write(tmp_path / "export.json", json.dumps(records))
    assert read_answers(path, skip="Cannot tell") == {
        rows[0]: ["dog"],
        rows[2]: ["cat", "dog"],
        rows[3]: SKIP,
    }  # What else stands in a record may be data and not an answer.
    assert asked.import_answers(path, skip="cannot tell") == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"data": {"row": 3}', r"export.json is not valid JSON: .*Export it again"),
        ('["row", "label"]', r"export.json is not an export of Label Studio: .*'row'"),
    ],
)
def test_a_file_that_is_not_an_export_is_refused_by_its_name(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_answers(_write(tmp_path / "export.json", text))


def test_numbers_of_the_short_export(tmp_path):
    records = [{"row": 4, "label": [{"number": 3}]}, {"row": "5", "label": "0.5"}]
    records.append({"row": 6, "label": np.nan})
    path = _write(tmp_path / "export.json", json.dumps(records))
    assert read_answers(path) == {4: [3], 5: ["0.5"]}


TWO_CONTROLS = {
    "result": [
        {"from_name": "colour", "value": {"choices": ["red"]}},
        {"from_name": "shape", "value": {"choices": ["round"]}},
    ]
}


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ({"id": 9, "data": {"image": "a.png"}}, "Task 9 of .*export.json has no row"),
        (
            {"data": {"row": "a.png"}, "annotations": [CANCELLED]},
            "'a.png' is not a row",
        ),
        (
            {"data": {"row": 3}, "annotations": [_annotation({"choices": ["a", "b"]})]},
            r"Row 3 has the labels \['a', 'b'\]",
        ),
        (
            {"data": {"row": 3}, "annotations": [TWO_CONTROLS]},
            r"Row 3 has answers in the controls \['colour', 'shape'\]. Name the one",
        ),
    ],
)
def test_annotations_that_cannot_be_understood_are_refused(tmp_path, task, message):
    with pytest.raises(ValueError, match=message):
        read_answers(_write(tmp_path / "export.json", json.dumps(task)))
