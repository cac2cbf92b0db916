"""Read the columns of a frame as numbers, dates or texts, without its library."""

from __future__ import annotations

import datetime
import math
import numbers
import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import OrdinalEncoder

from sklearn_ase._data._rows import is_frame, is_missing
from sklearn_ase._utils._checks import check_integer
from sklearn_ase._utils._typing import Rows, Seed

if TYPE_CHECKING:
    from typing import Any

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


def read_column(X: Any, name) -> Column:
    """Read a column of a pandas or polars frame."""
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


# Encode one column as numbers that trees can use: numbers, dates, words.


# Texts of at least that many words, on average, are free text.
_WORDS = 3
# Free text has at least that many values; so many rows say what is distinct.
_FEW = 10
# Words, or runs of characters, that a text is described by.
_MOST_FEATURES = 20_000
# Rows and characters that decide whether letters form words.
_MOST_TEXTS, _MOST_CHARACTERS = 2000, 300
# Trees compute in float32, and so that sums stay finite.
_MOST = 1e30


class Dropped:
    """A column that says nothing: constant, or a name for each row."""

    kind = "dropped"

    def encode(self, column):
        """Return no columns."""
        return np.empty((len(column.values), 0))


class Numbers:
    """Numbers as they are; infinite ones become very large."""

    kind = "number"

    def encode(self, column):
        """Return one column."""
        return np.clip(as_numbers(column), -_MOST, _MOST)[:, None]


class Dates:
    """Days since the first date; month, day of the week and hour where they vary."""

    kind = "date"

    def __init__(self, dates):
        self.first = np.nanmin(dates)
        parts = _date_parts(dates, self.first)
        self.varies = [len(np.unique(part[~np.isnat(dates)])) > 1 for part in parts.T]
        self.varies[0] = True

    def encode(self, column):
        """Return one to four columns."""
        return _date_parts(as_dates(column), self.first)[:, self.varies]


class Categories:
    """The place of a text among those known; unknown texts come after them all."""

    kind = "category"

    def __init__(self, categories):
        known = np.empty((len(categories), 1), dtype=object)
        known[:, 0] = categories
        self.encoder = OrdinalEncoder(
            categories=[known[:, 0]],
            handle_unknown="use_encoded_value",
            unknown_value=len(categories),
        ).fit(known)

    def encode(self, column):
        """Return one column."""
        texts = as_texts(column)
        codes, present = np.full((len(texts), 1), np.nan), _present(texts)
        if present.any():
            codes[present] = self.encoder.transform(texts[present, None])
        return codes


class Texts:
    """Free text: its length, and the main directions of its tf-idf vectors."""

    kind = "text"

    def __init__(self, texts, n_components, random_state):
        self.vectors = TfidfVectorizer(
            sublinear_tf=True,
            max_features=_MOST_FEATURES,
            **_analysis(texts),
        )
        vectors = self.vectors.fit_transform(texts)
        n_components = min(n_components, *vectors.shape)
        self.directions = TruncatedSVD(n_components, random_state=random_state)
        self.directions.fit(vectors)

    def encode(self, column):
        """Return one column more than there are components."""
        texts = as_texts(column)
        present = _present(texts)
        n_components = len(self.directions.components_)
        encoded = np.full((len(texts), n_components + 1), np.nan)
        if present.any():
            texts = texts[present]
            vectors = self.vectors.transform(texts)
            encoded[present, 0] = [len(text) for text in texts]
            encoded[present, 1:] = self.directions.transform(vectors)
        return encoded


def choose_encoder(column: Column, n_components: int, random_state: Any):
    """Choose how to encode a column, and learn it from its values."""
    if column.kind == "text":
        return _choose_for_texts(column, n_components, random_state)
    missing = np.isnan(column.values)  # Of dates, too.
    if _is_constant(np.unique(column.values[~missing]), missing.any()):
        return Dropped()
    return Numbers() if column.kind == "number" else Dates(column.values)


def _choose_for_texts(column, n_components, random_state):
    present = _present(column.values)
    texts = column.values[present]
    found = Counter(texts.tolist())
    if _is_constant(found, not present.all()):
        return Dropped()
    if column.order is not None:
        return Categories(column.order)
    is_distinct = len(found) > len(texts) / 2 and len(texts) > _FEW
    numbers = as_numbers(column)[present]
    if not np.isnan(numbers).any():  # Numbers written as text, or numbers of rows.
        is_id = is_distinct and (numbers == np.round(numbers)).all()
        return Dropped() if is_id else Numbers()
    dates = as_dates(column)
    if not np.isnat(dates[present]).any():
        return Dates(dates)
    is_long = np.mean([len(text.split()) for text in found]) >= _WORDS
    if not is_distinct and not (is_long and len(found) > _FEW):
        return Categories(sorted(found, key=lambda text: (-found[text], text)))
    if is_distinct and not _has_words(list(found)):
        return Dropped()
    return Texts(texts, n_components, random_state)


def _is_constant(values, some_are_missing):
    return len(values) == 0 or (len(values) == 1 and not some_are_missing)


def _present(texts):
    return np.array([text is not None for text in texts], dtype=bool)


def _date_parts(dates, first):
    missing = np.isnat(dates)
    days = dates.astype("datetime64[D]")
    hours = (dates.astype("datetime64[h]") - days).astype(np.int64)
    parts = np.column_stack(
        [
            (dates - first).astype(np.int64) / 86_400e6,
            dates.astype("datetime64[M]").astype(np.int64) % 12 + 1,
            (days.astype(np.int64) + 3) % 7,  # 1 January 1970 was a Thursday.
            hours,
        ]
    )
    parts[missing] = np.nan
    return parts


def _analysis(texts):
    """Words of texts that have some, runs of characters of the others."""
    n_words = np.mean([len(text.split()) for text in texts])
    if n_words >= _WORDS:
        return {"token_pattern": r"(?u)\b\w+\b"}
    return {"analyzer": "char_wb", "ngram_range": (2, 4)}


def _has_words(texts):
    """Return whether texts share words, or are made of words and not of random signs.

    Words that nearly all texts have do not count: "row 1", "row 2".
    """
    step = -(-len(texts) // _MOST_TEXTS)
    texts = [text[:_MOST_CHARACTERS].lower() for text in texts[::step]]
    return _share_words(texts) or _have_letters_of_words(texts)


def _share_words(texts):
    """Return whether half of the texts have a word that one in a hundred has."""
    words = [set(re.findall(r"\w+", text)) for text in texts]
    rows = Counter(word for some in words for word in some)
    least, most = max(3, 0.01 * len(texts)), 0.95 * len(texts)
    shared = {word for word, count in rows.items() if least <= count <= most}
    return sum(bool(some & shared) for some in words) >= len(texts) / 2


def _have_letters_of_words(texts):
    """Return whether runs of three letters come up more often than by chance.

    They do in words of any language, and not in random ids, hashes and numbers.
    """
    words = [re.findall(r"[^\W\d_]{3,}", text) for text in texts]
    rows = Counter(word for some in words for word in set(some))
    kept = [w for some in words for w in some if rows[w] <= 0.95 * len(texts)]
    letters = Counter("".join(kept))
    runs = Counter(word[k : k + 3] for word in kept for k in range(len(word) - 2))
    if not runs:
        return False
    n_letters, n_runs = letters.total(), runs.total()
    same_letter = sum((count / n_letters) ** 2 for count in letters.values())
    by_chance = same_letter**3 * n_runs * (n_runs - 1) / 2
    pairs = sum(count * (count - 1) / 2 for count in runs.values())
    return pairs > 2 * by_chance + 3 * by_chance**0.5 + 3


# Turn frames into numbers, for surrogates that take nothing else.


class FrameEncoder(TransformerMixin, BaseEstimator):
    """Transformer that turns a frame with any columns into numbers, for trees.

    It needs no labels. Each column is encoded by what its values are:

    * Numbers and booleans stay. Durations become seconds.
    * Dates, with or without a time zone, become the days since the first one, and the
      month, the day of the week and the hour where they vary. So do dates that are
      written as text, as ``"2026-11-18"``.
    * Text whose values come up again is a category: its place when the most frequent
      value is 0, or its place in an ordered category. A value that ``fit`` has not seen
      comes after all others.
    * Free text becomes its length and a few components of its tf-idf vectors
      (:class:`~sklearn.decomposition.TruncatedSVD`).
    * Ids (hashes, numbers of rows written as text: nearly all distinct and without
      words) and constant columns are dropped.
    * Lists, dicts and other objects count as the text that they print.

    Missing values and blank texts become NaN. Works on pandas and polars frames, with
    nullable columns.

    As first step of the pipeline of a surrogate it is fitted once for each evaluation,
    on the pool and the training rows, and encodes them once.

    Parameters
    ----------
    n_components : int, default=10
        Most components of a column of free text.
    random_state : int, RandomState instance or None, default=0
        For the components of free text.

    Attributes
    ----------
    kinds_ : dict of str to str
        How each column is encoded: ``"number"``, ``"date"``, ``"category"``,
        ``"text"`` or ``"dropped"``.
    n_features_in_ : int

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_ase.surrogate import FrameEncoder
    >>> frame = pd.DataFrame({"size": [1.5, None], "kind": ["pear", "apple"]})
    >>> encoder = FrameEncoder().fit(frame)
    >>> encoder.kinds_
    {'size': 'number', 'kind': 'category'}
    >>> encoder.transform(frame)
    array([[1.5, 1. ],
           [nan, 0. ]])
    """

    def __init__(self, n_components: int = 10, random_state: Seed = 0) -> None:
        self.n_components = n_components
        self.random_state = random_state

    def encodes(self, X: Rows) -> bool:
        """Whether X is a frame."""
        return is_frame(X)

    def fit(self, X: Rows, y: None = None) -> Self:
        """Learn how to encode each column.

        Parameters
        ----------
        X : frame of shape (n_samples, n_columns)
        y : None
            Ignored.

        Returns
        -------
        self : object
        """
        return self.fit_frames([X])

    def fit_frames(self, frames: Sequence[Rows]) -> Self:
        """Learn from several frames with the same columns, as from one.

        Parameters
        ----------
        frames : list of frames
            Their columns may be stored in different ways.

        Returns
        -------
        self : object
        """
        check_integer(self.n_components, "n_components", 1)
        for X in frames:
            if not is_frame(X):
                raise TypeError(
                    f"FrameEncoder encodes frames of pandas or polars, but got a "
                    f"{type(X).__name__}. Leave the encoder out of the pipeline."
                )
        self._encoders = {}
        for name in frames[0].columns:
            column = join_columns([read_column(X, name) for X in frames])
            self._encoders[name] = choose_encoder(
                column, self.n_components, self.random_state
            )
        self.kinds_ = {name: one.kind for name, one in self._encoders.items()}
        self.n_features_in_ = len(self.kinds_)
        return self

    def transform(self, X: Rows) -> np.ndarray:
        """Turn a frame into numbers.

        Parameters
        ----------
        X : frame of shape (n_samples, n_columns)
            A column that is not there counts as missing. Rows that have been encoded
            before, an array, are returned as they are.

        Returns
        -------
        numbers : ndarray of shape (n_samples, n_encoded)
            One column of zeros if nothing is left to encode.
        """
        if not is_frame(X):
            return X
        blocks = [
            encoder.encode(read_column(X, name))
            for name, encoder in self._encoders.items()
        ]
        numbers = np.hstack([np.empty((X.shape[0], 0)), *blocks])
        return numbers if numbers.shape[1] else np.zeros((X.shape[0], 1))
