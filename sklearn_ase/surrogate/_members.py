"""Members of ensembles: bootstraps, forests through their leaves, out-of-bag rows."""

# Arrays have the same names in all functions of this file.
#
#   m, n, c   number of members, rows, classes
#   members   (m, n, c) probabilities or (m, n) numbers by each member; samples, for
#             each member the positions of the rows that it learned from
#   codes     for each node of a tree the column of its class; c if it holds several
#   places    (m, n) code of the leaf of each row, as a place in a table (n, c + 1)
#   mixed     for each member with such leaves: its number, rows, and their
#             probabilities (n_mixed, c)

from __future__ import annotations

import inspect
from abc import ABCMeta, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.utils.validation import check_is_fitted

from sklearn_ase._data._predictions import align_columns, one_hot
from sklearn_ase._data._rows import n_rows, take_rows
from sklearn_ase._utils._checks import check_integer, check_n_jobs
from sklearn_ase._utils._estimators import check_seed, fit_seeded, last_step, unwrap
from sklearn_ase._utils._typing import Estimator, Floats, Rows, Seed
from sklearn_ase.belief import CategoricalBelief, _kernels
from sklearn_ase.belief._kernels import to_numpy

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn_ase.losses._base import LossTable


# Boosting has estimators_ too, but these are steps of one model, not models that
# could each stand for the truth.
FORESTS = (
    RandomForestClassifier,
    ExtraTreesClassifier,
    RandomForestRegressor,
    ExtraTreesRegressor,
)
BAGS = (BaggingClassifier, BaggingRegressor)


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


def member_proba(member, X: Rows, classes: np.ndarray) -> np.ndarray:
    """Predict with one classifier, with one column for each of the classes."""
    if not hasattr(member, "predict_proba"):
        return one_hot(member.predict(X), classes)
    proba = member.predict_proba(X)
    if proba.shape[1] != len(member.classes_):
        raise ValueError(
            f"{type(member).__name__}.predict_proba gives {proba.shape[1]} columns, "
            f"but its classes_ are {list(member.classes_)}. Skorch networks take the "
            "labels of their training rows for all classes: give them classes=[...] "
            "with every possible label."
        )
    # Some classifiers store probabilities by column; sums over the classes are faster
    # if they are stored by row.
    return np.ascontiguousarray(align_columns(proba, member.classes_, classes))


def _fit_member(prototype, X, y, rows, seed):
    return fit_seeded(prototype, seed, take_rows(X, rows), y[rows])


# Forests of classifiers, read through their leaves.


class ForestLeaves:
    """What the leaves of a fitted forest of classifiers say.

    The forest may end a pipeline. `classes` are all of the forest and perhaps others.
    """

    def __init__(self, estimator: Estimator, classes: np.ndarray) -> None:
        unwrapped = unwrap(estimator)
        self._transform, self._forest = unwrapped.transform, unwrapped.last
        self._trees = [tree.tree_ for tree in self._forest.estimators_]
        self._classes, self.n_classes = classes, len(classes)
        columns = self._aligned(np.eye(len(self._forest.classes_))).argmax(axis=1)
        self._codes, self._is_pure = [], []
        for tree in self._trees:
            shares = tree.value[:, 0]
            is_pure = shares.max(axis=1) == 1.0
            # Mixed leaves get a column of their own, behind those of the classes.
            codes = columns[shares.argmax(axis=1)]
            self._codes.append(np.where(is_pure, codes, self.n_classes))
            is_leaf = tree.children_left < 0
            self._is_pure.append(bool(is_pure[is_leaf].all()))

    @classmethod
    def of(cls, estimator, classes):
        """Leaves of a forest of classifiers; None for any other estimator."""
        forest = unwrap(estimator).last
        is_forest = isinstance(forest, FORESTS) and hasattr(forest, "classes_")
        return cls(estimator, classes) if is_forest else None

    @property
    def n_trees(self) -> int:
        """Number of members."""
        return len(self._trees)

    def _aligned(self, proba: np.ndarray) -> np.ndarray:
        """Probabilities of the forest's classes with a column for each class."""
        return align_columns(proba, self._forest.classes_, self._classes)

    def at(self, X: Rows) -> LeafMembers:
        """Return the members at some rows."""
        X = as_tree_input(self._transform(X))
        n_rows = X.shape[0]
        places = np.empty((self.n_trees, n_rows), dtype=np.intp)
        mixed = []
        for number, tree in enumerate(self._trees):
            leaves = tree.apply(X)
            np.take(self._codes[number], leaves, out=places[number])
            if not self._is_pure[number]:
                rows = np.flatnonzero(places[number] == self.n_classes)
                shares = tree.value[leaves[rows], 0]
                mixed.append((number, rows, self._aligned(shares)))
        places += np.arange(n_rows) * (self.n_classes + 1)
        return LeafMembers(places, mixed, n_rows, self.n_classes)

    def out_of_bag(self, X: Rows) -> np.ndarray | None:
        """Predict each row of the fit by the trees that did not learn from it."""
        if not self._forest.bootstrap:
            return None
        X = as_tree_input(self._transform(X))
        n_rows, n_trees = X.shape[0], np.zeros(X.shape[0])
        total = np.zeros((n_rows, self.n_classes + 1))
        samples = self._forest.estimators_samples_
        for number, (tree, sample) in enumerate(zip(self._trees, samples, strict=True)):
            rows = np.flatnonzero(np.bincount(sample, minlength=n_rows) == 0)
            leaves = tree.apply(X[rows])
            codes = self._codes[number][leaves]
            n_trees[rows] += 1.0
            total[rows, codes] += 1.0
            if not self._is_pure[number]:
                is_mixed = codes == self.n_classes
                shares = tree.value[leaves[is_mixed], 0]
                total[rows[is_mixed], :-1] += self._aligned(shares)
        if not n_trees.any():
            return None
        return total[:, :-1] / np.where(n_trees > 0, n_trees, np.nan)[:, None]


class LeafMembers:
    """Members of a forest at some rows."""

    def __init__(
        self, places: np.ndarray, mixed: list, n_rows: int, n_classes: int
    ) -> None:
        self._places = places
        self._mixed = mixed
        self._shape = n_rows, n_classes

    def mean(self):
        """Mean of the members, of shape (n_rows, n_classes)."""
        n_rows, n_classes = self._shape
        counts = np.bincount(self._places.ravel(), minlength=n_rows * (n_classes + 1))
        total = counts.reshape(n_rows, -1)[:, :-1].astype(float)
        for _, rows, shares in self._mixed:
            total[rows] += shares
        return total / len(self._places)

    def belief(self, loss: LossTable, proba, keep_member_loss: bool = False):
        """The belief of these members, as :meth:`CategoricalBelief.from_members`."""
        mean = self.mean()
        # Where a leaf holds one class, p log p is 0.
        information = np.zeros(self._shape)
        for _, rows, shares in self._mixed:
            information[rows] += _kernels.xlogx(shares)
        information /= len(self._places)
        gap = (information - _kernels.xlogx(mean)).clip(0.0)
        common, weight = _kernels.member_weights(mean, proba, loss.values)
        padded = np.pad(weight, [(0, 0), (0, 1)])
        member_loss = padded.ravel()[self._places]
        for number, rows, shares in self._mixed:
            member_loss[number, rows] = np.einsum("nc,nc->n", shares, weight[rows])
        member_loss += common
        return CategoricalBelief(
            proba=proba,
            class_disagreement=_kernels.tilt(mean, proba) * gap,
            member_risk=member_loss.mean(axis=1),
            member_loss=member_loss if keep_member_loss else None,
        )


def mean_and_belief(members) -> tuple[np.ndarray, Callable]:
    """Mean of the members, and a function that reduces them to a belief."""
    if isinstance(members, LeafMembers):
        return members.mean(), members.belief
    mean = to_numpy(members.mean(axis=0))
    return mean, partial(CategoricalBelief.from_members, members)


def as_tree_input(X):
    """Rows as trees take them without a check: numbers in single precision."""
    if sparse.issparse(X):
        return X.tocsr().astype(np.float32)
    return np.ascontiguousarray(X, dtype=np.float32)


# Predictions of the members.


BOOTSTRAPS = (BootstrapClassifier, BootstrapRegressor)


def has_members(estimator):
    """Whether the estimator is an ensemble whose members can be asked."""
    last = last_step(estimator)
    return isinstance(last, (*FORESTS, *BAGS, *BOOTSTRAPS)) or (
        hasattr(last, "predict_proba_members") or hasattr(last, "predict_members")
    )


def is_bootstrapped(estimator):
    """Whether each member learns from a bootstrap sample of the rows."""
    last = last_step(estimator)
    if isinstance(last, BOOTSTRAPS):
        return True
    is_ensemble = isinstance(last, (*FORESTS, *BAGS)) or hasattr(
        last, "predict_proba_members"
    )
    return is_ensemble and bool(getattr(last, "bootstrap", False))


def has_std(estimator):
    """Whether ``predict(X, return_std=True)`` gives a standard deviation."""
    predict = getattr(last_step(estimator), "predict", None)
    return predict is not None and "return_std" in inspect.signature(predict).parameters


def _member_functions(model, X):
    """Return one prediction function per member, and X as these functions take it."""
    if isinstance(model, FORESTS):
        # The forest converts X once per call, so its trees need not check it again.
        trees = [tree.tree_.predict for tree in model.estimators_]
        if hasattr(model, "classes_"):
            return trees, as_tree_input(X)
        return [lambda rows, t=t: t(rows)[:, 0] for t in trees], as_tree_input(X)
    if isinstance(model, BAGS):
        X = X if sparse.issparse(X) else np.asarray(X)
        pairs = zip(model.estimators_, model.estimators_features_, strict=True)
        if hasattr(model, "classes_"):
            codes = np.arange(len(model.classes_))  # Members of a bag learn codes.
            return [
                lambda rows, m=m, f=f: member_proba(m, rows[:, f], codes)
                for m, f in pairs
            ], X
        return [lambda rows, m=m, f=f: m.predict(rows[:, f]) for m, f in pairs], X
    if isinstance(model, BootstrapClassifier):
        return [
            lambda rows, m=m: member_proba(m, rows, model.classes_)
            for m in model.estimators_
        ], X
    return [lambda rows, m=m: np.ravel(m.predict(rows)) for m in model.estimators_], X


def predict_members(estimator, X: Rows) -> np.ndarray:
    """Predict with every member of a fitted classifier or regressor."""
    unwrapped = unwrap(estimator)
    model, X = unwrapped.last, unwrapped.transform(X)
    for method in ("predict_proba_members", "predict_members"):
        if hasattr(model, method) and not isinstance(model, BOOTSTRAPS):
            members = getattr(model, method)(X)
            if not isinstance(members, np.ndarray):
                members = np.stack(list(members))
            return members
    if isinstance(model, (*FORESTS, *BAGS, *BOOTSTRAPS)):
        functions, X = _member_functions(model, X)
        first = functions[0](X)
        members = np.empty((len(functions), *first.shape))
        members[0] = first
        for member, function in zip(members[1:], functions[1:], strict=True):
            member[...] = function(X)
        return members
    if hasattr(model, "classes_"):
        return member_proba(model, X, model.classes_)[None]
    return np.ravel(model.predict(X))[None]


def out_of_bag(estimator, X):
    """Predict each row by the members that did not learn from it."""
    unwrapped = unwrap(estimator)
    model, X = unwrapped.last, unwrapped.transform(X)
    if not is_bootstrapped(model):
        return None
    # Read once: forests draw the samples again each time.
    samples = getattr(model, "estimators_samples_", None)
    if samples is None:
        return None
    n_samples = n_rows(X)
    if isinstance(model, (*FORESTS, *BAGS, *BOOTSTRAPS)):
        functions, X = _member_functions(model, X)
    else:
        members = predict_members(model, X)
        functions, X = [member.__getitem__ for member in members], np.arange(n_samples)
    count = np.zeros(n_samples)
    total = square = 0.0
    for function, sample in zip(functions, samples, strict=True):
        out = np.ones(n_samples, dtype=bool)
        out[sample] = False
        rows = np.flatnonzero(out)
        if len(rows) == 0:
            continue
        prediction = function(take_rows(X, rows))
        if count.sum() == 0:
            total = np.zeros((n_samples, *prediction.shape[1:]))
            square = np.zeros_like(total)
        count[rows] += 1
        total[rows] += prediction
        square[rows] += prediction**2
    if not count.any():
        return None
    shape = (-1,) + (1,) * (total.ndim - 1)
    count = np.where(count > 0, count, np.nan).reshape(shape)
    mean = total / count
    return mean, np.maximum(square / count - mean**2, 0.0)
