"""What Python offers for one evaluation is available as commands."""

import json

import numpy as np
import pytest

from sklearn_ase import ActiveRiskEstimator


def result_of(desk, *words):
    code, out, err = desk.run(*words, "--json")
    assert code == 0, err
    return json.loads(out)


def test_a_plan_has_more_labels_for_narrower_intervals(desk):
    desk.start()
    code, _, err = desk.run("plan", "eval.jsonl", "--width", "0.2")
    assert code == 64
    assert "pilot" in err
    desk.label(20)
    found = result_of(desk, "plan", "eval.jsonl", "--width", "0.9", "0.2", "0.01")
    wide, narrow, tiny = found["plan"]
    assert wide["more_labels"] == 0
    assert 20 < narrow["labels"] < tiny["labels"] <= 80
    assert narrow["more_labels"] == narrow["labels"] - 20
    often = ["plan", "eval.jsonl", "--width", "0.2", "--method", "anytime"]
    assert result_of(desk, *often)["plan"][0]["labels"] > narrow["labels"]
    code, out, _ = desk.run("plan", "eval.jsonl", "--width", "0.01")
    assert code == 0
    assert "after 20 labels" in out
    assert "0.01" in out


def test_a_plan_is_what_python_forecasts(desk):
    desk.start()
    desk.label(20)
    (found,) = result_of(desk, "plan", "eval.jsonl", "--width", "0.2")["plan"]
    from sklearn_ase._cli._campaign import Campaign

    campaign = Campaign.load(desk.path("eval.jsonl"))
    with campaign.open(campaign.columns()) as evaluation:
        assert found["more_labels"] == int(evaluation.labels_needed(0.2))


def test_ask_and_status_say_that_the_interval_is_narrow_enough(desk):
    desk.start("--judge", "gpt4", "--until-width", "0.5")
    desk.label(10)
    assert result_of(desk, "status", "eval.jsonl")["stop_reason"] == ""
    desk.label(50)
    found = result_of(desk, "status", "eval.jsonl")
    assert "interval is" in found["stop_reason"]
    assert found["anytime_high"] - found["anytime_low"] <= 0.5
    assert "enough labels" in desk.run("status", "eval.jsonl")[1]
    code, out, _ = desk.run("ask", "eval.jsonl", "5", "--out", "more.csv")
    assert code == 0
    assert "Enough labels" in out
    assert not (desk.folder / "more.csv").exists()
    words = "ask", "eval.jsonl", "5", "--out", "more.csv", "--more"
    assert result_of(desk, *words)["rows"] == 5


@pytest.mark.parametrize(
    ("rule", "why"), [("--max-labels", "25 at most"), ("--budget", "25 is spent")]
)
def test_no_more_rows_are_asked_for_than_were_allowed(desk, rule, why):
    desk.start("--judge", "gpt4", rule, "25")
    desk.label(20)
    words = "ask", "eval.jsonl", "20", "--out", "more.csv"
    assert result_of(desk, *words)["rows"] == 5
    desk.fill("more.csv")
    desk.run("tell", "eval.jsonl", "more.csv")
    assert why in result_of(desk, "status", "eval.jsonl")["stop_reason"]
    assert why in desk.run("ask", "eval.jsonl", "5", "--out", "last.csv")[1]


def test_a_budget_counts_the_cost_of_each_row(desk):
    for place, row in enumerate(desk.rows):
        row["minutes"] = "1" if place % 2 else "4"
    desk.write("pool.csv", desk.rows)
    desk.start("--judge", "gpt4", "--cost", "minutes", "--budget", "30")
    desk.run("ask", "eval.jsonl", "60", "--out", "batch.csv")
    rows = [int(line["row"]) for line in desk.read("batch.csv")]
    cost = [1 if row % 2 else 4 for row in rows]
    assert sum(cost[:-1]) < 30 <= sum(cost)  # The last row reaches it.
    desk.fill("batch.csv")
    desk.run("tell", "eval.jsonl", "batch.csv")
    found = result_of(desk, "status", "eval.jsonl")
    assert found["spent"] == sum(cost)
    assert "budget" in found["stop_reason"]


def test_a_plateau_ends_a_campaign(desk):
    desk.start("--judge", "gpt4", "--plateau", "0.5")
    for _ in range(3):
        desk.label(15)
    assert "differ by" in result_of(desk, "status", "eval.jsonl")["stop_reason"]


def test_two_models_are_compared_with_the_same_labels(desk):
    for place, row in enumerate(desk.rows):
        row["always"] = "correct"
        row["best"] = desk.labels[place] if place % 10 else "correct"
    desk.write("pool.csv", desk.rows)
    desk.start()
    desk.label(50)
    words = ["estimate", "eval.jsonl", "--compare", "best", "always"]
    code, _, err = desk.run(*words)
    assert code == 64
    assert "--metric accuracy" in err
    words += ["--metric", "accuracy"]
    found = result_of(desk, *words)
    assert found["best"] == "best"
    assert found["candidates"] == ["best"]
    labels = np.array(desk.labels)
    best = np.array([row["best"] for row in desk.rows])
    truth = np.mean(best == labels) - np.mean(labels == "correct")
    (gap,) = found["differences"]
    assert (gap["better"], gap["than"]) == ("best", "always")
    assert gap["anytime_low"] <= truth <= gap["anytime_high"]
    assert gap["anytime_low"] <= gap["low"] <= gap["by"] <= gap["high"]
    _, out, _ = desk.run(*words)
    assert "best is better than always by" in out
    part = result_of(desk, *words, "--where", "region=north")
    assert part["labels"] == 50
    named = result_of(desk, *words, "--reference", "always")
    assert named["differences"][0]["better"] == "always"
    assert named["differences"][0]["by"] < 0


def test_rows_to_come_are_less_certain_and_even_less_in_groups(desk):
    for place, row in enumerate(desk.rows):
        row["chat"] = f"chat {place // 8}"
    desk.write("pool.csv", desk.rows)
    desk.start()
    desk.label(50)
    words = "estimate", "eval.jsonl", "--population"
    found = result_of(desk, *words)
    assert found["population_low"] < found["low"] < found["high"]
    assert found["population_high"] > found["high"]
    grouped = result_of(desk, *words, "--groups", "chat")
    assert grouped["population_low"] != found["population_low"]
    assert (grouped["low"], grouped["high"]) == (found["low"], found["high"])
    assert "for rows to come" in desk.run(*words)[1]


def test_groups_of_rows_are_compared(desk):
    for row, label in zip(desk.rows, desk.labels, strict=True):
        row["system"] = "a" if label == "correct" else "b"
    desk.write("pool.csv", desk.rows)
    desk.start()
    desk.label(50)
    found = result_of(desk, "estimate", "eval.jsonl", "--compare-by", "system")
    assert found["best"] == "a"
    (gap,) = found["differences"]
    assert gap["low"] > 0.4


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--compare", "model", "gold", "--by", "region"], "not both"),
        (["--compare", "model", "model", "--metric", "accuracy"], "two different"),
        (["--compare", "model", "nobody", "--metric", "accuracy"], "nobody"),
        (["--reference", "model"], "--compare"),
        (["--groups", "region"], "--population"),
        (["--population", "--by", "region"], "not both"),
        (["--by", "nothing"], "--by nothing"),
    ],
)
def test_questions_that_do_not_go_together_are_refused(desk, words, why):
    desk.start()
    desk.label(10)
    code, _, err = desk.run("estimate", "eval.jsonl", *words)
    assert code == 64
    assert why in err


def test_training_rows_teach_and_must_stay_as_they_are(desk):
    train = [
        {**row, "truth": label}
        for row, label in zip(desk.rows[:40], desk.labels[:40], strict=True)
    ]
    desk.write("train.csv", train)
    desk.write("pool.csv", desk.rows[40:])
    more = ["--prediction", "model", "--features", "words", "region"]
    more += ["--train", desk.path("train.csv"), "--train-label", "truth"]
    code, _, err = desk.start(*more, "--train-predictions", metric="accuracy")
    assert code == 0, err
    desk.labels = desk.labels[40:]
    desk.label(20)
    found = result_of(desk, "estimate", "eval.jsonl")

    import pandas as pd

    def features(rows):
        frame = pd.DataFrame(rows)[["words", "region"]]
        return frame.assign(words=frame["words"].astype(float))

    evaluator = ActiveRiskEstimator(
        metric="accuracy", classes=["correct", "wrong"], random_state=0
    )
    about = {
        "predictions": [row["model"] for row in desk.rows[40:]],
        "X_train": features(train),
        "y_train": [row["truth"] for row in train],
        "train_predictions": [row["model"] for row in train],
    }
    X = features(desk.rows[40:])
    query = evaluator.start(X, **about).ask(20)
    told = [int(line["row"]) for line in desk.read("batch.csv")]
    assert query.indices.tolist() == told
    assert found["labels"] == 20
    desk.write("train.csv", train[::-1])
    code, _, err = desk.run("ask", "eval.jsonl", "5", "--out", "more.csv")
    assert code == 64
    assert "train.csv has changed" in err


def test_the_loss_can_be_chosen(desk):
    more = "--proba", "gpt4", "--pos-label", "correct", "--loss", "brier"
    code, out, err = desk.run(
        *("start", "pool.csv", "--journal", "eval.jsonl", "--text", "question"),
        *("--labels", "correct", "wrong", "--seed", "0", *more),
    )
    assert code == 0, err
    assert "brier" in out.lower()
    desk.label(40)
    score = np.array([float(row["gpt4"]) for row in desk.rows])
    truth = np.array(desk.labels) == "correct"
    found = result_of(desk, "status", "eval.jsonl")
    brier = 2 * np.mean((score - truth) ** 2)
    assert found["anytime_low"] <= brier <= found["anytime_high"]


def test_several_answers_tell_how_far_people_agree(desk):
    desk.start()
    code, _, _ = desk.run("agreement", "eval.jsonl")
    assert code == 64
    desk.run("ask", "eval.jsonl", "10", "--out", "tasks.json")
    tasks = json.loads((desk.folder / "tasks.json").read_text(encoding="utf-8"))
    for place, task in enumerate(tasks):
        label = desk.labels[task["data"]["row"]]
        other = {"correct": "wrong", "wrong": "correct"}[label]
        said = [label, label if place % 2 else other]
        task["annotations"] = [
            {"result": [{"from_name": "label", "value": {"choices": [each]}}]}
            for each in said
        ]
    (desk.folder / "done.json").write_text(json.dumps(tasks), encoding="utf-8")
    assert desk.run("tell", "eval.jsonl", "done.json")[0] == 0
    found = result_of(desk, "agreement", "eval.jsonl")
    assert (found["n_rows"], found["n_answers"]) == (10, 20)
    assert 0.2 < found["agreement"] < 0.8
    assert "noise floor" in desk.run("agreement", "eval.jsonl")[1]


def test_the_diagnosis_has_no_words_of_python(desk):
    desk.start()
    desk.label(30)
    assert result_of(desk, "diagnose", "eval.jsonl")["verdict"]
    _, out, _ = desk.run("diagnose", "eval.jsonl")
    assert out.startswith("verdict: ")
    assert "ASE()" not in out


def test_columns_of_a_file_are_shown_to_choose_from(desk):
    code, out, _ = desk.run("columns", "pool.csv")
    assert code == 0
    words = {line.split()[0]: line for line in out.splitlines()[2:]}
    assert "numbers from" in words["gpt4"]
    assert "south, north" in words["region"]
    assert words["gold"].split()[1] == "10"
    found = result_of(desk, "columns", "pool.csv")
    assert found["rows"] == 80
    assert [line["column"] for line in found["columns"]] == [*desk.rows[0]]


def test_a_campaign_of_an_older_version_goes_on(desk):
    desk.start()
    path = desk.folder / "eval.jsonl.config.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    old = "pool", "metric", "fingerprint", "half", "pos_label", "judge", "text"
    old += "features", "labels", "proba", "prediction", "known", "weight", "cost"
    old = {name: values[name] for name in (*old, "seed")}
    path.write_text(json.dumps({"version": 1, **old}), encoding="utf-8")
    desk.label(10)
    assert result_of(desk, "status", "eval.jsonl")["labels"] == 10
