"""Metrics of hard predictions: functions of counts of labels and predicted classes."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from sklearn_ase._utils._checks import check_callable, is_number, shown
from sklearn_ase.losses import BaseLoss, ZeroOne
from sklearn_ase.metrics._base import BaseMetric, pool_weight
from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.metrics._row_values import ClassValues

# Places of labels among the classes, and the positive class.


def columns_of(labels, classes: np.ndarray) -> np.ndarray:
    """Place of each label among sorted classes."""
    places = np.searchsorted(classes, labels)
    places = np.minimum(places, len(classes) - 1)
    return np.where(classes[places] == labels, places, -1)


def with_predicted(classes: np.ndarray, prediction) -> np.ndarray:
    """Sorted classes, with the labels that only the model knows."""
    is_new = columns_of(prediction, classes) < 0
    return np.union1d(classes, prediction[is_new]) if is_new.any() else classes


def positive_column(
    metric: BaseMetric, classes, cure: str, counts: np.ndarray | None = None
) -> int:
    """Place of the positive class."""
    listed, pos_label, name = classes.tolist(), metric.pos_label, type(metric).__name__
    prefers_one = getattr(metric, "prefers_one", True)
    if pos_label is not None:
        if pos_label in listed:
            return listed.index(pos_label)
        raise ValueError(
            f"{name} needs pos_label to be one of the classes, but "
            f"pos_label={shown(pos_label)} is not among {shown(listed)}. Give "
            "pos_label=... one of them, or pass all classes."
        )
    if len(listed) > 2:
        raise ValueError(
            f"{name} needs to know which class is the positive one, for there are "
            f"{len(listed)} classes: {shown(listed)}. Give {cure}."
        )
    if prefers_one and 1 in listed:
        return listed.index(1)
    if len(listed) == 2 and prefers_one and classes.dtype.kind not in "biuf":
        rarer = listed[1 if counts is None else int(np.argmin(counts))]
        example = clone(metric).set_params(pos_label=rarer)
        raise ValueError(
            f"{name} needs to know which class is the positive one, {shown(listed[0])} "
            f"or {shown(listed[1])}. Give pos_label=..., as in "
            f"sklearn_ase.metrics.{example!r}."
        )
    if len(listed) == 2:
        return 1
    if 1 in listed:
        return 0
    raise ValueError(
        f"{name} needs two classes, or a class 1, but the only class is "
        f"{shown(listed[0])}. Pass all classes, or give pos_label=..."
    )


def with_positive(metric, before, classes) -> BaseMetric:
    """A metric of one class, where two classes at first became more."""
    # An average is of all classes.
    is_average = getattr(metric, "average", "binary") != "binary"
    is_open = getattr(metric, "pos_label", "none") is None and not is_average
    if not is_open or classes is None or len(classes) < 3 or len(before) != 2:
        return metric
    if before.dtype.kind not in "biuf" and getattr(metric, "prefers_one", True):
        return metric  # No text is the positive class by itself; the metric says so.
    column = positive_column(metric, before, "pos_label=...")
    return clone(metric).set_params(pos_label=before[column].item())


# The base class of metrics that count.


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
    def _counts(
        self, predicted: np.ndarray, names: np.ndarray, classes: np.ndarray
    ) -> list[Count]:
        """What is counted, in the order of the means."""

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
        parts: list = []
        known_rows: dict = {}
        known = np.full(len(counts), np.nan)
        for place, (label, flag) in enumerate(counts):
            scaled = weights[id(flag)]
            if label is None:
                known[place], known_rows[place] = scaled.mean(), scaled
                continue
            target = column[label]  # type: ignore[call-overload]
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


# A metric from a function of the confusion matrix.


_MOST_CLASSES = 30


class ConfusionMetric(CountMetric):
    """Metric given by a function of the confusion matrix.

    Parameters
    ----------
    function : callable
        ``function(matrix) -> float``. The matrix has the shape (n_classes, n_classes).
        Its rows are the true classes and its columns the predicted ones, both sorted.
        Its entries are shares of the pool, and add up to 1. NaN means that the metric
        is not defined.
    bounds : tuple of two float, default=(-inf, inf)
        Least and greatest value of the function.

    See Also
    --------
    BaseMetric : A metric as a class, of other means than these.

    Notes
    -----
    The estimate needs the derivative with respect to each entry. It is found by a
    complex step if the function takes complex numbers, and by finite differences if it
    does not. So the function should be smooth, take no absolute values, and accept
    matrices whose entries do not quite add up to 1. At most 30 classes are allowed.

    Examples
    --------
    >>> from sklearn_ase.metrics import ConfusionMetric
    >>> def cost(matrix):
    ...     return 5 * matrix[1, 0] + matrix[0, 1]  # A miss costs five false alarms.
    >>> ConfusionMetric(cost, bounds=(0, 5))([0, 0, 1, 1], [0, 1, 1, 0])
    1.5
    """

    bounds: Any = None  # A parameter here.

    def __init__(
        self,
        function: Callable[[np.ndarray], float],
        bounds: tuple[float, float] = (-math.inf, math.inf),
    ) -> None:
        self.function = function
        self.bounds = bounds

    def validate(self) -> None:
        what = "(matrix of shape (n_classes, n_classes)) -> float"
        check_callable(self.function, "function", what)
        bounds = self.bounds
        if not (
            isinstance(bounds, tuple | list)
            and len(bounds) == 2
            and all(map(is_number, bounds))
            and bounds[0] < bounds[1]
        ):
            raise ValueError(
                f"bounds={shown(bounds)} must be two numbers, the least and the "
                "greatest value."
            )

    def _counts(self, predicted, names, classes):
        self.validate()
        if len(names) > _MOST_CLASSES:
            raise ValueError(
                f"ConfusionMetric takes at most {_MOST_CLASSES} classes, for it "
                f"estimates every cell of the matrix, but there are {len(names)}. "
                "Write a subclass of sklearn_ase.metrics.BaseMetric with fewer means."
            )
        flags = [predicted == column for column in range(len(names))]
        return [Count(label, flag) for label in range(len(names)) for flag in flags]

    def value(self, means: np.ndarray) -> float:
        size = math.isqrt(len(means))
        value = self.function(np.reshape(np.asarray(means), (size, size)))
        if np.iscomplexobj(value) and np.ndim(value) == 0:
            return value  # A complex step, for the derivative.
        if np.ndim(value) > 0 or not is_number(np.asarray(value).item()):
            raise ValueError(
                "The function of a ConfusionMetric must return one number, but "
                f"returned {shown(value)}."
            )
        return float(value)


# Accuracy.


class Accuracy(CountMetric):
    """Share of the rows whose predicted label is right.

    A predicted label that is none of the classes is never right.

    See Also
    --------
    BalancedAccuracy : Each class counts the same.

    Examples
    --------
    >>> from sklearn_ase.metrics import Accuracy
    >>> Accuracy()(["cat", "dog", "dog"], ["cat", "dog", "cat"])
    0.666...
    """

    def of_mean_loss(self, loss: BaseLoss) -> tuple[float, float, float] | None:
        return (1.0, -1.0, 1.0) if isinstance(loss, ZeroOne) else None

    def _counts(self, predicted, names, classes):
        return [of_hits(predicted)]

    def value(self, means: np.ndarray) -> float:
        return means[0]
