"""Rows of Parquet files and of polars' lazy frames, read when they are needed."""

from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from sklearn_ase._data._arrays import is_from
from sklearn_ase._data._row_source import RowSource

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

    def split(self, n_parts):
        """Return sources of consecutive rows, each with whole groups of rows.

        Parameters
        ----------
        n_parts : int
            There may be fewer.

        Returns
        -------
        sources : list of ParquetSource
        """
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


def disk_source(X):
    """Return the source of rows that are not in memory, or None for anything else.

    Parameters
    ----------
    X : object
        A path to Parquet files, a dataset of pyarrow or a lazy frame of polars.

    Returns
    -------
    source : RowSource or None
    """
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
