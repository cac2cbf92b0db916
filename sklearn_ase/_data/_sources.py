"""Rows of a pool that need not be in memory: read in chunks, or some of them."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator
from functools import reduce

import numpy as np

from sklearn_ase._data._rows import (
    is_dataset,
    n_rows,
    stack_rows,
    subset,
    take_rows,
)
from sklearn_ase._utils._typing import Rows

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
