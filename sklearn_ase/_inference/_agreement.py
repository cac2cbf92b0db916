"""Where several models predict alike, and where they do not."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class Agreement:
    """Which models predict the same at which rows.

    Attributes
    ----------
    keys : ndarray of int of shape (n_samples, n_models)
        Two models with equal keys at a row predict the same there.
    weight : ndarray of shape (n_samples,) or None
        How much each row counts, with mean 1; None if all count the same. A row that
        has weight 0 does not tell models apart.
    """

    keys: np.ndarray
    weight: np.ndarray | None = None

    @classmethod
    def of(cls, responses, weight=None):
        """Compare predictions.

        Parameters
        ----------
        responses : list of ndarray of shape (n_samples,) or (n_samples, n_classes)
            Predictions of each model, with the same columns.
        weight : ndarray of shape (n_samples,), default=None

        Returns
        -------
        agreement : Agreement
        """
        if responses[0].ndim == 2:
            # Rows of probabilities are told apart by one number each.
            mixture = np.random.default_rng(0).normal(size=responses[0].shape[1])
            responses = [each @ mixture for each in responses]
        table = np.stack(responses, axis=1)
        keys = np.unique(table, return_inverse=True)[1].reshape(table.shape)
        return cls(keys, weight)

    @cached_property
    def apart(self):
        """Rows on which not all models predict the same, (n_samples,)."""
        found = (self.keys != self.keys[:, :1]).any(axis=1)
        return found if self.weight is None else found & (self.weight > 0)

    @cached_property
    def _size_apart(self):
        """Weight of all rows on which each two predict differently."""
        rows = np.flatnonzero(self.apart)
        keys, weight = self.keys[rows], self._weight_of(rows)
        return np.array([weight @ (keys != column[:, None]) for column in keys.T])

    def are_alike(self, first, second):
        """Whether two models predict the same at all rows that count."""
        return not (self.keys[self.apart, first] != self.keys[self.apart, second]).any()

    def size(self, rows):
        """Weight of these rows together."""
        return float(self._weight_of(rows).sum())

    def open_apart(self, rows):
        """Weight of the other rows on which each two differ.

        Parameters
        ----------
        rows : ndarray of int
            Rows with a label, or that nobody can label.

        Returns
        -------
        weight : ndarray of shape (n_models, n_models)
        """
        labelled = np.tensordot(self._weight_of(rows), self._differ(rows), axes=1)
        return np.maximum(self._size_apart - labelled, 0.0)

    def effective_apart(self, rows, weight):
        """Number of rows on which each two differ, as if all weighed the same.

        Parameters
        ----------
        rows : ndarray of int of shape (n_rows,)
        weight : ndarray of shape (n_rows,)
            Of each of these rows, beside its weight in the pool.

        Returns
        -------
        number : ndarray of shape (n_models, n_models)
            The square of the sum of the weights, divided by the sum of their squares.
        """
        weight, apart = weight * self._weight_of(rows), self._differ(rows)
        total = np.tensordot(weight, apart, axes=1)
        square = np.tensordot(weight**2, apart, axes=1)
        return np.divide(total**2, square, out=np.zeros_like(total), where=square > 0)

    def _differ(self, rows):
        keys = self.keys[rows]
        return (keys[:, :, None] != keys[:, None, :]).astype(float)

    def _weight_of(self, rows):
        return np.ones(len(rows)) if self.weight is None else self.weight[rows]
