"""Metrics of the labels alone, without a model."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._utils._checks import shown
from sklearn_ase._utils._typing import Floats, Label
from sklearn_ase.metrics._base import BaseMetric
from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.metrics._pool_weight import pool_weight
from sklearn_ase.metrics._row_values import ClassValues, QuadraticValues, TableValues

if TYPE_CHECKING:
    from sklearn_ase.metrics._row_values import RowValues


class LabelShare(BaseMetric):
    """Share of the rows with a given label; no model is needed.

    Parameters
    ----------
    label : object
        The label that is counted.
    half : object, default=None
        A label that counts one half, as a tie does in a win rate. None means none.

    See Also
    --------
    LabelMean : The mean of a numeric label.

    Examples
    --------
    >>> from sklearn_ase.metrics import LabelShare
    >>> LabelShare("yes")(["yes", "no", "no", "no"])
    0.25
    >>> LabelShare("a wins", half="tie")(["a wins", "tie", "b wins", "tie"])
    0.5
    """

    task = "classification"
    response_method = None
    bounds = (0.0, 1.0)

    def __init__(self, label: Label, half: Label = None) -> None:
        self.label = label
        self.half = half

    @property
    def labels(self) -> list[Label]:
        """Labels that the metric names."""
        return [label for label in (self.label, self.half) if label is not None]

    def validate(self) -> None:
        if self.half is not None and self.half == self.label:
            raise ValueError(
                f"half={shown(self.half)} must be another label than the one that "
                "counts in full."
            )

    def row_values(
        self, y_true: ArrayLike, y_pred: ArrayLike | None = None
    ) -> np.ndarray:
        values = (np.asarray(y_true) == self.label).astype(float)
        if self.half is not None:
            values = values + 0.5 * (np.asarray(y_true) == self.half)
        return values[:, None]

    def value(self, means: np.ndarray) -> float:
        return float(means[0])

    def gradient(self, means: np.ndarray) -> Floats:
        return np.ones(1)

    def on_pool(
        self,
        prediction: np.ndarray | None = None,
        classes: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        n_samples: int | None = None,
    ) -> PoolMetric:
        self.validate()
        weight = pool_weight(prediction, weight, n_samples)
        named = {"label": self.label, "half": self.half}
        classes = _check_classes(self, named, classes)
        if self.half is None:
            target = np.broadcast_to(classes.tolist().index(self.label), len(weight))
            part: RowValues = ClassValues(target, weight, classes)
        else:
            table = np.outer(weight, self.row_values(classes)[:, 0])
            part = TableValues(table, classes)
        return PoolMetric(self, (part,), np.full(1, np.nan))


class LabelScore(BaseMetric):
    """Mean of the numbers that labels stand for; no model is needed.

    Parameters
    ----------
    scores : dict of label to float
        The number of each label; labels that are not named count 0.

    See Also
    --------
    LabelShare : The share of one label.

    Examples
    --------
    How much more often one system is right than another, from verdicts on pairs:

    >>> from sklearn_ase.metrics import LabelScore
    >>> metric = LabelScore({"only a": 1, "only b": -1})
    >>> metric(["only a", "both", "only a", "only b"])
    0.25
    """

    task = "classification"
    response_method = None

    def __init__(self, scores: Mapping[Label, float]) -> None:
        self.scores = scores

    @property
    def labels(self) -> list[Label]:
        """Labels that the metric names."""
        return list(self.scores)

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and greatest number of a label."""
        values = [0.0, *map(float, self.scores.values())]
        return min(values), max(values)

    def validate(self) -> None:
        is_dict = isinstance(self.scores, Mapping) and len(self.scores) > 0
        if is_dict:
            values = list(self.scores.values())
            is_dict = all(isinstance(each, Real) for each in values)
        if not is_dict or not np.isfinite(values).all() or not np.any(values):
            raise ValueError(
                f"scores={shown(self.scores)} must be a dict of label to finite "
                "number, not all 0."
            )

    def row_values(
        self, y_true: ArrayLike, y_pred: ArrayLike | None = None
    ) -> np.ndarray:
        y_true = np.asarray(y_true)
        values = np.zeros(len(y_true))
        for label, score in self.scores.items():
            values[y_true == label] = score
        return values[:, None]

    def value(self, means: np.ndarray) -> float:
        return float(means[0])

    def gradient(self, means: np.ndarray) -> Floats:
        return np.ones(1)

    def on_pool(
        self,
        prediction: np.ndarray | None = None,
        classes: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        n_samples: int | None = None,
    ) -> PoolMetric:
        self.validate()
        weight = pool_weight(prediction, weight, n_samples)
        named = {f"scores[{shown(label)}]": label for label in self.scores}
        classes = _check_classes(self, named, classes)
        table = np.outer(weight, self.row_values(classes)[:, 0])
        return PoolMetric(self, (TableValues(table, classes),), np.full(1, np.nan))


def _check_classes(metric, named, classes):
    """The classes as an array; refused if a label of the metric is not among them."""
    kind = type(metric).__name__
    if classes is None:
        raise ValueError(f"{kind} needs the possible labels. Pass classes=...")
    classes = np.asarray(classes)
    for name, label in named.items():
        if label is not None and label not in classes.tolist():
            raise ValueError(
                f"{kind} needs {name} to be one of the classes, but "
                f"{name}={shown(label)} is not among {shown(classes.tolist())}. Give "
                f"{name}=... one of them, or pass all classes."
            )
    return classes


class LabelMean(BaseMetric):
    """Mean of a numeric label; no model is needed.

    See Also
    --------
    LabelShare : The share of a class.

    Examples
    --------
    >>> from sklearn_ase.metrics import LabelMean
    >>> LabelMean()([1.0, 2.0, 6.0])
    3.0
    """

    task = "regression"
    response_method = None

    def row_values(
        self, y_true: ArrayLike, y_pred: ArrayLike | None = None
    ) -> np.ndarray:
        return np.asarray(y_true, dtype=float)[:, None]

    def value(self, means: np.ndarray) -> float:
        return float(means[0])

    def gradient(self, means: np.ndarray) -> Floats:
        return np.ones(1)

    def on_pool(
        self,
        prediction: np.ndarray | None = None,
        classes: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        n_samples: int | None = None,
    ) -> PoolMetric:
        weight = pool_weight(prediction, weight, n_samples)
        none = np.zeros(len(weight))
        part = QuadraticValues(none, weight, none)
        return PoolMetric(self, (part,), np.full(1, np.nan))
