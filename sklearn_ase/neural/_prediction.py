"""Prediction of deep classifiers, batch by batch and for each member."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_ase._utils._typing import Floats, Rows
from sklearn_ase.neural._data import first_row, in_order
from sklearn_ase.neural._device import usable_device
from sklearn_ase.neural._temperature import scaled_softmax
from sklearn_ase.neural._validation import check_rows

# Bound on the numbers of one batch of the pool, over members, rows and inputs or
# classes. In float32 they take 64 MB.
POOL_BATCH_NUMBERS = 2**24


class PredictionMixin:
    """Mixin with the predictions of a deep classifier."""

    def predict_proba_members(self, X: Rows) -> Floats:
        """Probabilities by each member.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...) or torch Dataset

        Returns
        -------
        member_proba : ndarray of shape (n_members, n_samples, n_classes), float32
        """
        X = check_rows(self, X)
        proba: Any = None
        begin = 0
        for part in self._member_proba(X):
            if proba is None:
                shape = (part.shape[0], len(X), part.shape[2])
                proba = np.empty(shape, dtype=np.float32)
            end = begin + part.shape[1]
            proba[:, begin:end] = part
            begin = end
        return proba

    def predict_proba(self, X: Rows) -> Floats:
        """Mean of the members' probabilities, of shape (n_samples, n_classes)."""
        X = check_rows(self, X)
        parts = [part.mean(axis=0, dtype=np.float64) for part in self._member_proba(X)]
        return np.concatenate(parts)

    def predict(self, X: Rows) -> np.ndarray:
        """Most probable class of each row, of shape (n_samples,)."""
        proba = self.predict_proba(X)
        return self.classes_[proba.argmax(axis=1)]

    def _member_proba(self, X):
        """Probabilities, (n_members, batch_size, n_classes), batch by batch."""
        for logits in self._member_logits(in_order(X, self._pool_batch_size(X))):
            yield scaled_softmax(logits, self.temperature_)

    def _member_logits(self, rows):
        """Logits, (n_members, batch_size, n_classes), batch by batch."""
        self.net_.move_to(usable_device(self.device))
        return self.net_.member_logits(rows)

    def _pool_batch_size(self, X):
        """Rows in one batch of a pool, so that memory is bounded for any pool."""
        numbers = max(first_row(X).numel(), self.n_members_ * len(self.classes_))
        return int(np.clip(POOL_BATCH_NUMBERS // (8 * numbers), 1, 4096))
