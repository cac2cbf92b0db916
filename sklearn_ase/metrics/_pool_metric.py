"""A metric that is bound to the predictions for a pool."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._utils._typing import Floats
from sklearn_ase.metrics._row_values import ClassValues, FixedValues, RowValues, combine

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
        if len(self.parts) != 1:
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

    def curve(self):
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


# The difference of a metric between two models.


@dataclass(frozen=True)
class DifferenceName:
    """What an estimate needs to know of a difference.

    Attributes
    ----------
    name : str
    bounds : tuple of two float
    surrogate_worth : float
    """

    name: str
    bounds: tuple
    surrogate_worth: float = np.inf

    scale = "linear"
    greater_is_better = True


@dataclass(frozen=True, eq=False)
class LineDifference(PoolMetric):
    """A difference that is a constant plus one mean.

    Attributes
    ----------
    metric : DifferenceName
    parts : tuple of one RowValues
    known : ndarray of shape (1,)
        NaN.
    start : float
        Value at a mean of 0.
    rest : ndarray of shape (n_samples,)
        What each row adds whatever its label.
    """

    start: float = 0.0
    rest: np.ndarray | None = None

    def value(self, means):
        return float(self.start + means[0])

    def gradient(self, means):
        return np.ones(1)

    def known_influence(self, means):
        return self.rest


def difference(first, second, believed_mean):
    """Metric of one model minus that of another."""
    metric, unknown = first.metric, np.full(1, np.nan)
    low, high = metric.bounds
    width = high - low
    about = DifferenceName(
        f"difference of {metric.name}", (-width, width), metric.surrogate_worth
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
        start = start - other_start
        return LineDifference(about, (part,), unknown, start=start, rest=rest)
    gradient = np.concatenate([first.gradient(means[0]), -second.gradient(means[1])])
    level = first.value(means[0]) - second.value(means[1])
    part, mean = combine(parts, gradient), float(gradient @ np.concatenate(means))
    return TangentMetric(about, (part,), unknown, level=level, mean=mean, rest=rest)


# A metric of one mean, counted from an end.


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
    def of(cls, pool_metric, end, sign: float):
        """Write a metric of one mean as a function of the distance from an end."""
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
