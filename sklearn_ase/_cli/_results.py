"""Samples of lm-evaluation-harness: ``samples_*.jsonl``, by ``--log_samples``."""

import json
from collections import Counter

from sklearn_ase._cli._results._rows import add_about, add_scores, dicts_of, text_of

_NEEDED = {"doc_id", "doc", "target", "arguments", "resps"}


def is_lm_eval(document):
    """Say whether a list of rows is of lm-evaluation-harness.

    Parameters
    ----------
    document : JSON value

    Returns
    -------
    fits : bool
    """
    rows = dicts_of(document)[:3]
    return bool(rows) and all(row.keys() >= _NEEDED for row in rows)


def lm_eval_rows(document):
    """Return one row for each document.

    Parameters
    ----------
    document : JSON value

    Returns
    -------
    rows : list of dict of str to object
        Each metric is a column. The file has a document once for each filter of the
        answer. With several filters, the columns are named as in the results of the
        harness: ``exact_match,strict-match``. If the model has chosen among answers,
        the output is the one that it finds most likely.
    """
    samples = dicts_of(document)
    has_filters = len({sample.get("filter") for sample in samples}) > 1
    rows, seen = {}, Counter()
    for sample in samples:
        once = sample.get("doc_id"), sample.get("filter")
        seen[once] += 1  # A file may hold several runs.
        row = rows.setdefault((once[0], seen[once]), _row(sample))
        end = f",{once[1]}" if has_filters else ""
        found = {name: sample.get(name) for name in sample.get("metrics") or []}
        found["answer"] = _flat(sample.get("filtered_resps"))
        add_scores(row, {name + end: value for name, value in found.items()})
    for row in rows.values():  # Last, so that the scores come first.
        add_about(row, "doc", row.pop("doc"))
    return list(rows.values())


def _row(sample):
    calls = _calls(sample.get("arguments"))
    return {
        "id": sample.get("doc_id"),
        "input": _prompt(calls[0][0]) if calls and calls[0] else None,
        "output": _output(calls, sample.get("resps")),
        "target": sample.get("target"),
        "doc": sample.get("doc"),
    }


def _calls(arguments):
    """Arguments of each call of the model, as lists."""
    if isinstance(arguments, dict):
        arguments = list(arguments.values())
    calls = arguments if isinstance(arguments, list) else []
    return [list(c.values()) if isinstance(c, dict) else c for c in calls]


def _prompt(prompt):
    """The text of a prompt; a chat is kept as JSON, perhaps in a list."""
    if isinstance(prompt, list) and len(prompt) == 1:
        prompt = prompt[0]
    if isinstance(prompt, str) and prompt.startswith('[{"role"'):
        try:
            return text_of(json.loads(prompt))
        except ValueError:
            pass
    return text_of(prompt)


def _output(calls, responses):
    """What the model wrote, or the answer that it finds most likely."""
    chances = [_log_likelihood(response) for response in responses or []]
    is_choice = len(chances) > 1 and None not in chances and len(calls) == len(chances)
    if is_choice and all(len(call) > 1 for call in calls):
        best = max(range(len(chances)), key=chances.__getitem__)
        return text_of(calls[best][1])
    return _flat(responses)


def _log_likelihood(response):
    """The first number of a pair such as ``[["-1.5", "False"]]``; None for others."""
    while isinstance(response, list) and len(response) == 1:
        response = response[0]
    if not isinstance(response, list) or len(response) != 2:
        return None
    try:
        return float(response[0])
    except (TypeError, ValueError):
        return None


def _flat(responses):
    """The one response in nested lists, or all of them."""
    while isinstance(responses, list) and len(responses) == 1:
        responses = responses[0]
    return responses
