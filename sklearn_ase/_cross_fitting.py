"""Predictions for rows by models that did not learn from them."""

import warnings

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from sklearn_ase._rows import take_rows


def cross_fitted(fit, predict, X, y, n_splits, seed, stratified):
    """Predictions on each fold by a model fitted on the other folds.

    Parameters
    ----------
    fit : callable
        ``fit(rows, seed)`` returns a model fitted on these rows.
    predict : callable
        ``predict(model, X)`` returns a tuple of arrays over the rows of X.
    X : array, sparse matrix or frame of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    n_splits : int
    seed : int
    stratified : bool

    Returns
    -------
    predictions : tuple of ndarrays, or None
        None where there are too few rows to split.
    """
    n_splits = min(n_splits, len(y) // 2)
    if stratified:
        # Some class must have a row for each fold.
        n_splits = min(n_splits, np.unique(y, return_counts=True)[1].max())
    if n_splits < 2:
        return None
    splitter = StratifiedKFold if stratified else KFold
    places = np.arange(len(y))
    folds = _folds(splitter(n_splits, shuffle=True, random_state=seed), places, y)
    parts = []
    for train, test in folds:
        parts.append(predict(fit(train, seed), take_rows(X, test)))
    order = np.argsort(np.concatenate([test for _, test in folds]))
    return tuple(np.concatenate(pieces)[order] for pieces in zip(*parts, strict=True))


def _folds(splitter, places, y):
    with warnings.catch_warnings():
        # Rare classes are expected: the pool is labelled one row at a time.
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(splitter.split(places, y))
