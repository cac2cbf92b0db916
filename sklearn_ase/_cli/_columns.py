"""Turn cells of a pool into what an evaluation takes: labels, numbers, features."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._cli._pool_file import read_pool

if TYPE_CHECKING:
    import argparse


def pick_column(
    columns: dict[str, list], name: str, option: str, where: str = "the pool"
) -> list:
    """Return the cells of a column, or raise if there is no such column."""
    if name not in columns:
        raise ValueError(
            f"{option} {name}: {where} has no such column. It has {', '.join(columns)}."
        )
    return columns[name]


def as_label(cell):
    """Return a cell as a label, which is a text; None if it is empty."""
    if cell is None:
        return None
    if isinstance(cell, bool):
        return str(cell).lower()  # As JSON writes it.
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))  # Columns with gaps hold 1 as 1.0.
    return str(cell).strip()


def as_groups(cells) -> list[str]:
    """Return the cells of a column as the names of groups."""
    return ["(empty)" if cell is None else as_label(cell) for cell in cells]


def labels_of(
    cells: list,
    classes: list[str],
    name: str,
    needs_all: bool,
    cure: str = "Name all labels with --labels.",
):
    """Return the labels in a column."""
    labels = [as_label(cell) for cell in cells]
    for row, label in enumerate(labels):
        if label is None and needs_all:
            raise ValueError(f"Column {name} is empty in {_place(row)}.")
        if label is not None and label not in classes:
            raise ValueError(
                f"Column {name} has {label!r} in {_place(row)}, which is not one of "
                f"the labels {', '.join(classes)}. {cure}"
            )
    return labels


def numbers_of(cells: list, name: str, needs_all: bool) -> np.ndarray:
    """Return the numbers in a column."""
    numbers = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        if cell is None and needs_all:
            raise ValueError(f"Column {name} is empty in {_place(row)}.")
        if cell is not None:
            numbers[row] = as_number(cell)
            if not math.isfinite(numbers[row]):
                raise ValueError(
                    f"Column {name} has {cell!r} in {_place(row)}, but only numbers "
                    "can stand there."
                )
    return numbers


def judge_of(
    cells, classes, name, label: str | None = None, pos_label: str | None = None
) -> np.ndarray:
    """Return what a judge says: labels if all cells are labels, else scores."""
    if classes is not None:
        labels = [as_label(cell) for cell in cells]
        found = {label for label in labels if label is not None}
        is_score = not found <= set(classes) and all(
            math.isfinite(as_number(cell)) for cell in cells if cell is not None
        )
        if not is_score:
            _refuse_commas(found, name)
            cure = (
                "Say what each word of the judge means, as in --judge-says "
                f"pass={classes[0]} fail={classes[-1]}."
            )
            found = labels_of(cells, classes, name, False, cure)
            return np.array(found, dtype=object)
    scores = numbers_of(cells, name, False)
    if classes is None:
        return scores
    present = scores[np.isfinite(scores)]
    if len(present) and not 0 <= present.min() <= present.max() <= 1:
        raise ValueError(
            f"Column {name} must hold scores between 0 and 1, or the labels "
            f"{', '.join(classes)}, but its numbers go from {present.min():g} to "
            f"{present.max():g}. Bring them to 0 to 1 first, for instance divide by "
            "the highest score."
        )
    if label is not None:
        return scores
    if pos_label is None or len(classes) > 2:
        raise ValueError(
            f"--judge {name}: it is not clear of which label its scores are the "
            "probability. Say it with --pos-label, which needs two labels, or give a "
            "column with the labels that the judge chose."
        )
    columns = [scores if each == pos_label else 1 - scores for each in classes]
    return np.column_stack(columns)


def _refuse_commas(found, name):
    comma = next((text for text in found if re.fullmatch(r"[+-]?\d+,\d+", text)), None)
    if comma is not None:
        raise ValueError(
            f"Column {name} has {comma!r}. Write numbers with a decimal point."
        )


def features_of(columns: dict[str, list], names: list[str]):
    """Return some columns as a frame: numbers where all cells are numbers."""
    try:
        import pandas as pd
    except ImportError:
        raise ValueError(
            "--features needs pandas. Install it with pip install pandas, or leave "
            "out --features."
        ) from None
    features = {}
    for name in names:
        cells = columns[name]
        numbers = [math.nan if cell is None else as_number(cell) for cell in cells]
        gaps = [cell is None for cell in cells]
        is_number = np.isfinite(numbers) | np.array(gaps)
        if is_number.all() and not all(gaps):
            features[name] = np.array(numbers, dtype=float)
        else:
            texts = [None if cell is None else str(cell) for cell in cells]
            features[name] = np.array(texts, dtype=object)
    return pd.DataFrame(features)


def probabilities_of(
    columns: dict[str, list],
    names: list[str],
    classes: list[str],
    pos_label: str | None,
) -> np.ndarray:
    """Return probabilities with one column for each label."""
    table = [numbers_of(columns[name], name, True) for name in names]
    if len(table) == 1 and len(classes) == 2:
        if pos_label is None:
            raise ValueError(
                f"--proba {names[0]}: say of which label it is the probability, with "
                "--pos-label."
            )
        first = classes.index(pos_label) == 0
        table = [table[0], 1 - table[0]] if first else [1 - table[0], table[0]]
    if len(table) != len(classes):
        raise ValueError(
            f"--proba names {len(names)} columns, but there are {len(classes)} labels. "
            "Name one column for each label, in the order of --labels."
        )
    proba = np.column_stack(table)
    wrong = (proba < 0).any(axis=1) | (np.abs(proba.sum(axis=1) - 1) > 1e-3)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"--proba: the probabilities of {_place(row)} are {proba[row].tolist()}. "
            "They must be between 0 and 1 and sum to 1."
        )
    return proba


def as_number(cell: str | bool | int | float) -> float:
    """Return a cell as a number, or NaN if it is not a number."""
    if isinstance(cell, str) and "_" in cell:  # Python reads 1_000 as a number.
        return math.nan
    try:
        return float(cell)
    except ValueError:
        return math.nan


def _place(row):
    return f"row {row} of the pool (the first row is row 0)"


# The command ``columns``: what a file offers.


_MOST_CHARACTERS = 40
_MOST_VALUES = 6


def columns(args: argparse.Namespace):
    """Describe the columns of a file."""
    found, form = read_pool(args.pool, args.format)
    return {
        "file": str(args.pool),
        "format": form,
        "rows": len(next(iter(found.values()))),
        "columns": [_described(name, cells) for name, cells in found.items()],
    }


def _described(name, cells):
    """How many cells are filled, and what stands in them."""
    filled = [cell for cell in cells if cell is not None]
    values = list(dict.fromkeys(map(as_label, filled)))
    numbers = [as_number(cell) for cell in filled]
    described = {"column": name, "filled": len(filled), "different": len(values)}
    if filled and len(values) <= _MOST_VALUES:
        what = ", ".join(map(_short, values))
    elif filled and all(number == number for number in numbers):
        what = f"numbers from {min(numbers):g} to {max(numbers):g}"
    else:
        what = _short(values[0]) if values else ""
    return described | {"holds": what}


def _short(text):
    line = " ".join(text.split())
    if len(line) <= _MOST_CHARACTERS:
        return line
    return line[: _MOST_CHARACTERS - 1] + "…"
