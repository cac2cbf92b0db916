"""Arrays that grow at the end."""

from __future__ import annotations

import numpy as np


class GrowingArray:
    """An array to which entries are added at the end, at a constant cost of each.

    Parameters
    ----------
    values : array-like of shape (n_values, ...)

    Examples
    --------
    >>> from sklearn_ase._utils._arrays import GrowingArray
    >>> array = GrowingArray([1, 2])
    >>> array.extend([0.5])
    >>> array.values
    array([1. , 2. , 0.5])
    """

    def __init__(self, values=()):
        self._buffer = np.array(values)
        self._size = len(self._buffer)

    def __len__(self):
        return self._size

    def extend(self, values):
        """Add entries; the dtype is widened as if all had been given at once."""
        values = np.asarray(values)
        if not len(values):
            return
        dtype = values.dtype
        if self._size:
            dtype = np.promote_types(self._buffer.dtype, dtype)
        size = self._size + len(values)
        if size > len(self._buffer) or dtype != self._buffer.dtype:
            shape = (max(2 * len(self._buffer), size), *values.shape[1:])
            buffer = np.empty(shape, dtype=dtype)
            buffer[: self._size] = self._buffer[: self._size]
            self._buffer = buffer
        self._buffer[self._size : size] = values
        self._size = size

    @property
    def values(self):
        """The entries so far. Later entries do not change what was returned."""
        view = self._buffer[: self._size]
        view.setflags(write=False)
        return view
