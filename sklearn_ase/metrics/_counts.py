"""The base class of metrics that count hard predictions."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase.metrics._base import BaseMetric
from sklearn_ase.metrics._labels import columns_of, with_predicted
from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.metrics._pool_weight import pool_weight
from sklearn_ase.metrics._row_values import ClassValues

# Shares below it are rounding: a row of a pool of a billion is more.
TINY = 1e-12


class Count(NamedTuple):
    """What is counted: the rows where a flag is set and the label is a given one.

    Attributes
    ----------
    label : int, ndarray of int of shape (n_samples,) or None
        Place of the label among the names. None means that any label counts.
    flag : ndarray of shape (n_samples,)
        0 or 1, or another number that is known.
    """

    label: object
    flag: np.ndarray


class CountMetric(BaseMetric):
    """A function of shares of the pool, with a true and a predicted label each."""

    task = "classification"
    bounds = (0.0, 1.0)

    @abstractmethod
    def _counts(self, predicted, names, classes):
        """What is counted, in the order of the means.

        Parameters
        ----------
        predicted : ndarray of int of shape (n_samples,)
            Place of the predicted label among the names.
        names : ndarray of shape (n_names,)
            Sorted labels: the classes, and what else the model predicts.
        classes : ndarray of shape (n_classes,)
            Sorted labels that can be true.

        Returns
        -------
        counts : list of Count
        """

    def row_values(
        self, y_true: ArrayLike, y_pred: ArrayLike, classes: ArrayLike | None = None
    ) -> np.ndarray:
        """Values of each row, of which the metric knows the means.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels.
        y_pred : array-like of shape (n_rows,)
            Predicted labels.
        classes : array-like of shape (n_classes,), default=None
            Sorted labels. None means those that occur in the rows. Averages over
            classes need them, for the values of a row not to depend on other rows.

        Returns
        -------
        values : ndarray of shape (n_rows, n_means)
        """
        y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
        if classes is None:
            classes = self._assumed(np.union1d(y_true, y_pred))
        classes = np.asarray(classes)
        names = with_predicted(classes, y_pred)
        label = columns_of(y_true, names)
        counts = self._counts(columns_of(y_pred, names), names, classes)
        columns = [
            flag if target is None else flag * (label == target)
            for target, flag in counts
        ]
        return np.column_stack(columns).astype(float)

    def _assumed(self, found):
        """Classes of which some rows show those that are found."""
        return found

    def _all_values(self, y_true, y_pred):
        return self.row_values(y_true, y_pred, np.union1d(y_true, y_pred))

    def on_pool(
        self,
        prediction: np.ndarray | None,
        classes: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        n_samples: int | None = None,
    ) -> PoolMetric:
        classes = _needed(classes, type(self).__name__)
        weight = pool_weight(prediction, weight, n_samples)
        names = with_predicted(classes, prediction)
        counts = self._counts(columns_of(prediction, names), names, classes)
        # Cells of one column of a confusion matrix share their flags: keep them once.
        weights = {id(count.flag): weight * count.flag for count in counts}
        column = columns_of(names, classes)
        n_unknown = sum(count.label is not None for count in counts)
        parts, known, known_rows = [], np.full(len(counts), np.nan), {}
        for place, (label, flag) in enumerate(counts):
            scaled = weights[id(flag)]
            if label is None:
                known[place], known_rows[place] = scaled.mean(), scaled
                continue
            target = column[label]
            if np.ndim(target) == 1:  # A label outside the classes is never right.
                scaled, target = scaled * (target >= 0), np.maximum(target, 0)
            elif target < 0 or (n_unknown > 2 and not scaled.any()):
                known[place] = 0.0
                continue
            target = np.broadcast_to(target, len(scaled))
            parts.append(ClassValues(target, scaled, classes))
        return PoolMetric(self, tuple(parts), known, known_rows)


def of_one_class(predicted, column):
    """Counts of a class against the rest: found, missed, and predicted (known)."""
    flag = predicted == column
    return [Count(column, flag), Count(column, ~flag), Count(None, flag)]


def of_each_class(predicted, n_names):
    """Counts of every class: all found, then all missed, then all predicted."""
    flags = [predicted == column for column in range(n_names)]
    return (
        [Count(column, flag) for column, flag in enumerate(flags)]
        + [Count(column, ~flag) for column, flag in enumerate(flags)]
        + [Count(None, flag) for flag in flags]
    )


def of_hits(predicted):
    """The count of rows that are predicted rightly."""
    return Count(predicted, np.ones(len(predicted)))


def _needed(classes, name):
    if classes is None:
        raise ValueError(f"{name} needs the possible labels. Pass classes=...")
    return np.asarray(classes)
