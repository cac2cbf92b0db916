"""A pool from a file: columns of cells by name, and what an evaluation takes of them.

Files with texts are read by ``csv`` and ``json``, so that every cell is what stands in
the file and every mistake is named with its line. pandas reads Parquet only: in a text
it takes a line that is too short for one with empty cells, and rounds large numbers.
A cell is a text, a number, a truth value, or None if it is empty.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_ase._annotation._sheet import as_number, read_lines, read_text
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
    from sklearn_ase._utils._typing import Floats, StrPath

Columns = dict[str, list]

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
_INSTALL = "Install the extra: pip install 'sklearn-ase[cli]'"


def read_pool(path: StrPath, form: str | None = None) -> tuple[Columns, str]:
    """Read a table, or a result file of another tool; returns its format, too."""
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
        columns = _read_csv(path)
    else:
        columns, form = _read_json(path, form)
    if not columns or not len(next(iter(columns.values()))):
        raise ValueError(f"{path} has no rows.")
    return columns, form


def fingerprint_columns(columns: Columns, names: Iterable[str]) -> str:
    """Return a short text that changes when a cell or the order of rows changes."""
    digest = hashlib.sha256()
    for name in sorted(set(names)):
        text = json.dumps([name, columns[name]], default=str)
        digest.update(text.encode("utf-8", errors="surrogatepass"))
    return digest.hexdigest()[:32]


def _read_csv(path: Path) -> Columns:
    delimiter, lines = read_lines(read_text(path), path, len)
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
    columns = zip(*(cells for _, cells in lines[1:]), strict=True)
    # Without a row there is no column.
    return {
        n: list(map(_cell, cells)) for n, cells in zip(names, columns, strict=False)
    }


def _read_json(path: Path, form: str) -> tuple[Columns, str]:
    """Columns and format of a file with JSON; the format "any" is looked for."""
    is_lines = form == "jsonl" or path.suffix.lower() in (".jsonl", ".ndjson")
    document: Any
    if form == "inspect" and path.suffix.lower() == ".eval":
        document = read_archive(path)
    elif is_lines:
        lines = enumerate(read_text(path).split("\n"), start=1)
        document = [
            _json(line, f"{path}, line {number}", is_row=True)
            for number, line in lines
            if line.strip()
        ]
    else:
        document = _json(read_text(path), str(path))
    if form == "any":
        fitting = [name for name, (fits, _) in _TOOLS.items() if fits(document)]
        form = fitting[0] if fitting else "jsonl" if is_lines else "json"
    if form in _TOOLS:
        return _columns_of_tool(document, path, form), form
    is_table = isinstance(document, list) and all(isinstance(r, dict) for r in document)
    if not is_table:
        raise ValueError(f"{path} has no known shape. {_READ}")
    return _table(document), form


def _columns_of_tool(document: Any, path: Path, form: str) -> Columns:
    """Columns of a result file of a tool."""
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
    return {
        name: cells
        for name, cells in columns.items()
        if name in ("input", "output") or any(cell is not None for cell in cells)
    }


def _json(text: str, place: str, is_row: bool = False) -> Any:
    """The value of a JSON text, which may have to be an object."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place} is not valid JSON ({error}).") from None
    if is_row and not isinstance(value, dict):
        raise ValueError(
            f'{place} must be an object such as {{"question": "..."}}, but is '
            f"{text.strip()[:60]!r}."
        )
    return value


def _read_parquet(path: Path) -> Columns:
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    try:
        import pandas as pd

        frame = pd.read_parquet(path)
    except ImportError:
        raise ValueError(
            f"Parquet files need pandas and pyarrow. {_INSTALL}, or save the pool as "
            "CSV."
        ) from None
    except Exception as error:  # Each engine has errors of its own.
        raise ValueError(f"{path} is not a Parquet file ({error}).") from None
    frame = frame.astype(object).where(frame.notna(), None)
    return {str(name): [_cell(v) for v in frame[name]] for name in frame.columns}


def _table(rows: list[dict]) -> Columns:
    """Columns of rows, which need not have all of them."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {str(name): [_cell(row.get(name)) for row in rows] for name in names}


def _cell(value: Any) -> str | bool | int | float | None:
    value = value.item() if hasattr(value, "item") else value
    if value is None or isinstance(value, bool | int | float):
        return None if value != value else value
    if isinstance(value, str):
        return value if value.strip() else None
    try:
        return json.dumps(value, ensure_ascii=False)
    except TypeError:  # A date, an array
        return str(value)


# Cells as labels, numbers, judges and features.


def pick_column(
    columns: Columns, name: str, option: str, where: str = "the pool"
) -> list:
    """Return the cells of a column, or raise if there is no such column."""
    if name not in columns:
        raise ValueError(
            f"{option} {name}: {where} has no such column. It has {', '.join(columns)}."
        )
    return columns[name]


def as_label(cell: Any) -> str | None:
    """Return a cell as a label, which is a text; None if it is empty."""
    if cell is None:
        return None
    if isinstance(cell, bool):
        return str(cell).lower()  # As JSON writes it.
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))  # Columns with gaps hold 1 as 1.0.
    return str(cell).strip()


def groups_of(columns: Columns, name: str, option: str) -> list[str]:
    """Return the cells of a column as the names of groups."""
    cells = map(as_label, pick_column(columns, name, option))
    return ["(empty)" if label is None else label for label in cells]


def labels_of(
    columns: Columns,
    name: str,
    classes: list[str] | None,
    needs_all: bool,
    cure: str = "Name all labels with --labels.",
) -> list[str | None] | Floats:
    """Return the labels in a column; numbers if there are no classes."""
    if classes is None:
        return numbers_of(columns, name, needs_all)
    labels = [as_label(cell) for cell in columns[name]]
    for row, label in enumerate(labels):
        _refuse_empty(label, name, row, needs_all)
        if label is not None and label not in classes:
            raise ValueError(
                f"Column {name} has {label!r} in {_place(row)}, which is not one of "
                f"the labels {', '.join(classes)}. {cure}"
            )
    return labels


def numbers_of(columns: Columns, name: str, needs_all: bool) -> Floats:
    """Return the numbers in a column."""
    numbers = np.array([as_number(cell) for cell in columns[name]], dtype=float)
    for row, cell in enumerate(columns[name]):
        _refuse_empty(cell, name, row, needs_all)
        if cell is not None and not math.isfinite(numbers[row]):
            raise ValueError(
                f"Column {name} has {cell!r} in {_place(row)}, but only numbers "
                "can stand there."
            )
    return numbers


def _refuse_empty(cell: Any, name: str, row: int, needs_all: bool) -> None:
    if cell is None and needs_all:
        raise ValueError(f"Column {name} is empty in {_place(row)}.")


def judge_of(
    columns: Columns,
    name: str,
    classes: list[str] | None,
    *,
    label: str | None,
    pos_label: str | None,
    meanings: dict[str, str],
) -> np.ndarray:
    """Return what a judge says: labels if all cells are labels, else scores."""
    if classes is None:
        return numbers_of(columns, name, False)
    columns = {name: [meanings.get(as_label(c) or "", c) for c in columns[name]]}
    filled = [cell for cell in columns[name] if cell is not None]
    words = {str(as_label(cell)) for cell in filled}
    is_score = all(math.isfinite(as_number(cell)) for cell in filled)
    if words <= set(classes) or not is_score:
        for word in words:
            if re.fullmatch(r"[+-]?\d+,\d+", word):
                raise ValueError(
                    f"Column {name} has {word!r}. Write numbers with a decimal point."
                )
        cure = (
            "Say what each word of the judge means, as in --judge-says "
            f"pass={classes[0]} fail={classes[-1]}."
        )
        return np.array(labels_of(columns, name, classes, False, cure), dtype=object)
    return _scores_of(columns, name, classes, label, pos_label)


def _scores_of(
    columns: Columns,
    name: str,
    classes: list[str],
    label: str | None,
    pos_label: str | None,
) -> Floats:
    """Scores of a judge for the label of the metric, or probabilities of both."""
    scores = numbers_of(columns, name, False)
    least, most = np.nanmin(scores), np.nanmax(scores)
    if not 0 <= least <= most <= 1:
        raise ValueError(
            f"Column {name} must hold scores between 0 and 1, or the labels "
            f"{', '.join(classes)}, but its numbers go from {least:g} to {most:g}. "
            "Bring them to 0 to 1 first, for instance divide by the highest score."
        )
    if label is not None:
        return scores
    if pos_label is None or len(classes) > 2:
        raise ValueError(
            f"--judge {name}: it is not clear of which label its scores are the "
            "probability. Say it with --pos-label, which needs two labels, or give a "
            "column with the labels that the judge chose."
        )
    return _both(scores, classes, pos_label)


def probabilities_of(
    columns: Columns, names: list[str], classes: list[str], pos_label: str | None
) -> Floats:
    """Return probabilities with one column for each label."""
    proba = np.column_stack([numbers_of(columns, name, True) for name in names])
    if len(names) == 1 and len(classes) == 2:
        if pos_label is None:
            raise ValueError(
                f"--proba {names[0]}: say of which label it is the probability, with "
                "--pos-label."
            )
        proba = _both(proba[:, 0], classes, pos_label)
    if proba.shape[1] != len(classes):
        raise ValueError(
            f"--proba names {len(names)} columns, but there are {len(classes)} labels. "
            "Name one column for each label, in the order of --labels."
        )
    wrong = (proba < 0).any(axis=1) | (np.abs(proba.sum(axis=1) - 1) > 1e-3)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"--proba: the probabilities of {_place(row)} are {proba[row].tolist()}. "
            "They must be between 0 and 1 and sum to 1."
        )
    return proba


def _both(scores: Floats, classes: list[str], pos_label: str) -> Floats:
    """Probabilities of two labels, from that of one."""
    return np.column_stack([scores if c == pos_label else 1 - scores for c in classes])


def features_of(columns: Columns, names: list[str]) -> Any:
    """Return some columns as a frame: numbers where all cells are numbers."""
    try:
        import pandas as pd
    except ImportError:
        raise ValueError(
            f"--features needs pandas. {_INSTALL}, or leave out --features."
        ) from None
    features = {}
    for name in names:
        filled = [cell for cell in columns[name] if cell is not None]
        if filled and all(math.isfinite(as_number(cell)) for cell in filled):
            features[name] = numbers_of(columns, name, False)
        else:
            texts = [None if cell is None else str(cell) for cell in columns[name]]
            features[name] = np.array(texts, dtype=object)
    return pd.DataFrame(features)


def _place(row: int) -> str:
    return f"row {row} of the pool (the first row is row 0)"
