"""status fits nothing; the exit code of check is the answer."""

import json

import pytest

from sklearn_ase._cli._campaign import Campaign


@pytest.fixture
def labelled(desk):
    desk.start()
    desk.label(30)
    return desk


def test_status_needs_neither_the_pool_nor_a_fit(labelled, monkeypatch):
    (labelled.folder / "pool.csv").unlink()

    def refuses(self, columns):
        raise AssertionError("status must not open the evaluation")

    monkeypatch.setattr(Campaign, "open", refuses)
    code, out, err = labelled.run("status", "eval.jsonl")
    assert (code, err) == (0, "")
    last = labelled.read("batch.csv")[-1]
    assert f"row {last['row']}: {last['label']}" in out
    assert labelled.run("check", "eval.jsonl", "--at-least", "0.5")[0] in (0, 1, 2)


def test_status_works_while_another_process_holds_the_journal(labelled):
    campaign = Campaign.load(labelled.path("eval.jsonl"))
    before = (labelled.folder / "eval.jsonl").read_bytes()
    with campaign.open(campaign.columns()):
        assert labelled.run("status", "eval.jsonl")[0] == 0
        code, _, err = labelled.run("tell", "eval.jsonl", "batch.csv")
        assert code == 64
        assert "is open" in err
        assert "evaluation.close" not in err
    assert (labelled.folder / "eval.jsonl").read_bytes() == before


def test_status_before_the_first_label(desk):
    desk.start()
    _, out, _ = desk.run("status", "eval.jsonl")
    assert "no label yet" in out
    code, out, _ = desk.run("check", "eval.jsonl", "--at-least", "0.5")
    assert code == 2
    assert "no label yet" in out


@pytest.mark.parametrize("method", ["anytime", "fixed"])
def test_check_follows_the_interval(labelled, method):
    def check(*limits):
        words = "check", "eval.jsonl", *limits, "--method", method
        code, out, _ = labelled.run(*words, "--json")
        return code, json.loads(out)

    _, found = check("--at-least", "0")
    low, high, value = found["low"], found["high"], found["estimate"]
    assert 0 < low < value < high < 1
    below, above, between = low - 1e-6, high + 1e-6, (low + value) / 2
    assert check("--at-least", str(below))[0] == 0
    assert check("--at-most", str(above))[0] == 0
    assert check("--at-least", str(below), "--at-most", str(above))[0] == 0
    assert check("--at-least", str(above))[0] == 1
    assert check("--at-most", str(below))[0] == 1
    for limits in (["--at-least", str(between)], ["--at-most", str(between)]):
        code, found = check(*limits)
        assert code == 2
        assert found["answer"] == "not decided"
        assert 30 < found["labels_needed"] <= 80
    # A limit closer to the estimate takes more labels.
    near = check("--at-least", str(value - 0.2 * (value - low)))[1]["labels_needed"]
    far = check("--at-least", str(value - 0.9 * (value - low)))[1]["labels_needed"]
    assert near > far
    # At the estimate itself no number of labels can be named.
    assert check("--at-least", repr(value))[1]["labels_needed"] is None


def test_check_may_be_repeated_so_its_interval_is_the_wider_one(labelled):
    _, out, _ = labelled.run("status", "eval.jsonl", "--json")
    status = json.loads(out)
    _, out, _ = labelled.run("check", "eval.jsonl", "--at-least", "0.5", "--json")
    found = json.loads(out)
    assert found["low"] == status["anytime_low"] < status["low"]
    assert found["high"] == status["anytime_high"] > status["high"]


def test_check_knows_the_truth_when_all_rows_are_labelled(desk):
    desk.start()
    desk.label(80)
    share = desk.labels.count("correct") / 80
    assert desk.run("check", "eval.jsonl", "--at-least", str(share - 1e-6))[0] == 0
    assert desk.run("check", "eval.jsonl", "--at-least", str(share + 1e-6))[0] == 1


def test_check_in_words(labelled):
    _, out, _ = labelled.run("check", "eval.jsonl", "--at-least", "0.1")
    assert out.startswith("yes: share of correct at least 0.1 (90 % interval ")
    _, out, _ = labelled.run("check", "eval.jsonl", "--at-least", "0.75")
    assert out.startswith("not decided")
    assert "labels in all" in out


@pytest.mark.parametrize("command", ["status", "estimate"])
def test_labels_that_wait_for_an_open_row_are_not_counted(desk, command):
    desk.start()
    desk.run("ask", "eval.jsonl", "30", "--out", "batch.csv")
    desk.fill("batch.csv")
    # The sixth row that was asked for stays open; a sheet has an order of its own.
    campaign = Campaign.load(desk.path("eval.jsonl"))
    sixth = campaign.read()[1].pending[5]
    rows = desk.read("batch.csv")
    desk.write("batch.csv", [row for row in rows if int(row["row"]) != sixth])
    desk.run("tell", "eval.jsonl", "batch.csv")
    _, out, _ = desk.run(command, "eval.jsonl")
    says = "29 of 80 rows; 5 count so far, the others wait for a row that is open"
    assert says in out
