"""The columns of a pool in the memory of this process."""

import numpy as np

from sklearn_ase._data._on_demand import Survey, chunks_with
from sklearn_ase._data._rows import n_rows
from sklearn_ase._pool._reduction import reduce_chunk
from sklearn_ase._utils._progress import progress

# Rows of the columns that are worked on at a time: they and what is made of them stay
# in the cache of the processor.
_BLOCK = 2**14


class LocalParts:
    """Parts of a pool, one after the other in this process.

    Parameters
    ----------
    source : RowSource
    given : array-like, frame or None
        Predictions of the model for the whole pool, if they are known.
    verbose : int, default=0
        1 to say when the pool is read for a question, 2 to show a progress bar for each
        pass.
    """

    is_local = True

    def __init__(self, source, given=None, verbose=0):
        self.source = source
        self.given = given
        self.verbose = verbose

    @property
    def n_samples(self):
        """Size of the pool."""
        return len(self.source)

    def survey(self, asking):
        """Ask the model about all rows once; see :class:`Survey`."""
        found = None
        for rows, given in self._chunks(1, "asking the model"):
            found = Survey.of(asking(rows, given)).plus(found)
        return found

    def collect(self, function, label):
        """Return what a function gives for all rows, put together.

        Parameters
        ----------
        function : callable
            ``function(rows, given)``, an array with an entry for each of some rows.
        label : str
            Of the progress bar.

        Returns
        -------
        values : ndarray of shape (n_samples, ...)
        """
        found = [function(rows, given) for rows, given in self._chunks(1, label)]
        return np.concatenate(found)

    def loss_ends(self, reading):
        """Return the least and the greatest entry of the loss table."""
        chunks = self._chunks(len(reading.classes), "losses of the pool")
        found = (reading.loss_of(reading.asking(*chunk)).values for chunk in chunks)
        least, most = zip(*((each.min(), each.max()) for each in found), strict=True)
        return float(min(least)), float(max(most))

    def reduce(self, reading, surrogate):
        """Ask model and surrogate about all rows, and keep a few numbers of each.

        Parameters
        ----------
        reading : Reading
        surrogate : BaseSurrogate

        Returns
        -------
        columns : dict of str to ndarray of shape (n_samples,)
        sums : PoolSums
        """
        n_classes = 1 if reading.classes is None else len(reading.classes)
        columns, sums, start = None, None, 0
        for rows, given in self._chunks(4 * n_classes, "surrogate on the pool"):
            stop = start + n_rows(rows)
            here = reading.at(slice(start, stop))
            values, found = reduce_chunk(rows, given, here, surrogate)
            if columns is None:
                columns = {name: np.empty(self.n_samples) for name in reading.names}
            for column, part in zip(columns.values(), values, strict=True):
                column[start:stop] = part
            sums, start = found.plus(sums), stop
        for column in columns.values():
            column.setflags(write=False)  # Strategies of users get them.
        return columns, sums

    def map(self, function, columns, *arguments):
        """Return what a function gives for each part of the columns.

        Parameters
        ----------
        function : callable
            ``function(start, columns, *arguments)``
        columns : dict of str to ndarray of shape (n_samples,)
        *arguments

        Returns
        -------
        results : list
        """
        return [
            self.apply(function, columns, part, *arguments)
            for part in range(-(-self.n_samples // _BLOCK))
        ]

    def apply(self, function, columns, part, *arguments):
        """Return what a function gives for one part; see :meth:`map`."""
        start = part * _BLOCK
        rows = slice(start, start + _BLOCK)
        inside = {name: column[rows] for name, column in columns.items()}
        return function(start, inside, *arguments)

    def _chunks(self, n_columns, label):
        """Chunks of rows and given predictions, with a progress bar."""
        size, done = self.source.chunk_size(n_columns), 0
        with progress(self.n_samples, label, self.verbose > 1, keep=False) as show:
            for rows, given in chunks_with(self.source, self.given, size):
                done += n_rows(rows)
                check_length(done, self.n_samples, is_end=False)
                yield rows, given
                show(done)
        check_length(done, self.n_samples)


def check_length(found, n_samples, is_end=True):
    """Refuse a pool that has another number of rows than at the start.

    Parameters
    ----------
    found : int
        Rows that were read so far.
    n_samples : int
    is_end : bool, default=True
        Whether these are all.
    """
    if found > n_samples or (is_end and found < n_samples):
        raise ValueError(
            f"The pool had {n_samples} rows at the start, and a pass over it found "
            f"{found}{'' if is_end else ' or more'}. Rows, and their order, must stay "
            "the same as long as an evaluation lasts."
        )
