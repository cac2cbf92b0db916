"""Sheets that come back: moved rows, slips, several people, hidden columns."""

import json


def _rewrite(desk, name, change):
    lines = [change(place, line) for place, line in enumerate(desk.read(name))]
    desk.write(name, lines)


def test_texts_beside_other_row_numbers_are_refused_with_the_line(desk):
    desk.start()
    desk.run("ask", "eval.jsonl", "8", "--out", "batch.csv")
    desk.fill("batch.csv")
    rows = [line["row"] for line in desk.read("batch.csv")]
    _rewrite(desk, "batch.csv", lambda k, line: line | {"row": rows[k - 1]})
    code, _, err = desk.run("tell", "eval.jsonl", "batch.csv")
    assert code == 64
    assert f"batch.csv, line 2: row {rows[-1]} of the pool has" in err
    assert f"which is row {rows[0]}" in err
    assert json.loads(desk.run("status", "eval.jsonl", "--json")[1])["labels"] == 0


def test_sheets_of_two_people_are_told_together(desk):
    desk.start()
    desk.run("ask", "eval.jsonl", "10", "--out", "one.csv")
    desk.fill("one.csv")
    desk.write("other.csv", desk.read("one.csv"))
    other = {"correct": "wrong", "wrong": "correct"}
    _rewrite(
        desk,
        "other.csv",
        lambda k, line: line | {"label": other[line["label"]]} if k < 3 else line,
    )
    code, out, err = desk.run("tell", "eval.jsonl", "one.csv", "other.csv")
    assert code == 0, err
    assert "Recorded 10 new labels" in out
    assert "20 for 10 rows" in desk.run("agreement", "eval.jsonl")[1]


def test_a_second_sheet_alone_is_refused_with_the_command_that_works(desk):
    desk.start()
    desk.label(5, "one.csv")
    desk.write("other.csv", desk.read("one.csv"))
    _rewrite(desk, "other.csv", lambda k, line: line | {"label": "wrong"})
    code, _, err = desk.run("tell", "eval.jsonl", "other.csv")
    assert code == 64
    assert "tell JOURNAL one.csv other.csv --correct" in err
    assert desk.run("tell", "eval.jsonl", "one.csv", "other.csv", "--correct")[0] == 0


def test_the_columns_that_people_see_can_be_chosen(desk):
    desk.start()
    words = ["ask", "eval.jsonl", "4", "--out", "batch.csv", "--columns", "answer"]
    assert desk.run(*words)[0] == 0
    assert list(desk.read("batch.csv")[0]) == ["row", "label", "answer"]
    code, _, err = desk.run(*words[:-1], "nothing", "--overwrite")
    assert code == 64
    assert "--columns" in err


def _judged(desk):
    words = {"correct": "pass", "wrong": "fail"}
    desk.write("pool.csv", [r | {"says": words[r["model"]]} for r in desk.rows])


def test_words_of_a_judge_are_translated(desk):
    _judged(desk)
    says = ("--judge", "says", "--judge-says", "pass=correct", "fail=wrong")
    assert desk.start(*says)[0] == 0
    desk.label(20)
    code, out, _ = desk.run("judges", "eval.jsonl", "--json")
    assert code == 0
    assert json.loads(out)[0]["agreement"] > 0.5


def test_words_of_a_judge_without_a_meaning_are_refused_with_the_option(desk):
    _judged(desk)
    code, _, err = desk.start("--judge", "says")
    assert code == 64
    assert "--judge-says pass=correct fail=wrong" in err
    code, _, err = desk.start("--judge", "says", "--judge-says", "pass=good")
    assert code == 64
    assert "--judge-says pass=good must have the form WORD=LABEL" in err
