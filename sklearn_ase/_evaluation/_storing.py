"""Whether an evaluation keeps tables of its pool, or reads it in chunks."""

from dataclasses import replace

from sklearn_ase._data._arrays import is_from
from sklearn_ase._data._disk_sources import disk_source
from sklearn_ase._data._row_source import RememberingSource, RowSource, ViewSource
from sklearn_ase._data._rows import n_rows
from sklearn_ase._pool._kept import tables_needed
from sklearn_ase._pool._local import LocalParts
from sklearn_ase._pool._obstacle import chunks_obstacle
from sklearn_ase._pool._pool import PartedPool
from sklearn_ase._utils._checks import check_choice

# Bytes that all tables may take with store="auto".
_MOST_BYTES = 2**30
# Rows up to which the calibration learns from every label with recalibrate="auto", if
# the pool is read in chunks: that takes a pass for each label. Tables need none.
_MOST_RECALIBRATED = 200_000
# Parts of a Parquet directory on a cluster have so many rows, or more.
_ROWS_OF_A_PART = 250_000


def as_source(X):
    """Return the source of a pool that is not in memory; anything else as it is.

    Parameters
    ----------
    X : object
        The pool, as the user gave it.

    Returns
    -------
    X : RowSource or object
    """
    if is_from(X, "dask") and hasattr(X, "dask"):
        from sklearn_ase.dask._source import DaskSource

        return DaskSource(X)
    source = disk_source(X)
    return X if source is None else source


def resolve_recalibrate(recalibrate, n_samples, in_chunks=True):
    """Whether the calibration learns from every label between two fits.

    Parameters
    ----------
    recalibrate : bool or "auto"
    n_samples : int
    in_chunks : bool, default=True
        Whether the pool is read in chunks.

    Returns
    -------
    recalibrate : bool
    """
    check_choice(recalibrate, "recalibrate", ("auto", True, False))
    if recalibrate == "auto":
        return not in_chunks or n_samples <= _MOST_RECALIBRATED
    return bool(recalibrate)


def choose_parts(store, X, plan, n_classes, given, client=None, verbose=0):
    """Say where the columns of a pool that is read in chunks are kept.

    Parameters
    ----------
    store : {"auto", "tables", "chunks"}
    X : array, sparse matrix, frame, list, torch dataset or RowSource
    plan : Plan
    n_classes : int
        As far as it is known; 1 for regression.
    given : dict of str to object
        Arguments of the start that decide: `predictions`, `experts` and `cost`; and
        `has_model`.
    client : distributed.Client, default=None
    verbose : int, default=0

    Returns
    -------
    parts : LocalParts, DaskParts or None
        None for tables.
    """
    check_choice(store, "store", ("auto", "tables", "chunks"))
    is_source = isinstance(X, RowSource)
    obstacle = chunks_obstacle(plan, given["experts"], given["has_model"])
    if store == "auto" and client is None and not is_source:
        size = 8 * n_rows(X) * (4 * n_classes + 2)
        store = "tables" if obstacle or size <= _MOST_BYTES else "chunks"
    if store == "tables":
        if is_source or client is not None:
            where = "is on a cluster" if client is not None else "is not in memory"
            raise ValueError(
                f"store='tables' keeps tables with a row for each sample, but the pool "
                f"{where}. Use store='chunks', or load the pool first."
            )
        return None
    if obstacle:
        raise tables_needed(obstacle)
    source = X if is_source else ViewSource(X)
    if client is None and hasattr(source, "client"):
        client = source.client
    if client is None:
        return LocalParts(source, given["predictions"], verbose)
    if plan.metric is not None:
        raise ValueError(
            f"metric={plan.metric!r} (or sample_weight) picks rows by columns in this "
            "process, but the pool is on a cluster. Leave it out and ask afterwards: "
            "evaluation.estimate(metric=..., sample_weight=...); or give client=None."
        )
    if plan.acquisition.needs_member_loss and plan.can_update:
        raise ValueError(
            f"{type(plan.acquisition).__name__} keeps what the members said at the "
            "last fit, which a pool on a cluster cannot between two fits. Use "
            "recalibrate=False."
        )
    from sklearn_ase.dask._parts import DaskParts

    return DaskParts.of(source, client, given, _ROWS_OF_A_PART, verbose)


def with_pool(problem, parts):
    """Return the problem with the pool that is read in chunks.

    Parameters
    ----------
    problem : Problem
        Its X is a RowSource.
    parts : LocalParts or DaskParts

    Returns
    -------
    problem : Problem
    """
    return replace(problem, pool=PartedPool(parts, problem.predictions))


def remembering(parts):
    """Return the source of the parts, which keeps rows that were taken once."""
    return RememberingSource(parts.source)
