"""A metric from a function of the confusion matrix."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sklearn_ase._utils._checks import check_callable, is_number, shown
from sklearn_ase.metrics._counts import Count, CountMetric

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
    The estimate needs the derivative with respect to each entry, which is computed
    numerically. So the function should be smooth, and accept matrices whose entries do
    not quite add up to 1. At most 30 classes are allowed.

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
        value = self.function(np.reshape(np.asarray(means, dtype=float), (size, size)))
        if np.ndim(value) > 0 or not is_number(np.asarray(value).item()):
            raise ValueError(
                "The function of a ConfusionMetric must return one number, but "
                f"returned {shown(value)}."
            )
        return float(value)
