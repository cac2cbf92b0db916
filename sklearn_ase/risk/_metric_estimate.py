"""Ends of intervals over all means that agree with the labels."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import norm

from sklearn_ase._display._blocks import Facts
from sklearn_ase._display._html import notebook
from sklearn_ase._inference._bounds import (
    anytime_quantile,
    check_interval,
    ends_on_scale,
    fixed_quantiles,
)
from sklearn_ase._inference._regions import (
    MOST_QUANTILE,
    ends_over_means,
    ends_over_regions,
)
from sklearn_ase._inference._steps import chances_of_picks, row_weight
from sklearn_ase._utils._typing import Method, Target
from sklearn_ase.exceptions import IntervalWarning
from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.risk._estimate import RiskEstimate, labels_of, mean_later

if TYPE_CHECKING:
    from sklearn_ase._state import PoolState
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.metrics._ratios import ClassMean
    from sklearn_ase.risk._of_metric import Means


def ends_of_means(estimate, quantile) -> tuple[float, float]:
    """Least and greatest value of a metric over a region of means."""
    metric = estimate.metric
    if estimate.average is not None:
        return estimate.average.ends(metric._class_mean, quantile)
    known = np.array(estimate.known)

    def value(means):
        found = np.array(known)
        found[np.isnan(known)] = means
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(metric.value(found))

    return ends_over_means(
        value,
        getattr(metric, "gradient", None),
        np.array(estimate.means),
        np.array(estimate.covariance),
        quantile,
        (np.array(estimate.least), np.array(estimate.most)),
    )


# An average over classes in which each class counts the same.


def classes_of(pool_metric: PoolMetric) -> ClassMean | None:
    """How the metric averages over classes, or None if it does not."""
    # Two classes have the same two means.
    is_average = type(pool_metric) is PoolMetric and len(pool_metric.known) > 3
    return getattr(pool_metric.metric, "_class_mean", None) if is_average else None


@dataclass(frozen=True, eq=False)
class ClassAverage:
    """What is known of each class.

    Attributes
    ----------
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

    means: np.ndarray
    predicted: np.ndarray
    least: np.ndarray
    most: np.ndarray
    is_shown: np.ndarray
    is_sure: np.ndarray
    chance: np.ndarray
    n_expected: np.ndarray
    covariance: np.ndarray | None = None

    @classmethod
    def of(cls, pool_metric, found, states: list[PoolState], training_labels: float):
        """What is known of each class, but for the errors."""
        class_mean, place = pool_metric.metric._class_mean, _places(pool_metric)
        values = ([getattr(x, of) for x in found] for of in ("value", "least", "most"))
        shares = [pool_metric.all_means(x).reshape(3, -1) for x in values]
        means, least, most = (each[:2].T for each in shares)
        predicted, state = shares[0][2], states[0]
        is_shown = _of_classes([s.settled.losses.any() for s in states], place).any(1)
        is_sure = class_mean.counts(is_shown, predicted)
        can_be = class_mean.counts(most.sum(axis=1), predicted)
        # Of a class that no label has shown so many rows are expected ...
        counts, picks = row_weight(state) > 0, state.settled
        expected = counts.sum() * np.maximum(means.sum(axis=1), 0.0)
        # ... and this is the chance to miss one with a rate that nobody knows.
        n_heard = counts[picks.indices[picks.answered]].sum()
        n_heard += training_labels * counts.mean()
        n_free = counts.sum() - counts[picks.indices].sum()
        missed = np.sqrt(n_heard / (n_heard + n_free))
        chance = np.where(is_sure, 1.0, can_be * (1.0 - missed * np.exp(-expected)))
        known = means, predicted, least, most, is_shown, is_sure, chance
        return cls(*known, _expected_picks(states, place[:, 0]))

    def corrected(
        self, pool_metric: PoolMetric, means: Means, unseen, variance: float
    ) -> ClassAverage:
        """The same around the corrected means, with their errors."""
        place = _places(pool_metric)
        gradient = _of_classes(pool_metric.gradient(means.corrected), place)
        plain = _covariances(means, 0.0, place)
        alone = np.einsum("ci,cij,cj->", gradient, plain, gradient)
        together = max(variance / alone, 1.0) if alone > 0 else 1.0
        covariance = together * _covariances(means, unseen, place)
        shares = pool_metric.all_means(means.corrected).reshape(3, -1)
        return replace(self, means=shares[:2].T, covariance=covariance)

    def ratios(self, class_mean):
        """Ratio of each class; one that is not defined counts as 0."""
        return np.nan_to_num(class_mean.ratios(*self.means.T, self.predicted))

    def value(self, class_mean):
        """The average, each class by its chance to count."""
        total = self.chance.sum()
        mean = self.ratios(class_mean) @ self.chance / total
        return float(class_mean.of(mean, total))

    def ends(self, class_mean, quantile):
        """Ends of an interval."""

        def function(points):
            u, v = np.moveaxis(points, -1, 0)
            return class_mean.ratios(u, v, self.predicted[:, None])

        each = np.full(len(self.means), quantile)
        region = self.means, self.covariance, each, (self.least, self.most)
        low, high = ends_over_regions(function, None, *region)
        ratios = self.ratios(class_mean)
        low, high = np.fmin(low, ratios), np.fmax(high, ratios)
        none_found = class_mean.ratios(0.0, self.means[:, 1], self.predicted)
        worst = np.minimum(low, np.nan_to_num(none_found))
        ends = []
        for counts in (self.chance > 0, self.is_sure):
            n = counts.sum()
            if not n:
                continue
            middle = ratios[counts].mean()
            below = self._together(ratios - low, ratios - worst, counts, quantile) / n
            above = self._together(high - ratios, high - ratios, counts, quantile) / n
            ends.append([class_mean.of(x, n) for x in (middle - below, middle + above)])
        low, high = np.transpose(ends)
        return float(np.nanmin(low)), float(np.nanmax(high))

    def _together(self, errors, worst, counts, quantile):
        """Error of a sum, from those of the classes.

        Of classes that no label has shown only the surrogate speaks. It may be wrong
        about several at once: as many as the picks may have missed by chance.
        """
        miss = np.where(counts & ~self.is_shown & (worst > 0), worst, 0.0)
        # Those that were the least likely to be picked, for what they cost.
        order = np.argsort(self.n_expected / np.maximum(miss, 1e-300))
        expected = self.n_expected[order]
        left = -norm.logsf(quantile) - (np.cumsum(expected) - expected)
        share = np.where(expected > 0, left / np.maximum(expected, 1e-300), 1.0)
        missed = np.zeros(len(miss))
        missed[order] = np.clip(share, 0.0, 1.0)
        missed[miss == 0] = 0.0
        rest = (1.0 - missed) * errors * counts
        return np.linalg.norm(rest) + missed @ miss

    def with_variance(self, ratio):
        """The same with another variance, relative to that of now."""
        return replace(self, covariance=self.covariance * ratio)

    def to_dict(self):
        """Plain values that a file can keep."""
        return {f.name: getattr(self, f.name).tolist() for f in fields(self)}

    @classmethod
    def from_dict(cls, values):
        """Make it of what :meth:`to_dict` returned."""
        return cls(**{name: np.array(value) for name, value in values.items()})


def _expected_picks(states, place):
    """Picks that were expected at the rows that are predicted as each class."""
    chances, picks = chances_of_picks(states[0]), states[0].settled
    rows, found = picks.indices[picks.answered], np.zeros(len(place))
    for c, part in enumerate(place.tolist()):
        if part < 0:
            continue
        is_open = np.subtract(*states[part].loss.values.limits()[::-1]) > 0
        if not is_open[rows].any():
            found[c] = chances[is_open].sum()
    return found


def _places(pool_metric):
    """Which mean is that of the rows found and missed of each class; -1 if known."""
    is_part = np.isnan(pool_metric.known)
    place = np.where(is_part, np.cumsum(is_part) - 1, -1)
    return place.reshape(3, -1)[:2].T


def _of_classes(columns, place):
    """Entries of each class, 0 where the mean is known: (n_classes, 2)."""
    return np.where(place >= 0, np.asarray(columns)[place], 0.0)


def _covariances(means, unseen, place):
    """Covariance of the two means of each class: (n_classes, 2, 2)."""
    error = _of_classes(np.sqrt(means.variances(unseen)), place)
    correlation = means.correlation[place[:, :, None], place[:, None, :]]
    return error[:, :, None] * error[:, None, :] * correlation


# The estimate of a metric, with its interval.


@dataclass(frozen=True, eq=False)
class MetricEstimate:
    """Estimate of a metric of the model on the pool.

    Attributes
    ----------
    value : float
        NaN, with a `refusal`, where the metric is not defined.
    standard_error : float
        To first order. NaN if it is unknown.
    n_labels, n_inside : int
        Labels that it uses; those at the rows that the question is about, None if it is
        about all rows.
    name : str
        Of the metric.
    centre : float
        Middle of the interval; a guarded value also uses what the surrogate believes.
    degrees_of_freedom : float
    bounds : tuple of two float
        Least and greatest value of the metric.
    scale : {"linear", "log", "log_complement", "atanh", "root"}
        On which the interval is symmetric, if it is not made of `means`. If "root", the
        metric is a straight line of the root of `mean`.
    means : tuple of float
        Corrected means that the metric is a function of, if there are two.
    known : tuple of float
        All means in order: those that no label changes, NaN for the others.
    covariance : tuple of tuples of float
        Of the means.
    least, most : tuple of float
        Limits of the means that the labels have proved.
    mean : RiskEstimate or None
        If the metric is a straight line of one mean, or its root: the estimate of it.
    line : tuple of two float
        That line: value at a mean of 0, and slope.
    n_skipped : int
    population_variance : float
        Variance of the metric on the pool as a sample of a population.
    draw_variance, undrawn_share : float
        If the pool is a sample of a larger source: variance of the metric as that of
        the source, and share of the source that was not drawn. 0 for any other pool.
    refusal : str
        Why there is no interval; empty if there is one.
    anytime_refusal : str
        Why there is no anytime interval, though there is a fixed one.
    metric : BaseMetric or None
        Needed for an interval that is made of `means`.
    beyond, free_share : float
        What losses beyond the largest one met would add to the value on an infinite
        pool, eq. T13 of docs/method.md, where `mean` does not say it; share of
        the pool's rows that were not asked for.
    average : ClassAverage or None
        What is known of each class, if all count the same.
    note : str
        What else to know about it, such as what its labels were bought for.
    """

    value: float
    standard_error: float
    n_labels: int
    name: str = ""
    centre: float = np.nan
    degrees_of_freedom: float = 1.0
    bounds: tuple = (-np.inf, np.inf)
    scale: str = "linear"
    means: tuple = ()
    known: tuple = ()
    covariance: tuple = ()
    least: tuple = ()
    most: tuple = ()
    mean: RiskEstimate | None = None
    line: tuple = (0.0, 1.0)
    n_skipped: int = 0
    population_variance: float = np.nan
    draw_variance: float = 0.0
    undrawn_share: float = 0.0
    refusal: str = ""
    anytime_refusal: str = ""
    metric: object = None
    note: str = ""
    n_inside: int | None = None
    beyond: float = 0.0
    free_share: float = 1.0
    average: ClassAverage | None = None

    member_spread = None
    refusal_of = RiskEstimate.refusal_of

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that a file can keep, without the metric and the note.

        Returns
        -------
        values : dict of str to object
        """
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        del values["metric"], values["note"]
        if self.mean is not None:
            of_mean = vars(self.mean).items()
            values["mean"] = {k: v for k, v in of_mean if k not in ("note", "bets")}
        if self.average is not None:
            values["average"] = self.average.to_dict()
        return values

    @classmethod
    def from_dict(
        cls, values: Mapping[str, Any], metric: BaseMetric | None = None
    ) -> MetricEstimate:
        """Make an estimate of what :meth:`to_dict` returned.

        Parameters
        ----------
        values : dict of str to object
        metric : BaseMetric, default=None

        Returns
        -------
        estimate : MetricEstimate
        """
        values = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values.items()
        }
        if values.get("mean") is not None:
            values["mean"] = RiskEstimate(**values["mean"])
        if values.get("average") is not None:
            values["average"] = ClassAverage.from_dict(values["average"])
        return cls(**values, metric=metric)

    def __repr__(self):
        labels = labels_of(self)
        error = f"standard_error={self.standard_error:.3g}"
        return f"MetricEstimate({self.name}={self.value:.4g}, {error}, {labels})"

    def _repr_html_(self):
        return notebook("MetricEstimate", Facts(self.describe()))

    def __float__(self) -> float:
        return float(self.value)

    def __format__(self, spec):
        return format(self.value, spec) if spec else str(self)

    def describe(self, level: float = 0.9, method: Method = "fixed") -> dict[str, str]:
        """Describe the estimate in words.

        Parameters
        ----------
        level : float, default=0.9
            Of the interval.
        method : {"fixed", "anytime"}, default="fixed"

        Returns
        -------
        words : dict of str to str
        """
        check_interval(level, method)
        words = {self.name: f"{self.value:.4g}", "labels": str(self.n_labels)}
        if self.n_inside is not None:
            words["labels"] += f", {self.n_inside or 'none'} of them in these rows"
        if self.n_skipped:
            words["of"] = f"the rows that can be labelled; {self.n_skipped} could not"
        name = f"{100 * level:g} % interval"
        name += "" if method == "fixed" else f", {method.replace('_', ' ')}"
        if refusal := self.refusal_of(method):
            words[name] = f"none. {refusal}"
        else:
            low, high = self.interval(level, method=method)
            words[name] = f"{low:.4g} to {high:.4g}"
        if self.note:
            words["note"] = self.note
        return words

    def interval(
        self, level: float = 0.9, method: Method = "fixed", target: Target = "pool"
    ) -> tuple[float, float]:
        """Confidence interval for the metric, over the draw of the labels.

        Parameters
        ----------
        level : float, default=0.9
            Nominal coverage, between 0 and 1.
        method : {"fixed", "anytime"}, default="fixed"
            ``"anytime"`` holds at all label counts at once. For a metric that is the
            mean of bounded values it assumes nothing else; for other metrics it
            assumes that the estimate is normally distributed.
        target : {"pool", "population"}, default="pool"
            The pool is the whole source if a sample of it was drawn. ``"population"``
            adds the error of the pool as a sample of more rows than there are.

        Returns
        -------
        low, high : float
            Infinite, with an :class:`IntervalWarning` that gives the reason, if no
            valid interval can be given.
        """
        check_interval(level, method, target)
        if refusal := self.refusal_of(method):
            warnings.warn(refusal, IntervalWarning, stacklevel=2)
            return -np.inf, np.inf
        if self.mean is not None:
            ends = self.mean.interval(level, method, target)
            low, high = sorted(map(self.of_mean, ends))
        else:
            degrees = self.degrees_of_freedom
            quantile = fixed_quantiles(level, degrees)[0]
            if method != "fixed":
                quantile = anytime_quantile(level, degrees, self.n_labels)
            low, high = self._ends(quantile, target == "population")
        low, high = min(self.value, low), max(self.value, high)
        return float(max(low, self.bounds[0])), float(min(high, self.bounds[1]))

    def of_mean(self, mean: float) -> float:
        """Value of the metric at a value of its only mean."""
        mean = np.sqrt(max(mean, 0.0)) if self.scale == "root" else mean
        return float(self.line[0] + self.line[1] * mean)

    def _ends(self, quantile, of_population):
        """Ends of an interval that is not that of a single mean."""
        added, open_share = self.population_variance, 1.0
        if not of_population:
            added = self.draw_variance
            open_share = self.free_share + (1.0 - self.free_share) * self.undrawn_share
        if self.means or self.average is not None:
            ends = ends_of_means(self, min(quantile, MOST_QUANTILE))
            # The error of the pool as a sample is independent of that of the labels.
            reach = np.hypot(np.subtract(ends, self.centre), quantile * added**0.5)
            return (self.centre - reach[0], self.centre + reach[1]) if added else ends
        if not np.isfinite(quantile):
            return self.bounds
        error = quantile * np.sqrt(self.standard_error**2 + added)
        low, high = ends_on_scale(self.scale, self.centre, error)
        missed = self.beyond * open_share
        return low + min(missed, 0.0), high + max(missed, 0.0)

    def with_labels(self, n_labels: int, n_samples: int) -> MetricEstimate:
        """The estimate as it is expected to be after more labels.

        Parameters
        ----------
        n_labels : int
        n_samples : int

        Returns
        -------
        estimate : MetricEstimate
        """
        growth = n_labels / max(self.n_labels, 1)
        # The same share of the labels to come is expected to matter.
        degrees = max((self.degrees_of_freedom + 1.0) * growth - 1.0, 1.0)
        before = 1.0 / max(self.n_labels, 1) - 1.0 / n_samples
        ratio = max(1.0 / n_labels - 1.0 / n_samples, 0.0) / before
        mean = self.mean
        if mean is not None:
            error = mean.standard_error * ratio**0.5
            mean = mean_later(mean, n_labels, n_samples, degrees, error)
        return replace(
            self,
            mean=mean,
            standard_error=self.standard_error * ratio**0.5,
            n_labels=n_labels,
            degrees_of_freedom=degrees,
            covariance=tuple(map(tuple, ratio * np.array(self.covariance))),
            average=self.average and self.average.with_variance(ratio),
            beyond=self.beyond / growth,
            free_share=1.0 - n_labels / n_samples,
            refusal="",
            anytime_refusal="",
        )
