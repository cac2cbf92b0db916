"""An estimate of losses that all differ by a constant."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_ase._display._blocks import Facts
from sklearn_ase._display._html import notebook
from sklearn_ase._inference._bounds import (
    anytime_quantile,
    check_interval,
    fixed_quantiles,
    log_reach,
    missed_share,
    reach_with_unseen,
    wilson_ends,
)
from sklearn_ase._utils._typing import Method, Target
from sklearn_ase.exceptions import IntervalWarning

if TYPE_CHECKING:
    from sklearn_ase.risk import Estimate
    from sklearn_ase.risk._metric_estimate import MetricEstimate


def shifted(estimate: RiskEstimate, by: float) -> RiskEstimate:
    """Estimate of a mean loss, as if every loss were greater by a constant."""
    names = "value", "centre", "min_loss", "max_loss", "largest", "least", "most"
    found = {name: getattr(estimate, name) for name in names}
    found = {name: None if x is None else x + by for name, x in found.items()}
    bets = None if estimate.bets is None else estimate.bets.along(by, 1.0)
    return replace(estimate, **found, bets=bets)


# Estimates in words.


def labels_of(found: RiskEstimate | MetricEstimate) -> str:
    """Which labels an estimate uses, as its ``repr`` says it."""
    text = f"n_labels={found.n_labels}"
    n_inside = getattr(found, "n_inside", None)
    if n_inside is not None:
        text += f" ({n_inside or 'none'} in these rows)"
    if found.n_skipped:
        text += f", n_skipped={found.n_skipped}"
    return f"{text}, note={found.note!r}" if found.note else text


# The number that is reported, with its interval.


_SUFFIX = {"fixed": "", "anytime": ", anytime"}


@dataclass(frozen=True, repr=False)
class RiskEstimate:
    """Estimate of the mean loss on the pool.

    Attributes
    ----------
    value : float
    standard_error : float
        Standard error of `centre`. NaN if it cannot be estimated.
    n_labels : int
        Labels that it uses.
    degrees_of_freedom : float
        Degrees of freedom of the t distribution that :meth:`interval` uses; infinite
        for a normal one.
    centre : float or None
        What the interval is around, if it is not the value.
    member_spread : float or None
        Standard deviation of the pool risks that the members of the surrogate
        expect. It does not include errors that they share.
    refusal : str
        Why there is no interval; empty if there is one.
    anytime_refusal : str
        Why there is no anytime interval, though there is a fixed one.
    n_skipped : int
        Rows that nobody could label; the estimate is over those that can be labelled.
    min_loss, max_loss : float
        Least and greatest possible mean loss.
    largest : float or None
        Greatest possible loss at a row; None if it is `max_loss`.
    none_seen, all_seen : bool
        Whether no label has shown a loss, or each the greatest one. The interval then
        begins at `least`, or ends at `most`.
    unseen : float
        For a bounded loss: variance that a unit of losses which no label has shown
        would add to the estimate from an infinite pool, eq. T12 of
        docs/method.md. 0 for other losses.
    is_wilson : bool
        For a bounded loss: whether the interval is Wilson's.
    tail_degrees : float or None
        For a loss without a bound: degrees of freedom of the upper end of the interval.
    beyond : float
        For a loss without a bound: by how much the mean of an infinite pool would be
        raised by losses beyond the largest one met, eq. T13. 0 for other losses.
    least, most : float
        Bounds of the risk that the labels prove.
    bets : Bets or None
        For a bounded loss: what the anytime interval is made of.
    population_variance, population_degrees : float
        Variance of the risk of a pool whose rows, or groups, are drawn from a
        population, and its degrees of freedom.
    free_share : float
        Share of the pool's rows that were not asked for.
    draw_variance, undrawn_share : float
        If the pool is a sample of a larger source: variance of its risk as that of the
        source, and share of the source that was not drawn. 0 for any other pool.
    note : str
        What else to know about it, such as which labels do not count yet.

    Examples
    --------
    >>> from sklearn_ase.risk import RiskEstimate
    >>> risk = RiskEstimate(0.4, 0.1, n_labels=50, degrees_of_freedom=49)
    >>> risk
    RiskEstimate(value=0.4, standard_error=0.1, n_labels=50)
    >>> for method in ("fixed", "anytime"):
    ...     low, high = risk.interval(0.9, method=method)
    ...     print(f"{low:.3f} to {high:.3f}")
    0.232 to 0.568
    0.113 to 0.687
    """

    value: float
    standard_error: float
    n_labels: int
    degrees_of_freedom: float = np.inf
    centre: float | None = None
    member_spread: float | None = None
    refusal: str = ""
    anytime_refusal: str = ""
    n_skipped: int = 0
    max_loss: float = np.inf
    largest: float | None = None
    none_seen: bool = False
    all_seen: bool = False
    unseen: float = 0.0
    is_wilson: bool = False
    tail_degrees: float | None = None
    beyond: float = 0.0
    least: float = 0.0
    most: float = np.inf
    bets: Any = field(default=None, compare=False)
    population_variance: float = np.nan
    population_degrees: float = np.inf
    free_share: float = 1.0
    draw_variance: float = 0.0
    undrawn_share: float = 0.0
    note: str = ""
    min_loss: float = 0.0

    def __repr__(self):
        spread = f"standard_error={self.standard_error:.3g}"
        if self.member_spread is not None:
            spread = f"member_spread={self.member_spread:.3g}"
        return f"RiskEstimate(value={self.value:.4g}, {spread}, {labels_of(self)})"

    def _repr_html_(self):
        return notebook("RiskEstimate", Facts(self.describe()))

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
        words = {"risk": f"{self.value:.4g}", "labels": str(self.n_labels)}
        if self.n_skipped:
            words["of"] = f"the rows that can be labelled; {self.n_skipped} could not"
        name = f"{100 * level:g} % interval" + _SUFFIX[method]
        refusal = self.refusal_of(method)
        if refusal or not np.isfinite(self.standard_error):
            words[name] = f"none. {refusal}".rstrip()
        else:
            low, high = self.interval(level, method=method)
            words[name] = f"{low:.4g} to {high:.4g}"
        if self.member_spread is not None:
            words["spread of the members"] = f"{self.member_spread:.3g}"
        return words | ({"note": self.note} if self.note else {})

    def __float__(self) -> float:
        return float(self.value)

    def __format__(self, spec):
        return format(self.value, spec) if spec else str(self)

    def refusal_of(self: Estimate, method: Method = "fixed") -> str:
        """Say why there is no interval of a kind; empty if there is one.

        Parameters
        ----------
        method : {"fixed", "anytime"}, default="fixed"

        Returns
        -------
        reason : str
        """
        if self.refusal or method == "fixed":
            return self.refusal
        return self.anytime_refusal

    def interval(
        self, level: float = 0.9, method: Method = "fixed", target: Target = "pool"
    ) -> tuple[float, float]:
        """Confidence interval for the risk, over the draw of the labels.

        Parameters
        ----------
        level : float, default=0.9
            Nominal coverage, between 0 and 1.
        method : {"fixed", "anytime"}, default="fixed"
            ``"fixed"`` holds for a number of labels that was chosen beforehand.
            ``"anytime"`` holds at all label counts at once. You may look at it after
            every label and stop when it is narrow enough. For a bounded loss it
            assumes nothing about the losses; levels between 0.5, 0.8, 0.9, 0.95, 0.99
            and 0.999 get the interval of the next greater one. For a loss without a
            bound, and once a row was skipped, it assumes that the estimate is normally
            distributed.
        target : {"pool", "population"}, default="pool"
            The pool is the whole source if a sample of it was drawn. ``"population"``
            adds the error of the pool as a sample of more rows than there are. If rows
            come in groups, use ``evaluation.estimate(groups=...)``.

        Returns
        -------
        low, high : float
            Infinite, with an :class:`IntervalWarning` that gives the reason, if no
            valid interval can be given.
        """
        check_interval(level, method, target)
        refusal = self.refusal_of(method)
        if refusal:
            warnings.warn(refusal, IntervalWarning, stacklevel=2)
            return -np.inf, np.inf
        if not np.isfinite(self.standard_error):
            return -np.inf, np.inf
        if target == "population" and np.isnan(self.population_variance):
            raise ValueError(
                "target='population' needs an estimate that says how much the pool "
                "varies. Take one from evaluation.estimate()."
            )
        low, high = self._ends(level, method, target == "population")
        low, high = max(low, self.min_loss), min(high, self.max_loss)
        low = min(low, self.least) if self.none_seen else low
        high = max(high, min(self.most, self.max_loss)) if self.all_seen else high
        if target == "pool" and not self.undrawn_share:
            low, high = max(low, self.least), min(high, self.most)
        return float(min(self.value, low)), float(max(self.value, high))

    def _ends(self, level, method, of_population):
        """Ends of the interval before they are cut to what is possible."""
        if self.min_loss:  # As if losses began at 0.
            ends = shifted(self, -self.min_loss)._ends(level, method, of_population)
            return ends[0] + self.min_loss, ends[1] + self.min_loss
        if method == "anytime" and self.bets is not None:
            return self._betting_ends(level, of_population)
        added, open_share = self._beyond_the_pool(of_population)
        variance, unseen = self.standard_error**2 + added, self.unseen * open_share
        degrees = self.degrees_of_freedom
        if of_population:
            degrees = min(degrees, self.population_degrees)
        if method == "fixed":
            quantile, of_unseen = fixed_quantiles(level, degrees)
        else:
            quantile = anytime_quantile(level, degrees, self.n_labels)
            of_unseen = quantile
        centre = self.value if self.centre is None else self.centre
        # By chance it may lie where no mean can. The nearest possible one is closer.
        centre = min(max(centre, 0.0), self.max_loss)
        if self.is_wilson and variance > 0 and np.isfinite(quantile):
            return wilson_ends(centre, variance, self.max_loss, quantile)
        low_room, high_room = self._rooms(centre, centre)
        low = reach_with_unseen(variance, unseen, low_room, quantile, of_unseen)
        high = reach_with_unseen(variance, unseen, high_room, quantile, of_unseen)
        if self.tail_degrees is not None and variance > 0:
            if method == "fixed":
                quantile, _ = fixed_quantiles(level, min(degrees, self.tail_degrees))
            missed = self.beyond * open_share
            high = log_reach(centre, variance**0.5, quantile) + missed
        elif unseen > 0 and not of_population:
            missed = self._missed(level, open_share)
            low = max(low, missed) if low_room > 0 else low
            high = max(high, missed) if high_room > 0 else high
        return centre - low, centre + high

    def _rooms(self, low, high):
        """Greatest loss minus twice the estimate, towards each end."""
        return 2.0 * low - self.max_loss, self.max_loss - 2.0 * high

    def _beyond_the_pool(self, of_population):
        """Variance of the pool as a sample, and share of rows without a label."""
        if of_population:
            return self.population_variance, 1.0
        labelled_share = (1.0 - self.free_share) * self.undrawn_share
        return self.draw_variance, self.free_share + labelled_share

    def _missed(self, level, free_share):
        """Risk of rows that all labels may have missed, if few rows are left."""
        n_picks = self.n_labels + self.n_skipped
        largest = self.max_loss if self.largest is None else self.largest
        return largest * missed_share(level, free_share, n_picks)

    def _betting_ends(self, level, of_population):
        """Ends of the anytime interval of a bounded loss."""
        ends = [ends for ends in self.bets.ends if ends[0] >= level - 1e-12]
        low, high = ends[0][1:] if ends else (self.least, self.most)
        if not of_population and not self.undrawn_share:
            return low, high
        # The error of the pool as a sample is the same at all label counts.
        degrees = self.population_degrees if of_population else np.inf
        quantile, of_unseen = fixed_quantiles(level, degrees)
        added, open_share = self._beyond_the_pool(of_population)
        pool = added, (open_share - self.free_share) / self.n_labels
        reaches = [
            reach_with_unseen(*pool, room, quantile, of_unseen)
            for room in self._rooms(low, high)
        ]
        return low - reaches[0], high + reaches[1]


# An estimate of a mean as it is expected to be after more labels.


def mean_later(
    mean: RiskEstimate,
    n_labels: int,
    n_samples: int,
    degrees: float,
    standard_error: float,
) -> RiskEstimate:
    """The estimate of a mean with another number of labels."""
    growth, tail = n_labels / max(mean.n_labels, 1), mean.tail_degrees
    return replace(
        mean,
        standard_error=standard_error,
        n_labels=n_labels,
        degrees_of_freedom=degrees,
        unseen=mean.unseen / growth,
        beyond=mean.beyond / growth,
        tail_degrees=None if tail is None else min(tail * growth, degrees),
        free_share=1.0 - n_labels / n_samples,
        least=0.0,
        most=np.inf,
        bets=None,
        refusal="",
        anytime_refusal="",
    )
