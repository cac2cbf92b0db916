"""Access rows and labels of arrays, frames, lists and torch datasets."""

import sys

import numpy as np
from scipy import sparse

from sklearn_ase._utils._checks import shown


def is_frame(X):
    """Return whether X is a pandas or polars frame, without importing either."""
    return hasattr(X, "columns") and hasattr(X, "shape")


def is_dataset(X):
    """Return whether X is a torch dataset, without importing torch."""
    kinds = type(X).__mro__
    return any(kind.__module__.startswith("torch.utils.data") for kind in kinds)


def n_rows(X):
    """Return the number of rows of X."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def check_indices(query, name="query", n_samples=None):
    """Return the row numbers of a query, or of some of its rows.

    Parameters
    ----------
    query : Query or array-like of int
    name : str, default="query"
        Of the argument, for the message.
    n_samples : int, default=None
        Size of the pool; None does not compare with it.

    Returns
    -------
    indices : ndarray of shape (n_rows,), dtype int
    """
    indices = getattr(query, "indices", query)
    try:
        indices = np.atleast_1d(indices)
    except ValueError:  # Lists of different lengths.
        indices = np.array([None])
    if indices.shape == (0,):
        return np.empty(0, dtype=int)
    is_whole = indices.dtype.kind in "iuf" and (indices == np.round(indices)).all()
    if indices.ndim != 1 or not is_whole or np.ma.is_masked(indices):
        raise ValueError(
            f"{name}: rows are named by their places in the pool (0, 1, ...), but got "
            f"{shown(query)}. Pass what ask() returned, or some of its indices."
        )
    if n_samples is not None:
        wrong = indices[(indices < 0) | (indices >= n_samples)]
        if len(wrong):
            raise ValueError(
                f"{name} has rows {wrong[:5].tolist()}, but the rows of the pool are 0 "
                f"to {n_samples - 1}."
            )
    return indices.astype(int)


def check_index(index):
    """Return the number of one row; an array with one entry is accepted."""
    indices = check_indices(index, "index")
    if len(indices) != 1:
        raise ValueError(
            f"index={shown(index)} must be one row: make one call per row."
        )
    return int(indices[0])


def is_missing(label):
    """Return whether a label is missing: None, NaN, or pandas' NA or NaT."""
    same = label == label  # False for NaN and NaT; for NA it is NA, not a bool.
    return label is None or not (isinstance(same, (bool, np.bool_)) and same)


def plain_labels(labels):
    """Return labels as an array of numbers or text, also if they came as objects."""
    labels = np.asarray(labels)
    return np.array(labels.tolist()) if labels.dtype == object else labels


def order_columns(X, columns):
    """Return a frame with its columns in the given order."""
    return X[list(columns)] if hasattr(X, "iloc") else X.select(list(columns))


def take_rows(X, rows):
    """Return some rows of X, in the given order, in the same kind of container.

    For a dataset, a slice gives a subset that is not read yet; row numbers give an
    array.

    Parameters
    ----------
    X : array, sparse matrix, frame, list or torch dataset
    rows : slice or ndarray of int of shape (n_rows,)

    Returns
    -------
    some : same kind as X, or ndarray for a dataset
    """
    if hasattr(X, "chunks") and hasattr(X, "mapped"):  # A RowSource.
        return X.take(rows)
    if is_dataset(X):
        if isinstance(rows, slice):
            return subset(X, range(len(X))[rows])
        return read_dataset(X, rows)
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, list):
        return X[rows] if isinstance(rows, slice) else [X[row] for row in rows]
    return X[rows]


def subset(X, rows):
    """Return some rows of a torch dataset as a dataset that is not read yet."""
    return sys.modules["torch.utils.data"].Subset(X, rows)


def read_dataset(X, rows=None):
    """Return the features of some rows of a dataset, or of all, as an array."""
    rows = range(len(X)) if rows is None else rows
    # Without rows one is read all the same, to know the shape of the features.
    items = (X[int(row)] for row in ([0] if len(rows) == 0 else rows))
    # An item is either the features, or features and label. Labels are ignored.
    features = [i[0] if isinstance(i, (tuple, list)) else i for i in items]
    return np.stack([np.asarray(row) for row in features])[: len(rows)]


def stack_rows(top, bottom):
    """Return the rows of two containers of the same kind, one below the other."""
    if sparse.issparse(top) or sparse.issparse(bottom):
        return sparse.vstack([top, bottom], format="csr")
    if hasattr(top, "iloc") and hasattr(bottom, "iloc"):
        import pandas as pd

        return pd.concat([top, bottom], ignore_index=True)
    if is_frame(top) and is_frame(bottom) and hasattr(top, "vstack"):
        return top.vstack(bottom)
    if isinstance(top, list) and isinstance(bottom, list):
        return top + bottom
    return np.concatenate([np.asarray(top), np.asarray(bottom)])
