"""The encoder of rows that trees cannot read: of frames and images it makes tables."""

from __future__ import annotations

import numbers
import warnings
from decimal import Decimal
from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    OneToOneFeatureMixin,
    TransformerMixin,
    clone,
)
from sklearn.decomposition import PCA
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils import gen_batches

from sklearn_ase._data._rows import is_frame, is_missing, n_rows
from sklearn_ase._utils._checks import shown
from sklearn_ase._utils._typing import Floats, Rows

# Images with more numbers become so many principal components.
_MOST_COLUMNS, _N_COMPONENTS = 1024, 50
# Rows of pool and training rows that these are learned from, and rows in one batch.
_MOST_ROWS, _BATCH = 1000, 256
# Text with more values is free text, as in skrub.
_MOST_CATEGORIES = 40
# Trees compute in float32, and so that sums stay finite.
_GREATEST = 1e30


class PoolEncoder(TransformerMixin, BaseEstimator):
    """Transformer that learns from the pool, once, how to turn its rows into numbers.

    As first step of the pipeline of a surrogate it is fitted once for each evaluation,
    before a label is there, and encodes all rows once. Every other step learns from the
    labelled rows, at every refit. Only frames and images are encoded; tables of numbers
    pass.

    Parameters
    ----------
    transformer : transformer, default=None
        None chooses by the rows:

        * Frames of pandas or polars: ``skrub.TableVectorizer``, if skrub is installed
          (``pip install 'sklearn-ase[tables]'``). It encodes numbers, categories, dates
          and free text. Without skrub, numbers and categories are encoded, and a
          warning names the columns that are left out.
        * Images: short ones become one column per pixel and channel, those with more
          than 1024 numbers become 50 principal components.

    Attributes
    ----------
    transformer_ : fitted transformer

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn_ase.surrogate import PoolEncoder
    >>> frame = pd.DataFrame({"size": [1.5, None], "kind": ["pear", "apple"]})
    >>> PoolEncoder().fit_transform(frame)
    array([[1.5, 1. ],
           [nan, 0. ]])
    >>> surrogate = make_pipeline(PoolEncoder(), ExtraTreesClassifier(bootstrap=True))
    """

    def __init__(self, transformer: Any = None) -> None:
        self.transformer = transformer

    def encodes(self, X: Rows) -> bool:
        """Whether X is a frame or an array with more than two axes."""
        return is_frame(X) or getattr(X, "ndim", 2) > 2

    def fit(self, X: Rows, y: None = None, X_train: Rows | None = None) -> Self:
        """Learn how to encode rows.

        Parameters
        ----------
        X : frame or array of shape (n_samples, ...)
            The pool.
        y : None
            Ignored.
        X_train : same kind as X, default=None
            Training rows, which components of images are learned from, too.

        Returns
        -------
        self : object
        """
        if not self.encodes(X):
            raise TypeError(
                "PoolEncoder encodes frames of pandas or polars and arrays with more "
                f"than two axes, but got {shown(X)}. Leave it out of the pipeline."
            )
        transformer = self.transformer
        if not is_frame(X):
            rng = np.random.default_rng(0)
            parts = [X] if X_train is None else [X, X_train]
            X = np.concatenate([_some_rows(part, rng) for part in parts])
            transformer = ImageColumns() if transformer is None else transformer
        elif transformer is None:
            transformer = frame_transformer()
        self.transformer_ = clone(transformer).fit(X)
        return self

    def transform(self, X: Rows) -> Floats:
        """Turn rows into numbers.

        Parameters
        ----------
        X : frame or array of shape (n_samples, ...)
            Rows that have been encoded before, a table, are returned as they are.

        Returns
        -------
        numbers : ndarray of shape (n_samples, n_encoded)
            One column of zeros if nothing is left to encode.
        """
        if not self.encodes(X):
            return X
        encoded = np.asarray(self.transformer_.transform(X))
        if not is_frame(X):
            return encoded
        if not encoded.shape[1]:
            return np.zeros((n_rows(X), 1))
        return np.clip(encoded.astype(float), -_GREATEST, _GREATEST)


def frame_transformer() -> Any:
    """What encodes frames for trees: skrub's vectorizer, or plain columns."""
    try:
        from skrub import DatetimeEncoder, StringEncoder, TableVectorizer
    except ImportError:
        return PlainColumns()
    return TableVectorizer(
        low_cardinality=Categories(),
        high_cardinality=StringEncoder(n_components=10, random_state=0),
        datetime=DatetimeEncoder(add_weekday=True),
        drop_if_constant=True,
    )


class Categories(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Transformer of frames: codes of texts, NaN where missing, -1 for new ones.

    As scikit-learn's OrdinalEncoder, but None is missing, too.
    """

    def fit(self, X: Rows, y: None = None) -> Self:
        """Learn the texts of each column."""
        self.feature_names_in_ = np.array(list(X.columns), dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        self.codes_ = OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=-1
        ).fit(_texts(X))
        return self

    def transform(self, X: Rows) -> Floats:
        """Return one column of codes for each column."""
        return self.codes_.transform(_texts(X))


class PlainColumns(TransformerMixin, BaseEstimator):
    """Transformer of frames: numbers stay, categories become codes.

    Columns of dates, free text and other objects are left out, with a warning.
    """

    def fit(self, X: Rows, y: None = None) -> Self:
        """Find out which columns are numbers and which are categories."""
        kinds = {name: _kind_of(X[name].to_numpy()) for name in X.columns}
        self.numbers_ = [name for name, kind in kinds.items() if kind == "number"]
        self.categories_ = [name for name, kind in kinds.items() if kind == "category"]
        self.codes_ = Categories()
        if self.categories_:
            self.codes_.fit(X[self.categories_])
        left_out = [name for name, kind in kinds.items() if kind == "other"]
        if left_out:
            warnings.warn(
                f"The surrogate cannot read the columns {shown(left_out)}: dates and "
                "free text need skrub. Install it by "
                "pip install 'sklearn-ase[tables]', or leave these columns out.",
                stacklevel=2,
            )
        return self

    def transform(self, X: Rows) -> Floats:
        """Numbers, then codes of categories; missing values are NaN."""
        columns = [_floats(X[name].to_numpy()) for name in self.numbers_]
        if self.categories_:
            columns += [*self.codes_.transform(X[self.categories_]).T]
        return np.column_stack(columns) if columns else np.empty((n_rows(X), 0))


def _kind_of(values: np.ndarray) -> str:
    """What a column holds: "number", "category", or "other"."""
    if values.dtype.kind in "biuf":
        return "number"
    if values.dtype.kind not in "OU":
        return "other"
    present = [value for value in values.tolist() if not _is_absent(value)]
    if all(isinstance(value, (numbers.Real, Decimal, np.bool_)) for value in present):
        return "number"
    is_text = all(isinstance(value, (str, bool, numbers.Real)) for value in present)
    return "category" if is_text and len(set(present)) <= _MOST_CATEGORIES else "other"


def _is_absent(value: Any) -> bool:
    return not hasattr(value, "__len__") and is_missing(value)


def _floats(values: np.ndarray) -> Floats:
    if values.dtype.kind in "biuf":
        return values.astype(float)
    return np.array([np.nan if _is_absent(v) else float(v) for v in values.tolist()])


def _texts(X: Rows) -> np.ndarray:
    """All columns as texts, NaN where a value is missing; (n_rows, n_columns)."""
    texts = np.empty(X.shape, dtype=object)
    for column, name in zip(texts.T, X.columns, strict=True):
        values = X[name].to_numpy().tolist()
        column[:] = [np.nan if _is_absent(value) else str(value) for value in values]
    return texts


class ImageColumns(TransformerMixin, BaseEstimator):
    """Transformer of images: one column for each number, or principal components."""

    def fit(self, X: np.ndarray, y: None = None) -> Self:
        """Learn the components, if rows are long."""
        self.pca_ = None
        rows = _flat(X)
        if rows.shape[1] > _MOST_COLUMNS:
            n_components = min(_N_COMPONENTS, *rows.shape)
            self.pca_ = PCA(n_components, random_state=0).fit(rows)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Flatten rows, or turn them into components."""
        if self.pca_ is None:
            return X.reshape(len(X), -1)
        batches = gen_batches(len(X), _BATCH)
        return np.concatenate([self.pca_.transform(_flat(X[rows])) for rows in batches])


def _flat(X: np.ndarray) -> np.ndarray:
    return np.nan_to_num(X.reshape(len(X), -1).astype(np.float32))


def _some_rows(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if len(X) <= _MOST_ROWS:
        return X
    return X[np.sort(rng.choice(len(X), _MOST_ROWS, replace=False))]
