"""Small pools that are evaluated in chunks and with tables, for comparison."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.linear_model import LogisticRegression, Ridge

from sklearn_ase import ActiveRiskEstimator

N_TRAINING, N_POOL, N_LABELS = 100, 240, 16
STORES = ("chunks", "tables")
HALF = np.arange(N_POOL) < N_POOL // 2
WEIGHT = np.random.default_rng(0).uniform(0, 2, N_POOL)


def classes(n_classes):
    how = {"n_informative": 4, "n_clusters_per_class": 1, "random_state": 0}
    X, y = make_classification(N_TRAINING + N_POOL, 6, n_classes=n_classes, **how)
    return X, y, LogisticRegression()


def numbers():
    X, y = make_regression(N_TRAINING + N_POOL, 6, noise=20.0, random_state=0)
    return X, y, Ridge()


def start(data, store, start=(), **parameters):
    X, y, model = data
    model.fit(X[:N_TRAINING], y[:N_TRAINING])
    trees = ExtraTreesClassifier if y.dtype.kind == "i" else ExtraTreesRegressor
    how = {"surrogate": trees(8, bootstrap=True), "cv": 0, "random_state": 0}
    how |= {"recalibrate": False, "store": store}
    if y.dtype.kind == "f":
        how["loss"] = "squared_error"
    return ActiveRiskEstimator(model, **how | parameters).start(
        X[N_TRAINING:], X_train=X[:N_TRAINING], y_train=y[:N_TRAINING], **dict(start)
    )


def labelled(data, store, n_labels=N_LABELS, **parameters):
    evaluation = start(data, store, **parameters)
    label(evaluation, data[1], n_labels)
    return evaluation


def label(evaluation, y, n_labels):
    for _ in range(n_labels):
        query = evaluation.ask()
        evaluation.tell(query, y[N_TRAINING:][query.indices])


def assert_same(first, second):
    """Two estimates are the same but for rounding."""
    assert first.refusal == second.refusal
    for name in ("value", "centre", "standard_error"):
        found, wanted = getattr(first, name), getattr(second, name)
        assert found == pytest.approx(wanted, rel=1e-9, nan_ok=True), name
    if not second.refusal:
        assert first.interval() == pytest.approx(second.interval(), rel=1e-8, abs=1e-12)


def assert_same_columns(first, second):
    """Two tables are the same but for rounding."""
    for name in second:
        found, wanted = np.array(first[name]), np.array(second[name])
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-10)
        else:
            assert found.tolist() == wanted.tolist()
