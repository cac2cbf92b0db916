"""Pools of dask: arrays, frames and Parquet directories on a cluster.

Nothing of it has to be called. A dask array or frame is given to
:class:`~sklearn_ase.ActiveRiskEstimator` as any other pool. If there is a client, the
pool stays on the workers.
"""

__all__: list[str] = []
