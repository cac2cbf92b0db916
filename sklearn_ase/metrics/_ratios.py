"""Precision, recall and their relatives, for two classes or more."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from sklearn_ase._utils._checks import check_choice, check_number, shown
from sklearn_ase._utils._typing import Average, Floats, Label
from sklearn_ase.metrics._class_mean import ClassMean
from sklearn_ase.metrics._counts import (
    Count,
    CountMetric,
    of_each_class,
    of_hits,
    of_one_class,
)
from sklearn_ase.metrics._labels import positive_column
from sklearn_ase.metrics._ratio_kernels import (
    averaged,
    averaged_of_two,
    one_class,
    pooled,
)

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
    def _class_mean(self) -> ClassMean | None:
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
        return float(self._both(means)[0])

    def gradient(self, means: np.ndarray) -> Floats:
        return self._both(means)[1]

    def _values(self, means):
        return self._both(means)[0]

    def _gradients(self, means):
        return self._both(means)[1]

    def _both(self, means):
        means = np.asarray(means, dtype=float)
        top, bottom = np.array(self._coefficients(), dtype=float)
        if self.average == "binary":
            return one_class(top, bottom, means)
        if self.average == "micro":
            return pooled(top, bottom, means)
        by_classes = averaged_of_two if means.shape[-1] == 3 else averaged
        return by_classes(top, bottom, means, by_size=self.average == "weighted")


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
