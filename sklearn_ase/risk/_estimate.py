"""The number that is reported, with its interval."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import stats

from sklearn_ase._inference._intervals import anytime_quantile, check_interval
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
        method : {"fixed", "anytime"}, default="fixed"

        Returns
        -------
        words : dict of str to str
        """
        check_interval(level, method)
        words = {"risk": f"{self.value:.4g}", "labels": str(self.n_labels)}
        if self.n_skipped:
            words["of"] = f"the rows that can be labelled; {self.n_skipped} could not"
        name = f"{100 * level:g} % interval" + ", anytime" * (method == "anytime")
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

    def interval(self, level=0.9, method="fixed"):
        """Confidence interval for the risk, over the draw of the labels.

        Parameters
        ----------
        level : float, default=0.9
            Nominal coverage, between 0 and 1.
        method : {"fixed", "anytime"}, default="fixed"
            ``"fixed"`` holds for a number of labels that was chosen beforehand.
            ``"anytime"`` holds at all label counts at once. You may look at it after
            every label and stop when it is narrow enough.

        Returns
        -------
        low, high : float
            Infinite, with an :class:`IntervalWarning` that gives the reason, if no
            valid interval can be given.
        """
        check_interval(level, method)
        if self.refusal:
            warnings.warn(self.refusal, IntervalWarning, stacklevel=2)
            return -np.inf, np.inf
        if not np.isfinite(self.standard_error):
            return -np.inf, np.inf
        if method == "fixed":
            quantile = stats.t.ppf((1 + level) / 2, self.degrees_of_freedom)
        else:
            quantile = anytime_quantile(level, self.degrees_of_freedom, self.n_labels)
        reach = quantile * self.standard_error if self.standard_error > 0 else 0.0
        centre = self.value if self.centre is None else self.centre
        # An unbiased estimate may lie, by chance, where no mean of losses can.
        low = min(self.value, max(centre - reach, 0.0))
        high = max(self.value, min(centre + reach, self.max_loss))
        return float(low), float(high)
