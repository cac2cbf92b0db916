"""Metrics that are ratios of counts, such as precision and F1, and their averages.

A class has the counts ``u`` (found), ``v`` (missed) and ``p`` (predicted), as shares of
the pool. Every ratio is ``(a · x) / (b · x)`` with ``x = (1, u, v, p)``.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from sklearn_ase._utils._checks import check_choice, check_number, shown
from sklearn_ase._utils._typing import Average, Floats, Label
from sklearn_ase.metrics._base import slopes_of
from sklearn_ase.metrics._counts import (
    TINY,
    Count,
    CountMetric,
    of_each_class,
    of_hits,
    of_one_class,
    positive_column,
)


def ratio(
    top: np.ndarray, bottom: np.ndarray, x: np.ndarray, empty: float = np.nan
) -> np.ndarray:
    """A ratio for one class or many; `empty` where it is 0 / 0."""
    above, below = np.tensordot(top, x, 1), np.tensordot(bottom, x, 1)
    is_empty = np.real(below) <= TINY
    return np.where(is_empty, empty, above / np.where(is_empty, 1.0, below))


def one_class(top: np.ndarray, bottom: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Ratio of one class against the rest, of the means (u, v, p) on the last axis."""
    u, v, p = np.moveaxis(means, -1, 0)
    return ratio(top, bottom, np.stack([np.ones_like(u), u, v, p]))


def pooled(top: np.ndarray, bottom: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Ratio of the counts of all classes together ("micro").

    Every row has one label and one prediction. So the share of hits says it all.
    """
    hits, others = np.moveaxis(means, -1, 0)
    x = np.stack([1.0 + others, hits, 1.0 - hits, np.ones_like(hits)])
    return ratio(top, bottom, x)


def averaged(
    top: np.ndarray, bottom: np.ndarray, means: np.ndarray, by_size: bool
) -> np.ndarray:
    """Average of the ratios of the classes.

    Classes that occur neither as a label nor as a prediction do not count. The ratio
    0 / 0 of a class that does counts as 0.
    """
    counts = np.moveaxis(means.reshape(*means.shape[:-1], 3, -1), -2, 0)
    x = np.concatenate([np.ones_like(counts[:1]), counts])
    each, size = ratio(top, bottom, x, empty=0.0), counts[0] + counts[1]
    occurs = np.real(size + counts[2]) > TINY
    weight = size if by_size else occurs.astype(float)
    return (weight * each).sum(axis=-1) / weight.sum(axis=-1)


def of_both_classes(means: np.ndarray) -> np.ndarray:
    """Means of both of two classes, (..., 6), from those of the second, (..., 3)."""
    u, v, p = np.moveaxis(means, -1, 0)
    # The first class has what is neither of the second nor predicted so.
    return np.stack([1.0 - p - v, u, p - u, v, 1.0 - p, p], axis=-1)


# Averages in which each class counts the same.


# A class that may occur is a part of one: this is closer to two classes than to one.
_LEAST_CLASSES = 1.5


@dataclass(frozen=True)
class ClassMean:
    """The mean over classes of a ratio of counts.

    Attributes
    ----------
    top, bottom : tuple of four float
        Coefficients of 1, found, missed and predicted, above and below.
    needs_labels : bool, default=False
        Whether a class counts only if some row has it as its label. By default it also
        counts if it is only predicted.
    is_adjusted : bool, default=False
        Whether the mean is rescaled, so that chance is 0 and the best value 1.
    """

    top: tuple
    bottom: tuple
    needs_labels: bool = False
    is_adjusted: bool = False

    def ratios(
        self, found: np.ndarray, missed: np.ndarray, predicted: np.ndarray
    ) -> np.ndarray:
        """Ratio of each class; NaN for 0 / 0."""
        means = np.stack(np.broadcast_arrays(found, missed, predicted), axis=-1)
        return one_class(np.array(self.top), np.array(self.bottom), means)

    def counts(self, size: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """Whether classes count, given their shares of labels and predictions."""
        return (size > TINY) | ((predicted > TINY) & (not self.needs_labels))

    def of(self, mean: float, n_classes: int) -> float:
        """The metric, given the mean of the ratios of so many classes.

        NaN if it is adjusted and there is one class, for which chance is always right.
        """
        if not self.is_adjusted:
            return mean
        if n_classes < _LEAST_CLASSES:
            return np.nan
        return (mean - 1.0 / n_classes) / (1.0 - 1.0 / n_classes)


# The metrics.


_AVERAGES = ("binary", "macro", "weighted", "micro")
_CURE = (
    "average='macro' (or 'weighted', 'micro'), or pos_label=... for one class against "
    "the rest"
)


class _RatioMetric(CountMetric):
    """A ratio of counts, of one class against the rest or averaged over classes."""

    def __init__(self, pos_label: Label = None, average: Average = "binary") -> None:
        self.pos_label = pos_label
        self.average = average

    def validate(self) -> None:
        check_choice(self.average, "average", _AVERAGES)
        if self.average != "binary" and self.pos_label is not None:
            raise ValueError(
                f"pos_label={shown(self.pos_label)} names one class, but "
                f"average={self.average!r} is about all classes. Leave one of them out."
            )

    @abstractmethod
    def _coefficients(self):
        """Coefficients of 1, found, missed and predicted, above and below."""

    @property
    def class_mean(self) -> ClassMean | None:
        """How classes are averaged if all count the same; None if they do not."""
        is_macro = self.average == "macro"
        return ClassMean(*self._coefficients()) if is_macro else None

    def _counts(self, predicted, names, classes):
        self.validate()
        if self.average == "binary":
            counts = np.bincount(predicted, minlength=len(names))
            counts = counts[np.searchsorted(names, classes)]
            column = positive_column(self, classes, _CURE, counts)
            # What only the model predicts is none of the classes: it is negative.
            return of_one_class(predicted, np.searchsorted(names, classes[column]))
        if self.average != "micro" and len(names) == 2:
            return of_one_class(predicted, 1)
        if self.average == "micro":
            others = np.full(len(predicted), len(names) - 1.0)
            return [of_hits(predicted), Count(None, others)]
        return of_each_class(predicted, len(names))

    def _assumed(self, found):
        if self.average != "binary":
            return found
        if self.pos_label is not None:
            return np.union1d(found, [self.pos_label])
        is_number = found.dtype.kind in "biuf"
        return np.union1d(found, [1]) if is_number and len(found) < 2 else found

    def _all_values(self, y_true, y_pred):
        found = np.union1d(y_true, y_pred)
        # A label that never occurs is taken for a slip if it was given.
        classes = self._assumed(found) if self.pos_label is None else found
        return self.row_values(y_true, y_pred, classes)

    def value(self, means: np.ndarray) -> float:
        return float(self._values(np.asarray(means, dtype=float)))

    def _gradients(self, means: np.ndarray) -> Floats:
        return slopes_of(self._values, means)

    def _values(self, means: np.ndarray) -> np.ndarray:
        top, bottom = np.array(self._coefficients(), dtype=float)
        if self.average == "binary":
            return one_class(top, bottom, means)
        if self.average == "micro":
            return pooled(top, bottom, means)
        means = of_both_classes(means) if means.shape[-1] == 3 else means
        return averaged(top, bottom, means, by_size=self.average == "weighted")


class Precision(_RatioMetric):
    """Share of the predicted positives that are positive.

    Parameters
    ----------
    pos_label : object, default=None
        The positive class, for ``average="binary"``. None means 1, or the greater of
        two numbers; a text must be given. It may be one of many classes, against the
        rest.
    average : {"binary", "macro", "weighted", "micro"}, default="binary"
        One class, or an average over classes as in
        :func:`sklearn.metrics.precision_score`. Classes that occur neither as a label
        nor as a prediction do not count. In an average, 0 / 0 counts as 0.

    See Also
    --------
    Recall : Share of the positives that are found.

    Notes
    -----
    With ``average="binary"`` the value is NaN if no positive is predicted.

    Examples
    --------
    >>> from sklearn_ase.metrics import Precision
    >>> Precision()([0, 1, 1, 0], [0, 1, 1, 1])
    0.666...
    >>> Precision(average="macro")(["a", "b", "c"], ["a", "b", "b"])
    0.5
    """

    def _coefficients(self):
        return (0, 1, 0, 0), (0, 0, 0, 1)


class Recall(_RatioMetric):
    """Share of the positives that are found.

    Parameters
    ----------
    pos_label : object, default=None
        The positive class, for ``average="binary"``. None means 1, or the greater of
        two numbers; a text must be given. It may be one of many classes, against the
        rest.
    average : {"binary", "macro", "weighted", "micro"}, default="binary"
        One class, or an average over classes as in
        :func:`sklearn.metrics.recall_score`. Classes that occur neither as a label
        nor as a prediction do not count. In an average, 0 / 0 counts as 0.

    See Also
    --------
    Specificity : Share of the negatives that are found.

    Notes
    -----
    With ``average="binary"`` the value is NaN if there is no positive.

    Examples
    --------
    >>> from sklearn_ase.metrics import Recall
    >>> Recall(pos_label="spam")(["spam", "ham", "spam"], ["spam", "ham", "ham"])
    0.5
    """

    def _coefficients(self):
        return (0, 1, 0, 0), (0, 1, 1, 0)


class Specificity(_RatioMetric):
    """Share of the negatives that are not predicted as positive.

    Parameters
    ----------
    pos_label : object, default=None
        The positive class, for ``average="binary"``. None means 1, or the greater of
        two numbers; a text must be given. It may be one of many classes, against the
        rest.
    average : {"binary", "macro", "weighted", "micro"}, default="binary"
        One class, or an average of each class against the rest. Classes that occur
        neither as a label nor as a prediction do not count in "macro" and "weighted";
        "micro" counts all classes. In an average, 0 / 0 counts as 0.

    See Also
    --------
    Recall : Share of the positives that are found.

    Notes
    -----
    With ``average="binary"`` the value is NaN if there is no negative.

    Examples
    --------
    >>> from sklearn_ase.metrics import Specificity
    >>> round(Specificity()([0, 0, 0, 0, 1], [0, 0, 0, 1, 1]), 3)
    0.75
    """

    def _coefficients(self):
        return (1, 0, -1, -1), (1, -1, -1, 0)


class FBeta(_RatioMetric):
    """Weighted harmonic mean of precision and recall; F1 by default.

    Parameters
    ----------
    beta : float, default=1.0
        How much more recall counts than precision, > 0.
    pos_label : object, default=None
        The positive class, for ``average="binary"``. None means 1, or the greater of
        two numbers; a text must be given. It may be one of many classes, against the
        rest.
    average : {"binary", "macro", "weighted", "micro"}, default="binary"
        One class, or an average over classes as in
        :func:`sklearn.metrics.fbeta_score`. Classes that occur neither as a label
        nor as a prediction do not count.

    See Also
    --------
    Jaccard : The same counts, as a share of their union.

    Notes
    -----
    With ``average="binary"`` the value is NaN if there is no positive and none is
    predicted.

    Examples
    --------
    >>> from sklearn_ase.metrics import FBeta
    >>> FBeta()([0, 1, 1, 0], [0, 1, 1, 1])
    0.8
    """

    def __init__(
        self, beta: float = 1.0, pos_label: Label = None, average: Average = "binary"
    ) -> None:
        super().__init__(pos_label, average)
        self.beta = beta

    @property
    def name(self) -> str:
        """F1, F2 or another, for messages and tables."""
        suffix = "" if self.average == "binary" else f" ({self.average})"
        return f"F{self.beta:g}{suffix}"

    def validate(self) -> None:
        super().validate()
        check_number(self.beta, "beta", 0, ends="(]")

    def _coefficients(self):
        square = self.beta**2
        return (0, 1 + square, 0, 0), (0, square, square, 1)


class Jaccard(_RatioMetric):
    """Found positives as a share of all that are positive or predicted so.

    Parameters
    ----------
    pos_label : object, default=None
        The positive class, for ``average="binary"``. None means 1, or the greater of
        two numbers; a text must be given. It may be one of many classes, against the
        rest.
    average : {"binary", "macro", "weighted", "micro"}, default="binary"
        One class, or an average over classes as in
        :func:`sklearn.metrics.jaccard_score`. Classes that occur neither as a label
        nor as a prediction do not count.

    See Also
    --------
    FBeta : Mean of precision and recall.

    Notes
    -----
    With ``average="binary"`` the value is NaN if there is no positive and none is
    predicted.

    Examples
    --------
    >>> from sklearn_ase.metrics import Jaccard
    >>> Jaccard()([0, 1, 1, 0], [0, 1, 1, 1])
    0.666...
    """

    def _coefficients(self):
        return (0, 1, 0, 0), (0, 0, 1, 1)
