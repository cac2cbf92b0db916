"""A column of a pool whose parts lie on the workers of a cluster."""

from functools import cached_property

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


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
