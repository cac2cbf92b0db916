"""Metrics of all classes together: how far predictions and labels agree."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from sklearn_ase._utils._checks import check_flag
from sklearn_ase._utils._typing import Floats
from sklearn_ase.metrics._agreement_kernels import (
    balanced_of_many,
    balanced_of_two,
    kappa_of_many,
    kappa_of_two,
    matthews_of_many,
    matthews_of_two,
)
from sklearn_ase.metrics._class_mean import ClassMean
from sklearn_ase.metrics._counts import CountMetric, of_each_class, of_one_class


class _AgreementMetric(CountMetric):
    """A metric of two classes (three means) or more (three means for each)."""

    bounds = (-1.0, 1.0)

    @abstractmethod
    def _of_two(self, u, v, p):
        """Value and derivatives, of shape (3,)."""

    @abstractmethod
    def _of_many(self, u, v, p):
        """Value and derivatives, of shape (3, n_classes)."""

    def _counts(self, predicted, names, classes):
        if len(names) > 2:
            return of_each_class(predicted, len(names))
        return of_one_class(predicted, len(names) - 1)

    def value(self, means: np.ndarray) -> float:
        return float(self._both(means)[0])

    def gradient(self, means: np.ndarray) -> Floats:
        return np.ravel(self._both(means)[1])

    def _both(self, means):
        means = np.asarray(means, dtype=float)
        if len(means) == 3:
            return self._of_two(*means)
        return self._of_many(*means.reshape(3, -1))


class BalancedAccuracy(_AgreementMetric):
    """Mean of the recalls of the classes.

    Classes that never occur as a label do not count, as in
    :func:`sklearn.metrics.balanced_accuracy_score`.

    Parameters
    ----------
    adjusted : bool, default=False
        Rescale the value, so that chance is 0 and the best value 1.

    See Also
    --------
    Accuracy : Each row counts the same.

    Examples
    --------
    >>> from sklearn_ase.metrics import BalancedAccuracy
    >>> BalancedAccuracy()([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0])
    0.625
    """

    def __init__(self, adjusted: bool = False) -> None:
        self.adjusted = adjusted

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and greatest value."""
        return (-1.0 if self.adjusted else 0.0, 1.0)

    def validate(self) -> None:
        check_flag(self.adjusted, "adjusted")

    @property
    def _class_mean(self) -> ClassMean:
        """How classes are averaged, of which all count the same."""
        return ClassMean((0, 1, 0, 0), (0, 1, 1, 0), True, self.adjusted)

    def _of_two(self, u, v, p):
        return balanced_of_two(u, v, p, self.adjusted)

    def _of_many(self, u, v, p):
        return balanced_of_many(u, v, p, self.adjusted)


class Matthews(_AgreementMetric):
    """Matthews' correlation of labels and predictions.

    The value is NaN if all labels, or all predictions, are of one class.
    :func:`sklearn.metrics.matthews_corrcoef` gives 0 there.

    See Also
    --------
    CohenKappa : Agreement beyond chance.

    Examples
    --------
    >>> from sklearn_ase.metrics import Matthews
    >>> round(Matthews()([1, 1, 1, 0], [1, 0, 1, 1]), 3)
    -0.333
    """

    def _of_two(self, u, v, p):
        return matthews_of_two(u, v, p)

    def _of_many(self, u, v, p):
        return matthews_of_many(u, v, p)


class CohenKappa(_AgreementMetric):
    """Agreement of labels and predictions beyond that of chance.

    The value is NaN if all labels and all predictions are of one and the same class,
    as in :func:`sklearn.metrics.cohen_kappa_score`.

    See Also
    --------
    Matthews : Correlation of labels and predictions.

    Examples
    --------
    >>> from sklearn_ase.metrics import CohenKappa
    >>> CohenKappa()(["a", "a", "b", "b"], ["a", "a", "b", "a"])
    0.5
    """

    def _of_two(self, u, v, p):
        return kappa_of_two(u, v, p)

    def _of_many(self, u, v, p):
        return kappa_of_many(u, v, p)
