"""The estimate: a value that has an interval."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_ase._display._blocks import Facts
from sklearn_ase._display._html import notebook
from sklearn_ase._inference._bounds import check_interval
from sklearn_ase._utils._checks import is_number
from sklearn_ase._utils._typing import Method, Target
from sklearn_ase.exceptions import IntervalWarning
from sklearn_ase.risk._intervals import BoundedInterval, Interval, MeanInterval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sklearn_ase.metrics._base import BaseMetric


@dataclass(frozen=True, repr=False)
class Estimate:
    """Estimate of the mean loss, or of a metric of the model, on the pool.

    Attributes
    ----------
    value : float
        NaN, with a `refusal`, where a metric is not defined.
    standard_error : float
        To first order. NaN if it is unknown.
    n_labels : int
        Labels that it uses.
    uncertainty : Interval
        What :meth:`interval` is made of. None means that of a mean with a normal error,
        see :meth:`of_mean`.
    name : str
        Of what is estimated.
    bounds : tuple of two float
        Least and greatest value of the metric.
    n_skipped : int
        Rows that nobody could label; the estimate is over those that can be labelled.
    n_inside : int or None
        Labels at the rows that the question is about; None if it is about all rows.
    member_spread : float or None
        Standard deviation of the pool risks that the members of the surrogate expect.
        It does not include errors that they share.
    refusal : str
        Why there is no interval; empty if there is one.
    anytime_refusal : str
        Why there is no anytime interval, though there is a fixed one.
    note : str
        What else to know about it, such as what its labels were bought for.

    Examples
    --------
    >>> from sklearn_ase.risk import Estimate
    >>> risk = Estimate.of_mean(0.4, 0.1, n_labels=50, degrees_of_freedom=49)
    >>> risk
    Estimate(risk=0.4, standard_error=0.1, n_labels=50)
    >>> for method in ("fixed", "anytime"):
    ...     low, high = risk.interval(0.9, method=method)
    ...     print(f"{low:.3f} to {high:.3f}")
    0.232 to 0.568
    0.113 to 0.687
    """

    value: float
    standard_error: float
    n_labels: int
    uncertainty: Interval = None  # type: ignore[assignment]
    name: str = "risk"
    bounds: tuple[float, float] = (-np.inf, np.inf)
    n_skipped: int = 0
    n_inside: int | None = None
    member_spread: float | None = None
    refusal: str = ""
    anytime_refusal: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if self.uncertainty is None:
            mean = MeanInterval(self.value, self.standard_error, self.n_labels)
            object.__setattr__(self, "uncertainty", mean)

    @classmethod
    def of_mean(
        cls, value: float, standard_error: float, n_labels: int, **known: Any
    ) -> Estimate:
        """Estimate of a mean, with its interval.

        Parameters
        ----------
        value : float
        standard_error : float
        n_labels : int
        **known
            What else is known of the mean: attributes of :class:`BoundedInterval`, if
            its `max_loss` is given, or of :class:`MeanInterval`.

        Returns
        -------
        estimate : Estimate
        """
        kind = BoundedInterval if np.isfinite(known.get("max_loss", np.inf)) else None
        interval = (kind or MeanInterval)(value, standard_error, n_labels, **known)
        return cls.of_interval(interval, n_skipped=known.get("n_skipped", 0))

    @classmethod
    def of_interval(cls, interval: MeanInterval, **about: Any) -> Estimate:
        """Estimate of a mean, given its interval.

        Parameters
        ----------
        interval : MeanInterval
        **about
            Other attributes of the estimate.

        Returns
        -------
        estimate : Estimate
        """
        return cls(
            value=interval.value,
            standard_error=interval.standard_error,
            n_labels=interval.n_labels,
            uncertainty=interval,
            **about,
        )

    @property
    def centre(self) -> float:
        """Middle of the interval; a guarded value also uses what a surrogate says."""
        return self.uncertainty.middle

    @property
    def degrees_of_freedom(self) -> float:
        """Degrees of freedom of the standard error."""
        return self.uncertainty.degrees_of_freedom

    def __float__(self) -> float:
        return float(self.value)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def __repr__(self) -> str:
        name, spread = "standard_error", self.standard_error
        if self.member_spread is not None:
            name, spread = "member_spread", self.member_spread
        value, shown = _shown(self.value, 4), _shown(spread, 3)
        return f"Estimate({self.name}={value}, {name}={shown}, {self._labels()})"

    def _repr_html_(self) -> str:
        return notebook("Estimate", Facts(self.describe()))

    def _labels(self) -> str:
        """Which labels it uses, as its ``repr`` says it."""
        text = f"n_labels={self.n_labels}"
        if self.n_inside is not None:
            text += f" ({self.n_inside or 'none'} in these rows)"
        if self.n_skipped:
            text += f", n_skipped={self.n_skipped}"
        return f"{text}, note={self.note!r}" if self.note else text

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
        interval = f"{100 * level:g} % interval"
        interval += "" if method == "fixed" else ", anytime"
        words[interval] = self._ends_in_words(level, method)
        if self.member_spread is not None:
            words["spread of the members"] = f"{self.member_spread:.3g}"
        return words | ({"note": self.note} if self.note else {})

    def _ends_in_words(self, level: float, method: Method) -> str:
        refusal = self.refusal_of(method)
        if refusal or not np.isfinite(self.standard_error):
            return f"none. {refusal}".rstrip()
        low, high = self.interval(level, method=method)
        return f"{low:.4g} to {high:.4g}"

    def refusal_of(self, method: Method = "fixed") -> str:
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
        """Confidence interval for what is estimated, over the draw of the labels.

        Parameters
        ----------
        level : float, default=0.9
            Nominal coverage, between 0 and 1.
        method : {"fixed", "anytime"}, default="fixed"
            ``"fixed"`` holds for a number of labels that was chosen beforehand.
            ``"anytime"`` holds at all label counts at once. You may look at it after
            every label and stop when it is narrow enough. For a mean of bounded values
            it assumes nothing about them; levels between 0.5, 0.8, 0.9, 0.95, 0.99 and
            0.999 get the interval of the next greater one. For other metrics, for a
            loss without a bound, and once a row was skipped, it assumes that the
            estimate is normally distributed.
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
        if refusal := self.refusal_of(method):
            warnings.warn(refusal, IntervalWarning, stacklevel=2)
            return -np.inf, np.inf
        low, high = self.uncertainty.ends(level, method, target)
        low, high = min(self.value, low), max(self.value, high)
        return float(max(low, self.bounds[0])), float(min(high, self.bounds[1]))

    def with_labels(
        self, n_labels: int, n_samples: int, standard_error: float | None = None
    ) -> Estimate:
        """The estimate as it is expected to be after more labels.

        Parameters
        ----------
        n_labels : int
        n_samples : int
        standard_error : float, default=None
            Expected then, of a mean. None means that labels to come tell as much.

        Returns
        -------
        estimate : Estimate
        """
        before = 1.0 / max(self.n_labels, 1) - 1.0 / n_samples
        after = max(1.0 / n_labels - 1.0 / n_samples, 0.0)
        ratio = after / before if before > 0 else 0.0
        growth = n_labels / max(self.n_labels, 1)
        # The same share of the labels to come is expected to matter.
        degrees = (self.uncertainty.degrees_of_freedom + 1.0) * growth - 1.0
        if standard_error is not None:
            degrees = n_labels - 1.0
        degrees = max(degrees, 1.0)
        later = self.uncertainty.after(n_labels, n_samples, degrees, ratio)
        if standard_error is not None:
            later = replace(later, standard_error=standard_error)  # type: ignore
        return replace(
            self,
            uncertainty=later,
            standard_error=later.standard_error,
            n_labels=n_labels,
            refusal="",
            anytime_refusal="",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that a file can keep, without the metric and the note.

        Returns
        -------
        values : dict of str to object
        """
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        del values["note"]
        values["uncertainty"] = self.uncertainty.to_dict()
        # Risk estimators of users may hold numpy numbers.
        return {k: v.item() if hasattr(v, "item") else v for k, v in values.items()}

    @classmethod
    def from_dict(
        cls, values: Mapping[str, Any], metric: BaseMetric | None = None
    ) -> Estimate:
        """Make an estimate of what :meth:`to_dict` returned.

        Parameters
        ----------
        values : dict of str to object
        metric : BaseMetric, default=None
            Needed for intervals that are made of several means.

        Returns
        -------
        estimate : Estimate
        """
        low, high = values["bounds"]
        interval = Interval.from_dict(values["uncertainty"], metric)
        return cls(**{**values, "bounds": (low, high), "uncertainty": interval})


def _shown(value: Any, n_digits: int) -> str:
    """A number with so many digits; users' own estimators may return anything."""
    return f"{value:.{n_digits}g}" if is_number(value) else repr(value)
