"""Sheets show what people read, unharmed, and nothing that a judge or a model says."""

import json

import pytest

FORMULAS = tuple("=+-@\t\r\n")


def test_a_sheet_has_no_score_and_no_prediction(desk):
    desk.start("--judge", "gpt4", "--prediction", "model", "--known", "gold")
    desk.run("ask", "eval.jsonl", "20", "--out", "batch.csv")
    sheet = desk.read("batch.csv")
    assert list(sheet[0]) == ["row", "label", "question", "answer"]
    assert all(line["label"] == "" for line in sheet)
    text = (desk.folder / "batch.csv").read_text(encoding="utf-8")
    assert not any(desk.rows[int(line["row"])]["gpt4"] in text for line in sheet)


def test_a_judge_is_shown_only_if_asked_for(desk):
    desk.start()
    desk.run("ask", "eval.jsonl", "5", "--out", "batch.csv", "--show", "gpt4")
    for line in desk.read("batch.csv"):
        assert line["gpt4"] == desk.rows[int(line["row"])]["gpt4"]


def test_a_judge_cannot_be_among_the_texts(desk):
    code, _, err = desk.start("--judge", "gpt4", "--prediction", "answer")
    assert code == 64
    assert "--text answer" in err


def test_hostile_text_reaches_the_sheet_and_labels_come_back(desk):
    desk.start()
    desk.run("ask", "eval.jsonl", "40", "--out", "batch.csv")
    sheet = desk.read("batch.csv")
    for line in sheet:
        answer = desk.rows[int(line["row"])]["answer"]
        if answer.startswith(FORMULAS):
            assert line["answer"] == f"'{answer}"  # No formula for a spreadsheet.
        else:
            assert line["answer"] == answer
    assert len({line["answer"] for line in sheet}) > 5
    desk.fill("batch.csv")
    code, out, err = desk.run("tell", "eval.jsonl", "batch.csv")
    assert code == 0, err
    assert "Recorded 40 new labels" in out  # Also beside texts that look like answers.


def test_hostile_labels_come_back_as_they_are(desk):
    names = "=correct", "<b>falsch</b>"
    labels = [names[label == "wrong"] for label in desk.labels]
    code, _, err = desk.start("--judge", "gpt4", metric="share:=correct", labels=names)
    assert code == 0, err
    desk.label(12, labels=labels)
    _, out, _ = desk.run("status", "eval.jsonl", "--json")
    last = json.loads(out)["last_label"]
    assert last["label"] == labels[last["row"]]


def test_a_text_column_named_label_does_not_hide_the_empty_one(desk):
    for row in desk.rows:
        row["label"] = "a text"
    desk.write("pool.csv", desk.rows)
    words = ["start", "pool.csv", "--journal", "eval.jsonl", "--text", "label"]
    words += ["--judge", "gpt4", "--labels", "correct", "wrong"]
    assert desk.run(*words, "--metric", "share:correct")[0] == 0
    desk.run("ask", "eval.jsonl", "3", "--out", "batch.csv")
    assert list(desk.read("batch.csv")[0]) == ["row", "label", "label (text)"]


def test_tasks_for_label_studio(desk):
    desk.start()
    assert desk.run("ask", "eval.jsonl", "3", "--out", "tasks.json")[0] == 0
    tasks = json.loads((desk.folder / "tasks.json").read_text(encoding="utf-8"))
    assert {*tasks[0]["data"]["features"]} == {"question", "answer"}
    for task in tasks:
        label = desk.labels[task["data"]["row"]]
        value = {"from_name": "label", "value": {"choices": [label]}}
        task["annotations"] = [{"result": [value]}]
    (desk.folder / "done.json").write_text(json.dumps(tasks), encoding="utf-8")
    code, out, err = desk.run("tell", "eval.jsonl", "done.json")
    assert code == 0, err
    assert "3 new labels" in out


HOSTILE = {
    "html": "<script>alert('x')</script><img src=x onerror=y>&amp;",
    "formula": "=cmd|' /C calc'!A0",
    "wide formula": "＝1+1",
    "tab formula": "\t=1+1",
    "control": "bell \x07 escape \x1b[2J null \x00 delete \x7f end",
    "lines": 'one\r\ntwo\nthree, a "quote" and a ; semicolon',
    "right to left": "\u202eevil\u202c العربية עברית",
    "alphabets": "Ответ 答え คำตอบ ελληνικά 👩‍👩‍👧‍👦",
    "mark": "a\ufeffb \u2028 line separator",
    "long": "word " * 40_000,
}


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_hostile_cells_survive_the_round_trip(desk, ending):
    texts = [*HOSTILE.values()] * 4
    scores = [f"{(place % 7) / 7:.2f}" for place in range(40)]
    rows = [{"=a": t, "judge": s} for t, s in zip(texts, scores, strict=True)]
    if ending == "csv":
        desk.write("hostile.csv", rows)
    else:
        lines = "\n".join(map(json.dumps, rows))
        (desk.folder / "hostile.jsonl").write_text(lines, encoding="utf-8")
    words = ["start", f"hostile.{ending}", "--journal", "eval.jsonl", "--text", "=a"]
    words += ["--judge", "judge", "--labels", "correct", "wrong"]
    code, _, err = desk.run(*words, "--metric", "share:correct")
    assert code == 0, err
    desk.run("ask", "eval.jsonl", "40", "--out", "batch.csv")
    desk.run("ask", "eval.jsonl", "40", "--out", "tasks.json")
    sheet = desk.read("batch.csv")
    assert len(sheet) == 40
    for line in sheet:
        text = texts[int(line["row"])]
        is_formula = text[0] in "=\t＝"
        assert line["'=a"] == ("'" + text if is_formula else text)
    tasks = json.loads((desk.folder / "tasks.json").read_text(encoding="utf-8"))
    for task in tasks:
        data = task["data"]
        assert data["features"]["=a"] == texts[data["row"]]
    desk.fill("batch.csv")
    code, out, err = desk.run("tell", "eval.jsonl", "batch.csv")
    assert code == 0, err
    assert "Recorded 40 new labels" in out
    code, out, _ = desk.run("estimate", "eval.jsonl", "--by", "=a")
    assert code == 0
    assert not any(sign in out for sign in "\x07\x1b\x00\x7f\u202e")
    code, out, _ = desk.run("columns", f"hostile.{ending}")
    assert code == 0
    assert not any(sign in out for sign in "\x07\x1b\x00\x7f\u202e")


def test_half_a_sign_of_unicode_is_written_in_another_way(desk):
    for row in desk.rows:
        row["answer"] = "half \ud800 of a sign"
    lines = "\n".join(map(json.dumps, desk.rows))
    (desk.folder / "half.jsonl").write_text(lines, encoding="utf-8")
    words = ["start", "half.jsonl", "--journal", "eval.jsonl", "--text", "answer"]
    words += ["--judge", "gpt4", "--labels", "correct", "wrong"]
    code, _, err = desk.run(*words, "--metric", "share:correct")
    assert code == 0, err
    desk.run("ask", "eval.jsonl", "5", "--out", "batch.csv")
    assert all(r["answer"] == "half \\ud800 of a sign" for r in desk.read("batch.csv"))
