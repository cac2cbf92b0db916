"""Texts for a terminal, and results as JSON."""

import json
import math

from sklearn_ase._utils._signs import spelled_out

# Names in messages that are written for those who call the package from Python.
_IN_PYTHON = {
    "Pass correct=True": "Add --correct",
    "import their files together: import_answers([one, other], correct=True)": (
        "tell their sheets together: tell JOURNAL one.csv other.csv --correct"
    ),
    "correct=True": "--correct",
    "Pass classes=[...] with": "Name with --labels",
    "replace it with evaluation.correct(row, label); the surrogate": (
        "tell a sheet with the right one and --correct; the surrogate"
    ),
    "the next call of ask(), estimate() or refit() tries": "the next command tries",
    "ask()": "ask",
    "export()": "ask",
    "compare()": "--compare",
    "compare_groups()": "--compare-by",
    "diagnose()": "diagnose",
    "labels_needed()": "plan",
    "Use estimate_by(groups).": "Use --by.",
    "GuardedASE() and CorrectedASE() allow for that, ASE() does not.": (
        "The estimate allows for that."
    ),
    "GuardedASE()": "The estimate",
    "Close that one first: evaluation.close().": "Wait until it has ended.",
}


def without_python(text):
    """Return a message with the words of the command line.

    Parameters
    ----------
    text : str

    Returns
    -------
    text : str
    """
    for python, words in _IN_PYTHON.items():
        text = text.replace(python, words)
    return text


def as_json(result):
    """Return a result as one line of JSON.

    Parameters
    ----------
    result : dict of str to object, or ColumnTable
        A table becomes a list with one object for each row.

    Returns
    -------
    text : str
    """
    if hasattr(result, "caption"):
        rows = zip(*(column.tolist() for column in result.values()), strict=True)
        result = [dict(zip(result, row, strict=True)) for row in rows]
    return json.dumps(_plain(result), ensure_ascii=False, allow_nan=False)


def _plain(value):
    """Numbers that JSON lacks as null."""
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def printable(text):
    """Return a text without signs that would steer the terminal.

    Parameters
    ----------
    text : str

    Returns
    -------
    text : str
        Control characters are written as in ``\\x1b``. The ends of lines stay, and so
        do the blanks and joiners that some alphabets need.
    """
    return spelled_out(text, kept="\n\t")
