"""The estimate of a metric, with its interval."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_ase._inference._intervals import (
    anytime_quantile,
    check_interval,
    ends_on_scale,
    fixed_quantiles,
)
from sklearn_ase._inference._regions import MOST_QUANTILE
from sklearn_ase._utils._html import html_table
from sklearn_ase._utils._typing import Method, Target
from sklearn_ase.exceptions import IntervalWarning
from sklearn_ase.risk._class_average import ClassAverage
from sklearn_ase.risk._estimate import RiskEstimate
from sklearn_ase.risk._later import mean_later
from sklearn_ase.risk._metric_ends import ends_of_means
from sklearn_ase.risk._words import labels_of

if TYPE_CHECKING:
    from sklearn_ase.metrics._base import BaseMetric


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
    refusal : str
        Why there is no interval; empty if there is one.
    anytime_refusal : str
        Why there is no anytime interval, though there is a fixed one.
    metric : BaseMetric or None
        Needed for an interval that is made of `means`.
    beyond, free_share : float
        What losses beyond the largest one met would add to the value on an infinite
        pool, eq. T13 of docs/trust_method.md, where `mean` does not say it; share of
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
            values["mean"] = {k: v for k, v in vars(self.mean).items() if k != "note"}
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
        return html_table("MetricEstimate", self.describe().items())

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
        method : {"fixed", "anytime", "anytime_normal"}, default="fixed"

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
        method : {"fixed", "anytime", "anytime_normal"}, default="fixed"
            ``"anytime"`` holds at all label counts at once. For a metric that is the
            mean of bounded values it assumes nothing else; for other metrics it is
            ``"anytime_normal"``, which assumes that the estimate is normally
            distributed.
        target : {"pool", "population"}, default="pool"
            ``"population"`` adds the error of the pool as a sample.

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
        added = self.population_variance if of_population else 0.0
        if self.means or self.average is not None:
            ends = ends_of_means(self, min(quantile, MOST_QUANTILE))
            # The error of the pool as a sample is independent of that of the labels.
            reach = np.hypot(np.subtract(ends, self.centre), quantile * added**0.5)
            return (self.centre - reach[0], self.centre + reach[1]) if added else ends
        if not np.isfinite(quantile):
            return self.bounds
        error = quantile * np.sqrt(self.standard_error**2 + added)
        low, high = ends_on_scale(self.scale, self.centre, error)
        missed = self.beyond * (1.0 if of_population else self.free_share)
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
