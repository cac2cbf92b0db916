"""Fit an estimator on features, and predict each of its rows as if it were held out."""

import numpy as np

from sklearn_ase._data._class_columns import align_columns
from sklearn_ase._data._cross_fitting import cross_fitted
from sklearn_ase._data._rows import take_rows
from sklearn_ase._utils._seeding import fit_seeded
from sklearn_ase.surrogate._members import out_of_bag, predict_members

_FOLDS = 5


def fit_held_out(estimator, X, y, classes, seed):
    """Fit an estimator, and predict its rows by members or copies without them.

    Parameters
    ----------
    estimator : classifier or regressor
        Unfitted.
    X : array, sparse matrix, frame or list of shape (n_rows, ...)
    y : ndarray of shape (n_rows,)
    classes : ndarray of shape (n_classes,) or None
        None for regression.
    seed : int

    Returns
    -------
    model : fitted estimator, or None
    held_out : ndarray of shape (n_rows, n_classes) or (n_rows,), or None
        Both are None if there are too few rows to hold any out.
    """
    model = fit_seeded(estimator, seed, X, y)
    found = out_of_bag(model, X)
    if found is not None:
        values = _aligned(found[0], model, classes)
    else:

        def fit(chosen, seed):
            return fit_seeded(estimator, seed, take_rows(X, chosen), y[chosen])

        def predict(model, rows):
            return (mean_prediction(model, rows, classes),)

        found = cross_fitted(fit, predict, X, y, _FOLDS, seed, classes is not None)
        if found is None:
            return None, None
        values = found[0]
    # A row that every member has learned from is predicted as an average row.
    missing = ~np.isfinite(values.reshape(len(values), -1)).all(axis=1)
    values[missing] = values[~missing].mean(axis=0)
    return model, values


def mean_prediction(model, X, classes):
    """Mean of the members.

    Parameters
    ----------
    model : fitted estimator
    X : array, sparse matrix, frame or list of shape (n_rows, ...)
    classes : ndarray of shape (n_classes,) or None

    Returns
    -------
    predictions : ndarray of shape (n_rows, n_classes) or (n_rows,)
        Probabilities, with a column for each class, or values.
    """
    return _aligned(predict_members(model, X).mean(axis=0), model, classes)


def _aligned(values, model, classes):
    if classes is not None:
        values = align_columns(values, model.classes_, classes)
    return np.array(values, dtype=float)
