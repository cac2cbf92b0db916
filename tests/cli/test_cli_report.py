"""The command ``report`` writes what Python would write."""

import json

import pytest
from helpers.reports import Page

from sklearn_ase._cli._campaign import Campaign


@pytest.fixture
def labelled(desk):
    desk.start()
    desk.label(15)
    desk.label(25)
    return desk


def test_the_report_has_the_numbers_of_the_other_commands(labelled):
    page, text = labelled.path("report.html"), labelled.path("report.md")
    words = ["report", "eval.jsonl", "--html", page, "--md", text, "--by", "region"]
    code, out, err = labelled.run(*words, "--metric", "share:wrong", "--title", "May")
    assert (code, err) == (0, "")
    assert out == f"Wrote {page} and {text}.\n"
    with open(text, encoding="utf-8") as file:
        found = file.read()
    status = json.loads(labelled.run("status", "eval.jsonl", "--json")[1])
    assert f"{status['low']:.3f} to {status['high']:.3f}" in found
    assert f"{status['anytime_low']:.3f} to {status['anytime_high']:.3f}" in found
    for line in json.loads(
        labelled.run("estimate", "eval.jsonl", "--by", "region", "--json")[1]
    ):
        assert f"| {line['group']} | {line['estimate']:.3f}" in found
    assert found.startswith("# May\n")
    assert "| share of wrong |" in found
    assert "- pool: pool.csv" in found
    assert Campaign.load(labelled.path("eval.jsonl")).fingerprint in found
    with open(page, encoding="utf-8") as file:
        assert Page(file.read()).problems == []


def test_without_a_file_the_report_is_printed(labelled):
    code, out, _ = labelled.run("report", "eval.jsonl")
    assert code == 0
    assert out.startswith("# Report: share of correct\n")
    found = json.loads(labelled.run("report", "eval.jsonl", "--json")[1])
    assert found["markdown"].startswith("# Report")
    assert (found["html"], found["md"]) == (None, None)


def test_texts_of_the_pool_are_in_the_report_only_if_asked_for(labelled):
    assert "question" not in labelled.run("report", "eval.jsonl")[1]
    _, out, _ = labelled.run("report", "eval.jsonl", "--show", "question", "answer")
    assert "| row | question | answer | label |" in out
    assert "<script>" not in out


def test_a_report_before_the_first_label_says_what_is_missing(desk):
    desk.start()
    code, out, _ = desk.run("report", "eval.jsonl")
    assert code == 0
    assert "No row is labelled yet." in out


def test_a_report_of_several_metrics_of_a_model(desk):
    more = "--prediction", "model", "--pos-label", "wrong"
    desk.start(*more, metric="accuracy")
    desk.label(40)
    words = ["--metric", "f1", "recall", "share:correct"]
    code, out, err = desk.run("report", "eval.jsonl", *words)
    assert code == 0, err
    assert "of wrong | 0." in out
    assert "| share of correct | 0." in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--html", "report.txt"], "must end in .html"),
        (["--md", "report.html"], "must end in .md"),
        (["--html", "nowhere/report.html"], "does not exist"),
        (["--by", "planet"], "no such column"),
        (["--show", "planet"], "no such column"),
        (["--metric", "r2"], "about numbers"),
        (["--level", "2"], "--level"),
    ],
)
def test_wrong_options_are_one_sentence(labelled, words, message):
    code, out, err = labelled.run("report", "eval.jsonl", *words)
    assert (code, out) == (64, "")
    assert message in err
    assert err.count("\n") == 1


def test_models_are_compared_in_the_report(desk):
    for place, row in enumerate(desk.rows):
        row["always"] = "correct"
        row["best"] = desk.labels[place] if place % 10 else "correct"
    desk.write("pool.csv", desk.rows)
    desk.start()
    desk.label(50)
    words = ["eval.jsonl", "--compare", "best", "always", "--metric", "accuracy"]
    code, out, _ = desk.run("report", *words)
    assert code == 0
    found = json.loads(desk.run("estimate", *words, "--json")[1])
    assert found["verdict"] in out
    for line in found["table"]:
        assert f"| {line['model']} | {line['estimate']:.3f} " in out
    assert "## Other metrics" not in out  # There is no model under test.
    code, _, err = desk.run("report", "eval.jsonl", "--compare", "best", "always")
    assert code == 64
    assert "--metric accuracy" in err


def test_groups_of_rows_are_compared_in_the_report_as_by_estimate(desk):
    for row, label in zip(desk.rows, desk.labels, strict=True):
        row["system"] = "a" if label == "correct" else "b"
        row["chat"] = row["question"][-2:]
    desk.write("pool.csv", desk.rows)
    desk.start()
    desk.label(50)
    words = ["--compare-by", "system"]
    code, out, _ = desk.run("report", "eval.jsonl", *words, "--groups", "chat")
    assert code == 0
    found = json.loads(desk.run("estimate", "eval.jsonl", *words, "--json")[1])
    assert "## Comparison by system" in out
    assert found["verdict"] in out
    assert "a is the best of 2 groups" in out
    assert "drawn at random, group by group" in out
    plain = desk.run("report", "eval.jsonl", *words)[1]
    assert "drawn at random, row by row" in plain
    for option in ("--compare-by", "--groups"):
        code, _, err = desk.run("report", "eval.jsonl", option, "nothing")
        assert code == 64
        assert f"{option} nothing" in err
