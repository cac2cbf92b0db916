"""Forecast how many more labels a narrower interval takes."""

from dataclasses import dataclass

import numpy as np

from sklearn_ase._inference._intervals import MIN_LABELS, check_interval
from sklearn_ase._inference._steps import moments_with_prior
from sklearn_ase._utils._checks import check_number
from sklearn_ase.risk._later import mean_later

# With fewer labels a forecast says next to nothing.
_FEW_LABELS = 10


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
        text = f"{self.n_more} more labels, {self.n_labels} in all."
        if self.n_more and self.n_labels - self.n_more < _FEW_LABELS:
            few = f"Too few labels for a forecast: ask again after {MIN_LABELS}."
            return f"{few} So far it says: {text}"
        return f"{text} {self.basis}"


def labels_needed(state, estimate, width, level, method):
    """Forecast the labels an interval takes; see :meth:`Evaluation.labels_needed`.

    The variance of a mean of M steps falls as ``1/M - 1/N``. The variance of one step
    is taken from the present interval, or from what the surrogate expects.
    """
    check_number(width, "width", 0, ends="()")
    check_interval(level, method)
    n_samples, picks = state.n_samples, state.settled
    n_labels, n_skipped = picks.n_labels, picks.n_skipped
    if n_labels + n_skipped == n_samples:
        return LabelForecast(0, n_labels, "Every row is labelled: the risk is known.")
    unit, basis = _unit_variance(state, estimate)

    def width_with(n):
        low, high = _forecast_of(estimate, unit, n, n_samples).interval(level, method)
        return high - low

    # The forecast knows the anytime interval of a bounded loss only roughly; the
    # interval there is now says by how much.
    scale = 1.0
    if not estimate.refusal_of(method):
        low, high = estimate.interval(level, method=method)
        scale = (high - low) / max(width_with(n_labels), np.finfo(float).tiny)
        if high - low <= width:
            return LabelForecast(0, n_labels, basis)
    least = 2 if state.loss.is_bounded else MIN_LABELS
    low, high = max(n_labels, least) - 1, n_samples - n_skipped
    while high - low > 1:  # The width only falls with the number of labels.
        middle = (low + high) // 2
        enough = scale * width_with(middle) <= width
        low, high = (low, middle) if enough else (middle, high)
    n_known = state.n_labels  # Some may not count yet, because of an open row.
    return LabelForecast(max(high - n_known, 0), max(high, n_known), basis)


def metric_labels_needed(estimate, n_samples, n_known, width, level, method):
    """Forecast the labels an interval of a metric takes.

    Parameters
    ----------
    estimate : MetricEstimate
    n_samples, n_known : int
        Size of the pool, and number of labels.
    width, level : float
    method : str
        See :meth:`Evaluation.labels_needed`.

    Returns
    -------
    forecast : LabelForecast
    """
    check_number(width, "width", 0, ends="()")
    check_interval(level, method)
    if not np.isfinite(estimate.standard_error):
        raise ValueError(
            "labels_needed() needs an estimate with a standard error "
            f"(labels so far: {n_known}). {estimate.refusal}"
        )

    def width_with(n):
        low, high = estimate.with_labels(n, n_samples).interval(level, method)
        return high - low

    basis = (
        f"From the error of {estimate.name} after {n_known} labels. It falls with the "
        "root of the number of labels if later labels are as informative."
    )
    if estimate.refusal_of(method):
        low = MIN_LABELS - 1
    else:
        ends = estimate.interval(level, method=method)
        if ends[1] - ends[0] <= width:
            return LabelForecast(0, n_known, basis)
        low = n_known
    low, high = min(max(low, 1), n_samples - 1), n_samples
    while high - low > 1:  # The width only falls with the number of labels.
        middle = (low + high) // 2
        enough = width_with(middle) <= width
        low, high = (low, middle) if enough else (middle, high)
    return LabelForecast(max(high - n_known, 0), max(high, n_known), basis)


def _forecast_of(estimate, unit, n_labels, n_samples):
    """The estimate as it is expected to be after that many labels."""
    error = float(np.sqrt(unit * max(1.0 / n_labels - 1.0 / n_samples, 0.0)))
    return mean_later(estimate, n_labels, n_samples, max(n_labels - 1, 1), error)


def _unit_variance(state, estimate):
    """Variance of one step, and where it is taken from."""
    picks, n_samples = state.settled, state.n_samples
    n_labels = picks.n_labels
    has_interval = not estimate.refusal
    if n_labels < MIN_LABELS or not has_interval:
        unit = _believed_unit(state)
        if unit > 0:
            return unit, (
                "From what the surrogate expects of the next labels: there are few "
                f"labels. Ask again after {MIN_LABELS} labels."
            )
    if has_interval:
        unit = estimate.standard_error**2 / (1.0 / n_labels - 1.0 / n_samples)
        return unit, (
            f"From the standard error after {n_labels} labels. It falls with the root "
            "of the number of labels if later labels are as informative."
        )
    raise ValueError(
        "labels_needed() needs an estimate with an interval, or a fitted surrogate and "
        f"a label (labels so far: {state.n_labels}). " + estimate.refusal
    )


def _believed_unit(state):
    """Variance of one step as the surrogate expects it; 0 if it expects nothing."""
    picks = state.settled
    if not picks.n_labels or state.belief is None or not picks.has_query_proba:
        return 0.0
    residual, _ = moments_with_prior(state)
    return residual[-1] / state.n_samples**2
