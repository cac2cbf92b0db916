"""Iris with names for labels, and classifiers that are not scikit-learn's."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris

from sklearn_ase.losses import LogLoss
from sklearn_ase.surrogate import ClassifierSurrogate

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
FLOWERS = NAMES[Y]
UNIFORM = LogLoss().build(np.full((150, 3), 1 / 3), NAMES)


class FixedMembers(ClassifierMixin, BaseEstimator):
    """An ensemble by others: two members that never change, classes in odd order."""

    def fit(self, X, y):
        self.classes_ = np.array(["virginica", "setosa"])
        return self

    def predict_proba_members(self, X):
        return iter(
            [np.tile([0.9, 0.1], (len(X), 1)), np.tile([0.3, 0.7], (len(X), 1))]
        )


def as_is(estimator):
    """A surrogate without calibration."""
    return ClassifierSurrogate(estimator, calibration=None)


class AllColumns(ClassifierMixin, BaseEstimator):
    """A classifier with a column for every class, seen or not, as networks have."""

    def fit(self, X, y):
        self.classes_ = np.arange(4)
        self.share_ = np.bincount(y, minlength=4) / len(y)
        return self

    def predict_proba_members(self, X):
        return np.tile(self.share_, (2, len(X), 1))
