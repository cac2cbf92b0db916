"""Whether objects of pandas have their rows in one order."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_ase._data._arrays import is_from
from sklearn_ase._data._rows import is_missing


@dataclass(frozen=True, eq=False)
class RowOrder:
    """Order of the rows of a table, as its index says it.

    Rows are read by position, as scikit-learn does. An index of pandas can show that
    positions do not mean the same rows:

    * the same index: the rows agree;
    * the same labels in another order: refused;
    * some labels are shared, and neither index is the default ``0, 1, 2, ...``:
      refused, because these labels name other rows. Two samples of one table look
      like this;
    * anything else: read by position. A default index says nothing about where rows
      came from (``reset_index``, a scaler that returns an array), and neither do
      labels of which none is shared.

    Labels are compared one by one, so they may occur several times. Arrays, lists and
    frames of polars have no index.

    Attributes
    ----------
    index : pandas.Index or None
        None if the table has no index.
    name : str
        Of the argument that has it, for messages.
    """

    index: Any = None
    name: str = "X"

    @classmethod
    def of(cls, **tables):
        """Order of the first of some arguments that has an index.

        Parameters
        ----------
        **tables
            By the name of the argument; also dicts and lists of tables.

        Returns
        -------
        order : RowOrder
        """
        for name, table in tables.items():
            for argument, index in _indices(table, name):
                return cls(index, argument)
        return cls()

    def check(self, **arguments):
        """Refuse arguments with one entry for each row whose order is another one.

        Parameters
        ----------
        **arguments
            Of any kind; also dicts and lists of what has an index.
        """
        if self.index is None:
            return
        for name, values in arguments.items():
            for argument, index in _indices(values, name):
                cure = f"{argument}.loc[{self.name}.index]"
                self._compare(index, self.index, argument, cure)

    def check_answers(self, rows, labels):
        """Refuse answers whose index names other rows than those they are for.

        Parameters
        ----------
        rows : ndarray of int of shape (n_rows,)
        labels : array-like of shape (n_rows,) or (n_rows, n_answers)
            Its index may also have the numbers of the rows, unless the pool has these
            labels at other rows.
        """
        for argument, index in _indices(labels, "labels"):
            if len(index) != len(rows) or not len(rows):
                return
            if self.index is not None:
                asked = self.index.take(np.asarray(rows))
                cure = f"{argument}.loc[{self.name}.index[rows]]"
                self._compare(index, asked, argument, cure)
                if index.equals(asked):
                    return
            if index.isin(rows).all() and not np.array_equal(index, rows):
                text = f"The index of {argument} has the rows in another order than the"
                raise ValueError(
                    f"{text} query: {index.tolist()[:5]} and "
                    f"{np.asarray(rows).tolist()[:5]}. Give {argument}.loc[rows], or "
                    f"{argument}.to_numpy() if they are in the order of the query."
                )

    def _compare(self, given, own, name, cure):
        """Refuse an index that names the rows of another one in another order."""
        if given.equals(own) or given.nlevels != own.nlevels or len(given) != len(own):
            return
        is_shared = given.isin(self.index)
        if not is_shared.any():
            return
        is_same = given.isin(own).all() and own.isin(given).all()
        if not is_same and (_is_default(given) or _is_default(self.index)):
            return
        pairs = enumerate(zip(given.tolist(), own.tolist(), strict=True))
        other = next(((n, pair) for n, pair in pairs if _differ(*pair)), None)
        if other is None:
            return
        row, (label, own_label) = other
        how = "the same index, but in another order"
        if not is_same:
            how = "an index that shares labels with it, but names other rows"
        raise ValueError(
            f"{name}: compared with {self.name} it has {how}. At position {row} "
            f"{self.name} has {own_label!r} and {name} has {label!r}. Give {cure} to "
            f"go by the index, or {name}.to_numpy() if the order is right as it is."
        )


def answers_for(query, labels):
    """Return answers that are in the order of the rows that they are for.

    Rows and answers may be two columns of one sheet. Its index then says nothing about
    the pool, but must be the same for both.

    Parameters
    ----------
    query : Query or array-like of int
    labels : array-like of shape (n_rows,) or (n_rows, n_answers)

    Returns
    -------
    labels : array-like
        Without an index, if the rows have one.
    """
    order = RowOrder.of(query=query)
    order.check(labels=labels)
    has_index = order.index is not None and hasattr(labels, "iloc")
    return labels.to_numpy() if has_index else labels


def _indices(values, name):
    """Yield the name and the index of each object of pandas in an argument."""
    if isinstance(values, Mapping):
        for key, entry in values.items():
            yield from _indices(entry, f"{name}[{key!r}]")
    elif isinstance(values, (list, tuple)) and values and hasattr(values[0], "iloc"):
        for place, entry in enumerate(values):
            yield from _indices(entry, f"{name}[{place}]")
    elif hasattr(values, "iloc") and is_from(getattr(values, "index", None), "pandas"):
        yield name, values.index


def _differ(first, second):
    """Whether two labels differ; missing ones are the same."""
    if is_missing(first) or is_missing(second):
        return is_missing(first) != is_missing(second)
    return first != second


def _is_default(index):
    """Whether an index counts the rows from 0."""
    return index.nlevels == 1 and np.array_equal(index, np.arange(len(index)))
