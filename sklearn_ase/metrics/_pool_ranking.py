"""A ranking metric, once the scores of the pool are known."""

from dataclasses import dataclass

import numpy as np

from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.metrics._row_values import ClassValues


@dataclass(frozen=True, eq=False)
class PoolRanking:
    """A metric of pairs of rows, which is no function of a few means.

    Near a belief about the labels it nearly is: :meth:`at` gives its tangent there.

    Attributes
    ----------
    metric : BaseRanking
    group : ndarray of int of shape (n_samples,)
        Place of the score of each row among the sorted different scores.
    weight : ndarray of shape (n_samples,)
    classes : ndarray of shape (n_classes,)
        Sorted.
    column : int
        Place of the positive class.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.metrics import RocAuc
    >>> ranking = RocAuc().on_pool(np.array([0.2, 0.7, 0.9]), np.array([0, 1]))
    >>> near = ranking.at(np.array([[1.0, 0.0], [0.5, 0.5], [0.2, 0.8]]))
    >>> round(near.level, 3)
    0.944
    >>> near.parts[0].weight.round(3)
    array([-1.222, -0.296,  0.926])
    """

    metric: object
    group: np.ndarray
    weight: np.ndarray
    classes: np.ndarray
    column: int

    @property
    def n_samples(self):
        """Size of the pool."""
        return len(self.group)

    def at(self, proba):
        """The metric near a belief, as a linear function of one mean.

        Parameters
        ----------
        proba : ndarray of shape (n_samples, n_classes)
            Probabilities of the labels, 0 and 1 where the label is known.

        Returns
        -------
        pool_metric : TangentMetric
        """
        positive = proba[:, self.column]
        value, slope = self.metric.value_and_slope(positive, self.weight, self.group)
        target = np.broadcast_to(self.column, self.n_samples)
        part = ClassValues(target, slope, self.classes)
        known = np.full(1, np.nan)
        return TangentMetric(
            self.metric, (part,), known, float(value), float((slope * positive).mean())
        )


@dataclass(frozen=True, eq=False)
class TangentMetric(PoolMetric):
    """A metric that is linear in one mean: the tangent of another at a belief.

    Attributes
    ----------
    metric : BaseRanking
    parts : tuple of one ClassValues
        The slope of each row where the label is positive.
    known : ndarray of shape (1,)
        NaN.
    level : float
        Value of the metric at the belief.
    mean : float
        Mean of the part at the belief.
    """

    level: float = np.nan
    mean: float = 0.0

    def line(self):
        """None: a tangent is straight, but its limits are not those of the metric."""
        return None

    def value(self, means):
        return float(self.level + (means[0] - self.mean))

    def gradient(self, means):
        return np.ones(1)
