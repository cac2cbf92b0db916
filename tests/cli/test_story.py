"""From a CSV file to an estimate, by commands alone."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.metrics import LabelShare


def _python_estimate(desk, n_labels):
    """The same campaign in Python, resumed between asking and telling."""
    experts = {"gpt4": np.array([float(row["gpt4"]) for row in desk.rows])}
    evaluator = ActiveRiskEstimator(
        metric=LabelShare("correct"), classes=["correct", "wrong"], random_state=0
    )
    evaluation = evaluator.start(None, experts=experts)
    query = evaluation.ask(n_labels)
    evaluation = evaluator.start(None, experts=experts, ledger=evaluation.ledger)
    evaluation.tell(query, [desk.labels[row] for row in query.indices])
    evaluation.refit()
    return evaluation


def test_a_csv_becomes_the_number_that_python_gives(desk):
    code, out, err = desk.start()
    assert (code, err) == (0, "")
    assert "80 rows" in out
    code, out, _ = desk.run("ask", "eval.jsonl", "30", "--out", "batch.csv")
    assert code == 0
    assert "Wrote 30 rows" in out
    desk.fill("batch.csv")
    code, out, _ = desk.run("tell", "eval.jsonl", "batch.csv")
    assert code == 0
    assert "30 new labels" in out

    expected = _python_estimate(desk, 30)
    low, high = expected.estimate().interval(0.9)
    code, out, _ = desk.run("status", "eval.jsonl", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["labels"] == 30
    assert found["open"] == 0
    assert found["estimate"] == pytest.approx(float(expected.estimate()))
    assert (found["low"], found["high"]) == pytest.approx((low, high))
    code, out, _ = desk.run("estimate", "eval.jsonl", "--json")
    again = json.loads(out)
    for name in ("estimate", "low", "high", "anytime_low", "anytime_high"):
        assert again[name] == pytest.approx(found[name])


@pytest.mark.filterwarnings("error")
def test_a_campaign_can_be_continued_in_python(desk):
    desk.start()
    desk.label(10)
    experts = {"gpt4": np.array([float(row["gpt4"]) for row in desk.rows])}
    evaluator = ActiveRiskEstimator(
        metric=LabelShare("correct"), classes=["correct", "wrong"], random_state=0
    )
    journal = desk.path("eval.jsonl")
    with evaluator.start(None, experts=experts, journal=journal) as evaluation:
        evaluation.run(desk.labels, 25)
        expected = evaluation.estimate()
    _, out, _ = desk.run("status", "eval.jsonl", "--json")
    assert json.loads(out)["labels"] == 25
    assert json.loads(out)["estimate"] == pytest.approx(float(expected))


@pytest.mark.slow
def test_the_same_story_in_processes_of_its_own(desk):
    def run(*words):
        command = [sys.executable, "-m", "sklearn_ase", *words]
        return subprocess.run(
            command, cwd=desk.folder, capture_output=True, text=True, check=False
        )

    options = ["--judge", "gpt4", "--text", "question", "--labels", "correct", "wrong"]
    options += ["--metric", "share:correct", "--seed", "0"]
    done = run("start", "pool.csv", "--journal", "eval.jsonl", *options)
    assert done.returncode == 0, done.stderr
    assert run("ask", "eval.jsonl", "10", "--out", "batch.csv").returncode == 0
    desk.fill("batch.csv")
    assert run("tell", "eval.jsonl", "batch.csv").returncode == 0
    done = run("status", "eval.jsonl")
    assert "10 of 80 rows" in done.stdout
    assert "share of correct" in done.stdout
    assert done.stderr == ""
    assert run("nonsense").returncode == 64


def test_asking_again_writes_the_open_rows_again(desk):
    desk.start()
    desk.run("ask", "eval.jsonl", "8", "--out", "one.csv")
    code, out, _ = desk.run("ask", "eval.jsonl", "8", "--out", "two.csv")
    assert code == 0
    assert "no new rows" in out
    assert desk.read("one.csv") == desk.read("two.csv")
    desk.fill("one.csv", 5)
    desk.run("tell", "eval.jsonl", "one.csv")
    _, out, _ = desk.run("ask", "eval.jsonl", "8", "--out", "three.csv")
    assert "Wrote 3 rows" in out
    assert desk.read("three.csv") == desk.read("two.csv")[5:]


def test_empty_cells_stay_open_and_the_same_sheet_can_be_told_again(desk):
    desk.start()
    desk.run("ask", "eval.jsonl", "8", "--out", "batch.csv")
    desk.fill("batch.csv", 5)
    _, out, _ = desk.run("tell", "eval.jsonl", "batch.csv")
    assert "Recorded 5 new labels" in out
    assert "3 rows are open" in out
    desk.fill("batch.csv")
    _, out, _ = desk.run("tell", "eval.jsonl", "batch.csv")
    assert "Recorded 3 new labels" in out
    _, out, _ = desk.run("tell", "eval.jsonl", "batch.csv")
    assert "Recorded 0 new labels" in out


def test_a_label_can_be_corrected_and_a_row_skipped(desk):
    desk.start()
    desk.label(8)
    sheet = desk.read("batch.csv")
    sheet[0]["label"] = "wrong" if sheet[0]["label"] == "correct" else "correct"
    desk.write("batch.csv", sheet)
    code, _, err = desk.run("tell", "eval.jsonl", "batch.csv")
    assert code == 64
    assert "--correct" in err
    assert desk.run("tell", "eval.jsonl", "batch.csv", "--correct")[0] == 0
    desk.run("ask", "eval.jsonl", "2", "--out", "more.csv")
    desk.fill("more.csv", labels=["?"] * 80)
    _, out, _ = desk.run("tell", "eval.jsonl", "more.csv", "--skip", "?")
    assert "2 skipped rows" in out


def test_a_model_with_its_predictions_in_a_column(desk):
    code, _, err = desk.start("--prediction", "model", metric="f1")
    assert code == 64
    assert "pos" in err
    more = "--prediction", "model", "--features", "words", "region"
    code, out, err = desk.start(*more, "--pos-label", "wrong", metric="f1")
    assert code == 0, err
    assert "of wrong" in out
    desk.label(30)
    _, out, _ = desk.run("estimate", "eval.jsonl", "--metric", "accuracy", "--json")
    found = json.loads(out)
    said = [row["model"] for row in desk.rows]
    truth = np.mean([a == b for a, b in zip(said, desk.labels, strict=True)])
    assert found["low"] <= truth <= found["high"]
    _, out, _ = desk.run("estimate", "eval.jsonl", "--by", "region", "--json")
    assert [line["group"] for line in json.loads(out)] == ["north", "south"]


def test_one_column_of_probabilities_is_of_the_positive_label(desk):
    for pos_label, labels in [
        ("correct", ("correct", "wrong")),
        ("correct", ("wrong", "correct")),
    ]:
        (desk.folder / "eval.jsonl").unlink(missing_ok=True)
        more = "--proba", "gpt4", "--pos-label", pos_label
        code, _, err = desk.start(*more, metric="roc_auc", labels=labels)
        assert code == 0, err
        desk.label(60)
        _, out, _ = desk.run("status", "eval.jsonl", "--json")
        # The score is higher where the answer is correct.
        assert json.loads(out)["estimate"] > 0.7


def test_a_mean_of_numbers(desk):
    stars = [row["stars"] for row in desk.rows]
    code, _, err = desk.start("--judge", "gpt4", metric="mean", labels=())
    assert code == 0, err
    desk.label(30, labels=stars)
    _, out, _ = desk.run("status", "eval.jsonl", "--json")
    found = json.loads(out)
    assert found["low"] <= np.mean([int(s) for s in stars]) <= found["high"]


def test_known_labels_weights_and_costs_are_taken(desk):
    for place, row in enumerate(desk.rows):
        row["weight"], row["cost"] = "2" if place % 2 else "1", "1.5"
    desk.write("pool.csv", desk.rows)
    more = "--judge", "gpt4", "--known", "gold", "--weight", "weight", "--cost", "cost"
    code, out, err = desk.start(*more)
    assert code == 0, err
    assert "10 labels were there already" in out
    desk.label(70)
    sheet = desk.read("batch.csv")
    assert all(int(line["row"]) >= 10 for line in sheet)
    while (
        desk.run("ask", "eval.jsonl", "5", "--out", "rest.csv", "--overwrite")[0] == 0
    ):
        if (desk.folder / "rest.csv").exists():
            desk.fill("rest.csv")
            desk.run("tell", "eval.jsonl", "rest.csv")
    _, out, _ = desk.run("status", "eval.jsonl", "--json")
    weight = np.where(np.arange(80) % 2, 2, 1)
    truth = np.average(np.array(desk.labels) == "correct", weights=weight)
    found = json.loads(out)
    if found["labels"] == 80:
        assert found["estimate"] == pytest.approx(truth)
    assert found["low"] - 1e-9 <= truth <= found["high"] + 1e-9


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_other_formats_give_the_same_rows(desk, ending):
    desk.start()
    desk.run("ask", "eval.jsonl", "8", "--out", "batch.csv")
    expected = desk.read("batch.csv")
    frame = pd.DataFrame(desk.rows)
    frame["gpt4"] = frame["gpt4"].astype(float)
    if ending == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(desk.path("other.parquet"))
    else:
        frame.to_json(desk.path("other.jsonl"), orient="records", lines=True)
    words = ["start", f"other.{ending}", "--journal", "other_eval.jsonl", "--seed", "0"]
    words += ["--text", "question", "answer", "--judge", "gpt4"]
    words += ["--labels", "correct", "wrong", "--metric", "share:correct"]
    code, _, err = desk.run(*words)
    assert code == 0, err
    desk.run("ask", "other_eval.jsonl", "8", "--out", "other.csv")
    assert desk.read("other.csv") == expected


def test_judges_are_compared_with_the_labels(desk):
    desk.start("--judge", "gpt4", "model")
    desk.label(40)
    code, out, _ = desk.run("judges", "eval.jsonl", "--json")
    assert code == 0
    assert [line["judge"] for line in json.loads(out)] == ["gpt4", "model"]
    assert "worth" in desk.run("judges", "eval.jsonl")[1]


def test_part_of_the_pool(desk):
    desk.start()
    desk.label(40)
    _, out, _ = desk.run("estimate", "eval.jsonl", "--where", "region=north", "--json")
    found = json.loads(out)
    rows = {int(line["row"]) for line in desk.read("batch.csv")}
    assert found["rows"] == 40
    assert found["labels"] == sum(row % 2 for row in rows)
    code, _, err = desk.run("estimate", "eval.jsonl", "--where", "region=west")
    assert code == 64
    assert "north, south" in err


@pytest.mark.parametrize("labels", [("correct", "wrong"), ("wrong", "correct")])
def test_scores_of_a_judge_are_about_the_positive_label(desk, labels):
    more = "--judge", "gpt4", "--prediction", "model", "--pos-label", "correct"
    code, _, err = desk.start(*more, metric="accuracy", labels=labels)
    assert code == 0, err
    desk.label(40)
    (line,) = json.loads(desk.run("judges", "eval.jsonl", "--json")[1])
    # The score is high where the answer is correct, so the judge agrees with people.
    assert line["agreement"] > 0.6


def test_text_that_steers_a_terminal_is_shown_as_text(desk):
    for place, row in enumerate(desk.rows):
        row["region"] = "\x1b[31mred\x07" if place % 2 else "<b>"
    desk.write("pool.csv", desk.rows)
    desk.start()
    desk.label(20)
    _, out, _ = desk.run("estimate", "eval.jsonl", "--by", "region")
    assert "\x1b" not in out
    assert "\\x1b[31mred\\x07" in out
    assert "<b>" in out


def test_a_file_of_a_spreadsheet_with_semicolons_is_read_alike(desk):
    desk.start()
    desk.run("ask", "eval.jsonl", "8", "--out", "batch.csv")
    expected = desk.read("batch.csv")
    frame = pd.DataFrame(desk.rows)
    frame.to_csv(desk.path("pool.csv"), sep=";", index=False, encoding="utf-8-sig")
    assert desk.run("ask", "eval.jsonl", "8", "--out", "again.csv")[0] == 0
    assert desk.read("again.csv") == expected
