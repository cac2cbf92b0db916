"""Rows and labels of whatever holds them: arrays, frames, lists, torch datasets."""

import sys

import numpy as np
from scipy import sparse


def is_frame(X):
    """Whether X is a pandas or polars frame (told without importing either)."""
    return hasattr(X, "columns") and hasattr(X, "shape")


def is_dataset(X):
    """Whether X is a torch dataset (told without importing torch)."""
    kinds = type(X).__mro__
    return any(kind.__module__.startswith("torch.utils.data") for kind in kinds)


def n_rows(X):
    """Number of rows of X."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def check_indices(query):
    """Row numbers of a query, or of some of its rows.

    Parameters
    ----------
    query : Query or array-like of int

    Returns
    -------
    indices : ndarray of shape (n_rows,), dtype int
    """
    indices = np.atleast_1d(getattr(query, "indices", query))
    if not len(indices):
        return np.empty(0, dtype=int)
    is_whole = indices.dtype.kind in "iuf" and (indices == np.round(indices)).all()
    if indices.ndim != 1 or not is_whole:
        raise ValueError(
            f"Rows are named by their places in the pool, 0, 1, ..., but {query!r} "
            "came. Give what ask() returned, or some of its indices."
        )
    return indices.astype(int)


def check_index(index):
    """The number of one row, also where it came as an array of one."""
    indices = check_indices(index)
    if len(indices) != 1:
        raise ValueError(f"One row at a time can be changed, but {index!r} came.")
    return int(indices[0])


def label_array(labels):
    """Labels as an array in which those that are missing can still be told.

    numpy makes text of a NaN that stands among text in a list.
    """
    return np.asarray(labels, dtype=None if hasattr(labels, "dtype") else object)


def is_missing(label):
    """Whether it stands for no label: None, NaN or one of pandas' words for it."""
    same = label == label  # Of pandas' NA not even that can be said.
    return label is None or not (isinstance(same, (bool, np.bool_)) and same)


def plain_labels(labels):
    """Labels as an array of numbers or text, also where pandas gave objects."""
    labels = np.asarray(labels)
    return np.array(labels.tolist()) if labels.dtype == object else labels


def order_columns(X, columns):
    """A frame with its columns in the given order."""
    return X[list(columns)] if hasattr(X, "iloc") else X.select(list(columns))


def take_rows(X, rows):
    """The given rows of X, in that order, as the same kind of container.

    Consecutive rows of a dataset stay on disk; single ones become an array.

    Parameters
    ----------
    X : array, sparse matrix, frame, list or torch dataset
    rows : ndarray of int or slice
    """
    if is_dataset(X):
        if isinstance(rows, slice):
            subset = sys.modules["torch.utils.data"].Subset
            return subset(X, range(len(X))[rows])
        return read_dataset(X, rows)
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, list):
        return X[rows] if isinstance(rows, slice) else [X[row] for row in rows]
    return X[rows]


def read_dataset(X, rows=None):
    """Features of some rows of a dataset, or of all, as an array."""
    rows = range(len(X)) if rows is None else rows
    # Datasets give features alone or features and label; labels are not looked at.
    items = (X[int(row)] for row in ([0] if len(rows) == 0 else rows))
    features = [i[0] if isinstance(i, (tuple, list)) else i for i in items]
    return np.stack([np.asarray(row) for row in features])[: len(rows)]


def stack_rows(top, bottom):
    """The rows of two containers of the same kind, one below the other."""
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
