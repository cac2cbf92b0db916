"""Averages in which each class counts the same, class by class."""

from dataclasses import dataclass

import numpy as np

from sklearn_ase.metrics._counts import TINY
from sklearn_ase.metrics._ratio_kernels import one_class

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

    def ratios(self, found, missed, predicted):
        """Ratio of each class; NaN for 0 / 0.

        Parameters
        ----------
        found, missed, predicted : ndarrays
            Shares of the rows.

        Returns
        -------
        ratios : ndarray
        """
        means = np.stack(np.broadcast_arrays(found, missed, predicted), axis=-1)
        return one_class(np.array(self.top), np.array(self.bottom), means)[0]

    def counts(self, size, predicted):
        """Whether classes count, given their shares of labels and predictions."""
        return (size > TINY) | ((predicted > TINY) & (not self.needs_labels))

    def of(self, mean, n_classes):
        """The metric, given the mean of the ratios of so many classes.

        NaN if it is adjusted and there is one class, for which chance is always right.
        """
        if not self.is_adjusted:
            return mean
        if n_classes < _LEAST_CLASSES:
            return np.nan
        return (mean - 1.0 / n_classes) / (1.0 - 1.0 / n_classes)
