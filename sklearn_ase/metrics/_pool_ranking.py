"""A ranking metric, once the scores of the pool are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_ase.metrics._combine import combine
from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.metrics._row_values import ClassValues, FixedValues

# Parts of the pool, by score, whose rows can be labelled with the same chance. The
# share of all rows that can be counts in each part as so many rows.
_N_PARTS = 10
_PRIOR_ROWS = 2.0


@dataclass(frozen=True, eq=False)
class PoolRanking:
    """A metric of pairs of rows, which is not a function of a few means.

    Near a belief about the labels it almost is: :meth:`at` gives its tangent there.

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

    metric: Any
    group: np.ndarray
    weight: np.ndarray
    classes: np.ndarray
    column: int

    @property
    def n_samples(self) -> int:
        """Size of the pool."""
        return len(self.group)

    def at(self, proba: np.ndarray, answered: np.ndarray | None = None) -> PoolMetric:
        """The metric near a belief, as a linear function of one mean.

        Parameters
        ----------
        proba : ndarray of shape (n_samples, n_classes) or (n_samples,)
            Probabilities of the labels, or of the positive one; 0 and 1 where the label
            is known.
        answered : ndarray of shape (n_samples,), default=None
            1 for rows that were labelled, 0 for rows that nobody could label, NaN for
            the others. None means that all rows can be labelled.

        Returns
        -------
        pool_metric : TangentMetric
        """
        positive = proba if proba.ndim == 1 else proba[:, self.column]
        chance = np.ones(self.n_samples)
        if answered is not None:
            chance = self._chance_of_label(answered)
        weight = self.weight * chance
        value, slope, rest = self.metric.value_and_influence(
            positive, weight, self.group
        )
        # That of rows which cannot be labelled counts, too: nobody knows all of them.
        scale = self.weight * weight.mean()
        slope, rest = scale * slope, scale * rest
        target = np.broadcast_to(self.column, self.n_samples)
        part, mean = ClassValues(target, slope, self.classes), (slope * positive).mean()
        if answered is not None:
            # So what a row adds whatever its label has to be estimated as well. At the
            # belief the mean of all is 0.
            part, mean = combine((part, FixedValues(rest)), np.ones(2)), 0.0
            rest = np.zeros(self.n_samples)
        return TangentMetric(
            self.metric,
            (part,),
            np.full(1, np.nan),
            level=float(value),
            mean=float(mean),
            rest=rest,
        )

    def _chance_of_label(self, answered):
        """Chance that a row can be labelled, as rows with similar scores tell it."""
        place = np.cumsum(np.bincount(self.group))[self.group] / self.n_samples
        part = np.ceil(_N_PARTS * place).astype(int)
        is_told = np.isfinite(answered)
        share = answered[is_told].mean()
        counts = [
            np.bincount(part[rows], minlength=_N_PARTS + 1)
            for rows in (is_told & (answered == 1), is_told)
        ]
        chance = (counts[0] + _PRIOR_ROWS * share) / (counts[1] + _PRIOR_ROWS)
        return np.where(is_told, answered, chance[part])


@dataclass(frozen=True, eq=False)
class TangentMetric(PoolMetric):
    """A metric that is linear in one mean: the tangent of another at a belief.

    Attributes
    ----------
    metric : BaseRanking
    parts : tuple of one RowValues
        The slope of each row where the label is positive.
    known : ndarray of shape (1,)
        NaN.
    level : float
        Value of the metric at the belief.
    mean : float
        Mean of the part at the belief.
    rest : ndarray of shape (n_samples,)
        What each row adds to the metric whatever its label, apart from `parts`.
    """

    level: float = np.nan
    mean: float = 0.0
    rest: np.ndarray | None = None

    def line(self):
        """None: a tangent is straight, but its limits are not those of the metric."""
        return None

    is_linear = False  # A ranking is not.

    def value(self, means):
        return float(self.values(means))

    def values(self, means):
        return self.level + (np.asarray(means)[..., 0] - self.mean)

    def gradient(self, means):
        return np.ones(1)

    def gradients(self, means):
        return np.ones_like(means)

    def known_influence(self, means):
        return self.rest
