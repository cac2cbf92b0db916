"""Read a pool from a file: columns of cells by name."""

import csv
import hashlib
import io
import json
from pathlib import Path

from sklearn_ase._annotation._sheet import csv_lines

_DELIMITERS = ",;\t"


def read_pool(path):
    """Read the columns of a CSV, JSON Lines or Parquet file.

    Parameters
    ----------
    path : str or path
        Ends in ``.csv`` (or ``.tsv``), ``.jsonl`` (or ``.ndjson``) or ``.parquet``.

    Returns
    -------
    columns : dict of str to list
        Cells by the name of their column. A cell of a CSV file is a text; an empty
        one is None in all formats.
    """
    path = Path(path)
    readers = {
        ".csv": _read_csv,
        ".tsv": _read_csv,
        ".jsonl": _read_json_lines,
        ".ndjson": _read_json_lines,
    }
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        columns = _read_parquet(path)
    elif suffix in readers:
        columns = readers[suffix](_text_of(path), path)
    else:
        raise ValueError(
            f"{path} must end in .csv, .jsonl or .parquet, so that its format is known."
        )
    if not columns or not len(next(iter(columns.values()))):
        raise ValueError(f"{path} has no rows.")
    return columns


def fingerprint_columns(columns, names):
    """Return a short text that changes when a cell or the order of rows changes.

    Parameters
    ----------
    columns : dict of str to list
    names : iterable of str
        The columns that count. Others may be added or changed.

    Returns
    -------
    fingerprint : str
    """
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


def _read_json_lines(text, path):
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ValueError(
                f"{path}, line {number} is not valid JSON ({error})."
            ) from None
        if not isinstance(row, dict):
            raise ValueError(
                f"{path}, line {number} must be an object such as "
                f'{{"question": "..."}}, but is {line.strip()[:60]!r}.'
            )
        rows.append(row)
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: [_cell(row.get(name)) for row in rows] for name in names}


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
