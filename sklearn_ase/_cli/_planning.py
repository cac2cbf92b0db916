"""The commands about more labels: ``plan``, and ``check`` with its forecast."""

import math

from sklearn_ase._cli._campaign import Campaign
from sklearn_ase._cli._estimates import described, ends_of, last_estimate
from sklearn_ase._evaluation._forecast import metric_labels_needed
from sklearn_ase.metrics._titles import title_of

YES, NO, UNDECIDED = 0, 1, 2


def plan(args):
    """Forecast the labels that intervals of some widths take.

    Parameters
    ----------
    args : argparse.Namespace

    Returns
    -------
    result : dict of str to object
    """
    campaign = Campaign.load(args.journal)
    n_samples, ledger, found = last_estimate(campaign)
    if found is None:
        raise ValueError(
            "There is no label yet. Label some 20 rows first: a plan needs a pilot."
        )
    how = args.level, args.method
    forecasts = [
        metric_labels_needed(found, n_samples, len(ledger), width, *how)
        for width in args.width
    ]
    result = described(campaign.goal, found, args.level)
    result |= {"rows": n_samples, "labels": len(ledger), "method": args.method}
    result["plan"] = [
        {"width": width, "labels": each.n_labels, "more_labels": each.n_more}
        for width, each in zip(args.width, forecasts, strict=True)
    ]
    return result | {"basis": forecasts[0].basis}


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
    campaign = Campaign.load(args.journal)
    n_samples, ledger, estimate = last_estimate(campaign)
    limits = {"at_least": args.at_least, "at_most": args.at_most}
    found = {"metric": title_of(campaign.goal), "labels": len(ledger), **limits}
    found |= {"level": args.level, "method": args.method, "labels_needed": None}
    low, high = ends_of(estimate, args.level, args.method)
    found |= {"estimate": None if estimate is None else estimate.value}
    found |= {"low": low, "high": high}
    if low is None:
        reason = "There is no label yet."
        if estimate is not None:
            reason = estimate.refusal or "There is no such interval yet."
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
