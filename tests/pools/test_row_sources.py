"""Sources give all rows in order, and some rows in the order that is asked for."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from sklearn_ase import ActiveRiskEstimator, RowSource
from sklearn_ase._data._sources import (
    ParquetSource,
    RememberingSource,
    ViewSource,
    disk_source,
)
from sklearn_ase._labels._fingerprint import fingerprint

FRAME = pd.DataFrame({"a": np.arange(300.0), "b": np.arange(300) % 7})
ROWS = np.array([299, 0, 5, 5, 151])


def _parquet(tmp_path):
    for part in range(3):
        rows = FRAME[part * 100 : (part + 1) * 100]
        rows.to_parquet(tmp_path / f"part{part}.parquet", row_group_size=40)
    return disk_source(tmp_path)


def _lazy(tmp_path):
    _parquet(tmp_path)
    return disk_source(pl.scan_parquet(tmp_path / "*.parquet"))


def _dask_frame(tmp_path):
    dd = pytest.importorskip("dask.dataframe")
    from sklearn_ase.dask._parts import DaskSource

    frame = dd.from_pandas(FRAME, npartitions=4)
    return DaskSource(frame[frame["a"] >= 0])  # Of unknown length.


def _dask_array(tmp_path):
    da = pytest.importorskip("dask.array")
    from sklearn_ase.dask._parts import DaskSource

    array = da.from_array(FRAME.to_numpy(), chunks=(70, 1))
    return DaskSource(array[array[:, 0] >= 0])  # Of unknown length.


SOURCES = {
    "frame": lambda tmp_path: ViewSource(FRAME),
    "array": lambda tmp_path: ViewSource(FRAME.to_numpy()),
    "sparse matrix": lambda tmp_path: ViewSource(sparse.csr_matrix(FRAME.to_numpy())),
    "remembered rows": lambda tmp_path: RememberingSource(ViewSource(FRAME)),
    "Parquet": _parquet,
    "lazy frame": _lazy,
    "dask frame": _dask_frame,
    "dask array": _dask_array,
}


def _values(rows):
    return rows.toarray() if sparse.issparse(rows) else np.asarray(rows)


@pytest.fixture(params=SOURCES.values(), ids=SOURCES)
def source(request, tmp_path):
    """One of the sources of the same 300 rows."""
    return request.param(tmp_path)


def test_chunks_are_all_rows_in_order(source):
    chunks = [_values(chunk) for chunk in source.chunks(64)]
    assert all(0 < len(chunk) <= 64 for chunk in chunks)
    np.testing.assert_array_equal(np.concatenate(chunks), FRAME.to_numpy())
    assert len(source) == 300


def test_some_rows_come_in_the_order_asked_for(source):
    for _ in range(2):  # Again, from what is remembered.
        found = _values(source.take(ROWS))
        np.testing.assert_array_equal(found, FRAME.to_numpy()[ROWS])
    assert source.take(np.empty(0, dtype=int)).shape[0] == 0
    np.testing.assert_array_equal(_values(source.head()), FRAME.to_numpy()[:1])


def test_rows_after_a_function_are_those_of_the_source(source):
    doubled = source.mapped(lambda rows: 2 * _values(rows))
    np.testing.assert_array_equal(doubled.take(ROWS), 2 * FRAME.to_numpy()[ROWS])
    np.testing.assert_array_equal(
        np.concatenate(list(doubled.chunks(50))), 2 * FRAME.to_numpy()
    )


def test_a_fingerprint_changes_with_a_value(tmp_path):
    before = fingerprint(_parquet(tmp_path))
    assert before == fingerprint(_parquet(tmp_path))
    changed = FRAME[200:].copy()
    changed.loc[299, "b"] += 1
    changed.to_parquet(tmp_path / "part2.parquet", row_group_size=40)
    assert fingerprint(disk_source(tmp_path)) != before
    assert fingerprint(ViewSource(FRAME)) == fingerprint(FRAME)


def test_parts_of_a_parquet_directory_are_its_rows_and_travel(tmp_path):
    parts = _parquet(tmp_path).split(4)
    assert sum(map(len, parts)) == 300
    travelled = [pickle.loads(pickle.dumps(part)) for part in parts]
    rows = [_values(chunk) for part in travelled for chunk in part.chunks(64)]
    np.testing.assert_array_equal(np.concatenate(rows), FRAME.to_numpy())
    np.testing.assert_array_equal(
        _values(parts[1].take(np.array([0]))), FRAME.to_numpy()[[len(parts[0])]]
    )


def test_folders_named_by_a_value_have_it_as_a_column(tmp_path):
    FRAME.to_parquet(tmp_path, partition_cols=["b"])
    source = ParquetSource(tmp_path)
    rows = source.take(np.arange(len(source)))
    assert sorted(rows["a"]) == FRAME["a"].tolist()
    assert (rows["a"] % 7 == rows["b"].astype(int)).all()


def test_a_long_pool_is_sampled_for_encoders(monkeypatch, tmp_path):
    monkeypatch.setattr("sklearn_ase._data._sources._MOST_SAMPLED", 50)
    sample = _parquet(tmp_path).sample()
    assert len(sample) == 50
    assert sample["a"].is_monotonic_increasing
    assert len(ViewSource(FRAME).sample()) == 300


class _Squares(RowSource):
    def __len__(self):
        return 200

    def take(self, rows):
        return np.column_stack([np.sin(rows), np.cos(3.0 * rows)])

    def chunks(self, size):
        for start in range(0, len(self), size):
            yield self.take(np.arange(start, min(start + size, len(self))))


def test_a_source_of_ones_own_is_a_pool():
    pool = _Squares()
    X = pool.take(np.arange(200))
    y = (X.sum(axis=1) > 0).astype(int)
    model = LogisticRegression().fit(X[:30], y[:30])
    evaluators = [
        ActiveRiskEstimator(model, n_labels=6, random_state=0).fit(rows, y)
        for rows in (pool, X)
    ]
    first, second = (each.history_["query_proba"] for each in evaluators)
    np.testing.assert_allclose(first, second, rtol=1e-12)


@pytest.mark.parametrize("size", [199, 201])
def test_a_pool_that_changes_its_length_is_refused(size, monkeypatch):
    pool = _Squares()
    X = pool.take(np.arange(200))
    y = (X.sum(axis=1) > 0).astype(int)
    model = LogisticRegression().fit(X[:30], y[:30])
    evaluation = ActiveRiskEstimator(model, random_state=0).start(pool)
    rows = evaluation.ask(6)
    monkeypatch.setattr(_Squares, "chunks", lambda self, _: iter([X[:1]] * size))
    with pytest.raises(ValueError, match=f"200 rows at the start.*{size}"):
        evaluation.tell(rows, y[rows.indices])
    assert len(evaluation.ledger) == 6


def test_a_torch_dataset_is_read_in_chunks(monkeypatch):
    torch = pytest.importorskip("torch")
    pytest.importorskip("skorch")
    from sklearn_ase.neural import DeepEnsembleClassifier

    monkeypatch.setattr("sklearn_ase._data._sources._CHUNK_ROWS", 64)
    X = _Squares().take(np.arange(200)).astype(np.float32)
    y = (X.sum(axis=1) > 0).astype(int)
    pool = torch.utils.data.TensorDataset(torch.as_tensor(X))
    model = LogisticRegression().fit(X[:30], y[:30])
    runs = []
    for store in ("chunks", "tables"):
        evaluator = ActiveRiskEstimator(
            lambda rows: model.predict_proba(np.stack([row[0] for row in rows])),
            classes=[0, 1],
            surrogate=DeepEnsembleClassifier(n_members=2, max_epochs=1),
            store=store,
            random_state=0,
        )
        evaluation = evaluator.start(pool, X_train=X[:30], y_train=y[:30])
        runs.append(evaluation)
    rows = [run.ask(4).indices.tolist() for run in runs]
    assert rows[0] == rows[1]
    # Networks compute in single precision, in batches of other sizes.
    estimates = [float(run.estimate()) for run in runs]
    assert estimates[0] == pytest.approx(estimates[1], rel=1e-4)
