"""What a command answers, as words and as JSON, and what to do about an error."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from sklearn_ase._utils._display import Advice, spelled_out

# What to do about a message, by its key; the message itself has words for Python.
_CURES = {
    "correct": (
        "Add --correct to replace it, or remove them from the file. If several people "
        "answered the same rows, tell their sheets together: tell JOURNAL one.csv "
        "other.csv --correct."
    ),
    "replace": (
        "The next command tries it again. If one of them is wrong, tell a sheet with "
        "the right one and --correct; the surrogate is then fitted again."
    ),
    "overwrite": "add --overwrite.",
    "slices": "Use --by.",
    "close": "Wait until it has ended.",
}


@dataclass(frozen=True)
class Answer:
    """What a command answers: values for programs, words for people, an exit code."""

    values: dict[str, Any] | list[dict[str, Any]]
    words: str
    exit_code: int = 0


def as_json(values: Any) -> str:
    """Return values as one line of JSON."""
    return json.dumps(_plain(values), ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    """Numbers that JSON lacks as null."""
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def printable(text: str) -> str:
    """Return a text without signs that would steer the terminal."""
    return spelled_out(text, kept="\n\t")


def message_of(error: Exception) -> str:
    """Return the words of an error, with what to do about it in the terminal."""
    if isinstance(error, OSError) and error.strerror:
        words = f"{error.filename or 'file'}: {error.strerror}."
    elif len(error.args) == 1 and isinstance(error.args[0], str):
        words = _in_terminal(error.args[0])
    else:
        words = str(error)
    # What to do about it may be in a note.
    return " ".join([words, *map(_in_terminal, getattr(error, "__notes__", ()))])


def _in_terminal(message: str) -> str:
    """A message with the cure of the terminal in place of that of Python."""
    if not isinstance(message, Advice) or message.cure is None:
        return message
    return f"{message.problem} {_CURES[message.cure]}"
