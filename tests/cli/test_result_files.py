"""Result files of other tools become the same table as a CSV pool."""

import json
import zipfile

import pytest

from sklearn_ase._cli._pool_file import read_pool

PROMPTFOO = {
    "id": "a1",
    "promptIdx": 0,
    "testIdx": 3,
    "prompt": {"raw": "What is 2 + 2?", "label": "What is {{sum}}?"},
    "vars": {"sum": "2 + 2", "output": "a var with this name"},
    "provider": {"id": "openai:gpt", "label": ""},
    "response": {"output": "4"},
    "success": True,
    "score": 0.75,
    "namedScores": {"tone": 0.5, "input": 0.25},
    "gradingResult": {
        "pass": True,
        "score": 0.75,
        "componentResults": [
            {"score": 0.5, "assertion": {"type": "python", "metric": "tone"}},
            {"score": 1, "assertion": {"type": "contains", "value": "4"}},
            {"score": 0, "assertion": {"type": "contains", "value": "four"}},
        ],
    },
}
FAILED = {
    "promptIdx": 0,
    "testIdx": 4,
    "prompt": {"raw": "What is 1 + 1?"},
    "vars": {"sum": "1 + 1"},
    "success": False,
    "score": 0,
    "error": "timed out",
    "gradingResult": None,
}
DEEPEVAL = {
    "testCases": [
        {
            "name": "case 0",
            "input": "What is 2 + 2?",
            "actualOutput": "4",
            "expectedOutput": "four",
            "retrievalContext": ["one page", "another"],
            "success": True,
            "metricsData": [
                {"name": "Answer Relevancy", "score": 0.9, "success": True},
                {"name": "Faithfulness", "success": False, "error": "no model"},
            ],
            "metadata": {"topic": "sums"},
        }
    ],
    "conversationalTestCases": [
        {
            "name": "chat 0",
            "scenario": "a refund",
            "expectedOutcome": "refunded",
            "turns": [
                {"role": "user", "content": "refund please"},
                {"role": "assistant", "content": "done"},
            ],
            "success": False,
            "metricsData": [{"name": "Completeness", "score": 0.3}],
        }
    ],
    "testPassed": 1,
}
SAMPLES = [
    {
        "id": 10,
        "epoch": 1,
        "input": [{"role": "user", "content": [{"type": "text", "text": "2 + 2?"}]}],
        "target": ["4", "four"],
        "output": {"choices": [{"message": {"role": "assistant", "content": "4"}}]},
        "scores": {
            "match": {"value": "C", "answer": "4"},
            "rubric": {"value": {"style": "P", "facts": 0.2}},
        },
        "metadata": {"topic": "sums"},
    },
    {
        "id": 9,
        "epoch": 1,
        "input": "attachment://abc123",
        "target": "2",
        "output": {"completion": "3", "choices": []},
        "scores": {"match": {"value": "I"}},
        "attachments": {"abc123": "1 + 1?"},
        "error": {"message": "a limit was reached"},
    },
]


def sample(doc_id, name, score, **more):
    return {
        "doc_id": doc_id,
        "doc": {"question": f"question {doc_id}", "choices": ["a", "b"]},
        "target": "1",
        "arguments": {"gen_args_0": {"arg_0": "2 + 2 =", "arg_1": {"until": []}}},
        "resps": [["It is 4. Next question"]],
        "filtered_resps": ["4"],
        "filter": name,
        "metrics": ["exact_match"],
        "doc_hash": "00",
        "exact_match": score,
        **more,
    }


def written(folder, name, value):
    path = folder / name
    if name.endswith(".jsonl"):
        text = "\n".join(json.dumps(row) for row in value)
    else:
        text = json.dumps(value)
    path.write_text(text, encoding="utf-8")
    return path


def first_row(columns):
    return {name: cells[0] for name, cells in columns.items()}


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("v3.json", {"evalId": "e", "results": {"version": 3, "results": None}}),
        ("v1.json", {"version": 1, "results": None}),
        ("lines.jsonl", None),
    ],
)
def test_promptfoo(tmp_path, name, document):
    results = [PROMPTFOO, FAILED]
    if document is None:
        document = results
    elif isinstance(document["results"], dict):
        document = {**document, "results": {"version": 3, "results": results}}
    else:
        document = {**document, "results": results}
    columns, form = read_pool(written(tmp_path, name, document))
    assert form == "promptfoo"
    row = first_row(columns)
    assert (row["id"], row["input"], row["output"]) == ("a1", "What is 2 + 2?", "4")
    assert row["target"] == "4"
    assert row["provider"] == "openai:gpt"
    assert (row["score"], row["success"]) == (0.75, True)
    assert (row["tone"], row["score.input"]) == (0.5, 0.25)
    # Two assertions of one type; the one with a metric is there under its name.
    assert (row["contains"], row["contains 2"]) == (1, 0)
    assert "python" not in row
    assert (row["var.sum"], row["var.output"]) == ("2 + 2", "a var with this name")
    assert columns["output"] == ["4", None]
    assert columns["error"] == [None, "timed out"]


@pytest.mark.parametrize("wrap", [lambda run: run, lambda run: {"testRunData": run}])
def test_deepeval(tmp_path, wrap):
    columns, form = read_pool(written(tmp_path, "test_run_1.json", wrap(DEEPEVAL)))
    assert form == "deepeval"
    assert columns["id"] == ["case 0", "chat 0"]
    assert columns["input"] == ["What is 2 + 2?", "a refund"]
    assert columns["output"] == ["4", "user: refund please\nassistant: done"]
    assert columns["target"] == ["four", "refunded"]
    assert columns["Answer Relevancy"] == [0.9, None]
    assert columns["Completeness"] == [None, 0.3]
    assert "Faithfulness" not in columns  # It has no score at all.
    assert columns["error"] == ["no model", None]
    assert columns["retrieval_context"][0] == "one page\nanother"
    assert columns["metadata.topic"] == ["sums", None]


def test_what_evaluate_of_deepeval_returns_has_names_of_python(tmp_path):
    case = {"name": "a", "input": "q", "actual_output": "o", "expected_output": "t"}
    case["metrics_data"] = [{"name": "Bias", "score": 0.1}]
    columns, form = read_pool(written(tmp_path, "a.json", {"test_results": [case]}))
    assert form == "deepeval"
    assert first_row(columns) == {
        **{"id": "a", "input": "q", "output": "o", "target": "t"},
        "Bias": 0.1,
    }


def test_both_logs_of_inspect(tmp_path):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for each in SAMPLES:
            name = f"samples/{each['id']}_epoch_1.json"
            archive.writestr(name, json.dumps(each))
    log = {"version": 2, "eval": {"task": "t"}, "samples": SAMPLES}
    packed, form = read_pool(path)
    plain, _ = read_pool(written(tmp_path, "log.json", log))
    assert form == "inspect"
    # Samples of an archive are put in order; those of a file are in order.
    assert packed == {name: cells[::-1] for name, cells in plain.items()}
    assert packed["id"] == [9, 10]
    assert packed["input"] == ["1 + 1?", "user: 2 + 2?"]
    assert packed["output"] == ["3", "4"]
    assert packed["target"] == ["2", "4\nfour"]
    assert packed["match"] == [0.0, 1.0]
    assert packed["rubric.style"] == [None, 0.5]
    assert packed["rubric.facts"] == [None, 0.2]
    assert packed["error"] == ["a limit was reached", None]
    assert packed["metadata.topic"] == [None, "sums"]


def test_samples_of_lm_evaluation_harness(tmp_path):
    rows = [sample(0, "none", 1.0), sample(1, "none", 0.0)]
    columns, form = read_pool(written(tmp_path, "samples_sums_1.jsonl", rows))
    assert form == "lm-eval"
    assert columns["id"] == [0, 1]
    assert columns["input"][0] == "2 + 2 ="
    assert columns["output"][0] == "It is 4. Next question"
    assert columns["answer"] == ["4", "4"]
    assert columns["exact_match"] == [1.0, 0.0]
    assert columns["target"] == ["1", "1"]
    assert columns["doc.question"] == ["question 0", "question 1"]


def test_each_filter_of_an_answer_is_a_column_and_not_a_row(tmp_path):
    rows = [sample(0, "strict", 0.0), sample(1, "strict", 1.0)]
    rows += [sample(0, "loose", 1.0), sample(1, "loose", 1.0)]
    columns, _ = read_pool(written(tmp_path, "samples_sums_1.jsonl", rows))
    assert columns["id"] == [0, 1]
    assert columns["exact_match,strict"] == [0.0, 1.0]
    assert columns["exact_match,loose"] == [1.0, 1.0]


def test_the_output_of_a_choice_is_the_likeliest_answer(tmp_path):
    calls = {
        f"gen_args_{k}": {"arg_0": "Sky?", "arg_1": f" {c}"}
        for k, c in enumerate(["blue", "green"])
    }
    likely = [[["-9.5", "False"]], [["-0.5", "True"]]]
    more = {"arguments": calls, "resps": likely, "filtered_resps": likely}
    rows = [sample(0, "none", 0.0, **more)]
    columns, _ = read_pool(written(tmp_path, "samples_sky_1.jsonl", rows))
    assert columns["output"] == [" green"]


def test_a_chat_is_shown_as_messages(tmp_path):
    chat = json.dumps([{"role": "user", "content": "2 + 2?"}])
    more = {"arguments": {"gen_args_0": {"arg_0": [chat], "arg_1": {}}}}
    rows = [sample(0, "none", 0.0, **more)]
    columns, _ = read_pool(written(tmp_path, "samples_sums_1.jsonl", rows))
    assert columns["input"] == ["user: 2 + 2?"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("object.json", {"answers": [1, 2]}),
        ("texts.json", ["a", "b"]),
        ("number.json", 3),
        ("null.json", None),
        ("empty.json", {"results": {"results": []}}),
        ("log.json", {"samples": [{"id": 1}]}),
    ],
)
def test_an_unknown_shape_names_those_that_are_read(tmp_path, name, value):
    with pytest.raises(ValueError, match="promptfoo, DeepEval, Inspect and lm-eval"):
        read_pool(written(tmp_path, name, value))


def test_a_format_that_was_named_must_fit(tmp_path):
    path = written(tmp_path, "a.json", DEEPEVAL)
    with pytest.raises(ValueError, match="not a result file of promptfoo"):
        read_pool(path, "promptfoo")
    (tmp_path / "b.eval").write_bytes(b"no archive")
    with pytest.raises(ValueError, match="not a log of Inspect"):
        read_pool(tmp_path / "b.eval")


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("a.json", {"results": [{**PROMPTFOO, "namedScores": [1]}]}),
        ("a.json", {"results": [{**PROMPTFOO, "gradingResult": "good"}]}),
        ("a.json", {"eval": {}, "samples": [{"id": 1, "output": "a text"}]}),
        ("a.jsonl", [sample(0, "none", 1.0, metrics=3)]),
    ],
)
def test_an_entry_of_another_shape_is_refused_in_words(tmp_path, name, document):
    with pytest.raises(ValueError, match="another shape"):
        read_pool(written(tmp_path, name, document))


def test_two_metrics_of_one_name_are_two_columns(tmp_path):
    case = {"name": "a", "input": "q", "actualOutput": "o"}
    case["metricsData"] = [{"name": "GEval", "score": s} for s in (0.1, 0.2)]
    columns, _ = read_pool(written(tmp_path, "a.json", {"testCases": [case]}))
    assert (columns["GEval"], columns["GEval 2"]) == ([0.1], [0.2])


def test_a_table_with_columns_of_these_names_stays_a_table(tmp_path):
    rows = [{"prompt": "2 + 2?", "vars": "x", "response": "4", "doc_id": 1}]
    for name, kind in {"a.jsonl": "jsonl", "a.json": "json"}.items():
        columns, form = read_pool(written(tmp_path, name, rows))
        assert form == kind
        assert first_row(columns) == rows[0]
    rows = [sample(0, "none", 1.0)]
    path = written(tmp_path, "samples_sums_1.jsonl", rows)
    columns, _ = read_pool(path, "jsonl")  # What is named is not looked for.
    assert columns["doc_id"] == [0]


def test_a_campaign_from_a_result_file(desk):
    log = {"eval": {}, "samples": []}
    for row, label in enumerate(desk.labels):
        value = {"correct": "C", "wrong": "I"}[label if row % 7 else "wrong"]
        scores = {"match": {"value": value}}
        each = {"id": row, "epoch": 1, "input": f"question {row}", "target": "x"}
        log["samples"].append(each | {"output": {"completion": "x"}, "scores": scores})
    written(desk.folder, "log.json", log)
    code, out, _ = desk.run("columns", "log.json")
    assert code == 0
    assert "80 rows, format inspect" in out
    assert "match" in out
    words = ["start", "log.json", "--journal", "eval.jsonl", "--seed", "0"]
    words += ["--text", "input", "output", "--judge", "match"]
    words += ["--labels", "correct", "wrong", "--metric", "share:correct"]
    code, _, err = desk.run(*words)
    assert code == 0, err
    desk.label(30)
    (line,) = json.loads(desk.run("judges", "eval.jsonl", "--json")[1])
    assert line["agreement"] > 0.7
    found = json.loads(desk.run("status", "eval.jsonl", "--json")[1])
    truth = desk.labels.count("correct") / 80
    assert found["low"] <= truth <= found["high"]
