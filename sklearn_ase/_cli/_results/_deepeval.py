"""Test runs of DeepEval: ``test_run_*.json``, ``.latest_run_full.json`` and such."""

from sklearn_ase._cli._results._rows import (
    add_about,
    add_scores,
    dicts_of,
    numbered,
    text_of,
)

# Names in the files of test runs, and in what evaluate() returns.
_LISTS = ("testCases", "conversationalTestCases", "test_results")


def is_deepeval(document):
    """Say whether a document is a test run of DeepEval.

    Parameters
    ----------
    document : JSON value

    Returns
    -------
    fits : bool
    """
    return any(_get(case, "metricsData") is not None for case in _cases(document))


def deepeval_rows(document):
    """Return one row for each test case.

    Parameters
    ----------
    document : JSON value

    Returns
    -------
    rows : list of dict of str to object
        Each metric is a column with its score. A conversation is one row: its input
        is the scenario, its output the whole conversation.
    """
    return [_row(case) for case in _cases(document)]


def _cases(document):
    if not isinstance(document, dict):
        return []
    run = document.get("testRunData", document)
    run = run if isinstance(run, dict) else {}
    return [case for name in _LISTS for case in dicts_of(run.get(name))]


def _row(case):
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


def _get(case, name):
    """An entry, under its name in files or its name in Python."""
    in_python = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return case.get(name, case.get(in_python))
