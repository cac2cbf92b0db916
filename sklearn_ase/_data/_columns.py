"""Rows of the pool as readable columns."""

import math

import numpy as np
from scipy import sparse

from sklearn_ase._data._rows import is_frame, n_rows, take_rows

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
        columns["prediction"] = predictions_of(predictions, X, query.indices)
    return pd.DataFrame({**columns, "query_proba": query.proba})


def predictions_of(predictions, X, indices):
    """Predictions for some rows, as a list."""
    predictions = np.asarray(predictions)
    if predictions.shape != (n_rows(X),):
        raise ValueError(
            f"predictions has shape {predictions.shape}, but the pool has {n_rows(X)} "
            "rows. Give one prediction for each of them, asked for or not."
        )
    return predictions[np.asarray(indices, dtype=int)].tolist()
