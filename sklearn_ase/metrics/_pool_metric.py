"""A metric, once the predictions for the pool are known."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._utils._typing import Floats
from sklearn_ase.metrics._combine import combine
from sklearn_ase.metrics._row_values import FixedValues

if TYPE_CHECKING:
    from sklearn_ase.metrics._row_values import RowValues

# How often it is tried whether a mean matters, and for how many means at most.
_N_TRIALS = 3
_MOST_TRIED = 4
_ROUNDING = 1e-6


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
    known_rows : dict of int to ndarray of shape (n_samples,)
        Values at each row behind some of the known means, by place.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.metrics import Recall
    >>> pool = Recall().on_pool(np.array([1, 0, 1, 0]), np.array([0, 1]))
    >>> len(pool.parts), pool.known  # Found and missed positives are not known.
    (2, array([nan, nan, 0.5]))
    >>> pool.value(np.array([0.375, 0.125]))
    0.75
    """

    metric: Any
    parts: tuple
    known: np.ndarray
    known_rows: dict = field(default_factory=dict)

    @property
    def n_samples(self) -> int:
        """Size of the pool."""
        return self.parts[0].n_samples

    def at(
        self, proba: np.ndarray | None, answered: np.ndarray | None = None
    ) -> PoolMetric:
        """The metric near a belief: itself, for it is a function of means.

        Parameters
        ----------
        proba : ndarray of shape (n_samples, n_classes)
        answered : ndarray of shape (n_samples,), default=None
            1 for rows that were labelled, 0 for rows that nobody could label, NaN for
            the others. If it is given, the metric is that of the rows that can be
            labelled. Nobody knows all of them, so that no mean over them is known.

        Returns
        -------
        pool_metric : PoolMetric
        """
        if answered is None or not self.known_rows:
            return self
        known, parts = np.array(self.known), iter(self.parts)
        found = []
        for place in range(len(known)):
            if np.isnan(known[place]):
                found.append(next(parts))
            elif place in self.known_rows:
                found.append(FixedValues(self.known_rows[place]))
                known[place] = np.nan
        return replace(self, parts=tuple(found), known=known, known_rows={})

    @property
    def is_linear(self) -> bool:
        """Whether the value is a linear function of the means."""
        ends = [np.full(len(self.parts), each) for each in (0.2, 0.3)]
        first, second = (self.gradient(end) for end in ends)
        return bool(np.allclose(first, second, rtol=1e-9, atol=1e-12))

    def without_idle_parts(self) -> PoolMetric:
        """The same without means that the value does not depend on.

        Precision, for instance, does not depend on the positives that were missed.

        Returns
        -------
        pool_metric : PoolMetric
        """
        # In an average a class counts as soon as a row has it, whatever its ratio.
        is_average = getattr(self.metric, "_class_mean", None) is not None
        if is_average or not 1 < len(self.parts) <= _MOST_TRIED:
            return self
        limits = [part.limits() for part in self.parts]
        ends = np.array([[side.mean() for side in both] for both in limits]).T
        if not np.isfinite(ends).all():
            return self
        least, most = ends
        # A mean that is known by chance must not hide that another one matters.
        width = np.maximum(most - least, 0.1)
        # Means that are alike by chance must not hide it either.
        shares = np.random.default_rng(0).uniform(0.2, 0.8, (_N_TRIALS, len(least)))
        points = least + shares * width
        slopes = np.array([self.gradient(point) for point in points])
        is_idle = (slopes == 0).all(axis=0)
        if not is_idle.any() or is_idle.all():
            return self
        known = np.array(self.known)
        known[np.flatnonzero(np.isnan(known))[is_idle]] = 0.0
        parts = [p for p, idle in zip(self.parts, is_idle, strict=True) if not idle]
        return replace(self, parts=tuple(parts), known=known)

    def line(self) -> tuple[float, float] | None:
        """Value at a mean of 0 and slope, if it is a straight line of one mean.

        Returns
        -------
        line : tuple of two float, or None
        """
        return self._line

    @cached_property
    def _line(self):
        if len(self.parts) != 1:
            return None
        ends = [self.value(np.array([x])) for x in (0.0, 0.5, 1.0)]
        if not np.isfinite(ends).all():
            return None
        bend = abs(ends[0] - 2.0 * ends[1] + ends[2])
        is_straight = bend <= 1e-9 * max(map(abs, ends))
        return (ends[0], ends[2] - ends[0]) if is_straight else None

    def all_means(self, means: ArrayLike) -> Floats:
        """Return all means, with those that are known in their places.

        Parameters
        ----------
        means : ndarray of shape (..., n_parts)

        Returns
        -------
        all_means : ndarray of shape (..., n_means)
        """
        means = np.asarray(means)
        found = np.array(
            np.broadcast_to(self.known, (*means.shape[:-1], len(self.known)))
        )
        found[..., np.isnan(self.known)] = means
        return found

    def value(self, means: ArrayLike) -> float:
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

    def values(self, means: ArrayLike) -> Floats:
        """Values at many points, (..., n_parts) -> (...)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.metric._values(self.all_means(means))

    def check_bounds(self, means: ArrayLike) -> None:
        """Refuse bounds that the value at means that are possible does not keep.

        Parameters
        ----------
        means : ndarray of shape (n_parts,)
        """
        value, (low, high) = self.value(means), self.metric.bounds
        if value < low - _ROUNDING or value > high + _ROUNDING:
            raise ValueError(
                f"{self.metric.name} is {value:.4g} by what the surrogate believes, "
                f"but its bounds are {low:g} and {high:g}. Set its bounds to the least "
                "and the greatest value that it can have."
            )

    def gradient(self, means: ArrayLike) -> Floats:
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

    def gradients(self, means: ArrayLike) -> Floats:
        """Derivatives at many points, (..., n_parts) -> (..., n_parts)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            gradients = self.metric._gradients(self.all_means(means))
        return gradients[..., np.isnan(self.known)]

    def known_influence(self, means: ArrayLike) -> Floats:
        """What each row adds to the value through the means that no label changes.

        Parameters
        ----------
        means : ndarray of shape (n_parts,)
            Where the metric is linearised.

        Returns
        -------
        influence : ndarray of shape (n_samples,)
        """
        total = np.zeros(self.n_samples)
        if self.known_rows:
            with np.errstate(divide="ignore", invalid="ignore"):
                slope = np.asarray(self.metric.gradient(self.all_means(means)))
            for place, rows in self.known_rows.items():
                total += slope[place] * rows
        return total

    def linearised(self, means: ArrayLike) -> RowValues:
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
