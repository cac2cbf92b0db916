"""Show rows of the pool as columns that people can read."""

import math

import numpy as np
from scipy import sparse

from sklearn_ase._data._arrays import read_array
from sklearn_ase._data._row_order import RowOrder
from sklearn_ase._data._rows import is_frame, n_rows, take_rows

# Columns that are added here; a feature of the same name is renamed.
_ADDED = ("row", "label", "prediction", "query_proba")


def columns_of(X, indices):
    """Return the features of some rows as lists.

    Parameters
    ----------
    X : array, sparse matrix, frame, list or torch dataset
    indices : array-like of int of shape (n_rows,)

    Returns
    -------
    columns : dict of str to list of length n_rows
        One entry per feature, or one named ``text``. Empty for images and sparse
        rows. Missing values are None.
    """
    rows = take_rows(X, np.asarray(indices, dtype=int))
    if sparse.issparse(rows):
        return {}
    if is_frame(rows):
        if hasattr(rows, "iloc"):  # pandas has several missing values.
            rows = rows.astype(object).where(rows.notna(), None)
        columns = {str(name): list(rows[name]) for name in rows.columns}
    else:
        rows = np.asarray(rows)
        columns = {"text": rows.tolist()} if rows.ndim == 1 else {}
        if rows.ndim == 2:
            columns = {f"x{j}": column.tolist() for j, column in enumerate(rows.T)}
    return {
        f"{name} (feature)" if name in _ADDED else name: [
            None if isinstance(cell, float) and math.isnan(cell) else cell
            for cell in column
        ]
        for name, column in columns.items()
    }


def row_of(X, index):
    """Return one row: a dict of its features by name, an array, or text.

    Parameters
    ----------
    X : array, sparse matrix, frame, list or torch dataset
    index : int

    Returns
    -------
    row : dict, ndarray or str
        A dict for frames and for sparse rows (with the features that are not 0).
    """
    row = take_rows(X, np.array([index]))
    if is_frame(row):
        return {name: cells[0] for name, cells in columns_of(row, [0]).items()}
    if sparse.issparse(row):
        row = row.tocoo()
        return {f"x{j}": v for j, v in zip(row.col, row.data.tolist(), strict=True)}
    return row[0] if isinstance(row, list) else np.asarray(row)[0]


def to_frame(query, X, predictions=None):
    """Return the rows of a query as a pandas frame; see :meth:`Query.to_frame`."""
    import pandas as pd

    columns = {"row": query.indices, **columns_of(X, query.indices)}
    if predictions is not None:
        columns["prediction"] = predictions_of(predictions, X, query.indices)
    return pd.DataFrame({**columns, "query_proba": query.proba})


def predictions_of(predictions, X, indices):
    """Return the predictions for some rows as a list.

    Parameters
    ----------
    predictions : array-like of shape (n_samples,)
        One prediction per row of the pool.
    X : array, sparse matrix, frame, list or torch dataset
        The pool.
    indices : array-like of int of shape (n_rows,)

    Returns
    -------
    predictions : list of length n_rows
    """
    RowOrder.of(X=X).check(predictions=predictions)
    predictions = read_array(predictions, "predictions")
    if predictions.shape != (n_rows(X),):
        raise ValueError(
            f"predictions has shape {predictions.shape}, but the pool has {n_rows(X)} "
            "rows. Give one prediction per row of the pool, not only for this query."
        )
    return predictions[np.asarray(indices, dtype=int)].tolist()
