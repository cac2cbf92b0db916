"""Errors are one sentence on stderr and exit code 64; nothing is half done."""

import json
import os
import subprocess
import sys

import pytest

from sklearn_ase._cli import _main
from sklearn_ase._cli._main import main
from sklearn_ase.surrogate import ExpertSurrogate

COMMANDS = ["columns", "start", "ask", "tell", "annotate", "status", "plan", "check"]
COMMANDS += ["estimate", "judges", "agreement", "diagnose"]


def assert_refused(done, *words):
    code, out, err = done
    assert code == 64, (out, err)
    assert out == ""
    assert err.startswith("sklearn-ase: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    for word in words:
        assert word in err


@pytest.mark.parametrize(
    ("more", "how", "words"),
    [
        (["--judge", "gpt5"], {}, ["gpt5", "question, answer"]),
        (["--judge", "words"], {}, ["words", "0 to 1"]),
        (["--judge", "region"], {}, ["region", "'south'", "row 0"]),
        (["--judge", "gpt4", "--cost", "region"], {}, ["region", "'south'"]),
        (["--judge", "gpt4", "--weight", "gold"], {}, ["gold", "'wrong'", "row 0"]),
        (["--prediction", "region"], {"metric": "accuracy"}, ["region", "--labels"]),
        (["--judge", "gpt4"], {"metric": "accuracy"}, ["--prediction"]),
        (["--judge", "gpt4"], {"metric": "share:good"}, ["good", "correct, wrong"]),
        (["--judge", "gpt4"], {"metric": "accuracie"}, ["'accuracy'"]),
        (["--judge", "gpt4"], {"metric": "mean"}, ["--labels"]),
        (["--judge", "gpt4"], {"metric": "score:correct=x"}, ["good=1"]),
        (["--judge", "gpt4"], {"labels": ("correct",)}, ["--labels", "two"]),
        (["--prediction", "model"], {"metric": "roc_auc"}, ["--proba"]),
        (["--proba", "gpt4"], {"metric": "accuracy"}, ["--pos-label"]),
        (["--weight", "words"], {}, ["--judge"]),
        (["--judge", "gpt4", "--loss", "squared_error"], {}, ["--loss", "numbers"]),
        (["--judge", "gpt4", "--train", "pool.csv"], {}, ["--features"]),
        (["--judge", "gpt4", "--train-label", "gold"], {}, ["--train FILE"]),
        (["--judge", "gpt4", "--until-width", "0"], {}, ["above 0"]),
        (["--judge", "gpt4", "--format", "deepeval"], {}, ["not valid JSON"]),
        (
            ["--features", "words", "--train", "pool.csv", "--train-label", "label"],
            {},
            ["--train-label label", "the file of --train"],
        ),
        (
            ["--judge", "gpt4", "--prediction", "model"],
            {"metric": "accuracy"},
            ["--judge gpt4", "--pos-label"],
        ),
    ],
)
def test_a_start_that_fails_leaves_no_trace(desk, more, how, words):
    assert_refused(desk.start(*more, **how), *words)
    assert [path.name for path in desk.folder.iterdir()] == ["pool.csv"]
    assert desk.start()[0] == 0


def test_a_campaign_is_not_started_twice(desk):
    desk.start()
    before = (desk.folder / "eval.jsonl").read_bytes()
    assert_refused(desk.start(), "exists already", "ask")
    assert (desk.folder / "eval.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n3\n", ["line 3", "1 cells"]),
        ("a,a\n1,2\n", ["different name"]),
        ("a,b\n", ["no rows"]),
        ("", ["no rows"]),
        ('a,b\n1,"2\n', ["line 2", "quotation mark"]),
    ],
)
def test_a_damaged_pool_is_refused_with_the_line(desk, text, words):
    (desk.folder / "pool.csv").write_text(text, encoding="utf-8")
    assert_refused(desk.start(), *words)


def test_other_endings_and_missing_files_are_refused(desk):
    words = ["--journal", "eval.jsonl", "--text", "a", "--judge", "b"]
    words += ["--metric", "mean"]
    assert_refused(desk.run("start", "missing.csv", *words), "missing.csv")
    assert_refused(desk.run("start", "pool.xls", *words), ".parquet")
    (desk.folder / "bad.jsonl").write_text('{"a": 1}\n[2]\n', encoding="utf-8")
    assert_refused(desk.run("start", "bad.jsonl", *words), "line 2")


@pytest.mark.parametrize(
    "command",
    [
        ["status"],
        ["judges"],
        ["check", "--at-least", "1"],
        ["plan", "--width", "0.1"],
        ["annotate"],
        ["estimate"],
        ["diagnose"],
        ["agreement"],
    ],
)
def test_there_must_be_a_campaign(desk, command):
    name, *more = command
    assert_refused(desk.run(name, "eval.jsonl", *more), "start")
    assert not (desk.folder / "eval.jsonl").exists()


@pytest.mark.parametrize(
    ("answer", "words"),
    [("maybe", ["Row", "'maybe'", "correct"]), ("#NAME?", ["line 2", "spreadsheet"])],
)
def test_a_sheet_with_a_wrong_answer_records_nothing(desk, answer, words):
    desk.start()
    desk.run("ask", "eval.jsonl", "6", "--out", "batch.csv")
    sheet = desk.read("batch.csv")
    for line in sheet:
        line["label"] = "correct"
    sheet[0]["label"] = answer
    desk.write("batch.csv", sheet)
    assert_refused(desk.run("tell", "eval.jsonl", "batch.csv"), *words)
    _, out, _ = desk.run("status", "eval.jsonl", "--json")
    assert (json.loads(out)["labels"], json.loads(out)["open"]) == (0, 6)


def test_more_rows_than_there_are_cannot_be_asked_for(desk):
    desk.start()
    done = desk.run("ask", "eval.jsonl", "81", "--out", "batch.csv")
    assert_refused(done, "81 rows", "80")
    desk.label(80)
    done = desk.run("ask", "eval.jsonl", "1", "--out", "more.csv")
    assert_refused(done, "Every row")


def test_decimal_commas_are_refused_and_not_misread(desk):
    for row in desk.rows:
        row["gpt4"] = row["gpt4"].replace(".", ",")
    desk.write("pool.csv", desk.rows)
    assert_refused(desk.start(), "decimal point")


def test_a_start_that_was_cut_off_can_be_completed(desk):
    desk.start()
    journal = desk.folder / "eval.jsonl"
    journal.write_bytes(journal.read_bytes()[:50])
    assert_refused(desk.run("status", "eval.jsonl"), "interrupted", "ask")
    assert desk.run("ask", "eval.jsonl", "5", "--out", "batch.csv")[0] == 0
    assert desk.run("status", "eval.jsonl")[0] == 0


def test_rows_that_nobody_asked_for_are_refused(desk):
    desk.start()
    desk.write("batch.csv", [{"row": "3", "label": "correct"}])
    assert_refused(desk.run("tell", "eval.jsonl", "batch.csv"), "[3]", "not asked for")


def test_a_sheet_is_not_overwritten_by_mistake(desk):
    desk.start()
    desk.run("ask", "eval.jsonl", "4", "--out", "batch.csv")
    desk.fill("batch.csv")
    before = desk.read("batch.csv")
    again = desk.run("ask", "eval.jsonl", "4", "--out", "batch.csv")
    assert_refused(again, "--overwrite")
    assert desk.read("batch.csv") == before


def test_a_pool_that_changed_is_refused_but_new_columns_are_welcome(desk):
    desk.start()
    for place, row in enumerate(desk.rows):
        row["team"] = "a" if place < 40 else "b"
    desk.write("pool.csv", desk.rows)
    desk.label(20)
    assert desk.run("estimate", "eval.jsonl", "--by", "team")[0] == 0
    desk.write("pool.csv", desk.rows[::-1])
    done = desk.run("ask", "eval.jsonl", "4", "--out", "more.csv")
    assert_refused(done, "changed since the start")


def test_a_folder_can_be_moved_with_its_campaign(desk, tmp_path):
    desk.start()
    desk.label(10)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name in ("pool.csv", "eval.jsonl", "eval.jsonl.config.json"):
        os.replace(desk.folder / name, folder / name)
    assert main(["estimate", str(folder / "eval.jsonl")]) == 0


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["ask", "eval.jsonl", "0", "--out", "a.csv"],
        ["ask", "eval.jsonl", "2"],
        ["check", "eval.jsonl", "--at-least", "much"],
        ["start", "pool.csv"],
    ],
)
def test_wrong_arguments_do_not_look_like_an_undecided_check(desk, argv):
    assert_refused(desk.run(*argv), "--help")


def test_check_needs_a_limit_and_a_level(desk):
    desk.start()
    assert_refused(desk.run("check", "eval.jsonl"), "--at-least")
    wrong = desk.run("check", "eval.jsonl", "--at-least", "0.8", "--level", "90")
    assert_refused(wrong, "--level")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command_has_an_example(desk, command):
    code, out, _ = desk.run(command, "--help")
    assert code == 0
    # The example is at the end, perhaps in several lines.
    *_, example = " ".join(out.split()).rpartition("Example: ")
    assert example.startswith(f"sklearn-ase {command} ")
    assert "--json" in out


def test_the_help_names_every_command(desk):
    _, out, _ = desk.run("--help")
    assert {line.split()[0] for line in out.splitlines() if line.strip()} >= {*COMMANDS}


def test_debug_shows_where_an_error_arises_and_bugs_have_a_code_of_their_own(
    desk, monkeypatch
):
    _, _, err = desk.run("status", "eval.jsonl", "--debug")
    assert "Traceback" in err

    def fails(path):
        raise RuntimeError("a bug")

    desk.start()
    monkeypatch.setattr("sklearn_ase._cli._campaign.read_journal", fails)
    code, _, err = desk.run("status", "eval.jsonl")
    assert code == _main._OUR_ERROR
    assert "a bug" in err
    assert "Traceback" not in err


def test_a_surrogate_that_fails_says_that_labels_are_recorded(desk, monkeypatch):
    desk.start()
    desk.run("ask", "eval.jsonl", "6", "--out", "batch.csv")
    desk.fill("batch.csv")

    fit = ExpertSurrogate.fit

    def fails(self, *arguments, n_acquired=0, **named):
        if n_acquired:
            raise ValueError("No memory is left.")
        return fit(self, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(ExpertSurrogate, "fit", fails)
        code, _, err = desk.run("tell", "eval.jsonl", "batch.csv")
    assert code != 0
    for words in ("No memory", "All labels are recorded", "--correct", "next command"):
        assert words in err
    _, out, _ = desk.run("status", "eval.jsonl", "--json")
    assert json.loads(out)["labels"] == 6


WITHOUT_PANDAS = """
import sys


class NoPandas:
    def find_spec(self, name, path=None, target=None):
        if name == "pandas" or name.startswith("pandas."):
            raise ImportError("No pandas.")


sys.meta_path.insert(0, NoPandas())
from sklearn_ase._cli._main import main
from sklearn_ase.surrogate import ExpertSurrogate
start = ["start", "pool.csv", "--journal", "eval.jsonl", "--text", "question"]
start += ["--judge", "gpt4", "--labels", "correct", "wrong"]
start += ["--metric", "share:correct"]
assert main([*start, "--features", "words"]) == 64
assert main(start) == 0
assert main(["ask", "eval.jsonl", "5", "--out", "batch.csv"]) == 0
"""


def test_only_features_and_parquet_need_pandas(desk):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PANDAS],
        cwd=desk.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "sklearn-ase[cli]" in done.stderr
    assert len(desk.read("batch.csv")) == 5


KILLED = """
import os, sys
from sklearn_ase._cli._main import main
from sklearn_ase.surrogate import ExpertSurrogate
from {module} import {owner}
def die(self, *arguments, **named):
    {before}
    os._exit(9)
{owner}.{method} = die
main(["tell", "eval.jsonl", "batch.csv"])
"""
AFTER = {
    "module": "sklearn_ase._evaluation._evaluation",
    "owner": "Evaluation",
    "method": "renew",
    "before": "pass",
}
DURING = {
    "module": "sklearn_ase._labels._store",
    "owner": "FileStore",
    "method": "_write",
    "before": "self._file.write(arguments[0][:40])",
}


@pytest.mark.parametrize(("where", "n_kept"), [(AFTER, 8), (DURING, 0)])
def test_a_killed_tell_loses_nothing(desk, where, n_kept):
    desk.start()
    desk.run("ask", "eval.jsonl", "8", "--out", "batch.csv")
    desk.fill("batch.csv")
    code = KILLED.format(**where)
    done = subprocess.run([sys.executable, "-c", code], cwd=desk.folder, check=False)
    assert done.returncode == 9
    _, out, _ = desk.run("status", "eval.jsonl", "--json")
    assert json.loads(out)["labels"] == n_kept
    code, _, err = desk.run("tell", "eval.jsonl", "batch.csv")
    assert code == 0, err
    _, out, _ = desk.run("status", "eval.jsonl", "--json")
    found = json.loads(out)
    assert (found["labels"], found["open"]) == (8, 0)
    assert found["estimate"] is not None
