"""Read a pool from a file: columns of cells by name."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

from sklearn_ase._annotation._sheet import csv_lines
from sklearn_ase._cli._results import (
    deepeval_rows,
    inspect_rows,
    is_deepeval,
    is_inspect,
    is_lm_eval,
    is_promptfoo,
    lm_eval_rows,
    promptfoo_rows,
    read_archive,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sklearn_ase._utils._typing import StrPath

_DELIMITERS = ",;\t"
_TOOLS = {
    "promptfoo": (is_promptfoo, promptfoo_rows),
    "deepeval": (is_deepeval, deepeval_rows),
    "inspect": (is_inspect, inspect_rows),
    "lm-eval": (is_lm_eval, lm_eval_rows),
}
_READ = (
    "These are read: results of promptfoo, DeepEval, Inspect and "
    "lm-evaluation-harness, a list of objects (.json), JSON Lines (.jsonl), CSV and "
    "Parquet."
)
FORMS = ("csv", "jsonl", "json", "parquet", *_TOOLS)
_ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "any",
    ".ndjson": "any",
    ".json": "any",
    ".parquet": "parquet",
    ".eval": "inspect",
}


def read_pool(path: StrPath, form: str | None = None) -> tuple[dict[str, list], str]:
    """Read the columns of a table, or of a result file of another tool."""
    path = Path(path)
    form = form or _ENDINGS.get(path.suffix.lower())
    if form is None:
        raise ValueError(
            f"{path} must end in .csv, .jsonl, .json, .parquet or .eval, so that its "
            f"format is known; or name the format with --format: {', '.join(FORMS)}."
        )
    if form == "parquet":
        columns = _read_parquet(path)
    elif form == "csv":
        columns = _read_csv(_text_of(path), path)
    else:
        columns, form = _read_json(path, form)
    if not columns or not len(next(iter(columns.values()))):
        raise ValueError(f"{path} has no rows.")
    return columns, form


def fingerprint_columns(columns: dict[str, list], names: Iterable[str]) -> str:
    """Return a short text that changes when a cell or the order of rows changes."""
    digest = hashlib.sha256()
    for name in sorted(set(names)):
        text = json.dumps([name, columns[name]], default=str)
        digest.update(text.encode("utf-8", errors="surrogatepass"))
    return digest.hexdigest()[:32]


def _text_of(path):
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not in UTF-8. Save it as CSV UTF-8.") from None


def _read_csv(text, path):
    limit = csv.field_size_limit(len(text) + 1)
    try:
        delimiter = _delimiter(text)
        lines = csv_lines(text, path, delimiter)
    finally:
        csv.field_size_limit(limit)
    lines = [(number, cells) for number, cells in lines if any(cells)]
    if not lines:
        return {}
    names = [name.strip() for name in lines[0][1]]
    if len(set(names)) < len(names) or "" in names:
        raise ValueError(
            f"{path} must have a different name above each column, but its first line "
            f"has {names}."
        )
    for number, cells in lines[1:]:
        if len(cells) != len(names):
            raise ValueError(
                f"{path}, line {number} has {len(cells)} cells, but there are "
                f"{len(names)} columns. Quote cells that contain {delimiter!r}."
            )
    rows = [cells for _, cells in lines[1:]]
    return {
        name: [row[place] if row[place].strip() else None for row in rows]
        for place, name in enumerate(names)
    }


def _delimiter(text):
    """The sign that cuts the first line into most columns."""

    def n_columns(sign):
        return len(next(csv.reader(io.StringIO(text, newline=""), delimiter=sign), []))

    return max(_DELIMITERS, key=n_columns)


def _read_json(path, form):
    """Columns and format of a file with JSON; the format "any" is looked for."""
    if form == "inspect" and path.suffix.lower() == ".eval":
        document = read_archive(path)
    elif form == "jsonl" or path.suffix.lower() in (".jsonl", ".ndjson"):
        document = _json_lines(_text_of(path), path)
    else:
        document = _json_document(_text_of(path), path)
    plain = "jsonl" if path.suffix.lower() != ".json" else "json"
    if form == "any":
        fitting = [name for name, (fits, _) in _TOOLS.items() if fits(document)]
        form = fitting[0] if fitting else plain
    if form in _TOOLS:
        fits, make_rows = _TOOLS[form]
        if not fits(document):
            raise ValueError(f"{path} is not a result file of {form}. {_READ}")
        try:
            columns = _table(make_rows(document))
        except (AttributeError, LookupError, TypeError) as error:
            raise ValueError(
                f"{path} looks like a result file of {form}, but one of its entries "
                f"has another shape ({error}). {_READ}"
            ) from None
        # Tools have places for much that a file does not use.
        is_used = {n: any(c is not None for c in cells) for n, cells in columns.items()}
        is_used |= dict.fromkeys(("input", "output"), True)
        return {n: cells for n, cells in columns.items() if is_used[n]}, form
    is_table = isinstance(document, list) and all(isinstance(r, dict) for r in document)
    if not is_table:
        raise ValueError(f"{path} has no known shape. {_READ}")
    return _table(document), form


def _table(rows):
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {str(name): [_cell(row.get(name)) for row in rows] for name in names}


def _json_document(text, path):
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not valid JSON ({error}).") from None


def _json_lines(text, path):
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{path}, line {number} is not valid JSON ({error})."
            ) from None
        if not isinstance(row, dict):
            raise ValueError(
                f"{path}, line {number} must be an object such as "
                f'{{"question": "..."}}, but is {line.strip()[:60]!r}.'
            )
        rows.append(row)
    return rows


def _read_parquet(path):
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    try:
        import pandas as pd

        frame = pd.read_parquet(path)
    except ImportError:
        raise ValueError(
            "Parquet files need pandas and pyarrow. Install them with pip install "
            "pandas pyarrow, or save the pool as CSV."
        ) from None
    except Exception as error:  # Each engine has errors of its own.
        raise ValueError(f"{path} is not a Parquet file ({error}).") from None
    frame = frame.astype(object).where(frame.notna(), None)
    return {str(name): [_cell(v) for v in frame[name]] for name in frame.columns}


def _cell(value):
    """A cell as a text, a number, a truth value or None."""
    value = value.item() if hasattr(value, "item") else value
    if value is None or isinstance(value, bool | int | float):
        return None if value != value else value
    if isinstance(value, str):
        return value if value.strip() else None
    try:
        return json.dumps(value, ensure_ascii=False)
    except TypeError:  # A date, an array
        return str(value)
