"""Labels can be given in the terminal; each is kept at once."""

import json

import pytest

from sklearn_ase._cli._campaign import Campaign


@pytest.fixture
def typed(monkeypatch):
    """Set what a person types, line by line."""

    def set_lines(lines):
        lines = iter(lines)

        def read(prompt=""):
            try:
                line = next(lines)
            except StopIteration:
                raise EOFError from None
            if isinstance(line, BaseException):
                raise line
            print(prompt)
            return line

        monkeypatch.setattr("builtins.input", read)

    return set_lines


def test_what_is_typed_is_recorded(desk, typed):
    desk.start()
    typed(["correct", "2", "1", "s", "1", ""])
    code, out, _ = desk.run("annotate", "eval.jsonl", "4")
    assert code == 0
    assert "Recorded 5 answers. There are 4 labels; 0 rows are open." in out
    found = json.loads(desk.run("status", "eval.jsonl", "--json")[1])
    assert (found["labels"], found["skipped"]) == (4, 1)
    _, ledger = Campaign.load(desk.path("eval.jsonl")).read()
    assert list(ledger.labels.values()) == ["correct", "wrong", "correct", "correct"]


def test_the_console_is_blind_and_shows_no_estimate(desk, typed):
    desk.start("--judge", "gpt4", "--prediction", "model")
    typed(["1", "2", "1", "q"])
    _, out, _ = desk.run("annotate", "eval.jsonl")
    assert "question" in out
    assert "gpt4" not in out
    assert "model" not in out
    assert "interval" not in out
    assert "share" not in out


def test_the_estimate_and_a_judge_are_shown_if_asked_for(desk, typed):
    desk.start()
    typed(["1", "2", "1", "q"])
    _, out, _ = desk.run("annotate", "eval.jsonl", "--estimate", "--show", "gpt4")
    assert "gpt4" in out
    assert "interval" in out


@pytest.mark.parametrize("end", [KeyboardInterrupt(), EOFError()])
def test_an_interrupted_session_keeps_all_answers(desk, typed, end):
    desk.start()
    typed(["1", "2", end])
    code, out, _ = desk.run("annotate", "eval.jsonl")
    assert code == 0
    assert "2 labels, all kept" in out
    found = json.loads(desk.run("status", "eval.jsonl", "--json")[1])
    assert (found["labels"], found["open"]) == (2, 1)
    # The row that was shown is shown again.
    row = Campaign.load(desk.path("eval.jsonl")).read()[1].pending[0]
    typed(["q"])
    assert f"Row {row}." in desk.run("annotate", "eval.jsonl")[1]


def test_with_json_only_the_result_is_on_stdout(desk, typed):
    desk.start()
    typed(["1", "1", ""])
    _, out, err = desk.run("annotate", "eval.jsonl", "2", "--json")
    assert json.loads(out) == {"answers": 2, "labels": 2, "open": 0}
    assert "question" in err


def test_enough_labels_end_a_session_unless_more_are_wanted(desk, typed):
    desk.start("--judge", "gpt4", "--max-labels", "2")
    typed(["1", "1", "", "1", "1"])
    _, out, _ = desk.run("annotate", "eval.jsonl")
    assert "of 2 at most" in out
    typed(["1", "q"])
    _, out, _ = desk.run("annotate", "eval.jsonl", "--more")
    assert "There are 3 labels" in out


def test_text_that_steers_a_terminal_is_shown_as_text(desk, typed):
    for row in desk.rows:
        row["answer"] = "\x1b[2J\x07 clear the screen, 全角\u3000空白, می\u200cشود"
    desk.write("pool.csv", desk.rows)
    desk.start()
    typed(["q"])
    _, out, _ = desk.run("annotate", "eval.jsonl")
    assert "\x1b" not in out
    assert "\\x1b[2J\\x07 clear the screen, 全角\u3000空白, می\u200cشود" in out


def test_numbers_can_be_typed(desk, typed):
    desk.start("--judge", "gpt4", metric="mean", labels=())
    typed(["3", "four", "4.5", ""])
    code, out, _ = desk.run("annotate", "eval.jsonl", "2")
    assert code == 0
    assert "'four' is not a valid label" in out
    _, ledger = Campaign.load(desk.path("eval.jsonl")).read()
    assert list(ledger.labels.values()) == [3.0, 4.5]
