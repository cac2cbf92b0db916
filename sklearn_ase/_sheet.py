"""What annotators get: rows of the pool as a frame, a spreadsheet or tasks."""

import csv
import json
import math
from pathlib import Path

import numpy as np
from scipy import sparse

from sklearn_ase._rows import is_frame, n_rows, take_rows

_OURS = ("row", "label", "prediction", "query_proba")


def columns_of(X, indices):
    """Features of some rows as lists, for people to read.

    Parameters
    ----------
    X : array, sparse matrix, frame, list or torch dataset
    indices : array-like of int

    Returns
    -------
    columns : dict of str to list
        One entry a feature, or one named ``text``; none for images and for sparse
        rows. What is missing is None.
    """
    rows = take_rows(X, np.asarray(indices, dtype=int))
    if sparse.issparse(rows):
        return {}
    if is_frame(rows):
        if hasattr(rows, "iloc"):  # pandas has several words for missing.
            rows = rows.astype(object).where(rows.notna(), None)
        columns = {str(name): list(rows[name]) for name in rows.columns}
    else:
        rows = np.asarray(rows)
        columns = {"text": rows.tolist()} if rows.ndim == 1 else {}
        if rows.ndim == 2:
            columns = {f"x{j}": column.tolist() for j, column in enumerate(rows.T)}
    return {
        f"{name} (feature)" if name in _OURS else name: [
            None if isinstance(cell, float) and math.isnan(cell) else cell
            for cell in column
        ]
        for name, column in columns.items()
    }


def row_of(X, index):
    """One row: a dict of what it has by name, or an array, or text."""
    row = take_rows(X, np.array([index]))
    if is_frame(row):
        return {name: cells[0] for name, cells in columns_of(row, [0]).items()}
    if sparse.issparse(row):
        row = row.tocoo()
        return {f"x{j}": v for j, v in zip(row.col, row.data.tolist(), strict=True)}
    return row[0] if isinstance(row, list) else np.asarray(row)[0]


def to_frame(query, X, predictions=None):
    """The rows that were asked for as a pandas frame; see :meth:`Query.to_frame`."""
    import pandas as pd

    columns = {"row": query.indices, **columns_of(X, query.indices)}
    if predictions is not None:
        columns["prediction"] = _predictions_of(predictions, X, query.indices)
    return pd.DataFrame({**columns, "query_proba": query.proba})


def export_rows(X, indices, path, predictions=None, overwrite=False):
    """Write rows for annotators; see :meth:`Evaluation.export`.

    Parameters
    ----------
    X : array, sparse matrix, frame, list or torch dataset
        The pool.
    indices : array-like of int
    path : str or path
        Ends in ``.csv``, for spreadsheets, or in ``.json``, for Label Studio.
    predictions : array-like of shape (n_samples,), default=None
        Of the model on the whole pool, to be shown.
    overwrite : bool, default=False
    """
    suffix = check_suffix(path)
    if not overwrite and Path(path).exists():
        raise FileExistsError(
            f"{path} is there already, perhaps with answers in it. Choose another "
            "name, or pass overwrite=True."
        )
    indices, columns = [int(index) for index in indices], columns_of(X, indices)
    if predictions is not None:
        predictions = _predictions_of(predictions, X, indices)
    if suffix == ".json":
        tasks = _tasks(indices, columns, predictions)
        text = json.dumps(tasks, ensure_ascii=False, indent=1, default=str)
        Path(path).write_text(text, encoding="utf-8")
        return
    table = {"row": indices, "label": [""] * len(indices)}
    if predictions is not None:
        table["prediction"] = predictions
    # Spreadsheets take a file for UTF-8 only if it starts with a byte order mark.
    with open(path, "w", newline="", encoding="utf-8-sig") as file:
        writer = csv.writer(file)
        writer.writerow(table | columns)
        writer.writerows(zip(*(table | columns).values(), strict=True))


def check_suffix(path):
    """Which kind of file it is, by its name."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".json"):
        raise ValueError(
            f"{path} must end in .csv, for spreadsheets, or in .json, for Label Studio."
        )
    return suffix


def _predictions_of(predictions, X, indices):
    predictions = np.asarray(predictions)
    if predictions.shape != (n_rows(X),):
        raise ValueError(
            f"predictions has shape {predictions.shape}, but the pool has {n_rows(X)} "
            "rows. Give one prediction for each of them, asked for or not."
        )
    return predictions[np.asarray(indices, dtype=int)].tolist()


def _tasks(indices, columns, predictions):
    """Rows as Label Studio imports them."""
    tasks = []
    for place, index in enumerate(indices):
        cells = {name: column[place] for name, column in columns.items()}
        # Features stand together, so that one <Table value="$features"/> shows all.
        data = cells if list(cells) == ["text"] or not cells else {"features": cells}
        tasks.append({"data": {"row": index, **data}})
        if predictions is not None:
            tasks[-1]["predictions"] = [{"result": [_result(predictions[place])]}]
    return tasks


def _result(prediction):
    """A prediction as Label Studio's Choices, or its Number, would answer."""
    kind, value = "choices", [str(prediction)]
    if isinstance(prediction, float):
        kind, value = "number", prediction
    names = {"from_name": "label", "to_name": "item"}
    return {**names, "type": kind, "value": {kind: value}}
