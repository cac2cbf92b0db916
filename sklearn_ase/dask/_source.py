"""Rows of a dask array or frame."""

import dask
import numpy as np

from sklearn_ase._data._row_source import RowSource
from sklearn_ase._data._rows import n_rows, stack_rows, take_rows


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
