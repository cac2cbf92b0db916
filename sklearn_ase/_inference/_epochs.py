"""Beliefs of the past, each in force for a run of picks."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

_MANY = 2**20


@dataclass(frozen=True, eq=False)
class BeliefColumns:
    """What a surrogate believed about each row: the part that questions need.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,) or None
        None for regression.
    proba : ndarray of shape (n_samples, n_classes) or None
    mean, variance : ndarray of shape (n_samples,) or None
    """

    classes: np.ndarray | None = None
    proba: np.ndarray | None = None
    mean: np.ndarray | None = None
    variance: np.ndarray | None = None

    @classmethod
    def of(cls, belief, classes):
        """Keep the columns of a belief.

        Parameters
        ----------
        belief : CategoricalBelief or GaussianBelief
        classes : ndarray of shape (n_classes,) or None

        Returns
        -------
        columns : BeliefColumns
        """
        if classes is None:
            return cls(mean=belief.mean, variance=belief.variance)
        proba = belief.proba
        # Single precision is enough where it saves much memory.
        return cls(
            classes, proba=proba.astype(np.float32) if proba.size > _MANY else proba
        )

    @property
    def nbytes(self):
        """Bytes that the columns take."""
        columns = self.proba, self.mean, self.variance
        return sum(column.nbytes for column in columns if column is not None)

    def proba_of(self, target):
        """Probability of one class for each row, of shape (n_samples,).

        Parameters
        ----------
        target : ndarray of int of shape (n_samples,)
            Place of the class.
        """
        return self.proba[np.arange(len(target)), target]

    def proba_at(self, rows):
        """Probabilities of all classes at some rows."""
        return self.proba[rows]

    def at(self, rows, *columns):
        """The same with other values at some rows.

        Parameters
        ----------
        rows : ndarray of int of shape (n_rows,)
        *columns : ndarray
            Probabilities, of shape (n_rows, n_classes), or mean and variance, of shape
            (n_rows,).

        Returns
        -------
        columns : BeliefColumns
        """
        names = ("mean", "variance") if self.classes is None else ("proba",)
        changed = {}
        for name, values in zip(names, columns, strict=True):
            changed[name] = np.array(getattr(self, name))
            changed[name][rows] = values
        return replace(self, **changed)

    def aligned(self, classes):
        """The same with a column for each of `classes`, which may be others.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,) or None

        Returns
        -------
        columns : BeliefColumns
        """
        if classes is None or classes is self.classes:
            return self
        proba = np.zeros((len(self.proba), len(classes)))
        # A class may be gone: its only label was a mistake.
        stays = np.isin(self.classes, classes)
        places = np.searchsorted(classes, self.classes[stays])
        proba[:, places] = self.proba[:, stays]
        return BeliefColumns(classes, proba=proba)


@dataclass(frozen=True, eq=False)
class Epoch:
    """A run of picks for which one belief is used.

    Attributes
    ----------
    start : int
        Number of picks before it. The belief knows no label of a later pick.
    belief : BeliefColumns
    query_proba : ndarray of shape (n_samples,)
        Probability of each row to be the next pick; 0 for rows that were picked.
    """

    start: int
    belief: BeliefColumns
    query_proba: np.ndarray

    @cached_property
    def inverse_proba(self):
        """``1 / q`` of each row, 0 where a row cannot be picked."""
        q = self.query_proba
        return np.divide(1.0, q, out=np.zeros(len(q)), where=q > 0)


def cross_fitted_epochs(epochs, belief):
    """The same runs of picks with the belief of now, also before the first fit.

    Parameters
    ----------
    epochs : list of Epoch
    belief : BeliefColumns
        At each labelled row as if it had no label.

    Returns
    -------
    epochs : list of Epoch
    """
    found = [replace(epoch, belief=belief) for epoch in epochs]
    if found and not found[0].start:
        return found
    # Before the first fit all rows are alike.
    n_samples = len(belief.mean if belief.classes is None else belief.proba)
    return [Epoch(0, belief, np.full(n_samples, 1.0 / n_samples)), *found]
