"""Sheets of several people give several answers for a row."""

import pytest
from helpers.annotations import open_rows, write


def _sheets(asked, tmp_path, *columns):
    rows, paths = open_rows(asked), []
    for name, labels in zip("abc", columns, strict=False):
        lines = [f"{row},{x}" for row, x in zip(rows, labels, strict=True)]
        text = "\n".join(["row,label", *lines])
        paths.append(write(tmp_path / f"{name}.csv", text))
    return rows, paths


def test_sheets_of_two_people_are_put_together(tmp_path, asked):
    one = ["cat", "cat", "dog", "", "?"]
    other = ["cat", "dog", "?", "dog", "?"]
    rows, paths = _sheets(asked, tmp_path, one, other)
    assert asked.import_answers(paths, skip="?") == 4
    assert asked.ledger.labels == dict(
        zip(rows, ["cat", "cat", "dog", "dog"], strict=False)
    )
    assert asked.ledger.more_labels == {rows[0]: ["cat"], rows[1]: ["dog"]}
    assert asked.ledger.skipped == [rows[4]]
    assert asked.agreement().agreement == pytest.approx(0.5, abs=0.5)


def test_a_second_sheet_alone_is_refused_with_what_to_do(tmp_path, asked):
    one, other = ["cat"] * 5, ["cat", "dog", "dog", "cat", "cat"]
    rows, paths = _sheets(asked, tmp_path, one, other)
    asked.import_answers(paths[0])
    with pytest.raises(ValueError, match=r"import_answers\(\[one, other\], correct"):
        asked.import_answers(paths[1])
    assert asked.import_answers(paths, correct=True) == 0
    assert asked.ledger.more_labels[rows[1]] == ["dog"]


def test_a_sheet_that_is_named_twice_is_no_second_person(tmp_path, asked):
    _, paths = _sheets(asked, tmp_path, ["cat"] * 5)
    with pytest.raises(ValueError, match="each of them once"):
        asked.import_answers([paths[0], paths[0]])
    with pytest.raises(ValueError, match="name a file"):
        asked.import_answers([])
