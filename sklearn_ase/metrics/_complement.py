"""A metric of one mean, as a function of what is missing to its greatest value."""

from dataclasses import dataclass

import numpy as np

from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.metrics._row_values import RowValues


@dataclass(frozen=True, eq=False)
class ComplementValues(RowValues):
    """How much less than the greatest value a row has.

    Attributes
    ----------
    values_of : RowValues
    greatest : ndarray of shape (n_samples,)
        Of each row.
    """

    values_of: RowValues
    greatest: np.ndarray

    # The complement of the same values is the same, so it is found in caches.
    def __eq__(self, other):
        return isinstance(other, type(self)) and other.values_of is self.values_of

    def __hash__(self):
        return hash((type(self), id(self.values_of)))

    @property
    def n_samples(self):
        return self.values_of.n_samples

    @property
    def is_bounded(self):
        """As the other values."""
        return getattr(self.values_of, "is_bounded", True)

    def observed(self, indices, labels):
        return self.greatest[indices] - self.values_of.observed(indices, labels)

    def moments(self, belief):
        expected, variance = self.values_of.moments(belief)
        return self.greatest - expected, variance

    def limits(self):
        least, most = self.values_of.limits()
        return self.greatest - most, self.greatest - least


@dataclass(frozen=True, eq=False)
class ComplementMetric(PoolMetric):
    """The same metric, of the complement of its only mean.

    Attributes
    ----------
    metric : BaseMetric
    parts : tuple of one ComplementValues
    known : ndarray of shape (n_means,)
    original : PoolMetric
    """

    original: PoolMetric | None = None

    @classmethod
    def of(cls, pool_metric):
        """Turn a metric of one mean around.

        Parameters
        ----------
        pool_metric : PoolMetric
            With one part that has limits.

        Returns
        -------
        pool_metric : ComplementMetric
        """
        part = pool_metric.parts[0]
        values = ComplementValues(part, part.limits()[1])
        return cls(
            pool_metric.metric, (values,), pool_metric.known, original=pool_metric
        )

    def _turned(self, means):
        return self.parts[0].greatest.mean() - np.asarray(means)

    def value(self, means):
        return self.original.value(self._turned(means))

    def gradient(self, means):
        return -self.original.gradient(self._turned(means))

    def linearised(self, means):
        return self.original.linearised(self._turned(means))

    def known_influence(self, means):
        return self.original.known_influence(self._turned(means))
