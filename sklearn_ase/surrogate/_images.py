"""Turn images and other rows with several axes into rows of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import gen_batches

from sklearn_ase._utils._checks import check_integer
from sklearn_ase._utils._typing import Rows, Seed
from sklearn_ase.surrogate._base import BaseSurrogate
from sklearn_ase.surrogate._frames import FrameEncoder

# Rows of each array that the components are learned from, and rows in one batch.
_MOST_ROWS, _BATCH = 1000, 256


class ImageEncoder(TransformerMixin, BaseEstimator):
    """Transformer that flattens images, for estimators that take tables only.

    Short rows become one column per pixel and channel. Longer ones become principal
    components, learned from at most 1000 rows of the pool and as many training rows. A
    network reads images better than this, see ``sklearn_ase.neural``.

    As first step of the pipeline of a surrogate it is fitted once for each evaluation,
    on the pool and the training rows, and encodes them once.

    Parameters
    ----------
    max_columns : int, default=1024
        Rows with at most so many numbers are only flattened.
    n_components : int, default=50
        Number of principal components of longer rows.
    random_state : int, RandomState instance or None, default=0
        For the components.

    Attributes
    ----------
    pca_ : PCA or None
        None if rows are only flattened.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_ase.surrogate import ImageEncoder
    >>> images = load_digits().images
    >>> images.shape, ImageEncoder().fit_transform(images).shape
    ((1797, 8, 8), (1797, 64))
    >>> ImageEncoder(max_columns=10, n_components=5).fit_transform(images).shape
    (1797, 5)
    """

    def __init__(
        self, max_columns: int = 1024, n_components: int = 50, random_state: Seed = 0
    ) -> None:
        self.max_columns = max_columns
        self.n_components = n_components
        self.random_state = random_state

    def encodes(self, X: Rows) -> bool:
        """Whether X is an array with more than two axes."""
        return getattr(X, "ndim", 2) > 2

    def fit(self, X: Rows, y: None = None) -> Self:
        """Learn the components, if rows are long.

        Parameters
        ----------
        X : ndarray of shape (n_samples, ...)
        y : None
            Ignored.

        Returns
        -------
        self : object
        """
        return self.fit_frames([X])

    def fit_frames(self, frames: Sequence[Rows]) -> Self:
        """Learn from several arrays, as from one.

        Parameters
        ----------
        frames : list of ndarray of shape (n_samples, ...)

        Returns
        -------
        self : object
        """
        check_integer(self.max_columns, "max_columns", 1)
        check_integer(self.n_components, "n_components", 1)
        self.pca_ = None
        shape = frames[0].shape[1:]
        if len(shape) > 1 and math.prod(shape) > self.max_columns:
            rng = np.random.default_rng(0)
            rows = np.concatenate([_flat(_some(X, rng)) for X in frames])
            n_components = min(self.n_components, *rows.shape)
            pca = PCA(n_components, random_state=self.random_state)
            self.pca_ = pca.fit(rows)
        return self

    def transform(self, X: Rows) -> np.ndarray:
        """Flatten rows.

        Parameters
        ----------
        X : ndarray of shape (n_samples, ...)
            Rows that have been encoded before, a table, are returned as they are.

        Returns
        -------
        numbers : ndarray of shape (n_samples, n_encoded)
        """
        if not self.encodes(X):
            return X
        if self.pca_ is None:
            return X.reshape(len(X), -1)
        parts = [
            self.pca_.transform(_flat(X[rows])) for rows in gen_batches(len(X), _BATCH)
        ]
        return np.concatenate(parts)


def _flat(X):
    return np.nan_to_num(X.reshape(len(X), -1).astype(np.float32))


def _some(X, rng):
    if len(X) <= _MOST_ROWS:
        return X
    return X[np.sort(rng.choice(len(X), _MOST_ROWS, replace=False))]


# Rows of frames and images as an estimator sees them, encoded once.


class EncodingSurrogate(BaseSurrogate):
    """Surrogate whose estimator may be a pipeline that starts with an encoder."""

    _encoder = None  # A fitted encoder, if rows of frames or images were encoded.

    def prepare_other(self, X: Rows) -> Rows:
        """Encode the rows of another pool as those of the first."""
        return X if self._encoder is None else self._encoder.transform(X)

    def _encoded(self, X, X_train):
        pipeline = self.estimator
        if not isinstance(pipeline, Pipeline):
            return X, X_train
        name, encoder = pipeline.steps[0]
        is_encoder = isinstance(encoder, FrameEncoder | ImageEncoder)
        if not is_encoder or not encoder.encodes(X):
            return X, X_train
        frames = [X] if X_train is None else [X, X_train]
        encoder = self._encoder = clone(encoder).fit_frames(frames)
        self.estimator = clone(pipeline).set_params(**{name: FrozenEstimator(encoder)})
        rows = encoder.transform(X)
        return rows, None if X_train is None else encoder.transform(X_train)
