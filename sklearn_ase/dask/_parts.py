"""The parts of a pool on the workers of a cluster.

All work is done by plain tasks of dask. A task that is lost with its worker is run
again by the scheduler, from what it needs: its partition, the model and the surrogate.
"""

from dataclasses import replace

import dask
import numpy as np

from sklearn_ase._data._disk_sources import ParquetSource
from sklearn_ase._data._row_source import RowSource, ViewSource
from sklearn_ase._pool._local import LocalParts, check_length
from sklearn_ase._utils._progress import progress
from sklearn_ase.dask._column import PartedColumn
from sklearn_ase.dask._source import DaskSource


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
    def of(cls, source, client, given, n_rows, verbose=0):
        """Make the parts of a pool.

        Parameters
        ----------
        source : RowSource
        client : distributed.Client or str
            Or the address of a scheduler.
        given : dict of str to object
            Arguments of the start; `predictions` and `cost` must be None.
        n_rows : int
            Rows of a part, if the pool is a Parquet directory.
        verbose : int, default=0

        Returns
        -------
        parts : DaskParts
        """
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
        """Ask model and surrogate about all rows; see :meth:`LocalParts.reduce`.

        Returns
        -------
        columns : RemoteColumns
        sums : PoolSums
        """
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
