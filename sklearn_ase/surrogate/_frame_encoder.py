"""Frames as numbers, for surrogates that read nothing else."""

import numbers

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin


class FrameEncoder(TransformerMixin, BaseEstimator):
    """Frame of any columns as an array of numbers, for trees.

    Numbers and dates stay as they are, other values become the place of their text
    among the texts seen in ``fit``, -1 if it was not; missing values become NaN.
    Works on pandas and polars frames of every version, with nullable columns.

    Attributes
    ----------
    categories_ : dict of str to list of str
        Texts of each column that is no number.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_ase.surrogate import FrameEncoder
    >>> frame = pd.DataFrame({"size": [1.5, None], "kind": ["pear", "apple"]})
    >>> FrameEncoder().fit_transform(frame)
    array([[1.5, 1. ],
           [nan, 0. ]])
    """

    def fit(self, X, y=None):
        """Learn the texts of each column that is no number."""
        self.categories_ = {}
        for name in X.columns:
            numeric, values = _read_column(X[name])
            if not numeric:
                self.categories_[name] = sorted({v for v in values if v is not None})
        self.n_features_in_ = len(X.columns)
        return self

    def transform(self, X):
        """Encode a frame.

        Returns
        -------
        numbers : ndarray of shape (n_samples, n_columns)
        """
        columns = []
        for name in X.columns:
            numeric, values = _read_column(X[name])
            if name in self.categories_:
                places = {v: k for k, v in enumerate(self.categories_[name])}
                texts = [str(v) for v in values] if numeric else values
                values = [np.nan if v is None else places.get(v, -1) for v in texts]
            elif not numeric:
                values = [np.nan] * len(values)
            columns.append(np.asarray(values, dtype=float))
        return np.column_stack(columns)


def _read_column(column):
    """Whether the column holds numbers, and its values: floats, or texts and None."""
    values = column.to_numpy()
    if values.dtype.kind in "biuf":
        return True, values.astype(float)
    if values.dtype.kind in "mM":
        return True, np.where(np.isnat(values), np.nan, values.astype("int64"))
    present = [None if _is_missing(value) else value for value in values.tolist()]
    if all(v is None or isinstance(v, numbers.Real) for v in present):
        return True, np.array([np.nan if v is None else float(v) for v in present])
    return False, [None if value is None else str(value) for value in present]


def _is_missing(value):
    # NaN differs from itself, and so, in its own way, does pandas.NA.
    return value is None or (value != value) is not False
