"""Predict each row by a model that did not learn from it."""

import warnings

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from sklearn_ase._data._rows import take_rows


def cross_fitted(fit, predict, X, y, n_splits, seed, stratified):
    """Predict each fold by a model that was fitted on the other folds.

    Parameters
    ----------
    fit : callable
        ``fit(rows, seed)`` returns a model fitted on these rows.
    predict : callable
        ``predict(model, X)`` returns a tuple of arrays with one entry per row of X.
    X : array, sparse matrix or frame of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    n_splits : int
        Number of folds; fewer if there are not enough rows.
    seed : int
    stratified : bool
        Whether each fold has the same share of each class.

    Returns
    -------
    predictions : tuple of ndarrays, or None
        NaN for the only row of a class, which is never held out. None if there are
        too few rows to split.
    """
    held_out = np.arange(len(y))
    if stratified:
        _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        held_out = np.flatnonzero(counts[codes] > 1)
        # scikit-learn needs one class that has a row for each fold.
        n_splits = min(n_splits, counts.max())
    n_splits = min(n_splits, len(held_out) // 2)
    if n_splits < 2:
        return None
    splitter = StratifiedKFold if stratified else KFold
    folds = _folds(splitter(n_splits, shuffle=True, random_state=seed), y[held_out])
    found = None
    for _, test in folds:
        rows = held_out[test]
        model = fit(np.setdiff1d(np.arange(len(y)), rows), seed)
        pieces = predict(model, take_rows(X, rows))
        if found is None:
            found = tuple(np.full((len(y), *part.shape[1:]), np.nan) for part in pieces)
        for whole, part in zip(found, pieces, strict=True):
            whole[rows] = part
    return found


def _folds(splitter, y):
    with warnings.catch_warnings():
        # Rare classes are normal here: labels of the pool arrive one by one.
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(splitter.split(np.zeros(len(y)), y))
