"""Rows: how many, which, and in which order, in any container that users bring."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from sklearn_ase._utils._checks import shown

if TYPE_CHECKING:
    from sklearn_ase._utils._typing import Rows


def is_frame(X: Any) -> bool:
    """Return whether X is a pandas or polars frame, without importing either."""
    return hasattr(X, "columns") and hasattr(X, "shape")


def is_dataset(X: Any) -> bool:
    """Return whether X is a torch dataset, without importing torch."""
    kinds = type(X).__mro__
    return any(kind.__module__.startswith("torch.utils.data") for kind in kinds)


def n_rows(X: Any) -> int:
    """Return the number of rows of X."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def check_indices(
    query: Any, name: str = "query", n_samples: int | None = None
) -> np.ndarray:
    """Return the row numbers of a query, or of some of its rows."""
    indices = getattr(query, "indices", query)
    try:
        indices = np.atleast_1d(indices)
    except ValueError:  # Lists of different lengths.
        indices = np.array([None])
    if indices.shape == (0,):
        return np.empty(0, dtype=int)
    is_whole = indices.dtype.kind in "iuf" and (indices == np.round(indices)).all()
    if indices.ndim != 1 or not is_whole or np.ma.is_masked(indices):
        raise ValueError(
            f"{name}: rows are named by their places in the pool (0, 1, ...), but got "
            f"{shown(query)}. Pass what ask() returned, or some of its indices."
        )
    if n_samples is not None:
        wrong = indices[(indices < 0) | (indices >= n_samples)]
        if len(wrong):
            raise ValueError(
                f"{name} has rows {wrong[:5].tolist()}, but the rows of the pool are 0 "
                f"to {n_samples - 1}."
            )
    return indices.astype(int)


def check_index(index: Any) -> int:
    """Return the number of one row; an array with one entry is accepted."""
    indices = check_indices(index, "index")
    if len(indices) != 1:
        raise ValueError(
            f"index={shown(index)} must be one row: make one call per row."
        )
    return int(indices[0])


def is_missing(label: Any) -> bool:
    """Return whether a label is missing: None, NaN, or pandas' NA or NaT."""
    same = label == label  # False for NaN and NaT; for NA it is NA, not a bool.
    return label is None or not (isinstance(same, (bool, np.bool_)) and same)


def plain_labels(labels: Any) -> np.ndarray:
    """Return labels as an array of numbers or text, also if they came as objects."""
    labels = np.asarray(labels)
    return np.array(labels.tolist()) if labels.dtype == object else labels


def order_columns(X: Any, columns: Any) -> Any:
    """Return a frame with its columns in the given order."""
    return X[list(columns)] if hasattr(X, "iloc") else X.select(list(columns))


def take_rows(X: Rows, rows: slice | np.ndarray) -> Any:
    """Return some rows of X, in the given order, in the same kind of container.

    For a dataset, a slice gives a subset that is not read yet; row numbers give an
    array.
    """
    if is_dataset(X):
        if isinstance(rows, slice):
            return subset(X, range(len(X))[rows])
        return read_dataset(X, rows)
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, list):
        return X[rows] if isinstance(rows, slice) else [X[row] for row in rows]
    return X[rows]


def subset(X: Any, rows: Any) -> Any:
    """Return some rows of a torch dataset as a dataset that is not read yet."""
    return sys.modules["torch.utils.data"].Subset(X, rows)


def read_dataset(X: Any, rows: Any = None) -> np.ndarray:
    """Return the features of some rows of a dataset, or of all, as an array."""
    rows = range(len(X)) if rows is None else rows
    # Without rows one is read all the same, to know the shape of the features.
    items = (X[int(row)] for row in ([0] if len(rows) == 0 else rows))
    # An item is either the features, or features and label. Labels are ignored.
    features = [i[0] if isinstance(i, (tuple, list)) else i for i in items]
    return np.stack([np.asarray(row) for row in features])[: len(rows)]


def stack_rows(top: Any, bottom: Any) -> Any:
    """Return the rows of two containers of the same kind, one below the other."""
    if sparse.issparse(top) or sparse.issparse(bottom):
        return sparse.vstack([top, bottom], format="csr")
    if hasattr(top, "iloc") and hasattr(bottom, "iloc"):
        import pandas as pd

        return pd.concat([top, bottom], ignore_index=True)
    if is_frame(top) and is_frame(bottom) and hasattr(top, "vstack"):
        return top.vstack(bottom)
    if isinstance(top, list) and isinstance(bottom, list):
        return top + bottom
    return np.concatenate([np.asarray(top), np.asarray(bottom)])


# What arrays from outside may hold.


_KINDS = {
    "c": "complex numbers",
    "M": "dates",
    "m": "durations",
    "S": "bytes",
    "V": "records",
    "U": "text",
}


def is_from(value: Any, module: str) -> bool:
    """Return whether a class of a module made the value, without importing it."""
    kinds = type(value).__mro__
    return any(kind.__module__.partition(".")[0] == module for kind in kinds)


def without_torch(values: Any) -> Any:
    """Return a tensor of torch as an array; anything else as it is."""
    if is_from(values, "torch") and hasattr(values, "detach"):
        return values.detach().cpu().numpy()
    return values


def refuse_masked(values: Any, name: str) -> None:
    """Refuse a masked array, unless nothing of it is masked."""
    if np.ma.is_masked(values):
        raise ValueError(
            f"{name} is a masked array, and {np.ma.count_masked(values)} of its values "
            "are masked. Masks are not read: leave these rows out."
        )


def read_array(values: Any, name: str) -> np.ndarray:
    """Return values as an array of whatever they hold.

    Lists become arrays of objects, in which missing values can still be recognised: of
    a list of text, numpy would make the text "nan".
    """
    values = without_torch(values)
    refuse_masked(values, name)
    if isinstance(values, (Set, Mapping, Iterator)) or callable(values):
        raise TypeError(
            f"{name} must be an array or a list, but got a {type(values).__name__}."
        )
    try:
        return np.asarray(
            values, dtype=None if hasattr(values, "__array__") else object
        )
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be an array, but its rows are of different lengths, or of "
            f"different kinds: {shown(values)}."
        ) from None


def plain(values: np.ndarray, name: str) -> np.ndarray:
    """Return an array of numbers or of text, also if they came as objects."""
    if values.dtype == object or values.dtype.kind == "T":
        entries = values.ravel().tolist()
        is_text = {isinstance(entry, str) for entry in entries}
        if len(is_text) > 1:
            raise ValueError(
                f"{name} are of different kinds, text and numbers: {shown(entries)}. "
                "Give all as text, or all as numbers."
            )
        odd = [entry for entry in entries if not np.isscalar(entry)]
        if odd:
            raise ValueError(
                f"{name} must be numbers or text, one for each entry, but hold "
                f"{shown(odd[0])}."
            )
        values = np.array(values.tolist())
        if values.dtype == object and all(type(entry) is int for entry in entries):
            return values  # Integers of more than 64 bits.
    if values.dtype.kind not in "biufU":
        what = _KINDS.get(values.dtype.kind, f"values of type {values.dtype}")
        raise ValueError(f"{name} must be numbers or text, but hold {what}.")
    return values


def read_numbers(values: Any, name: str) -> np.ndarray:
    """Return values as an array of floats; anything but numbers is refused."""
    values = plain(read_array(values, name), name)
    if values.dtype.kind == "U":
        raise ValueError(f"{name} must be numbers, but hold text: {shown(values)}.")
    return values.astype(float)


# The order of the rows of pandas.


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
    def of(cls, **tables: Any) -> RowOrder:
        """Order of the first of some arguments that has an index."""
        for name, table in tables.items():
            for argument, index in _indices(table, name):
                return cls(index, argument)
        return cls()

    def check(self, **arguments) -> None:
        """Refuse arguments with one entry for each row whose order is another one."""
        if self.index is None:
            return
        for name, values in arguments.items():
            for argument, index in _indices(values, name):
                cure = f"{argument}.loc[{self.name}.index]"
                self._compare(index, self.index, argument, cure)

    def check_answers(
        self, rows: np.ndarray, labels: Any, places_of: Callable = np.asarray
    ) -> None:
        """Refuse answers whose index names other rows than those they are for."""
        for argument, index in _indices(labels, "labels"):
            if len(index) != len(rows) or not len(rows):
                return
            if self.index is not None:
                asked = self.index.take(places_of(rows))
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

    def _compare(self, given: Any, own: Any, name: str, cure: str) -> None:
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


def answers_for(query: Any, labels: Any) -> Any:
    """Return answers that are in the order of the rows that they are for.

    Rows and answers may be two columns of one sheet. Its index then says nothing about
    the pool, but must be the same for both.
    """
    order = RowOrder.of(query=query)
    order.check(labels=labels)
    has_index = order.index is not None and hasattr(labels, "iloc")
    return labels.to_numpy() if has_index else labels


def _indices(values: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the name and the index of each object of pandas in an argument."""
    if isinstance(values, Mapping):
        for key, entry in values.items():
            yield from _indices(entry, f"{name}[{key!r}]")
    elif isinstance(values, (list, tuple)) and values and hasattr(values[0], "iloc"):
        for place, entry in enumerate(values):
            yield from _indices(entry, f"{name}[{place}]")
    elif hasattr(values, "iloc") and is_from(getattr(values, "index", None), "pandas"):
        yield name, values.index


def _differ(first: Any, second: Any) -> Any:
    """Whether two labels differ; missing ones are the same."""
    if is_missing(first) or is_missing(second):
        return is_missing(first) != is_missing(second)
    return first != second


def _is_default(index: Any) -> bool:
    """Whether an index counts the rows from 0."""
    return index.nlevels == 1 and np.array_equal(index, np.arange(len(index)))


# Rows as people read them.


# Columns that are added here; a feature of the same name is renamed.
_ADDED = ("row", "label", "prediction", "query_proba")


def columns_of(X: Any, indices: Any) -> dict[str, list]:
    """Return the features of some rows as lists."""
    rows = take_rows(X, np.asarray(indices, dtype=int))
    if sparse.issparse(rows):
        return {}
    if is_frame(rows):
        if hasattr(rows, "iloc"):  # pandas has several missing values.
            rows = rows.astype(object).where(rows.notna(), None)
        columns = {str(name): list(rows[name]) for name in rows.columns}
    else:
        rows = np.asarray(rows)
        columns = {"text": rows.tolist()} if rows.ndim == 1 else {}
        if rows.ndim == 2:
            columns = {f"x{j}": column.tolist() for j, column in enumerate(rows.T)}
    return {
        f"{name} (feature)" if name in _ADDED else name: [
            None if isinstance(cell, float) and math.isnan(cell) else cell
            for cell in column
        ]
        for name, column in columns.items()
    }


def row_of(X: Rows, index: int) -> dict | np.ndarray | str:
    """Return one row: a dict of its features by name, an array, or text."""
    row = take_rows(X, np.array([index]))
    if is_frame(row):
        return {name: cells[0] for name, cells in columns_of(row, [0]).items()}
    if sparse.issparse(row):
        row = row.tocoo()
        return {f"x{j}": v for j, v in zip(row.col, row.data.tolist(), strict=True)}
    return row[0] if isinstance(row, list) else np.asarray(row)[0]


def to_frame(query: Any, X: Rows, predictions: Any = None) -> Any:
    """Return the rows of a query as a pandas frame; see :meth:`Query.to_frame`."""
    import pandas as pd

    columns = {"row": query.indices, **columns_of(X, query.indices)}
    if predictions is not None:
        columns["prediction"] = predictions_of(predictions, X, query.indices)
    return pd.DataFrame({**columns, "query_proba": query.proba})


def predictions_of(predictions: Any, X: Rows, indices: Any) -> list:
    """Return the predictions for some rows as a list."""
    RowOrder.of(X=X).check(predictions=predictions)
    predictions = read_array(predictions, "predictions")
    if predictions.shape != (n_rows(X),):
        raise ValueError(
            f"predictions has shape {predictions.shape}, but the pool has {n_rows(X)} "
            "rows. Give one prediction per row of the pool, not only for this query."
        )
    return predictions[np.asarray(indices, dtype=int)].tolist()
