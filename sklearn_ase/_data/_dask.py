"""Read a pool on a cluster of dask: each partition on the worker that has it.

Everything here is a task for each partition and a tree that joins what they return. The
cluster runs them, and runs them again if a worker is lost. Without a cluster dask runs
them in this process.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import dask
import numpy as np
from scipy import sparse

from sklearn_ase._data._rows import take_rows
from sklearn_ase._data._sampling import Reader, named_types, read_memory

if TYPE_CHECKING:
    from dask.delayed import Delayed

# So many results are joined at a time.
_BRANCHES = 8


def read_collection(collection: Any) -> Reader:
    """Open an array or a frame of dask."""
    if hasattr(collection, "columns"):
        blocks = collection.to_delayed()
        lengths = np.asarray(collection.map_partitions(len).compute())
        schema = named_types(list(collection.columns), list(collection.dtypes))
    else:
        # A row must not be cut.
        whole = dict.fromkeys(range(1, collection.ndim), -1)
        blocks = collection.rechunk(whole).to_delayed().ravel().tolist()
        lengths = np.asarray(collection.chunks[0])
        if np.isnan(lengths).any():
            lengths = np.array(dask.compute(*map(dask.delayed(len), blocks)))
        schema = f"{collection.dtype}, shape (N, *{collection.shape[1:]})"
    starts = np.concatenate([[0], np.cumsum(lengths, dtype=int)])
    return Reader(
        n_rows=int(starts[-1]),
        reduce=partial(reduce_blocks, blocks, starts),
        take=partial(take_of_blocks, blocks, starts),
        schema=schema,
    )


def reduce_blocks(
    blocks: list[Delayed], starts: np.ndarray, function: Callable, join: Callable
) -> Any:
    """Call a function with the rows of each block, and join what it returns."""
    of_block = dask.delayed(_reduce_block)
    results = [
        of_block(block, int(start), function, join)
        for block, start, end in zip(blocks, starts[:-1], starts[1:], strict=True)
        if start < end
    ]
    joined = dask.delayed(_join_all)
    while len(results) > 1:
        groups = range(0, len(results), _BRANCHES)
        results = [joined(results[k : k + _BRANCHES], join) for k in groups]
    return dask.compute(results[0])[0] if results else None


def take_of_blocks(
    blocks: list[Delayed], starts: np.ndarray, numbers: np.ndarray
) -> Any:
    """Return some rows, whose numbers increase; only their blocks are read."""
    owners = np.searchsorted(starts, numbers, side="right") - 1
    some_of = dask.delayed(take_rows)
    parts = [
        some_of(blocks[owner], numbers[owners == owner] - starts[owner])
        for owner in np.unique(owners)
    ]
    return _stack(list(dask.compute(*parts)), numbers)


def _stack(parts: list, numbers: np.ndarray) -> Any:
    """The rows of some blocks, one below the other."""
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        # The index of each block may begin at 0, so it names no row of the whole.
        return pd.concat(parts).set_axis(numbers)
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)


def _reduce_block(rows: Any, start: int, function: Callable, join: Callable) -> Any:
    """Call a function with one block, on a worker, and join what it returns."""
    reader = read_memory(rows)
    return reader.reduce(lambda place, some: function(start + place, some), join)


def _join_all(results: list, join: Callable) -> Any:
    """Join some results, in order."""
    joined, *others = results
    for other in others:
        joined = join(joined, other)
    return joined
