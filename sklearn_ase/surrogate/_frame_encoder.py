"""Turn frames into numbers, for surrogates that take nothing else."""

import numbers

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin


class FrameEncoder(TransformerMixin, BaseEstimator):
    """Transformer that turns a frame with any columns into numbers, for trees.

    Numbers stay as they are and dates become integers. Any other value becomes text,
    and the text becomes its position among the sorted texts seen in ``fit``, or -1 if
    it was not seen. Missing values become NaN. Works on pandas and polars frames, with
    nullable columns.

    Attributes
    ----------
    categories_ : dict of str to list of str
        Texts seen in each column that does not hold numbers.

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
        """Learn the texts of each column that does not hold numbers."""
        self.categories_ = {}
        for name in X.columns:
            numeric, values = _read_column(X[name])
            if not numeric:
                self.categories_[name] = sorted({v for v in values if v is not None})
        self.n_features_in_ = len(X.columns)
        return self

    def transform(self, X):
        """Turn a frame into numbers.

        Parameters
        ----------
        X : frame of shape (n_samples, n_columns)

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
    """Return whether the column holds numbers, and its values as floats or texts."""
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
    # NaN is not equal to itself; whether pandas.NA is, it does not say.
    return value is None or (value != value) is not False
