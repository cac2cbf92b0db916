"""Corrected means, and how far they may be wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_ase._inference import _kernels
from sklearn_ase._inference._limits import proved_limits
from sklearn_ase._inference._regions import UNSEEN_EVENTS
from sklearn_ase._inference._spread import spread_of_picks
from sklearn_ase._inference._steps import variances_of_mean

# Number of labels that an uncorrelated pair of means counts for.
_UNCORRELATED_LABELS = 10


@dataclass(frozen=True, eq=False)
class Means:
    """Corrected means, and how their steps scatter.

    Attributes
    ----------
    corrected, least, most : ndarray of shape (n_means,)
        The means within the limits that the labels have proved.
    seen, believed : ndarray of shape (n_means,)
        Variance of each: from the scatter of the steps, and as the surrogate expected.
    deviations : ndarray of shape (n_means, n_steps)
    """

    corrected: np.ndarray
    least: np.ndarray
    most: np.ndarray
    seen: np.ndarray
    believed: np.ndarray
    deviations: np.ndarray

    @classmethod
    def of(cls, states, steps):
        """The means of some values, from their one-step estimates.

        Parameters
        ----------
        states : list of PoolState
        steps : list of Steps

        Returns
        -------
        means : Means
        """
        n_samples, n_steps = states[0].n_samples, len(steps[0].values)
        weights = _kernels.step_weights(n_steps, n_samples)
        values = np.array([each.values for each in steps])
        least, most = np.array([proved_limits(state) for state in states]).T
        both = [variances_of_mean(x.values, x.predicted, n_samples) for x in steps]
        seen, believed = np.transpose(both)
        deviations = [_kernels.step_deviations(each, n_samples) for each in values]
        corrected = np.clip(values @ weights, least, most)
        return cls(corrected, least, most, seen, believed, np.array(deviations))

    def variances(self, unseen=0.0):
        """Variances, with an allowance for what no label has shown.

        Parameters
        ----------
        unseen : ndarray of shape (n_means,), default=0.0
            See :func:`unseen_of`.

        Returns
        -------
        variances : ndarray of shape (n_means,)
        """
        return np.maximum(self.seen, self.believed + unseen)

    @property
    def correlation(self):
        """Correlation of the means as the labels show it, moved towards none."""
        n_steps = self.deviations.shape[1]
        norm = np.linalg.norm(self.deviations, axis=1)
        product = self.deviations @ self.deviations.T
        found = np.zeros_like(product)
        np.divide(product, np.outer(norm, norm), out=found, where=product != 0)
        found *= (n_steps - 1) / (n_steps - 1 + _UNCORRELATED_LABELS)
        np.fill_diagonal(found, 1.0)
        return found


def unseen_of(states, training_labels):
    """Variance of each mean by half an event more among all rows with labels.

    Parameters
    ----------
    states : list of PoolState
        Of the values of each mean.
    training_labels : float
        Number of labels that the training rows are worth.

    Returns
    -------
    variances : ndarray of shape (n_means,)
        Spread evenly over the rows where the values are not known beforehand.
    """
    picks, spread = states[0].settled, spread_of_picks(states[0])
    if len(picks) == states[0].n_samples:
        return np.zeros(len(states))
    rows, found = picks.indices[picks.answered], []
    for state in states:
        room = np.subtract(*state.loss.values.limits()[::-1])
        is_open = room > 0
        n_heard = 1.0 + is_open[rows].sum() + training_labels * is_open.mean()
        found.append(UNSEEN_EVENTS / n_heard * (room**2 @ spread))
    return np.nan_to_num(found, posinf=0.0)
