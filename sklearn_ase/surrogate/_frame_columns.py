"""Read the columns of a frame as numbers, dates or texts, without its library."""

import datetime
import math
import numbers
import re
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from sklearn_ase._data._rows import is_missing

_NUMBERS = (numbers.Real, Decimal, np.bool_)
_DURATIONS = (datetime.timedelta, np.timedelta64)


class Column(NamedTuple):
    """The values of a column.

    Attributes
    ----------
    kind : {"number", "date", "text"}
    values : ndarray of shape (n_rows,)
        Floats, ``datetime64[us]``, or objects that are str or None. Missing values are
        NaN, NaT and None. Durations are seconds. Dates show the local time of their
        time zone.
    order : list of str or None
        All values of an ordered category, from least to greatest.
    """

    kind: str
    values: np.ndarray
    order: list | None = None


def read_column(X, name):
    """Read a column of a pandas or polars frame.

    Parameters
    ----------
    X : frame of shape (n_rows, n_columns)
    name : hashable

    Returns
    -------
    column : Column
    """
    if name not in X.columns:
        return Column("number", np.full(X.shape[0], np.nan))
    series = X[name]
    order = _order(series.dtype)
    if getattr(series.dtype, "tz", None) is not None:
        series = series.dt.tz_localize(None)  # pandas
    elif getattr(series.dtype, "time_zone", None) is not None:
        series = series.dt.replace_time_zone(None)  # polars
    values = series.to_numpy()
    if values.ndim == 1 and values.dtype.kind in "biuf":
        return Column("number", values.astype(float))
    if values.ndim == 1 and values.dtype.kind == "M":
        return Column("date", values.astype("datetime64[us]"))
    if values.ndim == 1 and values.dtype.kind == "m":
        return Column("number", _seconds(values))
    return _read_objects(series.to_list())._replace(order=order)


def join_columns(columns):
    """Put columns one below the other; as texts if they are of different kinds."""
    if len({column.kind for column in columns}) > 1:
        columns = [Column("text", as_texts(column)) for column in columns]
    values = np.concatenate([column.values for column in columns])
    return Column(columns[0].kind, values, columns[0].order)


def as_numbers(column):
    """Return a column as floats; NaN where a value is not a number."""
    if column.kind == "number":
        return column.values
    if column.kind == "date":
        return np.full(len(column.values), np.nan)
    return np.array([_parsed(float, text, np.nan) for text in column.values], float)


def as_dates(column):
    """Return a column as ``datetime64[us]``; NaT where a value is not a date."""
    if column.kind == "date":
        return column.values
    if column.kind == "number":
        return np.full(len(column.values), "NaT", dtype="datetime64[us]")
    return np.array(
        [_parsed(_iso_date, text, None) for text in column.values], "datetime64[us]"
    )


def as_texts(column):
    """Return a column as an array of str; None where a value is missing."""
    if column.kind == "text":
        return column.values
    if column.kind == "date":
        missing = np.isnat(column.values)
        texts = np.datetime_as_string(column.values).astype(object)
    else:
        missing = np.isnan(column.values)
        texts = _object_array([_text(value) for value in column.values.tolist()])
    texts[missing] = None
    return texts


def _order(dtype):
    """Return the values of an ordered category as texts, or None."""
    if not (getattr(dtype, "ordered", False) or type(dtype).__name__ == "Enum"):
        return None
    return [_text(value) for value in dtype.categories]


def _read_objects(values):
    values = [None if _is_absent(value) else value for value in values]
    kinds = {type(value) for value in values} - {type(None)}

    def all_are(types):
        return all(issubclass(kind, types) for kind in kinds)

    if all_are(_NUMBERS):
        return Column("number", np.array([_float(value) for value in values], float))
    if all_are(_DURATIONS):
        return Column("number", _seconds(np.array(values, dtype="timedelta64[us]")))
    if all_are(datetime.time):
        return Column("number", np.array([_second_of_day(v) for v in values], float))
    if all(_is_date(kind) for kind in kinds):
        dates = [_naive(value) for value in values]
        return Column("date", np.array(dates, dtype="datetime64[us]"))
    texts = [None if value is None else _text(value) for value in values]
    return Column("text", _object_array(texts))


def _is_absent(value):
    if value is None or isinstance(value, str):
        return value is None or not value.strip()
    if hasattr(value, "__len__"):  # Containers are values, whatever they hold.
        return False
    try:
        return is_missing(value)
    except Exception:  # A user's object that cannot be compared.
        return False


def _is_date(kind):
    # Periods of pandas are no dates, but have a first moment.
    is_date = issubclass(kind, (datetime.date, np.datetime64))
    return is_date or hasattr(kind, "to_timestamp")


def _naive(value):
    if hasattr(value, "start_time"):
        value = value.to_timestamp()
    if getattr(value, "tzinfo", None) is not None:
        value = value.replace(tzinfo=None)
    if hasattr(value, "to_datetime64"):
        value = value.to_datetime64()
    return np.datetime64("NaT") if value is None else np.datetime64(value, "us")


def _iso_date(text):
    if not text[:4].isdigit() or "-" not in text:
        raise ValueError("Other formats are not the same everywhere.")
    return _naive(datetime.datetime.fromisoformat(text))


def _parsed(function, text, otherwise):
    try:
        return otherwise if text is None else function(text)
    except (ValueError, OverflowError):
        return otherwise


def _float(value):
    if value is None:
        return np.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _text(value):
    """Return a value as text: 1.0 as 1, an array as a list."""
    if isinstance(value, str):
        return str(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    # Where an object lies in memory differs from run to run.
    return re.sub(r" at 0x\w+", "", str(value))


def _seconds(durations):
    missing = np.isnat(durations)
    whole = durations.astype("timedelta64[us]").astype(np.int64)
    return np.where(missing, np.nan, whole / 1e6)


def _second_of_day(time):
    if time is None:
        return np.nan
    return time.hour * 3600 + time.minute * 60 + time.second + time.microsecond / 1e6


def _object_array(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
