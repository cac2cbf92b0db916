"""Rows of a pool that need not be in memory: read in chunks, or some of them."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._data._rows import (
    is_dataset,
    is_from,
    n_rows,
    stack_rows,
    subset,
    take_rows,
)
from sklearn_ase._utils._typing import Rows

if TYPE_CHECKING:
    from typing import Any

# Rows that encoders learn from, if the pool is not in memory and has more.
_MOST_SAMPLED = 20_000
# Numbers in one chunk of rows: 16 MB. A chunk has at most so many rows.
_CHUNK_NUMBERS, _CHUNK_ROWS = 2**21, 2**15

# Rows that are taken at a time before they are made shorter.
_PIECE = 1000


class RowSource(metaclass=ABCMeta):
    """Rows of a pool that are read when they are needed.

    Arrays, frames, Parquet files, lazy frames of polars and collections of dask become
    one by themselves. Write a subclass for rows that lie elsewhere, such as in a
    database, and give it as the pool. It has three methods: ``__len__``, :meth:`take`
    and :meth:`chunks`. The order of the rows must be the same whenever they are read.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase import RowSource
    >>> class Squares(RowSource):
    ...     def __len__(self):
    ...         return 5
    ...
    ...     def take(self, rows):
    ...         return np.column_stack([rows, rows**2])
    ...
    ...     def chunks(self, size):
    ...         for start in range(0, len(self), size):
    ...             yield self.take(np.arange(start, min(start + size, len(self))))
    >>> [chunk.tolist() for chunk in Squares().chunks(3)]
    [[[0, 0], [1, 1], [2, 4]], [[3, 9], [4, 16]]]
    """

    @abstractmethod
    def __len__(self) -> int:
        """Number of rows."""

    @abstractmethod
    def take(self, rows: np.ndarray) -> Rows:
        """Return some rows, in the given order.

        Parameters
        ----------
        rows : ndarray of int of shape (n_rows,)

        Returns
        -------
        some : array, sparse matrix, frame or list
        """

    @abstractmethod
    def chunks(self, size: int) -> Iterator[Rows]:
        """Yield all rows, in order.

        Parameters
        ----------
        size : int
            Greatest number of rows of a chunk.

        Yields
        ------
        rows : array, sparse matrix, frame, list or torch dataset
            At least one row.
        """

    @property
    def in_memory(self) -> Rows | None:
        """All rows in their container, if they are in memory; None otherwise."""
        return None

    def like_chunks(self, rows: Rows) -> Rows:
        """Return some rows in the container in which chunks come.

        That differs from :meth:`take` for a torch dataset, of which that reads rows.
        """
        whole = self.in_memory
        return subset(whole, rows) if is_dataset(whole) else self.take_once(rows)

    def take_once(self, rows: np.ndarray) -> Rows:
        """Return some rows that will not be needed again; see :meth:`take`."""
        return self.take(rows)

    def head(self) -> Rows:
        """Return the first row, in its container."""
        return self.take(np.arange(min(len(self), 1)))

    def sample(self) -> Rows:
        """Return rows that stand for all, in order: all of them if they are few."""
        if self.in_memory is not None:
            return self.in_memory
        rows = np.arange(len(self))
        if len(rows) > _MOST_SAMPLED:
            rng = np.random.default_rng(0)
            rows = np.sort(rng.choice(len(rows), _MOST_SAMPLED, replace=False))
        return self.take(rows)

    def mapped(self, function: Callable[[Rows], Rows]) -> RowSource:
        """Return the same rows, each chunk after a function.

        Parameters
        ----------
        function : callable
            Of rows; it must treat each row by itself.

        Returns
        -------
        source : RowSource
        """
        return MappedSource(self, function)

    def chunk_size(self, n_columns: int = 1) -> int:
        """Return the number of rows of a chunk that takes some 16 MB.

        Parameters
        ----------
        n_columns : int, default=1
            Further numbers that are needed for each row.

        Returns
        -------
        size : int
        """
        shape = getattr(self.head(), "shape", (1, 1))
        numbers = int(np.prod(shape[1:])) + n_columns
        return max(1, min(_CHUNK_ROWS, _CHUNK_NUMBERS // numbers))


class ViewSource(RowSource):
    """Rows in memory, or in a memory map: chunks are views of them.

    Parameters
    ----------
    rows : array, sparse matrix, frame, list or torch dataset
    """

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return n_rows(self.rows)

    def take(self, rows):
        return take_rows(self.rows, rows)

    def chunks(self, size):
        for start in range(0, len(self), size):
            yield take_rows(self.rows, slice(start, start + size))

    @property
    def in_memory(self):
        return self.rows


class MappedSource(RowSource):
    """Rows of another source after a function; see :meth:`RowSource.mapped`."""

    def __init__(self, source, function):
        self.source = source
        self.function = function

    def __len__(self):
        return len(self.source)

    def take(self, rows):
        return self.function(self.source.take(rows))

    def take_once(self, rows):
        # In pieces: the function may make long rows short.
        pieces = np.array_split(rows, range(_PIECE, len(rows), _PIECE))
        found = [self.function(self.source.take_once(piece)) for piece in pieces]
        return reduce(stack_rows, found)

    def chunks(self, size):
        return map(self.function, self.source.chunks(size))


class RememberingSource(RowSource):
    """Rows of another source; those that were taken once are kept.

    Labelled rows are needed again at every fit, and a file would be searched for them
    each time.

    Parameters
    ----------
    source : RowSource
    """

    def __init__(self, source):
        self.source = source
        self._memory = RowMemory(source.take, stack_rows, take_rows)

    def __len__(self):
        return len(self.source)

    def take(self, rows):
        return self._memory(rows)

    def take_once(self, rows):
        return self.source.take_once(rows)

    def chunks(self, size):
        return self.source.chunks(size)

    def head(self):
        return self.source.head()

    def sample(self):
        return self.source.sample()

    @property
    def in_memory(self):
        return self.source.in_memory


class RowMemory:
    """What a function returns for rows, kept so that it is asked once for each.

    Parameters
    ----------
    fetch : callable
        ``fetch(rows)`` returns a container with an entry for each row.
    stack : callable
        ``stack(top, bottom)`` joins two containers.
    take : callable
        ``take(container, places)`` returns some entries.
    """

    def __init__(self, fetch, stack, take):
        self._fetch, self._stack, self._take = fetch, stack, take
        self._places, self._kept = {}, None

    def __call__(self, rows):
        rows = np.asarray(rows, dtype=int)
        new = [row for row in dict.fromkeys(rows.tolist()) if row not in self._places]
        if new or self._kept is None:
            found = self._fetch(np.array(new, dtype=int))
            if not new:
                return found
            known = self._kept
            self._kept = found if known is None else self._stack(known, found)
            self._places |= {row: len(self._places) + k for k, row in enumerate(new)}
        places = [self._places[row] for row in rows.tolist()]
        return self._take(self._kept, np.array(places, dtype=int))


# Rows of Parquet files and of polars' lazy frames, read when they are needed.


_BATCH = 2**16


class ParquetSource(RowSource):
    """Rows of a Parquet file, or of all Parquet files of a directory, as frames.

    One group of rows of a file is read at a time, so such a group must fit into memory.

    Parameters
    ----------
    dataset : str, path or pyarrow.dataset.Dataset
        A directory may be partitioned as Hive does it (``year=2026/...``).
    """

    def __init__(self, dataset):
        import pyarrow.dataset as ds

        if isinstance(dataset, str | Path):
            dataset = ds.dataset(dataset, format="parquet", partitioning="hive")
        self._schema = dataset.schema
        self._groups = [
            group
            for fragment in dataset.get_fragments()
            for group in fragment.split_by_row_group()
        ]
        counts = [sum(g.num_rows for g in group.row_groups) for group in self._groups]
        self._ends = np.cumsum(counts, dtype=int)

    def __len__(self):
        return int(self._ends[-1]) if len(self._ends) else 0

    def take(self, rows):
        import pyarrow as pa

        rows = np.asarray(rows, dtype=int)
        # In the order of the file: each group of rows is read once.
        wanted, places = np.unique(rows, return_inverse=True)
        owners = np.searchsorted(self._ends, wanted, side="right")
        found = [self._schema.empty_table()]
        for owner in np.unique(owners):
            first = self._ends[owner - 1] if owner else 0
            group = wanted[owners == owner] - first
            found += _some_of(self._batches(self._groups[owner]), group)
        return _frame(pa.concat_tables(found).take(places))

    def chunks(self, size):
        import pyarrow as pa

        for group in self._groups:
            for batch in self._batches(group, size):
                yield _frame(pa.Table.from_batches([batch]))

    def split(self, n_parts: int) -> list[ParquetSource]:
        """Return sources of consecutive rows, each with whole groups of rows."""
        ends = np.linspace(0, len(self._groups), n_parts + 1).round().astype(int)
        parts = []
        for start, stop in pairwise(ends):
            part = object.__new__(ParquetSource)
            before = self._ends[start - 1] if start else 0
            part._schema = self._schema
            part._groups = self._groups[start:stop]
            part._ends = self._ends[start:stop] - before
            parts += [part] if len(part) else []
        return parts

    @property
    def n_groups(self):
        """Number of groups of rows."""
        return len(self._groups)

    def _batches(self, group, size=_BATCH):
        """The batches of a group of rows, without reading ahead."""
        import pyarrow.dataset as ds

        options = ds.ParquetFragmentScanOptions(pre_buffer=False)
        scanned = group.to_batches(
            schema=self._schema,
            batch_size=size,
            batch_readahead=0,
            fragment_readahead=0,
            fragment_scan_options=options,
            use_threads=False,
        )
        return (batch for batch in scanned if len(batch))


class LazyFrameSource(RowSource):
    """Rows of a lazy frame of polars, as frames.

    Its query is run again for every pass, and must give the rows in the same order.

    Parameters
    ----------
    frame : polars.LazyFrame
    """

    def __init__(self, frame):
        import polars as pl

        self._frame = frame
        self._n_rows = int(frame.select(pl.len()).collect(engine="streaming").item())

    def __len__(self):
        return self._n_rows

    def take(self, rows):
        import polars as pl

        rows = np.asarray(rows, dtype=int)
        wanted, places = np.unique(rows, return_inverse=True)
        index = "row number"
        while index in self._frame.collect_schema().names():
            index += "_"
        found = (
            self._frame.with_row_index(index)
            .filter(pl.col(index).is_in(wanted.tolist()))
            .sort(index)
            .drop(index)
            .collect(engine="streaming")
        )
        return found[places]

    def chunks(self, size):
        if hasattr(self._frame, "collect_batches"):  # polars 1.33
            for batch in self._frame.collect_batches(
                chunk_size=size, maintain_order=True, engine="streaming"
            ):
                yield from batch.iter_slices(size)
            return
        for start in range(0, self._n_rows, size):
            yield self._frame.slice(start, size).collect(engine="streaming")


def disk_source(X: Any) -> RowSource | None:
    """Return the source of rows that are not in memory, or None for anything else."""
    if isinstance(X, RowSource):
        return X
    if isinstance(X, str | Path) and _is_parquet(Path(X)):
        return ParquetSource(X)
    if is_from(X, "pyarrow") and hasattr(X, "get_fragments"):
        return ParquetSource(X)
    if is_from(X, "polars") and hasattr(X, "collect"):
        return LazyFrameSource(X)
    return None


def _is_parquet(path):
    if path.is_dir():
        return next(chain(path.rglob("*.parquet"), path.rglob("*.parq")), None)
    return path.is_file() and path.suffix in (".parquet", ".parq")


def _some_of(batches, rows):
    """Rows of consecutive batches, as tables."""
    import pyarrow as pa

    start = 0
    for batch in batches:
        inside = rows[(rows >= start) & (rows < start + len(batch))] - start
        if len(inside):
            yield pa.Table.from_batches([batch]).take(inside)
        start += len(batch)
        if start > rows[-1]:
            return


def _frame(table):
    """A table of pyarrow as a frame of pandas."""
    return table.to_pandas()
