"""A small cluster of dask, shared by all tests that need one."""

import pytest

from sklearn_ase._data import _sources as _row_source
from sklearn_ase._pool import _pool as _local


@pytest.fixture
def small_chunks(monkeypatch):
    """Small pools have several chunks and several blocks, of odd sizes."""
    monkeypatch.setattr(_row_source, "_CHUNK_ROWS", 97)
    monkeypatch.setattr(_local, "_BLOCK", 120)


@pytest.fixture(scope="session")
def cluster():
    """Two workers, each a process of its own."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as cluster:
        yield cluster
