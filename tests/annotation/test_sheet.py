"""Spreadsheets: no cell is a formula, and what comes back is exact or refused."""

import csv

import numpy as np
import pandas as pd
import pytest
from helpers.annotations import POOL, fill_in, open_rows, read_table, write
from helpers.campaigns import campaign

from sklearn_ase._annotation._answers import read_answers
from sklearn_ase._annotation._sheet import export_rows

ODD_NAMES = ["nan", "NaN", "NA", "None", "=1+1", "-", "'=1+1", " cat", "cat", "1,5"]


@pytest.mark.parametrize("sign", list("=+-@\t\r"))
def test_no_text_is_a_formula(tmp_path, sign):
    text = f"{sign}cmd|' /C calc'!A0"
    X = pd.DataFrame({text: [text] * 12, "n": -1.5, "s": "-1.5", "e": -1e-7})
    export_rows(X, [3], tmp_path / "batch.csv", predictions=np.array([text] * 12))
    (line,) = read_table(tmp_path / "batch.csv")
    assert line["prediction"] == line[f"'{text}"] == f"'{text}"
    assert [line["n"], line["s"], line["e"]] == ["-1.5", "-1.5", "-1e-07"]


def test_durations_and_infinities_are_no_formulas(tmp_path):
    X = pd.DataFrame({"wait": pd.to_timedelta([-1] * 12, unit="D"), "x": -np.inf})
    export_rows(X, [3], tmp_path / "batch.csv")
    (line,) = read_table(tmp_path / "batch.csv")
    assert line["wait"].startswith("'-1 days")
    assert line["x"] == "'-inf"


def test_a_label_copied_from_the_predictions_is_the_class(tmp_path):
    evaluation = campaign(["-yes", "no"], POOL)
    rows = evaluation.ask(2).indices.tolist()
    path = tmp_path / "batch.csv"
    evaluation.export(rows, path, predictions=np.array(["-yes"] * 12))
    copied = [line["prediction"] for line in read_table(path)]
    fill_in(path, dict(zip(rows, copied, strict=True)))
    assert evaluation.import_answers(path) == 2
    assert set(evaluation.ledger.labels.values()) == {"-yes"}


def test_characters_that_have_no_encoding_do_not_stop_an_export(tmp_path):
    for name in ("batch.csv", "batch.json"):
        export_rows(["half \ud800"] * 2, [1], tmp_path / name)
        assert r"half \ud800" in (tmp_path / name).read_text(encoding="utf-8")


def test_long_texts_come_back(tmp_path):
    limit = csv.field_size_limit()
    evaluation = campaign(["cat", "dog"], ["word " * limit] * 3)
    evaluation.export(evaluation.ask(1), tmp_path / "batch.csv")
    with pytest.raises(csv.Error, match="field larger"):
        read_table(tmp_path / "batch.csv")
    row = open_rows(evaluation)[0]
    text = (tmp_path / "batch.csv").read_text(encoding="utf-8-sig")
    text = text.replace(f"{row},", f"{row},dog", 1)
    assert evaluation.import_answers(write(tmp_path / "batch.csv", text)) == 1
    assert csv.field_size_limit() == limit


# Quotation marks and separators.


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('row,label,note\n3,cat,"good\n4,dog,\n5,cow,\n', 2),
        ('row,label\n3,cat\n4,"dog\n5,cow\n', 3),
        ('row,label,note\n3,cat,"two\nlines"\n4,dog,"so so\n5,cow,"x"\n', 4),
        ('row,label,note\n3,cat,"a"b\n', 2),
        ('row,label,note\n3,cat,"good\n4,dog,\n5,cow,bad"\n', 2),
        ('row,label\n3,"cat\n4.0,dog\n5,cow"\n', 2),
    ],
    ids=["open", "label", "later", "inside", "closed by another", "in the label"],
)
def test_an_open_quotation_mark_does_not_swallow_lines(tmp_path, text, line):
    with pytest.raises(ValueError, match=rf"batch.csv, line {line}.*quotation mark"):
        read_answers(write(tmp_path / "batch.csv", text))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("row,label\n3,2\n4,1,5\n", 3),
        ("row,text,label\n3,hello, world,dog\n", 2),
    ],
)
def test_a_line_with_too_many_cells_is_refused(tmp_path, text, line):
    with pytest.raises(ValueError, match=rf"line {line} has \d cells, but there are"):
        read_answers(write(tmp_path / "batch.csv", text))


def test_empty_cells_at_the_end_of_a_line_are_no_harm(tmp_path):
    path = write(tmp_path / "batch.csv", "row,label\n3,cat,,\n4,dog, \n")
    assert read_answers(path) == {3: ["cat"], 4: ["dog"]}


def test_a_point_beside_decimal_commas_may_separate_thousands(tmp_path):
    path = write(tmp_path / "batch.csv", "row;label\n3;2,5\n4;7\n5;1.234\n")
    with pytest.raises(
        ValueError, match=r"comma in line 2, and one with a point in li"
    ):
        read_answers(path)


# Labels, exactly.


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_class_comes_back_under_its_name(tmp_path, name):
    evaluation = campaign(sorted(ODD_NAMES), POOL, is_closed=True)
    rows = evaluation.ask(2).indices.tolist()
    for delimiter in ",;\t":
        path = tmp_path / "batch.csv"
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter=delimiter).writerows(
                [["row", "label"], [rows[0], name], [rows[1], ""]]
            )
        evaluation.import_answers(path)
        assert evaluation.ledger.labels == {rows[0]: name}


def test_a_class_without_a_name_is_written_as_two_quotation_marks(tmp_path):
    evaluation = campaign(["", "x"], POOL)
    rows = evaluation.ask(3).indices.tolist()
    evaluation.export(rows, tmp_path / "batch.csv")
    assert evaluation.import_answers(tmp_path / "batch.csv") == 0  # Nothing filled in.
    fill_in(tmp_path / "batch.csv", dict(zip(rows, ['""', "", "x"], strict=True)))
    assert evaluation.import_answers(tmp_path / "batch.csv") == 2
    assert evaluation.ledger.labels == {rows[0]: "", rows[2]: "x"}


def test_without_such_a_class_nan_is_an_empty_cell(tmp_path, asked):
    row = open_rows(asked)[0]
    path = write(tmp_path / "batch.csv", f"row,label\n{row},nan\n")
    assert asked.import_answers(path) == 0


def test_texts_that_look_like_truth_values_survive_a_spreadsheet(tmp_path):
    evaluation = campaign(["False", "True"], POOL, is_closed=True)
    rows = evaluation.ask(2).indices.tolist()
    text = f"row,label\n{rows[0]},TRUE\n{rows[1]},FALSE\n"
    assert evaluation.import_answers(write(tmp_path / "batch.csv", text)) == 2
    assert evaluation.ledger.labels == {rows[0]: "True", rows[1]: "False"}


def test_the_word_for_skipping_cannot_be_a_class(tmp_path, asked):
    rows = open_rows(asked)
    path = write(tmp_path / "batch.csv", f"row,label\n{rows[0]},dog\n{rows[1]},DOG\n")
    with pytest.raises(ValueError, match="skip='dog' is one of the classes"):
        asked.import_answers(path, skip="dog")
    assert asked.import_answers(path, skip="Dog") == 1  # A class is not a skip.
    assert asked.ledger.labels == {rows[0]: "dog"}


@pytest.mark.parametrize(
    ("classes", "text", "needed"),
    [
        ([0, 1], str(10**25), "a whole number of at most 64 bits"),
        ([0, 1], "1E+25", "a whole number"),
        ([0, 1], "1.23457E+17", "a whole number"),  # Digits are lost.
        ([0, 1], "1.5", "a whole number"),
        ([0, 1], "1_0", "a whole number"),
        ([0, 1], "TRUE", "a whole number"),
        (None, "1_5", "a finite number"),
        (None, "1.234,5", "a finite number"),
        (None, "1e400", "a finite number"),
        ([False, True], "WAHR", "one of"),
    ],
)
def test_a_cell_that_is_no_label_is_refused_with_its_row(
    tmp_path, classes, text, needed
):
    evaluation = campaign(classes, POOL)
    rows = evaluation.ask(2).indices.tolist()
    path = write(tmp_path / "batch.csv", f"row;label\n{rows[0]};1\n{rows[1]};{text}\n")
    with pytest.raises(ValueError, match=rf"Row {rows[1]}: .*not a valid.*{needed}"):
        evaluation.import_answers(path)
    assert open_rows(evaluation) == rows


@pytest.mark.parametrize("cell", ["#NAME?", "#REF!", "#DIV/0!", "#N/A"])
def test_an_error_of_the_spreadsheet_is_no_new_class(tmp_path, asked, cell):
    row = open_rows(asked)[0]
    path = write(tmp_path / "batch.csv", f"row,label\n{row},{cell}\n")
    with pytest.raises(ValueError, match=r"line 2: .*error of the spreadsheet"):
        asked.import_answers(path)
