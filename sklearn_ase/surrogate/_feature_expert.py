"""Predictions from features, as one more expert beside the models."""

import numpy as np

from sklearn_ase._data._rows import stack_rows, take_rows
from sklearn_ase.surrogate._held_out import fit_held_out, mean_prediction

# Labels at the first fit, and the factor by which they grow until the next.
_FIRST, _GROWTH = 5, 1.5
# Every class keeps a probability of this order.
_LEAST = 0.02


class FeatureExpert:
    """An estimator that learns the labels from features, asked where it can be trusted.

    Rows that it has learned from are predicted by members, or copies, that have not.

    Parameters
    ----------
    estimator : classifier or regressor
        Unfitted.
    features : array, sparse matrix or list of shape (n_samples, ...)
        The pool.
    train_features : same kind as features, default=None
        Further rows that it learns from.
    y_train : ndarray, default=None
        Their labels.
    """

    def __init__(self, estimator, features, train_features=None, y_train=None):
        self.estimator = estimator
        self.features = features
        self.train_features = train_features
        self.y_train = y_train
        self._found = None, None

    def predict(self, rows, y, classes, seed):
        """Predict the whole pool from some labels.

        The estimator is fitted to the first of them, at a few numbers of labels only.

        Parameters
        ----------
        rows : ndarray of int of shape (n_labels,)
        y : ndarray of shape (n_labels,)
        classes : ndarray of shape (n_classes,) or None
        seed : int

        Returns
        -------
        predictions : ndarray of shape (n_samples, n_classes) or (n_samples,), or None
            Probabilities or values. None if there are too few labels.
        """
        n_used = _n_used(len(y))
        rows, y = rows[:n_used], y[:n_used]
        known = y if self.y_train is None else np.concatenate([self.y_train, y])
        if len(known) < _FIRST or (classes is not None and len(np.unique(known)) < 2):
            return None
        key = rows.tolist(), y.tolist(), None if classes is None else classes.tolist()
        if self._found[0] != key:
            self._found = key, self._predict(rows, y, classes, seed)
        return self._found[1]

    def _predict(self, rows, y, classes, seed):
        X, n_labels = take_rows(self.features, rows), len(rows)
        if self.y_train is not None:
            X = stack_rows(self.train_features, X) if n_labels else self.train_features
            y = np.concatenate([self.y_train, y])
        model, held_out = fit_held_out(self.estimator, X, y, classes, seed)
        if model is None:
            return None
        predictions = mean_prediction(model, self.features, classes)
        if n_labels:
            predictions[rows] = held_out[-n_labels:]
        return _spread_out(predictions, classes)


def _spread_out(predictions, classes):
    """Predictions that give every class a chance."""
    if classes is None:
        return predictions
    return (predictions + _LEAST) / (1.0 + _LEAST * len(classes))


def _n_used(n_labels):
    """Number of labels at the last fit."""
    count = _FIRST
    if n_labels < count:
        return 0
    while (following := int(np.ceil(count * _GROWTH))) <= n_labels:
        count = following
    return count
