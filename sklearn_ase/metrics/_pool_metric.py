"""A metric that is bound to the predictions for a pool."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._utils._typing import Floats
from sklearn_ase.metrics._row_values import (
    ClassValues,
    FixedValues,
    FromEndValues,
    RowValues,
    combine,
)

# A function of a few means.

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
    origin, direction : float
        If the only part is the distance of values from an end: the mean of the values
        is ``origin + direction * mean``.

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
    origin: float = 0.0
    direction: float = 1.0

    def from_end(self, end: np.ndarray, sign: float) -> PoolMetric:
        """The metric as a function of the distance of its only mean from an end.

        Parameters
        ----------
        end : ndarray of shape (n_samples,)
            The least or the greatest value of each row.
        sign : {1.0, -1.0}
            1 if it is the least.

        Returns
        -------
        pool_metric : PoolMetric
        """
        values = FromEndValues(self.parts[0], end, sign)
        origin = float(end.mean())
        return replace(self, parts=(values,), origin=origin, direction=sign)

    @property
    def is_tangent(self) -> bool:
        """Whether it holds near a belief only."""
        return getattr(self.metric, "is_tangent", False)

    @property
    def is_derived(self) -> bool:
        """Whether it is a difference or a tangent, and no mean of values of its own."""
        return isinstance(self.metric, LinearMetric)

    @property
    def class_mean(self) -> Any:
        """How it averages over classes if each counts the same; else None."""
        # Two classes have the same two means.
        is_average = len(self.known) > 3 and not self.origin and self.direction > 0
        return getattr(self.metric, "class_mean", None) if is_average else None

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
        if self.is_tangent:
            return False
        ends = [np.full(len(self.parts), each) for each in (0.2, 0.3)]
        first, second = (self.gradient(end) for end in ends)
        return bool(np.allclose(first, second, rtol=1e-9, atol=1e-12))

    def without_idle_parts(self) -> PoolMetric:
        """This metric without the means that its value does not depend on.

        Precision, for instance, does not depend on the positives that were missed.

        Returns
        -------
        pool_metric : PoolMetric
        """
        # In an average a class counts as soon as a row has it, whatever its ratio.
        is_average = getattr(self.metric, "class_mean", None) is not None
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

    def curve(self) -> tuple[float, float, float] | None:
        """Start, slope and power, if it is a straight line of a power of one mean.

        Returns
        -------
        curve : tuple of three float, or None
            The value is ``start + slope * mean ** power``.
        """
        return self._curve

    @cached_property
    def _curve(self):
        # A tangent is straight, but its limits are not those of the metric.
        if len(self.parts) != 1 or self.is_tangent:
            return None
        power = getattr(self.metric, "power", 1.0)
        points = np.array([0.0, 0.5, 1.0]) ** (1.0 / power)
        ends = [self.value(np.array([x])) for x in points]
        if not np.isfinite(ends).all():
            return None
        bend = abs(ends[0] - 2.0 * ends[1] + ends[2])
        is_straight = bend <= 1e-9 * max(map(abs, ends))
        return (ends[0], ends[2] - ends[0], power) if is_straight else None

    def all_means(self, means: ArrayLike) -> Floats:
        """Return all means, with those that are known in their places.

        Parameters
        ----------
        means : ndarray of shape (..., n_parts)

        Returns
        -------
        all_means : ndarray of shape (..., n_means)
        """
        means = self.origin + self.direction * np.asarray(means)
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
        return self.direction * gradient[np.isnan(self.known)]

    def gradients(self, means: ArrayLike) -> Floats:
        """Derivatives at many points, (..., n_parts) -> (..., n_parts)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            gradients = self.metric._gradients(self.all_means(means))
        return self.direction * gradients[..., np.isnan(self.known)]

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
        # Distances from an end are the values themselves, but for a constant.
        parts = [getattr(part, "values_of", part) for part in self.parts]
        return combine(parts, self.direction * self.gradient(means))


# A ranking metric.


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
    >>> round(near.value([near.parts[0].weight @ [0.0, 0.5, 0.8] / 3]), 3)
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
        pool_metric : PoolMetric
            A linear function of one mean.
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
        tangent = LinearMetric(
            name=self.metric.name,
            bounds=self.metric.bounds,
            start=float(value) - float(mean),
            scale=self.metric.scale,
            surrogate_worth=self.metric.surrogate_worth,
            is_tangent=True,
        )
        return tangent.on(part, rest)

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


# A metric that is linear in one mean: a tangent of another, or a difference of two.


@dataclass(frozen=True)
class LinearMetric:
    """A constant, plus the mean of what labels add, plus what they do not change.

    Attributes
    ----------
    name : str
    bounds : tuple of two float
    start : float
        Value where labels add nothing.
    scale : str
    surrogate_worth : float
    is_tangent : bool
        Whether it holds near a belief only: what is proved of the mean is not proved of
        the metric then.
    """

    name: str
    bounds: tuple[float, float]
    start: float
    scale: str = "linear"
    surrogate_worth: float = np.inf
    is_tangent: bool = False

    greater_is_better = True

    def value(self, means: np.ndarray) -> Any:
        """Value at one point or many, (..., 2) -> (...)."""
        return self.start + np.sum(means, axis=-1)

    def gradient(self, means: np.ndarray) -> Floats:
        """Derivatives of the value by both means, (..., 2) -> (..., 2)."""
        return np.ones(np.shape(means))

    _values, _gradients = value, gradient

    def on(self, part: RowValues, rest: np.ndarray) -> PoolMetric:
        """The metric of a pool; `rest` is what each row adds whatever its label."""
        return PoolMetric(self, (part,), np.array([np.nan, 0.0]), {1: rest})


def difference(first, second, believed_mean):
    """Metric of one model minus that of another."""
    metric = first.metric
    low, high = metric.bounds
    width = high - low
    about = LinearMetric(
        name=f"difference of {metric.name}",
        bounds=(-width, width),
        start=0.0,
        surrogate_worth=metric.surrogate_worth,
    )
    parts = first.parts + second.parts
    means = [
        np.array([believed_mean(part) for part in each.parts])
        for each in (first, second)
    ]
    rest = first.known_influence(means[0]) - second.known_influence(means[1])
    curves = [each.curve() for each in (first, second)]
    if None not in curves and all(power == 1.0 for *_, power in curves):
        (start, slope, _), (other_start, other_slope, _) = curves
        part = combine(parts, np.array([slope, -other_slope]))
        return replace(about, start=start - other_start).on(part, rest)
    gradient = np.concatenate([first.gradient(means[0]), -second.gradient(means[1])])
    level = first.value(means[0]) - second.value(means[1])
    start = level - float(gradient @ np.concatenate(means))
    about = replace(about, start=start, is_tangent=True)
    return about.on(combine(parts, gradient), rest)
