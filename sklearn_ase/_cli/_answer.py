"""The commands that answer: ``status``, ``estimate``, ``judges`` and others."""

from contextlib import contextmanager
from dataclasses import asdict

import numpy as np

from sklearn_ase._cli._campaign import Campaign
from sklearn_ase._cli._columns import as_groups, pick_column
from sklearn_ase._cli._comparing import compared_groups, compared_models
from sklearn_ase._cli._estimates import described, ends_of, noted_estimate
from sklearn_ase._cli._metrics import other_metric
from sklearn_ase._cli._stopping import has_rules, reason_to_stop, spent_on
from sklearn_ase.metrics._titles import title_of


def status(args):
    """Say how far a campaign is. Nothing is fitted.

    The pool is read only if rows have different costs and there is a budget.

    Parameters
    ----------
    args : argparse.Namespace

    Returns
    -------
    result : dict of str to object
    """
    campaign = Campaign.load(args.journal)
    n_samples, ledger = campaign.read()
    found, is_current = noted_estimate(campaign, ledger)
    last = next(reversed(ledger.labels), None)
    result = {
        "rows": n_samples,
        "labels": len(ledger),
        "known_labels": len(ledger.known),
        "open": len(ledger.pending),
        "skipped": len(ledger.skipped),
        "last_label": None
        if last is None
        else {"row": last, "label": ledger.labels[last]},
        "is_current": is_current,
        **described(campaign.goal, found, args.level),
    }
    if has_rules(campaign):
        has_budget = campaign.budget is not None
        spent = spent_on(campaign, ledger) if has_budget else None
        reason = reason_to_stop(campaign, ledger, spent)
        result |= {"spent": spent, "budget": campaign.budget, "stop_reason": reason}
    return result


def estimate(args):
    """Answer a question from the labels of a campaign.

    Parameters
    ----------
    args : argparse.Namespace

    Returns
    -------
    result : dict of str to object, or SliceTable
    """
    ways = {"--by": args.by, "--where": args.where, "--compare": args.compare}
    ways["--compare-by"] = args.compare_by
    given = [way for way, value in ways.items() if value]
    if len(given) > 1 and given != ["--where", "--compare"]:
        raise ValueError(f"Give {' or '.join(given)}, not both.")
    if args.reference is not None and not (args.compare or args.compare_by):
        raise ValueError("--reference belongs to --compare or --compare-by.")
    if args.groups and not args.population:
        raise ValueError("--groups belongs to --population.")
    if args.population and given not in ([], ["--where"]):
        raise ValueError(f"Give --population or {given[-1]}, not both.")
    campaign = Campaign.load(args.journal)
    columns = campaign.columns()
    goal = _metric(campaign, args)
    groups = where = alike = None
    if args.by or args.compare_by:
        option = "--by" if args.by else "--compare-by"
        groups = as_groups(pick_column(columns, args.by or args.compare_by, option))
    if args.where:
        where = _where(columns, args.where)
    if args.groups:
        alike = as_groups(pick_column(columns, args.groups, "--groups"))
    with _opened(campaign, columns) as evaluation:
        if args.compare:
            about = campaign, columns, goal, where, args
            return compared_models(evaluation, *about)
        if args.compare_by:
            return compared_groups(evaluation, groups, goal, args)
        if args.by:
            table = evaluation.estimate_by(
                groups, metric=goal, level=args.level, simultaneous=args.simultaneous
            )
            table.caption = title_of(goal), f" by {args.by}"
            return table
        return _estimate(evaluation, goal, where, alike, args)


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
    with _opened(campaign) as evaluation:
        return evaluation.judges(level=args.level)


def agreement(args):
    """Say how far annotators agree.

    Parameters
    ----------
    args : argparse.Namespace

    Returns
    -------
    result : dict of str to object
    """
    with _opened(Campaign.load(args.journal)) as evaluation:
        if not evaluation.ledger.more_labels:
            raise ValueError(
                "No row has two or more answers yet. Label Studio can ask several "
                "people about a row; tell reads all their answers."
            )
        found = evaluation.agreement(level=args.level)
        return {**asdict(found), "words": str(found)}


def diagnose(args):
    """Say whether the labels agree with what was expected of them.

    Parameters
    ----------
    args : argparse.Namespace

    Returns
    -------
    result : dict of str to object
    """
    with _opened(Campaign.load(args.journal)) as evaluation:
        found = evaluation.diagnose()
        return {**asdict(found), "words": str(found)}


@contextmanager
def _opened(campaign, columns=None):
    """The evaluation of a campaign that has a label."""
    columns = campaign.columns() if columns is None else columns
    with campaign.open(columns) as evaluation:
        if not len(evaluation.ledger):
            raise ValueError("There is no label yet. Use ask and tell first.")
        yield evaluation


def _estimate(evaluation, goal, where, alike, args):
    found = evaluation.estimate(groups=alike, metric=goal, where=where)
    result = {"rows": evaluation.n_samples, "labels": len(evaluation.ledger)}
    if where is not None:
        rows = list(evaluation.ledger.labels)
        result = {"rows": int(where.sum()), "labels": int(where[rows].sum())}
    result |= described(goal, found, args.level)
    if args.population:
        ends = ends_of(found, args.level, "fixed", "population")
        result["population_low"], result["population_high"] = ends
    return result


def _metric(campaign, args):
    """The metric that was asked for, or that of the campaign."""
    if args.metric is None:
        return campaign.goal
    return other_metric(campaign, args.metric, args.half, args.pos_label)


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
