"""A sheet whose texts stand beside other row numbers is refused."""

import csv

import numpy as np
import pandas as pd
import pytest
from helpers.annotations import read_table
from helpers.campaigns import campaign

QUESTIONS = [f"What is {3 * i} times {i + 2}, dear model?" for i in range(12)]


def _frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "question": QUESTIONS,
            "kind": ["sum", "product"] * 6,
            "score": rng.random(12),
            "day": pd.date_range("2026-01-01", periods=12).astype(str),
        }
    )


def _save(path, lines):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)
    return path


@pytest.fixture(params=["frame", "texts", "numbers"])
def sheet(request, tmp_path):
    """An evaluation that waits, the path of its sheet, and its filled lines."""
    pool = _frame()
    if request.param == "texts":
        pool = QUESTIONS
    if request.param == "numbers":
        pool = np.random.default_rng(1).normal(size=(12, 3))
    evaluation = campaign(["cat", "dog"], pool)
    path = tmp_path / "batch.csv"
    evaluation.export(evaluation.ask(6), path)
    lines = [line | {"label": "cat"} for line in read_table(path)]
    return evaluation, path, lines


def _shifted(lines, name):
    """The lines with one column moved down by a cell."""
    cells = [line[name] for line in lines]
    moved = [cells[-1], *cells[:-1]]
    return [line | {name: cell} for line, cell in zip(lines, moved, strict=True)]


def test_row_numbers_that_moved_are_refused_with_the_first_line(sheet):
    evaluation, path, lines = sheet
    _save(path, _shifted(lines, "row"))
    with pytest.raises(ValueError, match=r"batch.csv, line 2: row \d+ of the pool has"):
        evaluation.import_answers(path)
    assert not evaluation.ledger.labels


def test_row_numbers_that_were_sorted_alone_are_refused(sheet):
    evaluation, path, lines = sheet
    rows = sorted((line["row"] for line in lines), key=int)
    lines = [line | {"row": row} for line, row in zip(lines, rows, strict=True)]
    _save(path, lines)
    with pytest.raises(ValueError, match="does not fit the others"):
        evaluation.import_answers(path)


def test_whole_lines_may_be_in_any_order_with_columns_added_or_removed(sheet):
    evaluation, path, lines = sheet
    lines = [{"note": "What is this?", **line} for line in reversed(lines)]
    del lines[0][list(lines[0])[-1]]
    _save(path, [{name: line.get(name, "") for name in lines[1]} for line in lines])
    assert evaluation.import_answers(path) == 6


def test_cells_that_a_spreadsheet_writes_in_its_way_are_the_same(tmp_path):
    evaluation = campaign(["cat", "dog"], _frame())
    path = tmp_path / "batch.csv"
    evaluation.export(evaluation.ask(6), path)
    lines = [
        line
        | {
            "label": "cat",
            "question": f"  {line['question']}\n ",
            "kind": line["kind"].upper(),
            "score": f"{float(line['score']):.2f}".replace(".", ","),
            "day": "/".join(reversed(line["day"].split("-"))),
        }
        for line in read_table(path)
    ]
    assert evaluation.import_answers(_save(path, lines)) == 6


def test_a_text_that_was_cut_or_mended_is_still_that_of_its_row(tmp_path):
    evaluation = campaign(["cat", "dog"], QUESTIONS)
    path = tmp_path / "batch.csv"
    evaluation.export(evaluation.ask(3), path)
    lines = [line | {"label": "cat"} for line in read_table(path)]
    lines[0]["text"] = lines[0]["text"][:20]
    lines[1]["text"] = lines[1]["text"].replace("dear model", "dear Model, please")
    assert evaluation.import_answers(_save(path, lines)) == 3


def test_a_sheet_of_another_pool_is_refused(tmp_path):
    evaluation = campaign(["cat", "dog"], QUESTIONS)
    path = tmp_path / "batch.csv"
    evaluation.export(evaluation.ask(3), path)
    lines = [
        line | {"label": "cat", "text": "Paris lies on the river Seine."}
        for line in read_table(path)
    ]
    with pytest.raises(ValueError, match="this line shows 'Paris lies"):
        evaluation.import_answers(_save(path, lines))


def test_rows_that_look_the_same_are_not_told_apart(tmp_path):
    evaluation = campaign(["cat", "dog"], ["one and the same text"] * 12)
    path = tmp_path / "batch.csv"
    evaluation.export(evaluation.ask(4), path)
    lines = [line | {"label": "cat"} for line in read_table(path)]
    assert evaluation.import_answers(_save(path, _shifted(lines, "row"))) == 4
