"""A metric of one mean, as a function of how far its values are from an end."""

from dataclasses import dataclass

import numpy as np

from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.metrics._row_values import RowValues


@dataclass(frozen=True, eq=False)
class FromEndValues(RowValues):
    """How much more than the least value, or less than the greatest, a row has.

    Attributes
    ----------
    values_of : RowValues
    end : ndarray of shape (n_samples,)
        The least or the greatest value of each row.
    sign : {1.0, -1.0}
        1 if it is the least.
    """

    values_of: RowValues
    end: np.ndarray
    sign: float

    # The same values from the same end are the same, so they are found in caches.
    def __eq__(self, other):
        return (
            isinstance(other, type(self))
            and other.values_of is self.values_of
            and other.sign == self.sign
            and np.array_equal(other.end, self.end)
        )

    def __hash__(self):
        return hash((type(self), id(self.values_of), self.sign))

    @property
    def n_samples(self):
        return self.values_of.n_samples

    @property
    def is_bounded(self):
        """As the other values."""
        return getattr(self.values_of, "is_bounded", True)

    def observed(self, indices, labels):
        values = self.values_of.observed(indices, labels)
        return self.sign * (values - self.end[indices])

    def moments(self, belief):
        expected, variance = self.values_of.moments(belief)
        return self.sign * (expected - self.end), variance

    def limits(self):
        least, most = (self.sign * (x - self.end) for x in self.values_of.limits())
        return (least, most) if self.sign > 0 else (most, least)


@dataclass(frozen=True, eq=False)
class FromEndMetric(PoolMetric):
    """The same metric, of the distance of its only mean from an end.

    Attributes
    ----------
    metric : BaseMetric
    parts : tuple of one FromEndValues
    known : ndarray of shape (n_means,)
    original : PoolMetric
    """

    original: PoolMetric | None = None

    @classmethod
    def of(cls, pool_metric, end, sign):
        """Write a metric of one mean as a function of the distance from an end.

        Parameters
        ----------
        pool_metric : PoolMetric
            With one part that has limits.
        end : ndarray of shape (n_samples,)
            Of each row.
        sign : {1.0, -1.0}
            1 if these are the least values, -1 if they are the greatest.

        Returns
        -------
        pool_metric : FromEndMetric
        """
        values = FromEndValues(pool_metric.parts[0], end, sign)
        return cls(
            pool_metric.metric, (values,), pool_metric.known, original=pool_metric
        )

    def _mean(self, means):
        part = self.parts[0]
        return part.end.mean() + part.sign * np.asarray(means)

    def value(self, means):
        return self.original.value(self._mean(means))

    def gradient(self, means):
        return self.parts[0].sign * self.original.gradient(self._mean(means))

    def linearised(self, means):
        return self.original.linearised(self._mean(means))

    def known_influence(self, means):
        return self.original.known_influence(self._mean(means))
