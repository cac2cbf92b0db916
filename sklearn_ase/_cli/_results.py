"""Readers of the result files of other tools."""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import Any

# What the readers of result files share: names of columns, texts of messages.


# Columns that every reader fills, where the file has it.
OWN = ("id", "input", "output", "target", "error")


def add_scores(row: dict[str, Any], scores: dict[str, Any]) -> None:
    """Add what scorers say, each under its own name."""
    for name, score in scores.items():
        if isinstance(score, dict):
            parts = {f"{name}.{part}": value for part, value in score.items()}
            add_scores(row, parts)
        else:
            is_taken = name in OWN or name in row
            row[f"score.{name}" if is_taken else str(name)] = score


def numbered(pairs: Iterable[Any]) -> dict[str, Any]:
    """Return pairs as a dict; the second of one name gets "2" behind it."""
    named = {}
    for name, value in pairs:
        place = 1
        while (free := str(name) if place == 1 else f"{name} {place}") in named:
            place += 1
        named[free] = value
    return named


def add_about(row: dict[str, Any], prefix: str, values: dict[str, Any] | None) -> None:
    """Add what a file says about a row besides, such as its metadata."""
    if isinstance(values, dict):
        row.update({f"{prefix}.{name}": value for name, value in values.items()})


def text_of(content: Any) -> str | None:
    """Return a message, or several, as one text."""
    if isinstance(content, list):
        texts = [text_of(each) for each in content]
        return "\n".join(text for text in texts if text)
    if not isinstance(content, dict):
        return None if content is None else str(content)
    if "role" in content:
        return f"{content['role']}: {text_of(content.get('content')) or ''}"
    if "text" in content:
        return text_of(content["text"])
    return f"[{content.get('type', 'data')}]"


def dicts_of(values: Any) -> list[dict]:
    """Return the entries of a list that are dicts; none if it is not a list."""
    values = values if isinstance(values, list) else []
    return [value for value in values if isinstance(value, dict)]


# Test runs of DeepEval: ``test_run_*.json``, ``.latest_run_full.json`` and such.


# Names in the files of test runs, and in what evaluate() returns.
_LISTS = ("testCases", "conversationalTestCases", "test_results")


def is_deepeval(document: Any) -> bool:
    """Say whether a document is a test run of DeepEval."""
    return any(_get(case, "metricsData") is not None for case in _cases(document))


def deepeval_rows(document: Any) -> list[dict[str, Any]]:
    """Return one row for each test case."""
    return [_deepeval_row(case) for case in _cases(document)]


def _cases(document: Any) -> list[dict]:
    if not isinstance(document, dict):
        return []
    run = document.get("testRunData", document)
    run = run if isinstance(run, dict) else {}
    return [case for name in _LISTS for case in dicts_of(run.get(name))]


def _deepeval_row(case: dict) -> dict[str, Any]:
    turns = dicts_of(case.get("turns"))
    metrics = dicts_of(_get(case, "metricsData"))
    output = text_of(turns) if turns else _get(case, "actualOutput")
    row = {
        "id": case.get("name"),
        "input": case.get("scenario") if turns else text_of(case.get("input")),
        "output": output,
        "target": _get(case, "expectedOutcome" if turns else "expectedOutput"),
        "error": text_of([metric.get("error") for metric in metrics]) or None,
        "context": text_of(case.get("context")),
        "retrieval_context": text_of(_get(case, "retrievalContext")),
    }
    add_scores(row, {"success": case.get("success")})
    scores = [(metric.get("name"), metric.get("score")) for metric in metrics]
    add_scores(row, numbered(scores))
    about = _get(case, "additionalMetadata") or case.get("metadata")
    add_about(row, "metadata", about)
    return row


def _get(case: dict, name: str) -> Any:
    """An entry, under its name in files or its name in Python."""
    in_python = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return case.get(name, case.get(in_python))


# Logs of Inspect: ``.eval``, which is a zip archive, and ``.json``.


# What Inspect itself makes of the letters that its scorers give.
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_ATTACHMENT = re.compile(r"attachment://(\w+)")


def read_archive(path: Path) -> dict[str, Any]:
    """Read a log with the ending ``.eval`` as the document of a ``.json`` log."""
    try:
        with zipfile.ZipFile(path) as archive:
            # A sample that was run again is there twice; the last one counts.
            names = {name for name in archive.namelist() if name.startswith("samples/")}
            samples = [json.loads(archive.read(name)) for name in sorted(names)]
    except (zipfile.BadZipFile, zlib.error, RuntimeError, ValueError) as error:
        raise ValueError(f"{path} is not a log of Inspect ({error}).") from None
    return {"eval": {}, "samples": sorted(dicts_of(samples), key=_place)}


def is_inspect(document: Any) -> bool:
    """Say whether a document is a log of Inspect."""
    is_log = isinstance(document, dict) and isinstance(document.get("eval"), dict)
    return is_log and "samples" in document


def inspect_rows(document: Any) -> list[dict[str, Any]]:
    """Return one row for each sample and epoch."""
    return [_inspect_row(sample) for sample in dicts_of(document.get("samples"))]


def _inspect_row(sample: dict) -> dict[str, Any]:
    def text(content: Any) -> Any:
        # Long texts are kept apart, and named where they belong.
        kept, found = sample.get("attachments") or {}, text_of(content)
        return found and _ATTACHMENT.sub(lambda m: kept.get(m[1], m[0]), found)

    error = sample.get("error")
    row = {
        "id": sample.get("id"),
        "input": text(sample.get("input")),
        "output": text(_completion(sample.get("output") or {})),
        "target": text(sample.get("target")),
        "error": error.get("message") if isinstance(error, dict) else error,
        "epoch": sample.get("epoch"),
        "choices": text(sample.get("choices")),
    }
    scores = sample.get("scores") or {}
    add_scores(row, {name: _value(score) for name, score in scores.items()})
    add_about(row, "metadata", sample.get("metadata"))
    return row


def _completion(output: dict) -> Any:
    choices = dicts_of(output.get("choices"))
    if "completion" in output or not choices:
        return output.get("completion")
    return (choices[0].get("message") or {}).get("content")


def _value(score: Any) -> Any:
    value = score.get("value") if isinstance(score, dict) else score
    if isinstance(value, dict):
        return {
            name: _LETTERS.get(v, v) if isinstance(v, str) else v
            for name, v in value.items()
        }
    return _LETTERS.get(value, value) if isinstance(value, str) else value


def _place(sample: dict) -> tuple:
    """Numbers by size, before texts."""
    place, epoch = sample.get("id"), sample.get("epoch") or 0
    is_number = isinstance(place, int)
    return not is_number, place if is_number else 0, str(place), epoch


# Samples of lm-evaluation-harness: ``samples_*.jsonl``, by ``--log_samples``.


_NEEDED = {"doc_id", "doc", "target", "arguments", "resps"}


def is_lm_eval(document: Any) -> bool:
    """Say whether a list of rows is of lm-evaluation-harness."""
    rows = dicts_of(document)[:3]
    return bool(rows) and all(row.keys() >= _NEEDED for row in rows)


def lm_eval_rows(document: Any) -> list[dict[str, Any]]:
    """Return one row for each document."""
    samples = dicts_of(document)
    has_filters = len({sample.get("filter") for sample in samples}) > 1
    rows: dict[tuple, dict] = {}
    seen: Counter = Counter()
    for sample in samples:
        once = sample.get("doc_id"), sample.get("filter")
        seen[once] += 1  # A file may hold several runs.
        row = rows.setdefault((once[0], seen[once]), _lm_eval_row(sample))
        end = f",{once[1]}" if has_filters else ""
        found = {name: sample.get(name) for name in sample.get("metrics") or []}
        found["answer"] = _flat(sample.get("filtered_resps"))
        add_scores(row, {name + end: value for name, value in found.items()})
    for row in rows.values():  # Last, so that the scores come first.
        add_about(row, "doc", row.pop("doc"))
    return list(rows.values())


def _lm_eval_row(sample: dict) -> dict[str, Any]:
    calls = _calls(sample.get("arguments"))
    return {
        "id": sample.get("doc_id"),
        "input": _prompt(calls[0][0]) if calls and calls[0] else None,
        "output": _output(calls, sample.get("resps")),
        "target": sample.get("target"),
        "doc": sample.get("doc"),
    }


def _calls(arguments: Any) -> list:
    """Arguments of each call of the model, as lists."""
    if isinstance(arguments, dict):
        arguments = list(arguments.values())
    calls = arguments if isinstance(arguments, list) else []
    return [list(c.values()) if isinstance(c, dict) else c for c in calls]


def _prompt(prompt: Any) -> Any:
    """The text of a prompt; a chat is kept as JSON, perhaps in a list."""
    if isinstance(prompt, list) and len(prompt) == 1:
        prompt = prompt[0]
    if isinstance(prompt, str) and prompt.startswith('[{"role"'):
        try:
            return text_of(json.loads(prompt))
        except ValueError:
            pass
    return text_of(prompt)


def _output(calls: list, responses: Any) -> Any:
    """What the model wrote, or the answer that it finds most likely."""
    chances = [_log_likelihood(response) for response in responses or []]
    is_choice = len(chances) > 1 and None not in chances and len(calls) == len(chances)
    if is_choice and all(len(call) > 1 for call in calls):
        best = max(range(len(chances)), key=lambda place: chances[place] or 0.0)
        return text_of(calls[best][1])
    return _flat(responses)


def _log_likelihood(response: Any) -> float | None:
    """The first number of a pair such as ``[["-1.5", "False"]]``; None for others."""
    while isinstance(response, list) and len(response) == 1:
        response = response[0]
    if not isinstance(response, list) or len(response) != 2:
        return None
    try:
        return float(response[0])
    except (TypeError, ValueError):
        return None


def _flat(responses: Any) -> Any:
    """The one response in nested lists, or all of them."""
    while isinstance(responses, list) and len(responses) == 1:
        responses = responses[0]
    return responses


# Results of promptfoo, as ``promptfoo eval --output`` writes them (.json, .jsonl).


def is_promptfoo(document: Any) -> bool:
    """Say whether a document, or a list of rows, is of promptfoo."""
    results = _results(document)
    return bool(results) and all(
        {"promptIdx", "testIdx"} <= result.keys()
        or (isinstance(result.get("prompt"), dict) and "vars" in result)
        for result in results[:3]
    )


def promptfoo_rows(document: Any) -> list[dict[str, Any]]:
    """Return one row for each test and prompt."""
    return [_row(result) for result in _results(document)]


def _results(document: Any) -> list[dict]:
    """The results, where versions 1 to 3 of the file and JSON Lines have them."""
    for _ in range(2):
        if isinstance(document, dict):
            document = document.get("results")
    return dicts_of(document)


def _row(result: dict) -> dict[str, Any]:
    prompt, response = result.get("prompt"), result.get("response")
    provider = result.get("provider")
    if isinstance(prompt, dict):
        prompt = prompt.get("raw")
    if isinstance(response, dict):
        response = response.get("output")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    grading = result.get("gradingResult")
    parts = dicts_of(grading.get("componentResults")) if grading else []
    row = {
        "id": result.get("id"),
        "input": text_of(prompt),
        "output": response,
        "target": _target(parts),
        "error": result.get("error"),
        "provider": provider,
        "test": result.get("testIdx"),
        "prompt": result.get("promptIdx"),
    }
    add_about(row, "var", result.get("vars"))
    add_scores(row, {"score": result.get("score"), "success": result.get("success")})
    add_scores(row, result.get("namedScores") or {})
    add_scores(row, _assertions(parts, result.get("namedScores") or {}))
    return row


def _assertions(parts: list, named: Any) -> Any:
    """Score of each assertion that has no named score."""
    scores = []
    for part in parts:
        assertion = part.get("assertion") or {}
        name = assertion.get("metric") or assertion.get("type") or "assertion"
        if name not in named:
            scores.append((name, part.get("score")))
    return numbered(scores)


def _target(parts: list) -> Any:
    values = [(part.get("assertion") or {}).get("value") for part in parts]
    return next((value for value in values if isinstance(value, str)), None)
