"""Arrays with one column per class: put them in order, or make them from labels."""

import numpy as np

from sklearn_ase._data._rows import plain_labels


def align_columns(values, columns, classes):
    """Put the last axis of an array in the order of the classes.

    Parameters
    ----------
    values : ndarray of shape (..., n_columns)
    columns : array-like of shape (n_columns,)
        Class of each column, in any order.
    classes : array-like of shape (n_classes,)
        In any order.

    Returns
    -------
    aligned : ndarray of shape (..., n_classes)
        Zero for a class that has no column. A column whose class is not among
        `classes` is left out. `values` itself if there is nothing to change.
    """
    columns, classes = plain_labels(columns), plain_labels(classes)
    if np.array_equal(columns, classes):
        # Not copied: the memory order decides the last digit of sums over classes.
        return np.asarray(values, dtype=np.float64)
    order = np.argsort(classes)
    wanted = np.isin(columns, classes)
    places = order[np.searchsorted(classes, columns[wanted], sorter=order)]
    aligned = np.zeros((*values.shape[:-1], len(classes)))
    aligned[..., places] = values[..., wanted]
    return aligned


def one_hot(labels, columns):
    """Return labels as certain probabilities.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
    columns : array-like of shape (n_columns,)
        Class of each column.

    Returns
    -------
    proba : ndarray of shape (n_rows, n_columns)
        1 in the column of the label, 0 elsewhere.
    """
    return (np.asarray(labels)[:, None] == np.asarray(columns)[None, :]).astype(float)


def check_columns(found, classes):
    """Refuse a surrogate with a column for a class that is not possible.

    Parameters
    ----------
    found : array-like
        Classes of the surrogate.
    classes : ndarray of shape (n_classes,)
        All possible labels.
    """
    extra = np.setdiff1d(plain_labels(found), classes)
    if len(extra):
        raise ValueError(
            f"The surrogate predicts the classes {extra.tolist()}, which are not "
            f"among the possible classes {classes.tolist()}. Pass "
            "classes=[...] with all of them."
        )
