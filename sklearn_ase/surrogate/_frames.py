"""Encode one column as numbers that trees can use: numbers, dates, words."""

import re
from collections import Counter

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import OrdinalEncoder

from sklearn_ase.surrogate._frame_columns import as_dates, as_numbers, as_texts

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


def choose_encoder(column, n_components, random_state):
    """Choose how to encode a column, and learn it from its values.

    Parameters
    ----------
    column : Column
    n_components : int
        Most columns for a free text, but for its length.
    random_state : int, RandomState instance or None

    Returns
    -------
    encoder : object with ``kind`` and ``encode(column)``
    """
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
