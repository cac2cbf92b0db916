"""The commands that answer: ``status``, ``check``, ``estimate`` and ``judges``."""

import math

import numpy as np

from sklearn_ase._cli._campaign import Campaign
from sklearn_ase._cli._columns import as_groups, pick_column
from sklearn_ase._cli._metrics import other_metric
from sklearn_ase._evaluation._forecast import metric_labels_needed
from sklearn_ase._evaluation._history import past_estimates
from sklearn_ase._utils._checks import check_number
from sklearn_ase.metrics._titles import title_of

YES, NO, UNDECIDED = 0, 1, 2


def status(args):
    """Say how far a campaign is.

    Parameters
    ----------
    args : argparse.Namespace

    Returns
    -------
    result : dict of str to object
    """
    campaign = Campaign.load(args.journal)
    n_samples, ledger, estimate = _last(campaign)
    last = next(reversed(ledger.labels), None)
    return {
        "rows": n_samples,
        "labels": len(ledger),
        "open": len(ledger.pending),
        "skipped": len(ledger.skipped),
        "last_label": None
        if last is None
        else {"row": last, "label": ledger.labels[last]},
        "level": args.level,
        **_described(campaign.goal, estimate, args.level),
    }


def check(args):
    """Say whether a limit is met; the exit code is the answer.

    Parameters
    ----------
    args : argparse.Namespace

    Returns
    -------
    result : dict of str to object
        Its ``exit_code`` is 0 for yes, 1 for no, 2 if it is not decided yet.
    """
    if args.at_least is None and args.at_most is None:
        raise ValueError("check needs --at-least or --at-most, or both.")
    check_number(args.level, "--level", 0, 1, ends="()")
    campaign = Campaign.load(args.journal)
    n_samples, ledger, estimate = _last(campaign)
    limits = {"at_least": args.at_least, "at_most": args.at_most}
    found = {"metric": title_of(campaign.goal), "labels": len(ledger), **limits}
    found |= {"level": args.level, "method": args.method, "labels_needed": None}
    low, high = _interval(estimate, args.level, args.method)
    found |= {"estimate": None if estimate is None else estimate.value}
    found |= {"low": low, "high": high}
    if low is None:
        reason = "There is no label yet." if estimate is None else estimate.refusal
        return found | {"answer": "not decided", "exit_code": UNDECIDED, "why": reason}
    least = -math.inf if args.at_least is None else args.at_least
    most = math.inf if args.at_most is None else args.at_most
    if least <= low and high <= most:
        return found | {"answer": "yes", "exit_code": YES}
    if high < least or low > most:
        return found | {"answer": "no", "exit_code": NO}
    ends = low, high
    found["labels_needed"] = _needed(
        estimate, ends, (least, most), n_samples, len(ledger), args
    )
    return found | {"answer": "not decided", "exit_code": UNDECIDED, "why": ""}


def estimate(args):
    """Answer a question from the labels of a campaign.

    Parameters
    ----------
    args : argparse.Namespace

    Returns
    -------
    result : dict of str to object, or SliceTable
    """
    campaign = Campaign.load(args.journal)
    columns = campaign.columns()
    goal = None
    if args.metric is not None:
        goal = other_metric(campaign, args.metric, args.half, args.pos_label)
    if args.by is not None and args.where:
        raise ValueError("Give --by or --where, not both.")
    groups = where = None
    if args.by is not None:
        groups = as_groups(pick_column(columns, args.by, "--by"))
    if args.where:
        where = _where(columns, args.where)
    with campaign.open(columns) as evaluation:
        n_labels = len(evaluation.ledger)
        if not n_labels:
            raise ValueError("There is no label yet. Use ask and tell first.")
        if groups is not None:
            table = evaluation.estimate_by(groups, metric=goal, level=args.level)
            table.caption = title_of(goal or campaign.goal), f" by {args.by}"
            return table
        found = evaluation.estimate(metric=goal, where=where)
        result = {"rows": evaluation.n_samples, "labels": n_labels}
        if where is not None:
            result["rows"] = int(where.sum())
            rows = list(evaluation.ledger.labels)
            result["labels"] = int(where[rows].sum())
    result["level"] = args.level
    return result | _described(goal or campaign.goal, found, args.level)


def judges(args):
    """Say what each judge is worth.

    Parameters
    ----------
    args : argparse.Namespace

    Returns
    -------
    table : JudgeTable
    """
    campaign = Campaign.load(args.journal)
    if not campaign.judge:
        raise ValueError("This campaign has no judge. Name one at the start: --judge.")
    with campaign.open(campaign.columns()) as evaluation:
        if not len(evaluation.ledger):
            raise ValueError("There is no label yet. Use ask and tell first.")
        return evaluation.judges(level=args.level)


def _last(campaign):
    """Size of the pool, ledger and last estimate; nothing is fitted if it is noted."""
    n_samples, ledger = campaign.read()
    if not ledger.labels:
        return n_samples, ledger, None
    if ledger.unnoted is None:
        found = past_estimates(ledger, campaign.goal)[-1:]
        if found and found[0] is not None:
            return n_samples, ledger, found[0]
    with campaign.open(campaign.columns()) as evaluation:
        return n_samples, evaluation.ledger.copy(), evaluation.estimate()


def _described(goal, found, level):
    """An estimate as plain values."""
    low, high = _interval(found, level, "fixed")
    anytime_low, anytime_high = _interval(found, level, "anytime")
    return {
        "metric": title_of(goal),
        "estimate": None if found is None else float(found),
        "low": low,
        "high": high,
        "anytime_low": anytime_low,
        "anytime_high": anytime_high,
        "no_interval": "" if found is None else found.refusal,
        "note": getattr(found, "note", ""),
        "labels_used": 0 if found is None else found.n_labels,
    }


def _interval(found, level, method):
    """Ends of an interval; None if there is none."""
    check_number(level, "--level", 0, 1, ends="()")
    if found is None or found.refusal:
        return None, None
    return found.interval(level, method=method)


def _needed(found, ends, limits, n_samples, n_known, args):
    """Labels in all until the limits are decided, if the estimate stays where it is.

    None if the estimate is at a limit, so that no number of labels can be named.
    """
    value, shares = found.value, []
    for limit in filter(math.isfinite, limits):
        if ends[0] < limit <= ends[1] or ends[0] <= limit < ends[1]:
            side = value - ends[0] if limit < value else ends[1] - value
            shares.append(abs(value - limit) / side if side > 0 else 0.0)
    share = min(shares, default=0.0)
    if not share > 0 or found.n_labels >= n_samples:
        return None
    # The interval that more labels are expected to give, in its form of today.
    now = found.with_labels(found.n_labels, n_samples)
    low, high = now.interval(args.level, method=args.method)
    width = share * (high - low)
    forecast = metric_labels_needed(
        now, n_samples, n_known, width, args.level, args.method
    )
    return forecast.n_labels


def _where(columns, conditions):
    """Rows that meet all conditions such as ``region=north``."""
    where = None
    for condition in conditions:
        name, sign, value = condition.partition("=")
        if not sign:
            raise ValueError(f"--where {condition} must have the form COLUMN=VALUE.")
        cells = as_groups(pick_column(columns, name, "--where"))
        mask = np.array([cell == value for cell in cells])
        if not mask.any():
            some = ", ".join(sorted(set(cells))[:8])
            raise ValueError(f"--where {condition}: no row has it. There are {some}.")
        where = mask if where is None else where & mask
    if not where.any():
        raise ValueError("No row meets all conditions of --where.")
    return where
