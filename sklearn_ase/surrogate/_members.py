"""Predictions of the members of an ensemble, for all rows or for out-of-bag rows."""

import inspect

import numpy as np
from scipy import sparse
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from sklearn_ase._data._rows import n_rows, take_rows
from sklearn_ase._utils._unwrapping import last_step, unwrap
from sklearn_ase.surrogate._bootstrap import (
    BootstrapClassifier,
    BootstrapRegressor,
    member_proba,
)
from sklearn_ase.surrogate._leaves import as_tree_input

# Boosting has estimators_ too, but these are steps of one model, not models that
# could each stand for the truth.
FORESTS = (
    RandomForestClassifier,
    ExtraTreesClassifier,
    RandomForestRegressor,
    ExtraTreesRegressor,
)
BAGS = (BaggingClassifier, BaggingRegressor)
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


def predict_members(estimator, X):
    """Predict with every member of a fitted classifier or regressor.

    Parameters
    ----------
    estimator : fitted classifier or regressor
        An ensemble or an object with ``predict_proba_members`` or
        ``predict_members``. Anything else counts as an ensemble of one member.
    X : array, sparse matrix or frame of shape (n_samples, n_features)

    Returns
    -------
    members : ndarray of shape (n_members, n_samples, n_classes) or (n_members, \
n_samples)
        Columns in the order of the estimator's ``classes_``.
    """
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
    """Predict each row by the members that did not learn from it.

    Parameters
    ----------
    estimator : fitted classifier or regressor
    X : array, sparse matrix or frame of shape (n_samples, n_features)
        The rows that it was fitted on, in the same order.

    Returns
    -------
    mean, variance : ndarrays or None
        Over these members, of shape (n_samples, n_classes) or (n_samples,). NaN for
        rows that every member learned from. None without bootstrap samples.
    """
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
