"""Ensembles of one estimator, fitted on bootstrap samples."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_ase._data._class_columns import align_columns, one_hot
from sklearn_ase._data._rows import n_rows, take_rows
from sklearn_ase._utils._checks import check_integer, check_n_jobs
from sklearn_ase._utils._seeding import check_seed, fit_seeded
from sklearn_ase._utils._typing import Estimator, Floats, Rows, Seed


class _Bootstrap(BaseEstimator, metaclass=ABCMeta):
    def __init__(
        self,
        estimator: Estimator,
        n_members: int = 20,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_members = n_members
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit one copy of the estimator on each bootstrap sample.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Each row is drawn with a probability in proportion to its weight.

        Returns
        -------
        self : object
        """
        check_integer(self.n_members, "n_members", 1)
        check_n_jobs(self.n_jobs)
        y = np.asarray(y)
        rng = check_seed(self.random_state)
        weight = np.ones(n_rows(X)) if sample_weight is None else sample_weight
        draws = [self._draw(y, np.asarray(weight), rng) for _ in range(self.n_members)]
        seeds = rng.randint(np.iinfo(np.int32).max, size=self.n_members)
        self.estimators_samples_ = draws
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_member)(self.estimator, X, y, rows, seed)
            for rows, seed in zip(draws, seeds, strict=True)
        )
        return self

    @abstractmethod
    def _draw(self, y, weight, rng):
        """Draw the positions of the rows of one bootstrap sample."""


class BootstrapClassifier(ClassifierMixin, _Bootstrap):
    """Ensemble of one classifier, fitted on bootstrap samples stratified by class.

    Every bootstrap sample has every class, unlike those of
    :class:`sklearn.ensemble.BaggingClassifier`. Many classifiers refuse to be fitted on
    a single class, and with few labels a plain bootstrap sample often has only one.

    Parameters
    ----------
    estimator : classifier
        Without ``predict_proba`` its labels count as certain votes.
    n_members : int, default=20
    random_state : int, RandomState instance or None, default=None
    n_jobs : int, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    estimators_ : list of n_members classifiers
    estimators_samples_ : list of n_members ndarrays
        Positions of the rows that each member was fitted on.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn_ase.surrogate import BootstrapClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BootstrapClassifier(LogisticRegression(max_iter=500), n_members=3)
    >>> model.fit(X, y).predict_proba_members(X).shape
    (3, 150, 3)
    """

    def fit(
        self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        self.classes_ = np.unique(y)
        return super().fit(X, y, sample_weight)

    def predict_proba_members(self, X: Rows) -> Floats:
        """Return probabilities by member, (n_members, n_samples, n_classes)."""
        check_is_fitted(self)
        return np.stack(
            [member_proba(member, X, self.classes_) for member in self.estimators_]
        )

    def predict_proba(self, X: Rows) -> Floats:
        """Return the mean of the members' probabilities, (n_samples, n_classes)."""
        return self.predict_proba_members(X).mean(axis=0)

    def predict(self, X: Rows) -> np.ndarray:
        """Return the most probable class of each row, of shape (n_samples,)."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _draw(self, y, weight, rng):
        total = weight.sum()
        draws = []
        for label in self.classes_:
            rows = np.flatnonzero(y == label)
            mass = weight[rows].sum()
            size = max(1, round(len(y) * mass / total))
            draws.append(rng.choice(rows, size=size, p=weight[rows] / mass))
        return np.concatenate(draws)


class BootstrapRegressor(RegressorMixin, _Bootstrap):
    """Ensemble of one regressor, fitted on bootstrap samples.

    Parameters
    ----------
    estimator : regressor
    n_members : int, default=20
    random_state : int, RandomState instance or None, default=None
    n_jobs : int, default=None

    Attributes
    ----------
    estimators_ : list of n_members regressors
    estimators_samples_ : list of n_members ndarrays
        Positions of the rows that each member was fitted on.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_ase.surrogate import BootstrapRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> BootstrapRegressor(Ridge(), n_members=3).fit(X, y).predict_members(X).shape
    (3, 442)
    """

    def predict_members(self, X: Rows) -> Floats:
        """Return the predictions of each member, of shape (n_members, n_samples)."""
        check_is_fitted(self)
        return np.stack([np.ravel(member.predict(X)) for member in self.estimators_])

    def predict(self, X: Rows) -> np.ndarray:
        """Return the mean of the members' predictions, of shape (n_samples,)."""
        return self.predict_members(X).mean(axis=0)

    def _draw(self, y, weight, rng):
        return rng.choice(len(y), size=len(y), p=weight / weight.sum())


def member_proba(member, X, classes):
    """Predict with one classifier, with one column for each of the classes.

    Parameters
    ----------
    member : fitted classifier
        Without ``predict_proba`` its labels count as certain votes.
    X : array, sparse matrix or frame of shape (n_samples, n_features)
    classes : ndarray of shape (n_classes,)

    Returns
    -------
    proba : ndarray of shape (n_samples, n_classes)
    """
    if not hasattr(member, "predict_proba"):
        return one_hot(member.predict(X), classes)
    found = member.predict_proba(X)
    if found.shape[1] != len(member.classes_):
        raise ValueError(
            f"{type(member).__name__}.predict_proba gives {found.shape[1]} columns, "
            f"but its classes_ are {list(member.classes_)}. Skorch networks take the "
            "labels of their training rows for all classes: give them classes=[...] "
            "with every possible label."
        )
    # Some classifiers store probabilities by column; sums over the classes are faster
    # if they are stored by row.
    return np.ascontiguousarray(align_columns(found, member.classes_, classes))


def _fit_member(prototype, X, y, rows, seed):
    return fit_seeded(prototype, seed, take_rows(X, rows), y[rows])
