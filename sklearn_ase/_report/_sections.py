"""Sections about the number: the estimate, other metrics, the running curve."""

import math

import numpy as np

from sklearn_ase._report._blocks import Curve, Facts, Headline, Range, Table, Words
from sklearn_ase._report._text import counted, ends, number, percent
from sklearn_ase.metrics import MeanLoss, as_metric
from sklearn_ase.metrics._titles import title_of

# A picture shows no more points.
_MOST_POINTS = 400
_MOST_LINES = 12


def name_of(evaluation, metric=None):
    """Return the name of a metric as the report shows it.

    Parameters
    ----------
    evaluation : Evaluation
    metric : str or BaseMetric, default=None
        None means what the evaluation reports.

    Returns
    -------
    name : str
    """
    metric = evaluation.plan.metric if metric is None else metric
    if metric is None:
        return MeanLoss(evaluation.problem.loss).name
    return title_of(as_metric(metric))


def range_of(found, level, method="fixed"):
    """Return an estimate with its interval.

    Parameters
    ----------
    found : RiskEstimate or MetricEstimate
    level : float
    method : {"fixed", "anytime"}, default="fixed"

    Returns
    -------
    range : Range
        Without ends if there is no interval.
    """
    if not has_interval(found):
        return Range(float(found))
    low, high = found.interval(level, method)
    return Range(float(found), low, high)


def has_interval(found):
    """Return whether an estimate has an interval.

    Parameters
    ----------
    found : RiskEstimate or MetricEstimate

    Returns
    -------
    has_interval : bool
    """
    # The standard error of other risks may be unknown.
    is_known = hasattr(found, "metric") or math.isfinite(found.standard_error)
    return not found.refusal and is_known


def estimate_blocks(evaluation, level, groups=None):
    """The estimate with its intervals.

    Parameters
    ----------
    evaluation : Evaluation
    level : float
    groups : array-like of shape (n_samples,), default=None
        Rows of one group may be alike; the interval for new data allows for it.

    Yields
    ------
    block : block
    """
    found, name = evaluation.estimate(groups=groups), name_of(evaluation)
    fixed, anytime = (range_of(found, level, how) for how in ("fixed", "anytime"))
    yield Headline(name, fixed, anytime, level)
    yield Words(_sentence(evaluation, found, name, fixed, level))
    if not has_interval(found):
        reason = found.refusal.removeprefix("No interval: ")
        reason = f"There is no interval. {reason[:1].upper()}{reason[1:]}"
        yield Words(reason.rstrip(), is_missing=True)
        return
    # All numbers of this section have the same decimals.
    reach = 0.5 * (fixed.high - fixed.low)
    facts = {} if fixed.is_known else _of_looks(found, fixed, anytime, level, reach)
    facts |= _of_population(found, level, reach, groups is not None)
    if getattr(found, "note", ""):
        facts["note"] = found.note
    if facts:
        yield Facts(facts)


def metric_blocks(evaluation, metrics, level):
    """Other metrics from the same labels; each that fails says why.

    Parameters
    ----------
    evaluation : Evaluation
    metrics : list of str or BaseMetric
    level : float

    Yields
    ------
    block : block
    """
    yield Words(
        "The same labels answer other questions about the same rows. The rows were "
        f"picked for {name_of(evaluation)}, so other metrics may be less precise."
    )
    rows = []
    for metric in metrics:
        try:
            found = evaluation.estimate(metric=metric)
            note = found.refusal or getattr(found, "note", "")
            rows.append([name_of(evaluation, metric), range_of(found, level), note])
        except Exception as error:
            name = getattr(metric, "name", metric)
            rows.append([str(name), math.nan, f"Not available: {error}"])
    head = ["metric", f"estimate ({percent(level)} interval)", "note"]
    if not any(row[2] for row in rows):
        head, rows = head[:2], [row[:2] for row in rows]
    yield Table(head, rows)


def curve_blocks(evaluation, level):
    """The estimate as labels came.

    Parameters
    ----------
    evaluation : Evaluation
    level : float

    Yields
    ------
    block : block
    """
    columns = _curve(evaluation, level)
    if not len(columns["n_labels"]):
        raise ValueError("No label has an estimate yet.")
    name = name_of(evaluation)
    if len(columns["n_labels"]) > 1:
        yield Curve(name, level, _thinned(columns, _MOST_POINTS))
    else:
        n_labels = counted(int(columns["n_labels"][0]), "label")
        yield Words(f"There is one estimate so far, after {n_labels}.")
    forecast = _forecast(evaluation, level)
    if forecast:
        yield Words(forecast)
    points = _thinned(columns, _MOST_LINES)
    names = ("n_labels", "estimate", "low", "high", "anytime_low", "anytime_high")
    rows = []
    for n_labels, value, *each in zip(
        *(points[n].tolist() for n in names), strict=True
    ):
        low, high, anytime_low, anytime_high = each
        line = [n_labels, _drawable(value, low, high)]
        rows.append([*line, _drawable(value, anytime_low, anytime_high)])
    head = ["labels", f"{name} ({percent(level)} interval, for one look)"]
    yield Table([*head, "for any number of looks"], rows, is_folded=True)


def _sentence(evaluation, found, name, fixed, level):
    rows = counted(evaluation.n_samples, "row")
    weighted = " (weighted)" * (evaluation.problem.sample_weight is not None)
    text = (
        f"The estimated {name} over all {rows} of the pool{weighted} is "
        f"{number(fixed.value, 0.5 * (fixed.high - fixed.low))}, from "
        f"{counted(found.n_labels, 'label')}."
    )
    if hasattr(evaluation, "models"):  # A choice between several.
        text += f" The model is {evaluation.best_name}, the best so far."
    if not found.n_labels:
        text += " No label counts in it yet: it is what the surrogate expects."
    if fixed.is_known:
        text += " It is known: every row that can be labelled has a label."
    elif fixed.has_ends:
        text += (
            f" With {percent(level)} confidence it lies between "
            f"{ends(fixed.low, fixed.high).replace(' to ', ' and ')}."
        )
    if found.n_skipped:
        skipped = counted(found.n_skipped, "row")
        text += f" It is about the rows that can be labelled: {skipped} could not."
    return text


def _of_looks(found, fixed, anytime, level, reach):
    """Both intervals, and when each of them holds."""
    often = "none: it has no end yet."
    if anytime.has_ends:
        often = (
            f"{ends(anytime.low, anytime.high, reach)}. It holds however often "
            f"somebody looked before the labelling stopped.{_assumption(found)}"
        )
    sure = percent(level)
    return {
        f"{sure} interval, for one look": f"{ends(fixed.low, fixed.high)}. It holds if "
        "the number of labels was chosen before anybody looked at the result.",
        f"{sure} interval, for any number of looks": often,
    }


def _assumption(found):
    """What the interval for any number of looks rests on."""
    mean = getattr(found, "mean", found)
    if mean is not None and mean.anytime:
        return ""
    return " It assumes that the estimate is normally distributed."


def _of_population(found, level, reach, in_groups=False):
    try:
        low, high = found.interval(level, target="population")
    except ValueError:  # The estimate does not say how much the pool varies.
        return {}
    if not (math.isfinite(low) and math.isfinite(high)):
        return {}
    each = "group by group" if in_groups else "row by row"
    text = (
        f"{ends(low, high, reach)}. It holds for the data that the pool was drawn "
        f"from, if it was drawn at random, {each}."
    )
    return {f"{percent(level)} interval, for new data": text}


def _curve(evaluation, level):
    """Columns of the curve, with one point for each batch of labels."""
    history = evaluation.history
    columns = {
        "n_labels": history["n_labels"],
        "estimate": history["risk"],
        "refit": history["refit"],
    }
    for prefix, method in (("", "fixed"), ("anytime_", "anytime")):
        low, high = evaluation.intervals(level, method)
        columns |= {f"{prefix}low": low, f"{prefix}high": high}
    stays = np.array(evaluation.ledger.ends_of_batches, dtype=bool)
    stays &= np.isfinite(columns["estimate"])
    return {name: column[stays] for name, column in columns.items()}


def _thinned(columns, most):
    """The columns with at most so many points, the last one among them."""
    n_points = len(columns["n_labels"])
    places = np.unique(np.linspace(0, n_points - 1, min(n_points, most)).round())
    places = places.astype(int)
    return {name: column[places] for name, column in columns.items()}


def _drawable(value, low, high):
    """A number with its interval, if that has two ends."""
    found = Range(value, low, high)
    return found if found.has_ends else Range(value)


def _forecast(evaluation, level):
    """How many labels would halve the interval, in words; empty if nobody knows."""
    found = range_of(evaluation.estimate(), level)
    if not found.has_ends or found.is_known:
        return ""
    try:
        more = int(evaluation.labels_needed(0.5 * (found.high - found.low), level))
    except ValueError:  # Some risks have no interval that labels narrow.
        return ""
    if not more:  # Labels that wait for an open row would do.
        return ""
    return (
        f"An interval of half the width would take about {more} more labels, if "
        "labels to come tell as much as those so far."
    )
