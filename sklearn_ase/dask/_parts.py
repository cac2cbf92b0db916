"""A column of a pool whose parts lie on the workers of a cluster."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import dask
import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from sklearn_ase._data._rows import n_rows, stack_rows, take_rows
from sklearn_ase._data._sources import ParquetSource, RowSource, ViewSource
from sklearn_ase._pool._pool import LocalParts, check_length
from sklearn_ase._utils._display import progress

if TYPE_CHECKING:
    from typing import Any


class PartedColumn(NDArrayOperatorsMixin):
    """One number for each row of a pool, kept where the rows are.

    Sums, and single rows, are brought here. Anything else turns the column into an
    array, which takes 8 bytes for each row.

    Parameters
    ----------
    parts : DaskParts
    columns : RemoteColumns
    name : str
        Of the column.
    """

    def __init__(self, parts, columns, name):
        self._parts, self._columns, self._name = parts, columns, name

    def __len__(self):
        return self._parts.n_samples

    @property
    def shape(self):
        """``(n_samples,)``"""
        return (len(self),)

    @cached_property
    def _moments(self):
        """Number, mean and sum of squares around the mean, over all rows."""
        found = self._parts.map(_moments_of, self._columns, self._name)
        counts, means, squares = np.transpose(found)
        mean = counts @ means / counts.sum()
        return mean, squares.sum() + counts @ (means - mean) ** 2

    def mean(self):
        """Mean over the pool."""
        return float(self._moments[0])

    def sum(self):
        """Sum over the pool."""
        return float(self._moments[0] * len(self))

    def var(self):
        """Variance over the pool."""
        return float(self._moments[1] / len(self))

    def copy(self):
        """All values, as an array."""
        return np.asarray(self)

    def __getitem__(self, rows):
        if isinstance(rows, slice) or np.asarray(rows).dtype == bool:
            return np.asarray(self)[rows]
        return self._parts.at(self._columns, self._name, np.asarray(rows, dtype=int))

    def __array__(self, dtype=None, copy=None):
        found = self._parts.map(_values_of, self._columns, self._name)
        return np.concatenate(found).astype(dtype or float, copy=False)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        inputs = [np.asarray(x) if isinstance(x, PartedColumn) else x for x in inputs]
        return getattr(ufunc, method)(*inputs, **options)


def _values_of(start, columns, name):
    return columns[name]


def _moments_of(start, columns, name):
    values = columns[name]
    return len(values), values.mean(), len(values) * values.var()


# Rows of a dask array or frame.


class DaskSource(RowSource):
    """Rows of a dask array or frame, read one partition at a time.

    Parameters
    ----------
    collection : dask.array.Array or dask.dataframe.DataFrame
    client : distributed.Client, default=None
        None means the active one. Without any, partitions are computed in this process.

    Attributes
    ----------
    blocks : list of Delayed
        Partitions, in order.
    starts : ndarray of shape (n_blocks + 1,)
        Number of the first row of each, and of all rows.
    client : distributed.Client or None
    """

    def __init__(self, collection, client=None):
        self.client = _active_client() if client is None else client
        if hasattr(collection, "npartitions") and hasattr(collection, "columns"):
            blocks = collection.to_delayed()
            lengths = [dask.delayed(len)(block) for block in blocks]
            lengths = self._computed(lengths)
        else:
            # A row must not be cut.
            whole = dict.fromkeys(range(1, collection.ndim), -1)
            blocks = collection.rechunk(whole).to_delayed().ravel().tolist()
            lengths = collection.chunks[0]
            if np.isnan(lengths).any():
                lengths = self._computed([dask.delayed(len)(b) for b in blocks])
        kept = [(b, n) for b, n in zip(blocks, lengths, strict=True) if n]
        self.blocks = [block for block, _ in kept]
        self.starts = np.cumsum([0, *(n for _, n in kept)], dtype=int)

    def __len__(self):
        return int(self.starts[-1])

    def take(self, rows):
        rows = np.asarray(rows, dtype=int)
        wanted, places = np.unique(rows, return_inverse=True)
        owners = np.searchsorted(self.starts, wanted, side="right") - 1
        found = [
            dask.delayed(take_rows)(
                self.blocks[k], wanted[owners == k] - self.starts[k]
            )
            for k in np.unique(owners)
        ]
        if not found:  # No rows, in their container.
            return take_rows(self.head(), np.empty(0, dtype=int))
        top, *others = self._computed(found)
        for some in others:
            top = stack_rows(top, some)
        return take_rows(top, places)

    def chunks(self, size):
        for block in self.blocks:
            (rows,) = self._computed([block])
            for start in range(0, n_rows(rows), size):
                yield take_rows(rows, slice(start, start + size))

    def _computed(self, values):
        """Values of delayed objects."""
        if self.client is None:
            return dask.compute(*values)
        return self.client.gather(self.client.compute(values))


def _active_client():
    try:
        from distributed import default_client

        return default_client()
    except (ImportError, ValueError):  # There is none.
        return None


# The parts of a pool on the workers of a cluster.


class RemoteColumns(dict):
    """Columns of a pool by name, with the results that hold their parts.

    The results are let go with the last column, so no column may hold this object.

    Parameters
    ----------
    futures : list of distributed.Future
        One for each part: its columns and sums.
    columns : dict of str to PartedColumn, default=()
    """

    def __init__(self, futures, columns=()):
        super().__init__(columns)
        self.futures = futures

    @property
    def is_gone(self):
        """Whether the cluster was restarted since, and forgot them."""
        return any(future.cancelled() for future in self.futures)


class DaskParts:
    """Parts of a pool, each with its columns on a worker.

    Parameters
    ----------
    source : RowSource
        All rows.
    client : distributed.Client
    blocks : list of Delayed
        Rows of each part, or a source of them.
    starts : ndarray of shape (n_parts + 1,)
    verbose : int, default=0
        1 to say when the pool is read for a question, 2 to show a progress bar for each
        pass.
    """

    is_local = False

    def __init__(self, source, client, blocks, starts, verbose=0):
        self.source = source
        self.client = client
        self.verbose = verbose
        self._blocks, self._starts = blocks, starts

    @classmethod
    def of(cls, source, client, given: dict[str, Any], n_rows: int, verbose: int = 0):
        """Make the parts of a pool."""
        for name in ("predictions", "cost"):
            if given[name] is not None:
                raise ValueError(
                    f"{name}= is an array in this process, but the pool is on a "
                    "cluster. Give the model itself as estimator=..., and leave costs "
                    "out; or give client=None and a pool that is read here."
                )
        if isinstance(client, str):
            from distributed import Client

            client = Client(client)
        if isinstance(source, DaskSource):
            source.client = client
            return cls(source, client, source.blocks, source.starts, verbose)
        if not isinstance(source, ParquetSource):
            raise ValueError(
                "client= needs a pool that the workers can read: a dask array or "
                "frame, or a Parquet directory. Leave client out, or turn the pool "
                "into one, for instance with dask.array.from_array."
            )
        parts = source.split(min(source.n_groups, -(-len(source) // n_rows)))
        starts = np.cumsum([0, *map(len, parts)], dtype=int)
        blocks = [dask.delayed(part, traverse=False) for part in parts]
        return cls(source, client, blocks, starts, verbose)

    @property
    def n_samples(self):
        """Size of the pool."""
        return int(self._starts[-1])

    def survey(self, asking):
        """Ask the model about all rows once; see :class:`Survey`."""
        found = None
        for survey in self._pass(_survey, asking, "asking the model"):
            found = survey.plus(found)
        return found

    def collect(self, function, label):
        """Return what a function gives for all rows; see :meth:`LocalParts.collect`."""
        return np.concatenate(self._pass(_collect, (function, label), label))

    def loss_ends(self, reading):
        """Return the least and the greatest entry of the loss table."""
        found = self._pass(_loss_ends, reading, "losses of the pool")
        least, most = zip(*found, strict=True)
        return min(least), max(most)

    def reduce(self, reading, surrogate):
        """Ask model and surrogate about all rows; see :meth:`LocalParts.reduce`."""
        ends = zip(self._starts[:-1].tolist(), self._starts[1:].tolist(), strict=True)
        # Columns of the whole pool stay here; each part gets its rows of them.
        keeps = [reading.at(slice(*each)).keeps for each in ends]
        shared = replace(reading, keeps=None), surrogate
        futures = self._start(_reduce, shared, keeps)
        self._wait(futures, "surrogate on the pool")
        sums, lengths = None, np.diff(self._starts)
        each = self.client.gather(self.client.map(_sums, futures, pure=False))
        for found, length in zip(each, lengths, strict=True):
            check_length(found.n_rows, length)
            sums = found.plus(sums)
        bare = RemoteColumns(futures)
        columns = {name: PartedColumn(self, bare, name) for name in reading.names}
        return RemoteColumns(futures, columns), sums

    def map(self, function, columns, *arguments):
        """Return what a function gives for each part; see :meth:`LocalParts.map`."""
        n_parts = len(self._blocks)
        return self.client.gather(
            [self._apply(function, columns, k, arguments) for k in range(n_parts)]
        )

    def apply(self, function, columns, part, *arguments):
        """Return what a function gives for one part; see :meth:`map`."""
        return self._apply(function, columns, part, arguments).result()

    def at(self, columns, name, rows):
        """Return a column at some rows, of shape (n_rows,)."""
        values = np.empty(len(rows))
        owners = np.searchsorted(self._starts, rows, side="right") - 1
        futures = {
            k: self._apply(_at, columns, k, (name, rows[owners == k]))
            for k in np.unique(owners).tolist()
        }
        for k, found in self.client.gather(futures).items():
            values[owners == k] = found
        return values

    def _apply(self, function, columns, part, arguments):
        start, future = int(self._starts[part]), columns.futures[part]
        return self.client.submit(_call, function, start, future, arguments, pure=False)

    def _pass(self, function, argument, label):
        """Results of a function for each block, in order."""
        futures = self._start(function, argument)
        self._wait(futures, label)
        return self.client.gather(futures)

    def _start(self, function, argument, own=None):
        """Start a function of each block and one argument that all of them share.

        With `own`, each block has a further argument of its own.
        """
        # A task of its own: it is sent once, and made again if its worker is lost.
        shared = self.client.submit(_itself, argument, pure=False)
        task = dask.delayed(function, pure=False)
        if own is None:
            return self.client.compute([task(block, shared) for block in self._blocks])
        pairs = zip(self._blocks, own, strict=True)
        tasks = [
            task(block, shared, dask.delayed(each, traverse=False))
            for block, each in pairs
        ]
        return self.client.compute(tasks)

    def _wait(self, futures, label):
        """Show how many parts are done."""
        if self.verbose <= 1:
            return
        from distributed import as_completed

        with progress(len(futures), label, True, keep=False) as show:
            for done, _ in enumerate(as_completed(futures), start=1):
                show(done)


def _local(block):
    """The rows of a block as parts in the memory of a worker."""
    return LocalParts(block if isinstance(block, RowSource) else ViewSource(block))


def _itself(argument):
    return argument


def _survey(block, asking):
    return _local(block).survey(asking)


def _loss_ends(block, reading):
    return _local(block).loss_ends(reading)


def _collect(block, shared):
    return _local(block).collect(*shared)


def _reduce(block, shared, keeps):
    reading, surrogate = shared
    return _local(block).reduce(replace(reading, keeps=keeps), surrogate)


def _sums(kept):
    return kept[1]


def _call(function, start, kept, arguments):
    return function(start, kept[0], *arguments)


def _at(start, columns, name, rows):
    return columns[name][rows - start]
