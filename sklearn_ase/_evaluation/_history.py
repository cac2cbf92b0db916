"""What happened, label by label."""

import math
from dataclasses import fields

import numpy as np

from sklearn_ase._inference._intervals import check_interval
from sklearn_ase._labels._opening import described
from sklearn_ase._utils._checks import is_number
from sklearn_ase.risk import MetricEstimate, RiskEstimate


def note_estimate(ledger, estimate, refit=False, metric=None):
    """Keep the estimate after the labels that came, or after the last one.

    Parameters
    ----------
    ledger : LabelLedger
        With at least one label.
    estimate : RiskEstimate or None
    refit : bool, default=False
        Whether the surrogate was fitted again.
    metric : BaseMetric, default=None
        What was estimated; None means the mean of the loss.
    """
    rows, n_missing = [], len(ledger.labels) - len(ledger.notes)
    for index in reversed(ledger.labels):  # The last ones lack notes.
        if len(rows) == n_missing:
            break
        if index not in ledger.notes:
            rows.append(index)
    rows = rows[::-1] or [next(reversed(ledger.labels))]
    ledger.note(rows, _as_dict(estimate, metric), bool(refit))


def check_estimate(found, risk):
    """Refuse a wrong return value of a risk estimator, which may be a user's."""
    if isinstance(found, MetricEstimate):
        return found
    if not isinstance(found, RiskEstimate):
        raise TypeError(
            f"{type(risk).__name__}.estimate must return a RiskEstimate, but returned "
            f"{found!r}. Use RiskEstimate(value, standard_error, n_labels)."
        )
    for name in ("value", "standard_error"):
        value = getattr(found, name)
        # A standard error may be unknown, an estimate may not.
        if not is_number(value) or not (math.isfinite(value) or name != "value"):
            raise ValueError(
                f"{type(risk).__name__}.estimate must return a RiskEstimate with a "
                f"finite value and a number as standard_error, but {name} is {value!r}."
            )
    return found


def past_estimates(ledger, metric=None):
    """Return the estimate after each label, in the order in which they came.

    An entry is None if there was no estimate then, or one of another metric.

    Parameters
    ----------
    ledger : LabelLedger
    metric : BaseMetric, default=None
        What was estimated; None means the mean of the loss.

    Returns
    -------
    estimates : list of RiskEstimate, MetricEstimate or None
    """
    name = metric and described(metric)
    return [_estimate_of(note, metric, name) for note in ledger.notes.values()]


def last_noted(ledger, metric=None):
    """Return the last estimate that was noted; None if there is none.

    Parameters
    ----------
    ledger : LabelLedger
    metric : BaseMetric, default=None

    Returns
    -------
    estimate : RiskEstimate, MetricEstimate or None
    """
    name = metric and described(metric)
    notes = reversed(ledger.notes.values())
    found = (_estimate_of(note, metric, name) for note in notes)
    return next((estimate for estimate in found if estimate is not None), None)


def recent_estimates(ledger, metric=None):
    """Return the estimates since the last label without one.

    Parameters
    ----------
    ledger : LabelLedger
    metric : BaseMetric, default=None

    Returns
    -------
    estimates : list of RiskEstimate or MetricEstimate
    """
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
    """Return what happened as a dict of arrays, which ``pandas.DataFrame`` takes.

    Parameters
    ----------
    ledger : LabelLedger
    state : PoolState
    metric : BaseMetric, default=None

    Returns
    -------
    history : dict of str to ndarray of shape (n_labels,)
    """
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
    """Return the ends of the interval after each label; infinite if there was none.

    Parameters
    ----------
    ledger : LabelLedger
    level : float
    method : {"fixed", "anytime", "anytime_normal"}
    metric : BaseMetric, default=None

    Returns
    -------
    low, high : ndarrays of shape (n_labels,)
    """
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
    if isinstance(estimate, MetricEstimate):
        return {"of": described(metric), **estimate.to_dict()}
    names = [f.name for f in fields(estimate) if f.name != "note"]
    values = {name: getattr(estimate, name) for name in names}
    # Risk estimators of users may hold numpy numbers.
    return {name: v.item() if hasattr(v, "item") else v for name, v in values.items()}


def _estimate_of(note, metric, name):
    """The estimate of a note; None if there is none, or one of another metric."""
    values = note["estimate"]
    if values is None or values.get("of") != name:
        return None
    if metric is None:
        return RiskEstimate(**values)
    values = {name: value for name, value in values.items() if name != "of"}
    return MetricEstimate.from_dict(values, metric)
