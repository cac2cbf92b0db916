"""The number that is reported, with its interval."""

import warnings
from dataclasses import dataclass

import numpy as np

from sklearn_ase._inference._intervals import (
    anytime_quantile,
    check_interval,
    fixed_quantiles,
    log_reach,
    reach_with_unseen,
)
from sklearn_ase._utils._html import html_table
from sklearn_ase.exceptions import IntervalWarning


@dataclass(frozen=True, repr=False)
class RiskEstimate:
    """Estimate of the mean loss on the pool.

    Attributes
    ----------
    value : float
    standard_error : float
        Standard error of `centre`. NaN if it cannot be estimated.
    n_labels : int
        Labels known when it was made.
    degrees_of_freedom : float
        Degrees of freedom of the t distribution that :meth:`interval` uses; infinite
        for a normal one.
    centre : float or None
        Middle of the interval, if it is not the value.
    member_spread : float or None
        Standard deviation of the pool risks that the members of the surrogate
        expect. It does not include errors that they share, so it is not a standard
        error.
    refusal : str
        Why there is no interval; empty if there is one.
    n_skipped : int
        Rows that nobody could label. If there are any, the estimate is the mean loss
        over the rows that can be labelled; otherwise over the whole pool.
    max_loss : float
        Greatest possible loss at a row. The interval ends there.
    unseen : float
        For a bounded loss: variance that a unit of losses which no label has shown
        would add to the estimate, eq. T12 of docs/trust.md. 0 for other losses.
    tail_degrees : float or None
        For a loss without a bound: degrees of freedom of the upper end of the interval.
        They are few if a few labels carry the variance.
    least, most : float
        Bounds of the risk that the labels prove.
    anytime : tuple of (level, low, high)
        For a bounded loss: anytime intervals at several levels.
    population_variance : float
        Variance of the risk of a pool whose rows are drawn from a population.

    Examples
    --------
    >>> from sklearn_ase.risk import RiskEstimate
    >>> risk = RiskEstimate(0.4, 0.1, n_labels=50, degrees_of_freedom=49)
    >>> risk
    RiskEstimate(value=0.4, standard_error=0.1, n_labels=50)
    >>> float(risk)
    0.4
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
    n_skipped: int = 0
    max_loss: float = np.inf
    unseen: float = 0.0
    tail_degrees: float | None = None
    least: float = 0.0
    most: float = np.inf
    anytime: tuple = ()
    population_variance: float = np.nan

    def __post_init__(self):
        # A file gives lists back.
        object.__setattr__(self, "anytime", tuple(map(tuple, self.anytime)))

    def __repr__(self):
        spread = f"standard_error={self.standard_error:.3g}"
        if self.member_spread is not None:
            spread = f"member_spread={self.member_spread:.3g}"
        labels = f"n_labels={self.n_labels}"
        if self.n_skipped:
            labels += f", n_skipped={self.n_skipped}"
        return f"RiskEstimate(value={self.value:.4g}, {spread}, {labels})"

    def _repr_html_(self):
        return html_table("RiskEstimate", self.describe().items())

    def describe(self, level=0.9, method="fixed"):
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
        words = {"risk": f"{self.value:.4g}", "labels": str(self.n_labels)}
        if self.n_skipped:
            words["of"] = f"the rows that can be labelled; {self.n_skipped} could not"
        name = f"{100 * level:g} % interval" + ", anytime" * (method != "fixed")
        if self.refusal or not np.isfinite(self.standard_error):
            words[name] = f"none. {self.refusal}".rstrip()
        else:
            low, high = self.interval(level, method=method)
            words[name] = f"{low:.4g} to {high:.4g}"
        if self.member_spread is not None:
            words["spread of the members"] = f"{self.member_spread:.3g}"
        return words

    def __float__(self):
        return float(self.value)

    def __format__(self, spec):
        return format(self.value, spec) if spec else str(self)

    def interval(self, level=0.9, method="fixed", target="pool"):
        """Confidence interval for the risk, over the draw of the labels.

        Parameters
        ----------
        level : float, default=0.9
            Nominal coverage, between 0 and 1.
        method : {"fixed", "anytime", "anytime_normal"}, default="fixed"
            ``"fixed"`` holds for a number of labels that was chosen beforehand.
            ``"anytime"`` holds at all label counts at once. You may look at it after
            every label and stop when it is narrow enough. For a bounded loss it
            assumes nothing about the losses; levels between 0.5, 0.8, 0.9, 0.95 and
            0.99 get the interval of the next greater one. ``"anytime_normal"`` is
            narrower with few labels, but it assumes that the estimate is normally
            distributed. For a loss without a bound the two are the same.
        target : {"pool", "population"}, default="pool"
            ``"population"`` adds the error of the pool as a sample. If rows come in
            groups, use ``evaluation.estimate(groups=...)``.

        Returns
        -------
        low, high : float
            Infinite, with an :class:`IntervalWarning` that gives the reason, if no
            valid interval can be given.
        """
        check_interval(level, method, target)
        if target == "population" and np.isnan(self.population_variance):
            raise ValueError(
                "target='population' needs an estimate that says how much the pool "
                "varies. Take one from evaluation.estimate()."
            )
        if self.refusal:
            warnings.warn(self.refusal, IntervalWarning, stacklevel=2)
            return -np.inf, np.inf
        if not np.isfinite(self.standard_error):
            return -np.inf, np.inf
        low, high = self._ends(level, method, target)
        # An unbiased estimate may lie, by chance, where no mean of losses can.
        low, high = max(low, 0.0), min(high, self.max_loss)
        if target == "pool":
            low, high = max(low, self.least), min(high, self.most)
        return float(min(self.value, low)), float(max(self.value, high))

    def _ends(self, level, method, target):
        """Ends of the interval before they are cut to what is possible."""
        centre = self.value if self.centre is None else self.centre
        added = self.population_variance if target == "population" else 0.0
        known = [ends for ends in self.anytime if ends[0] >= level - 1e-12]
        if method == "anytime" and known:
            _, low, high = known[0]
            # The pool's own error is the same at all label counts.
            extra = fixed_quantiles(level, np.inf)[1] * added**0.5
            return low - extra, high + extra
        variance = self.standard_error**2 + added
        if method == "fixed":
            quantile, of_unseen = fixed_quantiles(level, self.degrees_of_freedom)
        else:
            quantile = anytime_quantile(level, self.degrees_of_freedom, self.n_labels)
            of_unseen = quantile
        return self._low(centre, variance, quantile, of_unseen), self._high(
            centre, variance, quantile, of_unseen, level, method
        )

    def _low(self, centre, variance, quantile, of_unseen):
        room = 2.0 * centre - self.max_loss
        return centre - _reach(variance, self.unseen, room, quantile, of_unseen)

    def _high(self, centre, variance, quantile, of_unseen, level, method):
        if self.tail_degrees is not None and variance > 0:
            if method == "fixed":
                quantile, _ = fixed_quantiles(level, self.tail_degrees)
            return centre + log_reach(centre, variance**0.5, quantile)
        room = self.max_loss - 2.0 * centre
        return centre + _reach(variance, self.unseen, room, quantile, of_unseen)


def _reach(variance, unseen, room, quantile, of_unseen):
    """Distance of an end from the estimate; infinite quantiles exclude nothing."""
    if not unseen > 0:
        return quantile * variance**0.5 if variance > 0 else 0.0
    if np.isinf(quantile):
        return np.inf
    return reach_with_unseen(variance, unseen, room, quantile, of_unseen)
