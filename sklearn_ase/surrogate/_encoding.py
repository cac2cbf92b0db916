"""Rows of frames and images as an estimator sees them, encoded once."""

from __future__ import annotations

from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from sklearn_ase._data._row_source import RowSource
from sklearn_ase._utils._typing import Rows
from sklearn_ase.surrogate._base import BaseSurrogate
from sklearn_ase.surrogate._frame_encoder import FrameEncoder
from sklearn_ase.surrogate._image_encoder import ImageEncoder


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
        is_source = isinstance(X, RowSource)
        if not is_encoder or not encoder.encodes(X.head() if is_source else X):
            return X, X_train
        frames = [X.sample() if is_source else X]
        frames += [] if X_train is None else [X_train]
        encoder = self._encoder = clone(encoder).fit_frames(frames)
        self.estimator = clone(pipeline).set_params(**{name: FrozenEstimator(encoder)})
        rows = X.mapped(encoder.transform) if is_source else encoder.transform(X)
        return rows, None if X_train is None else encoder.transform(X_train)
