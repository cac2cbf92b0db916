"""The share of predictions that are right."""

from __future__ import annotations

import numpy as np

from sklearn_ase._utils._typing import Floats
from sklearn_ase.metrics._counts import CountMetric, of_hits


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

    def _counts(self, predicted, names, classes):
        return [of_hits(predicted)]

    def value(self, means: np.ndarray) -> float:
        return float(means[0])

    def gradient(self, means: np.ndarray) -> Floats:
        return np.ones(1)
