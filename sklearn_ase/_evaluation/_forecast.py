"""Forecast how many more labels a narrower interval takes."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_ase._inference._intervals import MIN_LABELS, check_interval
from sklearn_ase._inference._steps import moments_with_prior
from sklearn_ase._utils._checks import check_number


@dataclass(frozen=True)
class LabelForecast:
    """Number of labels that an interval of some width is expected to take.

    Attributes
    ----------
    n_more : int
    n_labels : int
        Labels in all.
    basis : str
        How the forecast was found.
    """

    n_more: int
    n_labels: int
    basis: str

    def __int__(self):
        return self.n_more

    def __str__(self):
        return f"{self.n_more} more labels, {self.n_labels} in all. {self.basis}"


def labels_needed(state, estimate, width, level, method):
    """Forecast the labels an interval takes; see :meth:`Evaluation.labels_needed`.

    The variance of a mean of M steps falls as ``1/M - 1/N``; what one step is worth
    is taken from the interval there is, or from what the surrogate expects of it.
    """
    check_number(width, "width", 0, ends="()")
    check_interval(level, method)
    n_samples, picks = state.n_samples, state.settled
    n_labels, n_skipped = picks.n_labels, picks.n_skipped
    if n_labels + n_skipped == n_samples:
        return LabelForecast(0, n_labels, "Every row is labelled: the risk is known.")
    unit, basis = _unit_variance(state, estimate)

    def width_with(n):
        error = np.sqrt(unit * max(1.0 / n - 1.0 / n_samples, 0.0))
        then = replace(
            estimate,
            standard_error=float(error),
            n_labels=n,
            degrees_of_freedom=n - 1,
            refusal="",
        )
        low, high = then.interval(level, method=method)
        return high - low

    if estimate.refusal == "" and width_with(n_labels) <= width:
        return LabelForecast(0, n_labels, basis)
    low, high = max(n_labels, MIN_LABELS) - 1, n_samples - n_skipped
    while high - low > 1:  # The width only falls with the number of labels.
        middle = (low + high) // 2
        low, high = (low, middle) if width_with(middle) <= width else (middle, high)
    n_known = state.n_labels  # Some may wait behind an open row.
    return LabelForecast(max(high - n_known, 0), max(high, n_known), basis)


def _unit_variance(state, estimate):
    """Variance of one step, and where it is taken from."""
    picks, n_samples = state.settled, state.n_samples
    n_labels = picks.n_labels
    if not estimate.refusal:
        unit = estimate.standard_error**2 / (1.0 / n_labels - 1.0 / n_samples)
        return unit, (
            f"From the standard error after {n_labels} labels, which falls as the root "
            "of their number if labels to come are as informative as those so far."
        )
    if n_labels and state.belief is not None and picks.has_query_proba:
        residual, _ = moments_with_prior(state)
        unit = residual[-1] / n_samples**2
        basis = (
            "From what the surrogate expects of the next labels: there are too few "
            f"labels for an interval. Ask again after {MIN_LABELS} labels."
        )
        if unit > 0:
            return unit, basis
    raise ValueError(
        "labels_needed() needs an estimate with an interval, or a fitted surrogate and "
        f"a label ({state.n_labels} labels so far). " + estimate.refusal
    )
