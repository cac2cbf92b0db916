"""Files that come from Label Studio."""

import json

import numpy as np
import pytest
from helpers.annotations import (
    CANCELLED,
    POOL,
    annotation,
    open_rows,
    write,
    write_studio_export,
)
from helpers.campaigns import campaign

from sklearn_ase._annotation._answers import SKIP, read_answers


def test_annotations_of_several_people_are_several_answers(tmp_path, asked):
    rows = open_rows(asked)
    cat, dog = annotation({"choices": ["cat"]}), annotation({"choices": ["dog"]})
    path = write_studio_export(
        tmp_path / "export.json",
        {
            rows[2]: [cat, dog, dog],
            rows[0]: [dog],
            rows[1]: [cat, CANCELLED],
            rows[3]: [CANCELLED, CANCELLED],
            rows[4]: [annotation({"choices": []}), {"result": []}],
        },
    )
    assert asked.import_answers(path) == 3
    assert asked.ledger.labels == {rows[0]: "dog", rows[1]: "cat", rows[2]: "cat"}
    assert asked.ledger.more_labels[rows[2]] == ["dog", "dog"]
    assert asked.ledger.skipped == [rows[3]]
    assert open_rows(asked) == [rows[4]]
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
    write(path, json.dumps(tasks[::-1]))
    assert evaluation.import_answers(path, new_classes=[7]) == 7
    told = evaluation.ledger.labels
    assert told == {row: labels[row] for row in evaluation.ledger.indices}
    assert {type(label) for label in told.values()} == {type(labels[0])}


def test_a_further_annotation_corrects_the_answers_of_a_row(tmp_path, asked):
    row = open_rows(asked)[0]
    asked.tell([row], ["cat"])
    cat, dog = annotation({"choices": ["cat"]}), annotation({"choices": ["dog"]})
    path = write_studio_export(tmp_path / "export.json", {row: [cat, dog]})
    with pytest.raises(ValueError, match="have another label already"):
        asked.import_answers(path)
    assert asked.import_answers(path, correct=True) == 0
    assert asked.ledger.labels == {row: "cat"}
    assert asked.ledger.more_labels == {row: ["dog"]}


def test_only_the_control_named_label_is_read(tmp_path, asked):
    rows = open_rows(asked)
    dog = annotation({"choices": ["dog"]})
    sure = annotation({"rating": 4}, "sure")
    note = annotation({"text": ["blurred"]}, "comment")
    link = {"type": "relation", "from_id": "a", "to_id": "b"}  # Without a control.
    for other in (sure, note):
        dog["result"].insert(0, other["result"][0])
    dog["result"].append(link)
    path = write_studio_export(
        tmp_path / "export.json",
        {rows[0]: [dog], rows[1]: [sure], rows[2]: [note, dog], rows[3]: [CANCELLED]},
    )
    assert asked.import_answers(path) == 2
    assert asked.ledger.labels == {rows[0]: "dog", rows[2]: "dog"}
    assert asked.ledger.skipped == [rows[3]]


def test_a_class_of_any_name_comes_back(tmp_path):
    evaluation = campaign(["", "None", "nan"], POOL, is_closed=True)
    rows = evaluation.ask(4).indices.tolist()
    given = [{"choices": ["nan"]}, {"choices": [""]}, {"text": "None"}, {"choices": []}]
    given = {row: [annotation(value)] for row, value in zip(rows, given, strict=True)}
    path = write_studio_export(tmp_path / "export.json", given)
    assert evaluation.import_answers(path) == 3
    assert evaluation.ledger.labels == {rows[0]: "nan", rows[1]: "", rows[2]: "None"}
    assert read_answers(path) == {rows[2]: ["None"]}  # Without such classes.


@pytest.mark.parametrize(
    "value", [{"number": 2.5}, {"rating": 2.5}, {"text": ["2.5"]}, {"text": "2.5"}]
)
def test_numbers_of_label_studio(tmp_path, value):
    evaluation = campaign(None, POOL)
    (row,) = evaluation.ask().indices.tolist()
    path = write_studio_export(tmp_path / "export.json", {row: [annotation(value)]})
    assert evaluation.import_answers(path) == 1
    assert evaluation.ledger.labels == {row: 2.5}


def test_the_short_export_of_label_studio(tmp_path, asked):
    rows = open_rows(asked)
    about = {"annotator": 1, "annotation_id": 7, "created_at": "2024", "lead_time": 2.5}
    records = [
        {"row": rows[0], "features": {"x0": 1.0}, "id": 1, "label": "dog", **about},
        {"row": rows[1], "text": "words", "id": 2, "animal": "cat", **about},
        {"row": rows[2], "id": 3, "label": "cat", "comment": "blurred", **about},
        {"row": rows[2], "id": 3, "label": {"choices": ["dog"]}, **about},
        {"row": rows[3], "id": 4, "label": "cannot tell", **about},
        {"row": rows[4], "id": 5, "annotation_id": None},
    ]
    path = write(tmp_path / "export.json", json.dumps(records))
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
        read_answers(write(tmp_path / "export.json", text))


def test_numbers_of_the_short_export(tmp_path):
    records = [{"row": 4, "label": [{"number": 3}]}, {"row": "5", "label": "0.5"}]
    records.append({"row": 6, "label": np.nan})
    path = write(tmp_path / "export.json", json.dumps(records))
    assert read_answers(path) == {4: [3], 5: ["0.5"]}


def test_the_short_export_has_the_order_of_the_long_one(tmp_path):
    """Label Studio writes the newest annotation of a task first."""
    answers = [(8, 4, "cow"), (8, 2, "cat"), (3, 3, "dog"), (3, 1, "cat"), (5, None, 0)]
    records = [
        {"row": row, "id": row, "annotation_id": number, "annotator": 1}
        | ({"label": label} if number else {})
        for row, number, label in answers
    ]
    path = write(tmp_path / "export.json", json.dumps(records))
    assert read_answers(path) == {3: ["cat", "dog"], 8: ["cat", "cow"]}
    for record in records:  # Without numbers the order of the file is kept.
        del record["annotation_id"]
    write(path, json.dumps(records))
    assert read_answers(path) == {8: ["cow", "cat"], 3: ["dog", "cat"]}


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
            {"data": {"row": 3}, "annotations": [annotation({"choices": ["a", "b"]})]},
            r"Row 3 has the labels \['a', 'b'\]",
        ),
        (
            {"data": {"row": 3}, "annotations": [TWO_CONTROLS]},
            r"answers in \['colour', 'shape'\], but none in a control named 'label'",
        ),
        (
            {"row": 3, "id": 1, "annotation_id": 7, "animal": "cat"},
            r"answers in \['animal'\], but none in a control named 'label'",
        ),
        (
            {"data": {"row": 3}, "annotations": [annotation({"taxonomy": [["a"]]})]},
            r"Row 3 has the answer .*taxonomy.*Use Choices or Number",
        ),
        ({"data": {"row": 3}, "annotations": [7]}, "holds 7 where"),
        ({"data": [3]}, "has no row in its data"),
    ],
)
def test_annotations_that_cannot_be_understood_are_refused(tmp_path, task, message):
    with pytest.raises(ValueError, match=message):
        read_answers(write(tmp_path / "export.json", json.dumps(task)))
