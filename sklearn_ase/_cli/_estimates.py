"""Estimates of a campaign: the one that was noted last, and all of them as values."""

import math

from sklearn_ase._evaluation._history import last_noted
from sklearn_ase.metrics._titles import title_of


def noted_estimate(campaign, ledger):
    """Return the estimate that was noted last; nothing is fitted.

    Parameters
    ----------
    campaign : Campaign
    ledger : LabelLedger

    Returns
    -------
    estimate : MetricEstimate or None
    is_current : bool
        False if labels have changed since, and nobody has made an estimate yet.
    """
    if not ledger.labels:
        return None, True
    last = last_noted(ledger, campaign.goal)
    return last, last is not None and ledger.unnoted is None


def last_estimate(campaign):
    """Return the estimate from all labels; something is fitted only if it must be.

    Parameters
    ----------
    campaign : Campaign

    Returns
    -------
    n_samples : int
        Size of the pool.
    ledger : LabelLedger
    estimate : MetricEstimate or None
        None before the first label.
    """
    n_samples, ledger = campaign.read()
    found, is_current = noted_estimate(campaign, ledger)
    if is_current:
        return n_samples, ledger, found
    with campaign.open(campaign.columns()) as evaluation:
        return n_samples, evaluation.ledger.copy(), evaluation.estimate()


def described(goal, found, level):
    """Return an estimate as plain values.

    Parameters
    ----------
    goal : BaseMetric
    found : MetricEstimate or None
    level : float

    Returns
    -------
    values : dict of str to object
    """
    low, high = ends_of(found, level, "fixed")
    anytime_low, anytime_high = ends_of(found, level, "anytime")
    return {
        "metric": title_of(goal),
        "estimate": None if found is None else float(found),
        "level": level,
        "low": low,
        "high": high,
        "anytime_low": anytime_low,
        "anytime_high": anytime_high,
        "no_interval": "" if found is None else found.refusal,
        "note": getattr(found, "note", ""),
        "labels_used": 0 if found is None else found.n_labels,
    }


def ends_of(found, level, method, target="pool"):
    """Return the ends of an interval, or None twice if there is no interval.

    Parameters
    ----------
    found : MetricEstimate or None
    level : float
    method : {"fixed", "anytime"}
    target : {"pool", "population"}, default="pool"

    Returns
    -------
    low, high : float or None
    """
    if found is None or found.refusal_of(method):
        return None, None
    ends = found.interval(level, method=method, target=target)
    return ends if all(map(math.isfinite, ends)) else (None, None)
