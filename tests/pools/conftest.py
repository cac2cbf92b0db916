"""A small cluster of dask, shared by all tests that need one."""

import pytest


@pytest.fixture(scope="session")
def cluster():
    """Two workers, each a process of its own."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as cluster:
        yield cluster
