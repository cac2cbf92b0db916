"""Results of promptfoo, as ``promptfoo eval --output`` writes them (.json, .jsonl)."""

from sklearn_ase._cli._results._rows import (
    add_about,
    add_scores,
    dicts_of,
    numbered,
    text_of,
)


def is_promptfoo(document):
    """Say whether a document, or a list of rows, is of promptfoo.

    Parameters
    ----------
    document : JSON value

    Returns
    -------
    fits : bool
    """
    results = _results(document)
    return bool(results) and all(
        {"promptIdx", "testIdx"} <= result.keys()
        or (isinstance(result.get("prompt"), dict) and "vars" in result)
        for result in results[:3]
    )


def promptfoo_rows(document):
    """Return one row for each test and prompt.

    Parameters
    ----------
    document : JSON value

    Returns
    -------
    rows : list of dict of str to object
        ``target`` is the first text that an assertion compares with. Each assertion
        is a column with its score, named by its metric or its type.
    """
    return [_row(result) for result in _results(document)]


def _results(document):
    """The results, where versions 1 to 3 of the file and JSON Lines have them."""
    for _ in range(2):
        if isinstance(document, dict):
            document = document.get("results")
    return dicts_of(document)


def _row(result):
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


def _assertions(parts, named):
    """Score of each assertion that has no named score."""
    scores = []
    for part in parts:
        assertion = part.get("assertion") or {}
        name = assertion.get("metric") or assertion.get("type") or "assertion"
        if name not in named:
            scores.append((name, part.get("score")))
    return numbered(scores)


def _target(parts):
    values = [(part.get("assertion") or {}).get("value") for part in parts]
    return next((value for value in values if isinstance(value, str)), None)
