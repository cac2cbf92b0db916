"""A sample of a pool on a cluster of dask has the rows of one without."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sklearn_ase import sample_pool

N, N_DRAWN = 3000, 250
X = np.random.default_rng(2).normal(size=(N, 3))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


def score(rows):
    values = rows["a"].to_numpy() if hasattr(rows, "columns") else rows[:, 0]
    return np.exp(values)


@pytest.fixture(scope="module")
def cluster():
    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        yield cluster


def collections():
    some = da.from_array(X, chunks=(500, -1))
    return {
        "array": da.from_array(X, chunks=(611, 2)),
        "frame": dd.from_pandas(FRAME, npartitions=7),
        "unknown lengths": some[some[:, 0] < 9],
    }


@pytest.mark.parametrize("kind", collections())
@pytest.mark.parametrize("by", [None, score])
def test_the_rows_are_those_without_a_cluster(cluster, kind, by):
    sample = sample_pool(collections()[kind], N_DRAWN, by=by, random_state=3)
    expected = sample_pool(X, N_DRAWN, by=by, random_state=3)
    assert_array_equal(sample.indices, expected.indices)
    assert_array_equal(np.asarray(sample.X), X[expected.indices])
    assert_allclose(sample.inclusion_proba, expected.inclusion_proba, rtol=1e-12)


def test_no_cluster_is_needed():
    pool = da.from_array(X, chunks=(700, -1))
    sample = sample_pool(pool, N_DRAWN, by=score, random_state=3)
    expected = sample_pool(X, N_DRAWN, by=score, random_state=3)
    assert_array_equal(sample.indices, expected.indices)


def test_a_small_collection_is_taken_whole(cluster):
    for pool in collections().values():
        sample = sample_pool(pool, N)
        assert sample.is_whole
        assert_array_equal(np.asarray(sample.X), X)


def test_a_frame_is_indexed_by_the_numbers_of_its_rows():
    parts = [FRAME[:1000], FRAME[1000:].reset_index(drop=True)]
    pool = dd.concat([dd.from_pandas(part, npartitions=3) for part in parts])
    sample = sample_pool(pool, 100, random_state=0)
    assert_array_equal(sample.X.index, sample.indices)
    assert_array_equal(sample.X.to_numpy(), X[sample.indices])


def test_sparse_blocks_stay_sparse():
    pool = da.from_array(X, chunks=(1000, -1)).map_blocks(sparse.csr_array)
    sample = sample_pool(pool, 100, random_state=0)
    assert_array_equal(sample.X.toarray(), X[sample.indices])


def test_only_partitions_with_drawn_rows_are_read_and_the_driver_reads_none(tmp_path):
    def block(number):
        (tmp_path / str(number)).touch()
        return X[number * 30 : (number + 1) * 30]

    blocks = [
        da.from_delayed(dask.delayed(block)(k), (30, 3), dtype=float)
        for k in range(100)
    ]
    sample = sample_pool(da.concatenate(blocks), 10, random_state=0)
    read = {int(path.name) for path in tmp_path.iterdir()}
    assert read == set((sample.indices // 30).tolist())


@pytest.mark.slow
def test_a_worker_that_dies_changes_nothing(cluster, tmp_path):
    def deadly(rows):
        import os
        from pathlib import Path

        marker = Path(tmp_path, "killed")
        if not marker.exists() and rows[0, 0] == X[1800, 0]:
            marker.touch()
            os._exit(1)
        return score(rows)

    pool = da.from_array(X, chunks=(600, -1))
    sample = sample_pool(pool, N_DRAWN, by=deadly, random_state=3)
    assert (tmp_path / "killed").exists()
    expected = sample_pool(X, N_DRAWN, by=score, random_state=3)
    assert_array_equal(sample.indices, expected.indices)
    assert_array_equal(sample.inclusion_proba, expected.inclusion_proba)
