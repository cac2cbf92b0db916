"""Metrics of the labels alone, without a model."""

import numpy as np

from sklearn_ase._utils._checks import shown
from sklearn_ase.metrics._base import BaseMetric, pool_weight
from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.metrics._row_values import ClassValues, QuadraticValues, TableValues


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

    def __init__(self, label, half=None):
        self.label = label
        self.half = half

    def validate(self):
        if self.half is not None and self.half == self.label:
            raise ValueError(
                f"half={shown(self.half)} must be another label than the one that "
                "counts in full."
            )

    def row_values(self, y_true, y_pred=None):
        values = (np.asarray(y_true) == self.label).astype(float)
        if self.half is not None:
            values = values + 0.5 * (np.asarray(y_true) == self.half)
        return values[:, None]

    def value(self, means):
        return float(means[0])

    def gradient(self, means):
        return np.ones(1)

    def on_pool(self, prediction=None, classes=None, weight=None, n_samples=None):
        self.validate()
        weight = pool_weight(prediction, weight, n_samples)
        self._check_classes(classes)
        classes = np.asarray(classes)
        if self.half is None:
            target = np.broadcast_to(classes.tolist().index(self.label), len(weight))
            part = ClassValues(target, weight, classes)
        else:
            table = np.outer(weight, self.row_values(classes)[:, 0])
            part = TableValues(table, classes)
        return PoolMetric(self, (part,), np.full(1, np.nan))

    def _check_classes(self, classes):
        if classes is None:
            raise ValueError("LabelShare needs the possible labels. Pass classes=...")
        listed = np.asarray(classes).tolist()
        for name in ("label", "half"):
            label = getattr(self, name)
            if label not in listed and (name == "label" or label is not None):
                raise ValueError(
                    f"LabelShare needs {name} to be one of the classes, but "
                    f"{name}={shown(label)} is not among {shown(listed)}. Give "
                    f"{name}=... one of them, or pass all classes."
                )


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

    def row_values(self, y_true, y_pred=None):
        return np.asarray(y_true, dtype=float)[:, None]

    def value(self, means):
        return float(means[0])

    def gradient(self, means):
        return np.ones(1)

    def on_pool(self, prediction=None, classes=None, weight=None, n_samples=None):
        weight = pool_weight(prediction, weight, n_samples)
        none = np.zeros(len(weight))
        part = QuadraticValues(none, weight, none)
        return PoolMetric(self, (part,), np.full(1, np.nan))
