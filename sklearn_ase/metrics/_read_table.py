"""Values for each class, of which no table is kept."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_ase.metrics._row_values import RowValues


@dataclass(frozen=True, eq=False)
class ReadTable(RowValues):
    """Values for each class of a pool that is read in chunks.

    A pass over the pool keeps the moments of the values and not the values.

    Attributes
    ----------
    metric : BaseMetric
        Of one mean, which these are the values of.
    name : str
        Of the metric, for what passes keep of it.
    least, most : ndarray of shape (n_samples,)
        Least and greatest value at each row, before it is weighted.
    look_up : callable
        ``rows -> TableValues`` of these rows, not weighted.
    weight : ndarray of shape (n_samples,)
    is_bounded : bool
        Whether the values have a greatest one whatever the predictions.
    """

    metric: object
    name: str
    least: np.ndarray
    most: np.ndarray
    look_up: object
    weight: np.ndarray
    is_bounded: bool = True

    @property
    def n_samples(self):
        return len(self.weight)

    def observed(self, indices, labels):
        if not len(indices):
            return np.empty(0)
        found = self.look_up(indices).observed(np.arange(len(indices)), labels)
        return self.weight[indices] * found

    def moments(self, belief):
        expected, variance = belief.moments_of(self.name)
        return self.weight * expected, self.weight**2 * variance

    def limits(self):
        ends = self.weight * self.least, self.weight * self.most
        return np.minimum(*ends), np.maximum(*ends)

    def scaled(self, factor):
        """The values times a number."""
        return replace(self, weight=factor * self.weight)
