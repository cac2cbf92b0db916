"""Numbers of all commands stay where the metric can be, in words and as JSON."""

import json
import math
import re

import pytest

OF_MODEL = ("--prediction", "model")
BOUNDS = {
    "share:correct": (("--judge", "gpt4"), (0, 1)),
    "accuracy": (OF_MODEL, (0, 1)),
    "precision": ((*OF_MODEL, "--pos-label", "wrong"), (0, 1)),
    "matthews_corrcoef": (OF_MODEL, (-1, 1)),
    "roc_auc": (("--proba", "gpt4", "--pos-label", "correct"), (0, 1)),
}
QUESTIONS = [
    ["status"],
    ["estimate"],
    ["estimate", "--level", "0.999"],
    ["estimate", "--population"],
    ["estimate", "--by", "region", "--simultaneous"],
    ["estimate", "--by", "tiny"],
    ["estimate", "--where", "tiny=1"],
    ["estimate", "--compare-by", "region"],
    ["check", "--at-least", "0.5"],
    ["diagnose"],
]


def _numbers(value, name=""):
    """All estimates and ends of intervals in a result, by name."""
    if isinstance(value, dict):
        for key, entry in value.items():
            is_gap = key.startswith("behind") or name == "differences"
            yield from _numbers(entry, "differences" if is_gap else key)
    elif isinstance(value, list):
        for entry in value:
            yield from _numbers(entry, name)
    elif re.search("low$|high$|^estimate$", name) and value is not None:
        yield value


@pytest.mark.parametrize("metric", BOUNDS)
@pytest.mark.parametrize("sizes", [(1,), (2, 2), (15, 20)])
def test_limits_of_intervals_are_values_of_the_metric(desk, metric, sizes):
    for row in desk.rows:
        row["tiny"] = str(int(row["question"] in ("question 1", "question 2")))
    desk.write("pool.csv", desk.rows)
    more, (least, most) = BOUNDS[metric]
    code, _, err = desk.start(*more, metric=metric)
    assert code == 0, err
    for n in sizes:
        desk.label(n)
    n_answered = 0
    for command, *words in QUESTIONS:
        code, out, err = desk.run(command, "eval.jsonl", *words)
        if code == 64:  # A sentence says what is missing.
            assert len(err) > 20
            continue
        n_answered += 1
        found = json.loads(desk.run(command, "eval.jsonl", *words, "--json")[1])
        numbers = list(_numbers(found))
        assert all(least <= number <= most for number in numbers), (command, words)
        assert all(map(math.isfinite, numbers))
        assert not re.search(r"\b(nan|inf)\b", out), out
    assert n_answered >= 8
