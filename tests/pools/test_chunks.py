"""A pool that is read in chunks gives what tables give, wherever its rows lie."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._state import RECORDED
from sklearn_ase.acquisition import (
    BALD,
    ExpectedLoss,
    Mixture,
    Uniform,
    VarianceReduction,
)
from sklearn_ase.risk import ASE
from sklearn_ase.selection import ArgMax, UniformMixed
from sklearn_ase.surrogate import FrameEncoder

N_TRAINING = 100


pytestmark = pytest.mark.usefixtures("small_chunks")


def _classes():
    X, y = make_classification(
        400, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, random_state=0
    )
    return X, y, LogisticRegression()


def _numbers():
    X, y = make_regression(400, 6, noise=20.0, random_state=0)
    return X, y, Ridge()


def _fit(evaluator, data, as_pool=lambda X: X, as_rows=lambda X: X, **parameters):
    """Fit on one data set, with its rows in some container."""
    X, y, model = data
    training = as_rows(X[:N_TRAINING])
    model.fit(training, y[:N_TRAINING])
    evaluator = evaluator.set_params(estimator=model, random_state=0, **parameters)
    return evaluator.fit(
        as_pool(as_rows(X[N_TRAINING:])),
        y[N_TRAINING:],
        X_train=training,
        y_train=y[:N_TRAINING],
    )


def _evaluator(**parameters):
    how = {"n_labels": 8, "cv": 0, "recalibrate": False}
    how["surrogate"] = ExtraTreesClassifier(8, bootstrap=True)
    return ActiveRiskEstimator(**how | parameters)


def _regression(**parameters):
    trees = ExtraTreesRegressor(10, bootstrap=True)
    return _evaluator(surrogate=trees, loss="squared_error", **parameters)


def assert_same(chunks, tables):
    """Picks, what was known of them, and estimates are the same but for rounding."""
    for name in RECORDED:
        found, wanted = (np.array(getattr(e.ledger_, name)) for e in (chunks, tables))
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13, err_msg=name)
    for name in ("risk", "standard_error"):
        found, wanted = (e.history_[name] for e in (chunks, tables))
        np.testing.assert_allclose(found, wanted, rtol=1e-11, err_msg=name)
    first, second = chunks.estimate_, tables.estimate_
    assert first.value == pytest.approx(second.value, rel=1e-12)
    assert (first.member_spread is None) == (second.member_spread is None)
    if first.member_spread is not None:
        assert first.member_spread == pytest.approx(second.member_spread, rel=1e-12)
    assert first.max_loss == pytest.approx(second.max_loss, rel=1e-12)
    assert first.min_loss == pytest.approx(second.min_loss, rel=1e-12)
    if not second.refusal:
        assert first.interval() == pytest.approx(second.interval(), rel=1e-9)


@pytest.mark.parametrize(
    ("loss", "recalibrate"),
    [("log_loss", True), ("zero_one", False), ("brier", True)],
)
def test_chunks_give_what_tables_give_for_classes(loss, recalibrate):
    found = [
        _fit(_evaluator(loss=loss, recalibrate=recalibrate), _classes(), store=store)
        for store in ("chunks", "tables")
    ]
    assert_same(*found)
    first, second = (str(each.evaluation_.diagnose()) for each in found)
    assert first == second


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_chunks_give_what_tables_give_for_numbers(loss):
    assert_same(
        *(
            _fit(_regression().set_params(loss=loss), _numbers(), store=store)
            for store in ("chunks", "tables")
        )
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {"acquisition": Mixture([BALD(), ExpectedLoss()], shares=[0.7, 0.3])},
        {"acquisition": BALD(), "selection": UniformMixed(ArgMax(), 0.3)},
        {"acquisition": Uniform()},
        {"acquisition": VarianceReduction()},
        {"acquisition": VarianceReduction(), "recalibrate": True},
        {"acquisition": Mixture([BALD(), VarianceReduction()]), "refit": [3, 6]},
        {"selection": ArgMax()},
        {"batch_size": 4, "refit": [5, 9]},
        {"risk": ASE(use_observed=True), "recalibrate": True},
    ],
    ids=str,
)
def test_chunks_pick_as_tables_with_other_strategies(parameters):
    found = [
        _fit(_evaluator(**parameters), _classes(), store=store)
        for store in ("chunks", "tables")
    ]
    assert_same(*found)


def _frame(X):
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame["kind"] = np.where(X[:, 0] > 0, "high", "low")
    return frame


class _OfNumbers(ClassifierMixin, BaseEstimator):
    """A model that reads the numbers of a frame only."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        self.model.fit(self._rows(X), y)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X):
        return self.model.predict_proba(self._rows(X))

    def predict(self, X):
        return self.model.predict(self._rows(X))

    @staticmethod
    def _rows(X):
        return np.column_stack([X[f"x{j}"] for j in range(6)])


def _of_frames(**parameters):
    trees = ExtraTreesClassifier(10, bootstrap=True)
    surrogate = make_pipeline(FrameEncoder(), trees)
    return _evaluator(surrogate=surrogate, **parameters)


def _parquet(tmp_path):
    def write(frame):
        table = pa.Table.from_pandas(frame, preserve_index=False)
        for part, start in enumerate(range(0, len(frame), 110)):
            path = tmp_path / f"part{part}.parquet"
            pq.write_table(table.slice(start, 110), path, row_group_size=50)
        return str(tmp_path)

    return write


def _dataset(tmp_path):
    return lambda frame: ds.dataset(_parquet(tmp_path)(frame), format="parquet")


def _file(tmp_path):
    def write(frame):
        frame.to_parquet(tmp_path / "pool.parquet", row_group_size=64)
        return tmp_path / "pool.parquet"

    return write


POOLS = {
    "frame in memory": lambda tmp_path: lambda frame: frame,
    "Parquet directory": _parquet,
    "Parquet file": _file,
    "pyarrow dataset": _dataset,
}


@pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS)
def test_frames_on_disk_give_what_a_frame_in_memory_gives(pool, tmp_path):
    X, y, model = _classes()
    data = X, y, _OfNumbers(model)
    tables = _fit(_of_frames(), data, as_rows=_frame, store="tables")
    chunks = _fit(
        _of_frames(), data, as_pool=pool(tmp_path), as_rows=_frame, store="chunks"
    )
    assert_same(chunks, tables)


def test_a_lazy_frame_of_polars_gives_what_its_frame_gives(tmp_path):
    X, y, model = _classes()
    data, as_rows = (X, y, _OfNumbers(model)), lambda X: pl.DataFrame(_frame(X))

    def scan(frame):
        frame.write_parquet(tmp_path / "pool.parquet")
        return pl.scan_parquet(tmp_path / "pool.parquet")

    tables = _fit(_of_frames(), data, as_rows=as_rows, store="tables")
    for as_pool in (scan, pl.DataFrame.lazy):
        chunks = _fit(_of_frames(), data, as_pool=as_pool, as_rows=as_rows)
        assert_same(chunks, tables)


def test_sparse_rows_give_what_tables_give():
    X, y, model = _classes()
    data = np.where(np.abs(X) > 1, X, 0.0), y, model
    found = [
        _fit(_evaluator(), data, as_rows=sparse.csr_matrix, store=store)
        for store in ("chunks", "tables")
    ]
    assert_same(*found)


def test_a_memory_map_gives_what_an_array_gives(tmp_path):
    def mapped(X):
        np.save(tmp_path / "pool.npy", X)
        return np.load(tmp_path / "pool.npy", mmap_mode="r")

    chunks = _fit(_evaluator(), _classes(), as_pool=mapped, store="chunks")
    assert_same(chunks, _fit(_evaluator(), _classes(), store="tables"))


def test_given_predictions_are_read_in_chunks_too():
    X, y, model = _classes()
    model.fit(X[:N_TRAINING], y[:N_TRAINING])
    proba = model.predict_proba(X[N_TRAINING:])
    found = [
        _evaluator(store=store, classes=[0, 1, 2], random_state=0).fit(
            X[N_TRAINING:], y[N_TRAINING:], predictions=proba
        )
        for store in ("chunks", "tables")
    ]
    assert_same(*found)


def test_costs_count_as_with_tables():
    X, y, model = _classes()
    model.fit(X[:N_TRAINING], y[:N_TRAINING])
    cost = np.random.default_rng(0).uniform(1, 5, len(X) - N_TRAINING)
    found = [
        _evaluator(estimator=model, store=store, random_state=0).fit(
            X[N_TRAINING:], y[N_TRAINING:], cost=cost
        )
        for store in ("chunks", "tables")
    ]
    assert_same(*found)
