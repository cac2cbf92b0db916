"""The history of an evaluation: noted estimates, and a forecast of labels needed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._inference._bounds import (
    FEW_LABELS,
    MIN_BOUNDED_LABELS,
    MIN_LABELS,
    Bets,
    check_interval,
)
from sklearn_ase._inference._steps import moments_with_prior
from sklearn_ase._labels._journal import described
from sklearn_ase._utils._checks import check_number, is_number
from sklearn_ase.risk import Estimate

if TYPE_CHECKING:
    from typing import Any

    from sklearn_ase._labels._ledger import LabelLedger
    from sklearn_ase.metrics._base import BaseMetric


class NotedBets:
    """The bets that were noted: each note has those that the one before lacks.

    So an anytime interval can be made of the notes alone, for each label, and a note
    takes the same room whatever the number of labels.

    Parameters
    ----------
    ledger : LabelLedger
    metric : BaseMetric or None
    """

    def __init__(self, ledger: LabelLedger, metric: BaseMetric | None) -> None:
        self._n_revisions = ledger.n_revisions
        found = map(bets_of, past_estimates(ledger, metric))
        self._before, self._last = [None, None, *found][-2:]

    def added(self, ledger: LabelLedger, bets: Bets | None, is_again: bool) -> Any:
        """What a note has to say of some bets; `is_again` if it replaces the last."""
        if ledger.n_revisions != self._n_revisions:  # Earlier notes may be gone.
            self._before = self._last = None
        self._n_revisions = ledger.n_revisions
        known = self._before if is_again else self._last
        self._before, self._last = known, bets
        return None if bets is None else bets.to_dict(bets.n_shared(known))


def bets_of(estimate: Estimate | None) -> Bets | None:
    """The bets of which the anytime interval of an estimate is made."""
    return None if estimate is None else estimate.uncertainty.bets


def note_estimate(ledger, estimate, refit=False, metric=None, noted=None):
    """Keep the estimate after the labels that came, or after the last one."""
    rows, n_missing = [], len(ledger.labels) - len(ledger.notes)
    for index in reversed(ledger.labels):  # The last ones lack notes.
        if len(rows) == n_missing:
            break
        if index not in ledger.notes:
            rows.append(index)
    rows = rows[::-1] or [next(reversed(ledger.labels))]
    values, is_again = _as_dict(estimate, metric), rows[-1] in ledger.notes
    bets = noted.added(ledger, bets_of(estimate), is_again)
    if bets is not None:
        values["bets"] = bets
    ledger.note(rows, values, bool(refit))


def check_estimate(found, risk):
    """Refuse a wrong return value of a risk estimator, which may be a user's."""
    if not isinstance(found, Estimate):
        raise TypeError(
            f"{type(risk).__name__}.estimate must return an Estimate, but returned "
            f"{found!r}. Use Estimate(value, standard_error, n_labels)."
        )
    for name in ("value", "standard_error"):
        value = getattr(found, name)
        # A standard error may be unknown; an estimate may not, without a reason.
        may_be_nan = name != "value" or found.refusal
        if not is_number(value) or not (math.isfinite(value) or may_be_nan):
            raise ValueError(
                f"{type(risk).__name__}.estimate must return an Estimate with a "
                f"finite value and a number as standard_error, but {name} is {value!r}."
            )
    return found


def past_estimates(ledger: LabelLedger, metric: BaseMetric | None = None) -> list[Any]:
    """Return the estimate after each label, in the order in which they came.

    An entry is None if there was no estimate then, or one of another metric.
    """
    name, found, bets = metric and described(metric), [], None
    for note in ledger.notes.values():
        estimate = _estimate_of(note, metric, name)
        values = (note["estimate"] or {}).get("bets")
        bets = None if values is None else Bets.from_dict(values, bets)
        found.append(_with_bets(estimate, bets))
    return found


def _with_bets(estimate, bets):
    """An estimate with the bets that were noted up to it."""
    if estimate is None or bets is None:
        return estimate
    return replace(estimate, uncertainty=estimate.uncertainty.with_bets(bets))


def last_noted(ledger: LabelLedger, metric: BaseMetric | None = None):
    """Return the last estimate that was noted; None if there is none."""
    found = reversed(past_estimates(ledger, metric))
    return next((estimate for estimate in found if estimate is not None), None)


def recent_estimates(ledger, metric=None):
    """Return the estimates since the last label without one."""
    estimates = past_estimates(ledger, metric)
    gaps = [place for place, estimate in enumerate(estimates) if estimate is None]
    return estimates[gaps[-1] + 1 :] if gaps else estimates


def lacks_last_estimate(ledger):
    """Return whether the last note has no estimate."""
    notes = ledger.notes
    return bool(notes) and notes[next(reversed(notes))]["estimate"] is None


def last_estimate(ledger, metric=None):
    """Return what was noted after the last label; None if nothing was."""
    if not ledger.notes:
        return None
    note = ledger.notes[next(reversed(ledger.notes))]
    return _estimate_of(note, metric, metric and described(metric))


def history(ledger, state, metric=None):
    """Return what happened as a dict of arrays, which ``pandas.DataFrame`` takes."""
    picks, estimates = state.labelled, past_estimates(ledger, metric)
    order = {index: place for place, index in enumerate(picks.indices.tolist())}
    places = np.array([order[index] for index in ledger.notes], dtype=int)
    return {
        "n_labels": np.arange(1, len(places) + 1),
        "index": picks.indices[places],
        "label": state.labels[places],
        "query_proba": picks.query_proba[places],
        "expected_loss": picks.expected_loss[places],
        "loss": picks.losses[places],
        "risk": np.array([np.nan if e is None else e.value for e in estimates]),
        "standard_error": np.array(
            [np.nan if e is None else e.standard_error for e in estimates]
        ),
        "refit": np.array([note["refit"] for note in ledger.notes.values()], bool),
    }


def past_intervals(ledger, level, method, metric=None):
    """Return the ends of the interval after each label; infinite if there was none."""
    check_interval(level, method)
    estimates = past_estimates(ledger, metric)
    ends = np.full((len(estimates), 2), [-np.inf, np.inf])
    for place, estimate in enumerate(estimates):
        if estimate is not None and not estimate.refusal_of(method):
            ends[place] = estimate.interval(level, method=method)
    return ends[:, 0], ends[:, 1]


def _as_dict(estimate, metric):
    """An estimate as plain values that a ledger can keep; None stays None."""
    if estimate is None:
        return None
    of = {} if metric is None else {"of": described(metric)}
    interval = estimate.uncertainty.with_bets(None)  # A note has those that are new.
    return of | replace(estimate, uncertainty=interval).to_dict()


def _estimate_of(note, metric, name):
    """The estimate of a note; None if there is none, or one of another metric."""
    values = note["estimate"]
    if values is None or values.get("of") != name:
        return None
    values = {name: v for name, v in values.items() if name not in ("of", "bets")}
    return Estimate.from_dict(values, metric)


# The forecast of how many labels an interval needs.


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
        if self.n_more and self.n_labels - self.n_more < FEW_LABELS:
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
    least = MIN_BOUNDED_LABELS if state.loss.is_bounded else MIN_LABELS
    low, high = max(n_labels, least) - 1, n_samples - n_skipped
    while high - low > 1:  # The width only falls with the number of labels.
        middle = (low + high) // 2
        enough = scale * width_with(middle) <= width
        low, high = (low, middle) if enough else (middle, high)
    n_known = state.n_labels  # Some may not count yet, because of an open row.
    return LabelForecast(max(high - n_known, 0), max(high, n_known), basis)


def metric_labels_needed(
    estimate, n_samples: int, n_known: int, width: float, level: float, method
) -> LabelForecast:
    """Forecast the labels an interval of a metric takes."""
    check_number(width, "width", 0, ends="()")
    check_interval(level, method)
    if not np.isfinite(estimate.standard_error):
        raise ValueError(
            "A forecast of labels needs an estimate with a standard error "
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
    return estimate.with_labels(n_labels, n_samples, error)


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
        "A forecast of labels needs an estimate with an interval, or a fitted "
        f"surrogate and a label (labels so far: {state.n_labels}). " + estimate.refusal
    )


def _believed_unit(state):
    """Variance of one step as the surrogate expects it; 0 if it expects nothing."""
    picks = state.settled
    if not picks.n_labels or state.belief is None or not picks.has_query_proba:
        return 0.0
    residual, _ = moments_with_prior(state)
    return residual[-1] / state.n_samples**2
