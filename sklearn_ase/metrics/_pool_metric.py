"""A metric, once the predictions for the pool are known."""

from dataclasses import dataclass

import numpy as np

from sklearn_ase.metrics._row_values import combine


@dataclass(frozen=True, eq=False)
class PoolMetric:
    """A function of a few means over a pool.

    Attributes
    ----------
    metric : BaseMetric
        Whose ``value`` and ``gradient`` take all means in order.
    parts : tuple of RowValues
        Values whose means depend on labels, in the order of the means.
    known : ndarray of shape (n_means,)
        Means that depend on no label; NaN for the others.
    """

    metric: object
    parts: tuple
    known: np.ndarray

    @property
    def n_samples(self):
        """Size of the pool."""
        return self.parts[0].n_samples

    def at(self, proba):
        """The metric near a belief: itself, for it is a function of means.

        Parameters
        ----------
        proba : ndarray of shape (n_samples, n_classes)

        Returns
        -------
        pool_metric : PoolMetric
        """
        return self

    def all_means(self, means):
        """Return all means, with those that are known in their places.

        Parameters
        ----------
        means : ndarray of shape (n_parts,)

        Returns
        -------
        all_means : ndarray of shape (n_means,)
        """
        found = np.array(self.known)
        found[np.isnan(found)] = means
        return found

    def value(self, means):
        """Value of the metric.

        Parameters
        ----------
        means : ndarray of shape (n_parts,)

        Returns
        -------
        value : float
            NaN where the metric is not defined.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(self.metric.value(self.all_means(means)))

    def gradient(self, means):
        """Derivative of the value with respect to the mean of each part.

        Parameters
        ----------
        means : ndarray of shape (n_parts,)

        Returns
        -------
        gradient : ndarray of shape (n_parts,)
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            gradient = np.asarray(self.metric.gradient(self.all_means(means)))
        return gradient[np.isnan(self.known)]

    def linearised(self, means):
        """What a label of each row adds to the value, up to a constant.

        Parameters
        ----------
        means : ndarray of shape (n_parts,)
            Where the metric is linearised.

        Returns
        -------
        influence : RowValues
        """
        return combine(self.parts, self.gradient(means))
