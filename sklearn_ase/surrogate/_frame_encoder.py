"""Turn frames into numbers, for surrogates that take nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from sklearn_ase._data._rows import is_frame
from sklearn_ase._utils._checks import check_integer
from sklearn_ase._utils._typing import Rows, Seed
from sklearn_ase.surrogate._column_encoders import choose_encoder
from sklearn_ase.surrogate._frame_columns import join_columns, read_column


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
