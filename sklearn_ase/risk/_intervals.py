"""Intervals: what an estimate knows of its error, one class for each kind.

==================  ==================================================================
`MeanInterval`      of a mean of values without a greatest one, perhaps heavy-tailed
`BoundedInterval`   of a mean of values between a least and a greatest one
`FunctionInterval`  of a straight line, or of the root, of one mean
`TangentInterval`   of a function of means, by its tangent, on a scale of its own
`RegionInterval`    of a function of means, over all means that agree with the labels
`ClassInterval`     of an average over classes in which each class counts the same
==================  ==================================================================

Each answers :meth:`Interval.ends`, and is all that a journal needs to keep. Thresholds,
quantiles and equations stand in ``sklearn_ase/_inference/_bounds.py``.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.stats import norm

from sklearn_ase._inference._bounds import (
    Bets,
    PoolSample,
    anytime_quantile,
    ends_on_scale,
    fixed_quantiles,
    log_reach,
    missed_share,
    reach_with_unseen,
    wilson_ends,
)
from sklearn_ase._inference._regions import (
    MOST_QUANTILE,
    ends_over_means,
    ends_over_regions,
)
from sklearn_ase._utils._typing import Method, Target

if TYPE_CHECKING:
    from collections.abc import Mapping

Ends = tuple[float, float]


class Interval(metaclass=ABCMeta):
    """What an estimate knows of its error.

    Attributes
    ----------
    kind : str
        Name of the class in a journal.
    n_labels : int
    standard_error : float
        To first order; NaN if it is unknown.
    degrees_of_freedom : float
    sample : PoolSample
        The pool as a sample of a population, or of a larger source.
    """

    kind: ClassVar[str]
    n_labels: int
    standard_error: float
    degrees_of_freedom: float
    sample: PoolSample

    @property
    def middle(self) -> float:
        """What the interval is around."""
        return self.centre  # type: ignore[attr-defined]

    @abstractmethod
    def ends(self, level: float, method: Method, target: Target) -> Ends:
        """Ends of the interval, before the estimate cuts them to its bounds."""

    @abstractmethod
    def after(
        self, n_labels: int, n_samples: int, degrees: float, ratio: float
    ) -> Self:
        """The interval that more labels are expected to give; `ratio` of variances."""

    def with_population(self, variance: float, degrees: float) -> Self:
        """The interval with another error of the pool as a sample of a population."""
        sample = replace(
            self.sample, population_variance=variance, population_degrees=degrees
        )
        return replace(self, sample=sample)  # type: ignore[type-var]

    def with_degrees(self, degrees: float) -> Self:
        """The interval with other degrees of freedom."""
        return replace(self, degrees_of_freedom=degrees)  # type: ignore[type-var]

    @property
    def bets(self) -> Bets | None:
        """What an anytime interval is made of that assumes nothing; None without it."""
        return None

    def with_bets(self, bets: Bets | None) -> Self:
        """The interval with other bets, if it is of a kind that has any."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """Plain values that a file can keep, without the metric."""
        values = {
            f.name: _plain(getattr(self, f.name))
            for f in fields(self)  # type: ignore[arg-type]
            if f.name not in ("metric", "class_mean")
        }
        return {"kind": self.kind, **values}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], metric: Any = None) -> Interval:
        """Make an interval of what :meth:`to_dict` returned."""
        values = dict(values)
        if "sample" in values:
            values["sample"] = PoolSample(**values["sample"])
        return _KINDS[values.pop("kind")]._of_file(values, metric)

    @classmethod
    def _of_file(cls, values: dict[str, Any], metric: Any) -> Interval:
        return cls(**{name: _as_tuples(value) for name, value in values.items()})


def _plain(value: Any) -> Any:
    """A value as JSON keeps it."""
    if isinstance(value, Interval):
        return value.to_dict()
    if isinstance(value, Bets):
        return value.to_dict()
    if isinstance(value, PoolSample):
        return vars(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if hasattr(value, "item") else value


def _as_tuples(value: Any) -> Any:
    """Lists of a file as the tuples that were written."""
    return tuple(map(_as_tuples, value)) if isinstance(value, list | tuple) else value


def _quantile(level: float, method: Method, degrees: float, n_labels: int) -> float:
    """How many standard errors an end is away."""
    if method == "fixed":
        return fixed_quantiles(level, degrees)[0]
    return anytime_quantile(level, degrees, n_labels)


# Means.


@dataclass(frozen=True)
class MeanInterval(Interval):
    """Interval of the mean of values without a greatest one.

    Attributes
    ----------
    value : float
        The estimate, which lies in every interval.
    standard_error : float
        Of `centre`. NaN if it cannot be estimated; there is no interval then.
    n_labels : int
    degrees_of_freedom : float
        Of the t distribution; infinite for a normal one.
    centre : float or None
        What the interval is around; None means the value.
    min_loss, max_loss : float
        Least and greatest possible mean.
    least, most : float
        Bounds of the mean that the labels prove.
    tail_degrees : float or None
        Degrees of freedom of the upper end, where values may have a heavy tail. None
        for an interval that is symmetric.
    beyond : float
        By how much the mean of an infinite pool would be raised by values beyond the
        largest one met, eq. T13.
    sample : PoolSample
    """

    value: float
    standard_error: float
    n_labels: int
    degrees_of_freedom: float = np.inf
    centre: float | None = None
    min_loss: float = 0.0
    max_loss: float = np.inf
    least: float = 0.0
    most: float = np.inf
    tail_degrees: float | None = None
    beyond: float = 0.0
    sample: PoolSample = field(default_factory=PoolSample)

    kind: ClassVar[str] = "mean"

    @property
    def middle(self) -> float:
        return self.value if self.centre is None else self.centre

    def ends(self, level: float, method: Method, target: Target) -> Ends:
        if not np.isfinite(self.standard_error):
            return -np.inf, np.inf
        low, high = self._proved(*self._ends(level, method, target))
        if target == "pool" and not self.sample.undrawn_share:
            low, high = max(low, self.least), min(high, self.most)
        return float(min(self.value, low)), float(max(self.value, high))

    def _proved(self, low: float, high: float) -> Ends:
        """Ends within what a mean can be."""
        return max(low, self.min_loss), min(high, self.max_loss)

    def _ends(self, level: float, method: Method, target: Target) -> Ends:
        """Ends before they are cut to what is possible."""
        centre, variance, degrees = self._parts(target)
        quantile = _quantile(level, method, degrees, self.n_labels)
        error = variance**0.5
        low = centre - quantile * error if variance > 0 else centre
        if self.tail_degrees is None or not variance > 0:
            return low, centre + quantile * error if variance > 0 else centre
        if method == "fixed":
            quantile, _ = fixed_quantiles(level, min(degrees, self.tail_degrees))
        missed = self.beyond * self.sample.open_share(target)
        return low, centre + log_reach(centre, error, quantile) + missed

    def _parts(self, target: Target) -> tuple[float, float, float]:
        """The middle, the variance, and its degrees of freedom."""
        variance = self.standard_error**2 + self.sample.variance(target)
        degrees = min(self.degrees_of_freedom, self.sample.degrees(target))
        # By chance it may lie where no mean can. The nearest possible one is closer.
        # Ends of values that begin above 0 are found as if they began there.
        start = self.min_loss
        centre = min(max(self.middle - start, 0.0), self.max_loss - start) + start
        return centre, variance, degrees

    def after(
        self, n_labels: int, n_samples: int, degrees: float, ratio: float
    ) -> Self:
        growth, tail = n_labels / max(self.n_labels, 1), self.tail_degrees
        return replace(
            self,
            standard_error=self.standard_error * ratio**0.5,
            n_labels=n_labels,
            degrees_of_freedom=degrees,
            beyond=self.beyond / growth,
            tail_degrees=None if tail is None else min(tail * growth, degrees),
            sample=replace(self.sample, free_share=1.0 - n_labels / n_samples),
            least=0.0,
            most=np.inf,
        )


@dataclass(frozen=True)
class BoundedInterval(MeanInterval):
    """Interval of the mean of values between a least and a greatest one.

    Attributes
    ----------
    value, standard_error, n_labels, degrees_of_freedom, centre, min_loss, max_loss
        See :class:`MeanInterval`; so are the other attributes that are not named here.
    n_skipped : int
        Rows that nobody could label.
    largest : float or None
        Greatest possible value at a row; None if it is `max_loss`.
    none_seen, all_seen : bool
        Whether no label has shown more than the least value, or each the greatest one.
        The interval then begins at `least`, or ends at `most`.
    unseen : float
        Variance that a unit of values which no label has shown would add to the
        estimate from an infinite pool, eq. T12.
    is_wilson : bool
        Whether the interval is Wilson's: so it is if the state is cross-fitted and has
        enough surprises.
    bets : Bets or None
        What the anytime interval is made of; None if it is a normal one.
    """

    n_skipped: int = 0
    largest: float | None = None
    none_seen: bool = False
    all_seen: bool = False
    unseen: float = 0.0
    is_wilson: bool = False
    bets: Bets | None = field(default=None, compare=False)

    kind: ClassVar[str] = "bounded mean"

    def with_bets(self, bets: Bets | None) -> Self:
        return replace(self, bets=bets)

    def _proved(self, low: float, high: float) -> Ends:
        low, high = super()._proved(low, high)
        low = min(low, self.least) if self.none_seen else low
        return low, max(high, min(self.most, self.max_loss)) if self.all_seen else high

    def _ends(self, level: float, method: Method, target: Target) -> Ends:
        if method == "anytime" and self.bets is not None:
            return self._betting_ends(level, target)
        centre, variance, degrees = self._parts(target)
        unseen = self.unseen * self.sample.open_share(target)
        quantile = _quantile(level, method, degrees, self.n_labels)
        of_unseen = quantile
        if method == "fixed":
            _, of_unseen = fixed_quantiles(level, degrees)
        if self.is_wilson and variance > 0 and np.isfinite(quantile):
            start = self.min_loss
            top = self.max_loss - start
            low, high = wilson_ends(centre - start, variance, top, quantile)
            return low + start, high + start
        low_room, high_room = self._rooms(centre, centre)
        low = reach_with_unseen(variance, unseen, low_room, quantile, of_unseen)
        high = reach_with_unseen(variance, unseen, high_room, quantile, of_unseen)
        if unseen > 0 and target == "pool":
            missed = self._missed(level)
            low = max(low, missed) if low_room > 0 else low
            high = max(high, missed) if high_room > 0 else high
        return centre - low, centre + high

    def _rooms(self, low: float, high: float) -> Ends:
        """Least plus greatest value minus twice the estimate, towards each end."""
        both = self.min_loss + self.max_loss
        return 2.0 * low - both, both - 2.0 * high

    def _missed(self, level: float) -> float:
        """Mean of rows that all labels may have missed, if few rows are left."""
        largest = self.max_loss if self.largest is None else self.largest
        n_picks = self.n_labels + self.n_skipped
        share = missed_share(level, self.sample.open_share("pool"), n_picks)
        return (largest - self.min_loss) * share

    def _betting_ends(self, level: float, target: Target) -> Ends:
        """Ends of the anytime interval, and what the pool as a sample adds to them."""
        assert self.bets is not None
        low, high = self.bets.at(level) or (self.least, self.most)
        sample = self.sample
        if target == "pool" and not sample.undrawn_share:
            return low, high
        # The error of the pool as a sample is the same at all label counts.
        quantile, of_unseen = fixed_quantiles(level, sample.degrees(target))
        variance = sample.variance(target)
        unseen = (sample.open_share(target) - sample.free_share) / self.n_labels
        reaches = [
            reach_with_unseen(variance, unseen, room, quantile, of_unseen)
            for room in self._rooms(low, high)
        ]
        return low - reaches[0], high + reaches[1]

    def after(
        self, n_labels: int, n_samples: int, degrees: float, ratio: float
    ) -> Self:
        later = super().after(n_labels, n_samples, degrees, ratio)
        growth = n_labels / max(self.n_labels, 1)
        return replace(later, unseen=self.unseen / growth, bets=None)

    @classmethod
    def _of_file(cls, values: dict[str, Any], metric: Any) -> Interval:
        bets = values.pop("bets")
        return cls(**values, bets=None if bets is None else Bets.from_dict(bets, None))


@dataclass(frozen=True)
class FunctionInterval(Interval):
    """Interval of a function of one mean: a straight line of it, or of its root.

    Attributes
    ----------
    mean : MeanInterval
    start, slope, power : float
        The value is ``start + slope * mean ** power``.
    """

    mean: MeanInterval
    start: float = 0.0
    slope: float = 1.0
    power: float = 1.0

    kind: ClassVar[str] = "function of a mean"

    def of_mean(self, mean: float) -> float:
        """Value at a mean."""
        if self.power != 1.0:
            mean = max(mean, 0.0) ** self.power
        return float(self.start + self.slope * mean)

    def _steepness(self, mean: float) -> float:
        """Absolute derivative by the mean; 0 for a root without an error."""
        if self.power == 1.0:
            return abs(self.slope)
        rise = self.power * max(mean, 0.0) ** (self.power - 1.0) if mean > 0 else 0.0
        return abs(self.slope) * rise

    @property
    def middle(self) -> float:
        return self.of_mean(self.mean.middle)

    @property
    def n_labels(self) -> int:
        """Labels that the mean uses."""
        return self.mean.n_labels

    @property
    def degrees_of_freedom(self) -> float:
        """Degrees of freedom of the mean."""
        return self.mean.degrees_of_freedom or 1.0

    @property
    def standard_error(self) -> float:
        """Standard error of the mean, times the derivative."""
        steepness = self._steepness(self.mean.value)
        return steepness * self.mean.standard_error if steepness > 0 else 0.0

    @property
    def sample(self) -> PoolSample:
        """The sample of the mean, with variances times the squared derivative."""
        return self.mean.sample.scaled(self._steepness(self.mean.value) ** 2)

    @property
    def bets(self) -> Bets | None:
        return self.mean.bets

    def with_bets(self, bets: Bets | None) -> Self:
        return replace(self, mean=self.mean.with_bets(bets))

    def ends(self, level: float, method: Method, target: Target) -> Ends:
        low, high = sorted(map(self.of_mean, self.mean.ends(level, method, target)))
        return low, high

    def proved_ends(self) -> Ends:
        """Values at the least and the greatest mean that the labels leave possible."""
        low, high = sorted(map(self.of_mean, (self.mean.least, self.mean.most)))
        return low, high

    def with_population(self, variance: float, degrees: float) -> Self:
        variance = variance / self._steepness(self.mean.value) ** 2
        return replace(self, mean=self.mean.with_population(variance, degrees))

    def with_bets_of(self, other: FunctionInterval) -> Self:
        """The interval with the bets of another, which may count from the other end."""
        bets = other.bets
        if bets is None or self.bets is None:
            return self
        if (other.start, other.slope) != (self.start, self.slope):
            start = (other.start - self.start) / self.slope
            bets = bets.along(start, other.slope / self.slope)
        return self.with_bets(bets)

    def after(
        self, n_labels: int, n_samples: int, degrees: float, ratio: float
    ) -> Self:
        return replace(self, mean=self.mean.after(n_labels, n_samples, degrees, ratio))

    @classmethod
    def _of_file(cls, values: dict[str, Any], metric: Any) -> Interval:
        mean = Interval.from_dict(values.pop("mean"))
        return cls(mean=mean, **values)  # type: ignore[arg-type]


# Functions of several means.


@dataclass(frozen=True, eq=False)
class TangentInterval(Interval):
    """Interval of a function of means, by the error of its tangent.

    Attributes
    ----------
    centre, standard_error : float
    n_labels : int
    degrees_of_freedom : float
    bounds : tuple of two float
        What is left if the labels say nothing.
    scale : {"linear", "log", "log_complement", "atanh"}
        On which the interval is symmetric.
    beyond : float
        What losses beyond the largest one met would add to the value on an infinite
        pool, eq. T13.
    sample : PoolSample
    """

    centre: float
    standard_error: float
    n_labels: int
    degrees_of_freedom: float
    bounds: Ends = (-np.inf, np.inf)
    scale: str = "linear"
    beyond: float = 0.0
    sample: PoolSample = field(default_factory=PoolSample)

    kind: ClassVar[str] = "tangent"

    def ends(self, level: float, method: Method, target: Target) -> Ends:
        added = self.sample.variance(target)
        quantile = _quantile(level, method, self.degrees_of_freedom, self.n_labels)
        if not np.isfinite(quantile):
            return self.bounds
        error = quantile * np.sqrt(self.standard_error**2 + added)
        low, high = ends_on_scale(self.scale, self.centre, error)
        missed = self.beyond * self.sample.open_share(target)
        return low + min(missed, 0.0), high + max(missed, 0.0)

    def after(
        self, n_labels: int, n_samples: int, degrees: float, ratio: float
    ) -> Self:
        return replace(
            self,
            standard_error=self.standard_error * ratio**0.5,
            n_labels=n_labels,
            degrees_of_freedom=degrees,
            beyond=self.beyond / (n_labels / max(self.n_labels, 1)),
            sample=replace(self.sample, free_share=1.0 - n_labels / n_samples),
        )


@dataclass(frozen=True, eq=False)
class OverMeans(Interval):
    """Base class of the intervals over all means that agree with the labels.

    Attributes
    ----------
    centre, standard_error : float
    n_labels : int
    degrees_of_freedom : float
    sample : PoolSample
    """

    centre: float
    standard_error: float
    n_labels: int
    degrees_of_freedom: float
    sample: PoolSample

    @abstractmethod
    def _over(self, quantile: float) -> Ends:
        """Least and greatest value over the region of so many standard errors."""

    @abstractmethod
    def _scaled(self, ratio: float) -> Self:
        """The interval with all variances multiplied by a ratio."""

    def ends(self, level: float, method: Method, target: Target) -> Ends:
        quantile = _quantile(level, method, self.degrees_of_freedom, self.n_labels)
        added = self.sample.variance(target)
        low, high = self._over(min(quantile, MOST_QUANTILE))
        if not added:
            return low, high
        # The error of the pool as a sample is independent of that of the labels.
        reach = [low - self.centre, high - self.centre]
        below, above = np.hypot(reach, quantile * added**0.5)
        return self.centre - below, self.centre + above

    def after(
        self, n_labels: int, n_samples: int, degrees: float, ratio: float
    ) -> Self:
        return replace(
            self._scaled(ratio),
            standard_error=self.standard_error * ratio**0.5,
            n_labels=n_labels,
            degrees_of_freedom=degrees,
        )


@dataclass(frozen=True, eq=False)
class RegionInterval(OverMeans):
    """Interval of a function of two means (or more, for differences of two models).

    Attributes
    ----------
    centre, standard_error, n_labels, degrees_of_freedom, sample
        See :class:`OverMeans`.
    metric : object
        With ``value(all means)``, and ``gradient`` for more than two means.
    means : tuple of float
        Corrected means.
    known : tuple of float
        All means in order: those that no label changes, NaN for the others.
    covariance : tuple of tuples of float
        Of the means.
    least, most : tuple of float
        Limits of the means that the labels have proved.
    """

    metric: Any
    means: tuple[float, ...]
    known: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    least: tuple[float, ...]
    most: tuple[float, ...]

    kind: ClassVar[str] = "region"

    def _over(self, quantile: float) -> Ends:
        known = np.array(self.known)
        is_open = np.isnan(known)

        def value(means: np.ndarray) -> float:
            known[is_open] = means
            with np.errstate(divide="ignore", invalid="ignore"):
                return float(self.metric.value(known))

        return ends_over_means(
            value,
            getattr(self.metric, "gradient", None),
            means=np.array(self.means),
            covariance=np.array(self.covariance),
            quantile=quantile,
            limits=(np.array(self.least), np.array(self.most)),
        )

    def _scaled(self, ratio: float) -> Self:
        covariance = tuple(map(tuple, (ratio * np.array(self.covariance)).tolist()))
        return replace(self, covariance=covariance)

    @classmethod
    def _of_file(cls, values: dict[str, Any], metric: Any) -> Interval:
        values = {name: _as_tuples(value) for name, value in values.items()}
        return cls(metric=metric, **values)


@dataclass(frozen=True, eq=False)
class ClassInterval(OverMeans):
    """Interval of an average over classes in which each class counts the same, T14.

    Attributes
    ----------
    centre, standard_error, n_labels, degrees_of_freedom, sample
        See :class:`OverMeans`.
    class_mean : ClassMean
        How classes are averaged.
    means : ndarray of shape (n_classes, 2)
        Shares of the rows that are of the class: found, and missed by the model.
    predicted : ndarray of shape (n_classes,)
        Share of the rows that are predicted as the class. If rows were skipped, an
        estimate: nobody knows which rows can be labelled.
    least, most : ndarray of shape (n_classes, 2)
        What the means can be, as the labels have proved.
    is_shown : ndarray of shape (n_classes,), dtype bool
        Whether a label has shown the class.
    is_sure : ndarray of shape (n_classes,), dtype bool
        Whether the class counts for certain.
    chance : ndarray of shape (n_classes,)
        Probability that the class counts.
    n_expected : ndarray of shape (n_classes,)
        Number of picks that were expected among the rows that are predicted as the
        class; 0 if some of these rows have labels.
    covariance : ndarray of shape (n_classes, 2, 2)
    """

    class_mean: Any
    means: np.ndarray
    predicted: np.ndarray
    least: np.ndarray
    most: np.ndarray
    is_shown: np.ndarray
    is_sure: np.ndarray
    chance: np.ndarray
    n_expected: np.ndarray
    covariance: np.ndarray

    kind: ClassVar[str] = "classes"

    @property
    def ratios(self) -> np.ndarray:
        """Ratio of each class; one that is not defined counts as 0."""
        found, missed = self.means.T
        return np.nan_to_num(self.class_mean.ratios(found, missed, self.predicted))

    def value(self) -> float:
        """The average, each class by its chance to count."""
        total = self.chance.sum()
        return float(self.class_mean.of(self.ratios @ self.chance / total, total))

    def _over(self, quantile: float) -> Ends:
        low, high, worst = self._class_ends(quantile)
        ratios = self.ratios
        ends = []
        for counts in (self.chance > 0, self.is_sure):
            n_classes = counts.sum()
            if not n_classes:
                continue
            middle = ratios[counts].mean()
            below = self._error(ratios - low, ratios - worst, counts, quantile)
            above = self._error(high - ratios, high - ratios, counts, quantile)
            both = middle - below / n_classes, middle + above / n_classes
            ends.append([self.class_mean.of(end, n_classes) for end in both])
        lows, highs = np.transpose(ends)
        return float(np.nanmin(lows)), float(np.nanmax(highs))

    def _class_ends(self, quantile: float) -> tuple[np.ndarray, ...]:
        """Ends of the ratio of each class, and the ratio if no row of it is found."""

        def function(points: np.ndarray) -> np.ndarray:
            found, missed = np.moveaxis(points, -1, 0)
            return self.class_mean.ratios(found, missed, self.predicted[:, None])

        low, high = ends_over_regions(
            function,
            None,
            means=self.means,
            covariance=self.covariance,
            quantile=np.full(len(self.means), quantile),
            limits=(self.least, self.most),
        )
        low, high = np.fmin(low, self.ratios), np.fmax(high, self.ratios)
        none_found = self.class_mean.ratios(0.0, self.means[:, 1], self.predicted)
        return low, high, np.minimum(low, np.nan_to_num(none_found))

    def _error(
        self, errors: np.ndarray, worst: np.ndarray, counts: np.ndarray, quantile: float
    ) -> float:
        """Error of a sum, from those of the classes.

        Of classes that no label has shown only the surrogate speaks. It may be wrong
        about several at once: as many as the picks may have missed by chance.
        """
        miss = np.where(counts & ~self.is_shown & (worst > 0), worst, 0.0)
        # Those that were the least likely to be picked, for what they cost.
        order = np.argsort(self.n_expected / np.maximum(miss, 1e-300))
        expected = self.n_expected[order]
        # All of them are missed with a probability of exp(-expected picks).
        left = -norm.logsf(quantile) - (np.cumsum(expected) - expected)
        share = np.where(expected > 0, left / np.maximum(expected, 1e-300), 1.0)
        missed = np.zeros(len(miss))
        missed[order] = np.clip(share, 0.0, 1.0)
        missed[miss == 0] = 0.0
        # The errors of the others are independent, nearly.
        rest = (1.0 - missed) * errors * counts
        return float(np.linalg.norm(rest) + missed @ miss)

    def _scaled(self, ratio: float) -> Self:
        return replace(self, covariance=self.covariance * ratio)

    @classmethod
    def _of_file(cls, values: dict[str, Any], metric: Any) -> Interval:
        values = {
            name: np.array(value) if isinstance(value, list) else value
            for name, value in values.items()
        }
        return cls(class_mean=metric.class_mean, **values)


_KINDS: dict[str, type[Interval]] = {
    kind.kind: kind
    for kind in (
        MeanInterval,
        BoundedInterval,
        FunctionInterval,
        TangentInterval,
        RegionInterval,
        ClassInterval,
    )
}
