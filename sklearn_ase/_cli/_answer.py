"""Estimates of a campaign: the one that was noted last, and all of them as values."""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._cli._campaign import (
    Campaign,
    has_rules,
    other_metric,
    predictions_in,
    reason_to_stop,
    spent_on,
)
from sklearn_ase._cli._columns import as_groups, pick_column
from sklearn_ase._evaluation._history import last_noted, metric_labels_needed
from sklearn_ase._evaluation._report import check_target, make_report
from sklearn_ase._utils._checks import check_number
from sklearn_ase.metrics._lookup import title_of

if TYPE_CHECKING:
    import argparse
    from typing import Any

    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase._evaluation._judges import JudgeTable
    from sklearn_ase._labels._ledger import LabelLedger
    from sklearn_ase._utils._typing import Method, Target
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.risk._estimate import Estimate


def noted_estimate(
    campaign: Campaign, ledger: LabelLedger
) -> tuple[Estimate | None, bool]:
    """Return the estimate that was noted last; nothing is fitted."""
    if not ledger.labels:
        return None, True
    last = last_noted(ledger, campaign.goal)
    return last, last is not None and ledger.unnoted is None


def last_estimate(campaign: Campaign):
    """Return the estimate from all labels; something is fitted only if it must be."""
    n_samples, ledger = campaign.read()
    found, is_current = noted_estimate(campaign, ledger)
    if is_current:
        return n_samples, ledger, found
    with campaign.open(campaign.columns()) as evaluation:
        return n_samples, evaluation.ledger.copy(), evaluation.estimate()


def described(goal: BaseMetric, found: Estimate | None, level: float) -> dict[str, Any]:
    """Return an estimate as plain values."""
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


def ends_of(
    found: Estimate | None, level: float, method: Method, target: Target = "pool"
) -> tuple[float | None, float | None]:
    """Return the ends of an interval, or None twice if there is no interval."""
    if found is None or found.refusal_of(method):
        return None, None
    ends = found.interval(level, method=method, target=target)
    return ends if all(map(math.isfinite, ends)) else (None, None)


# Compare models, or groups of rows, with the labels of a campaign.


def compared_models(
    evaluation: Evaluation,
    campaign: Campaign,
    columns: dict[str, list],
    goal: BaseMetric,
    where: np.ndarray | None,
    args: argparse.Namespace,
) -> dict[str, Any]:
    """Compare columns of predictions."""
    models = models_in(campaign, columns, args.compare, goal)
    found = evaluation.compare(
        models, metric=goal, where=where, reference=args.reference
    )
    return _described(found, goal, args.level, "model")


def models_in(
    campaign: Campaign, columns: dict[str, list], names: list[str], goal: BaseMetric
) -> dict[str, list | np.ndarray]:
    """Read columns of predictions that are to be compared."""
    for name in names:
        pick_column(columns, name, "--compare")
    if goal.response_method is None:
        raise ValueError(
            f"--compare: {title_of(goal)} does not depend on predictions. Name a "
            "metric that does, such as --metric accuracy."
        )
    if len(set(names)) < 2:
        raise ValueError("--compare needs two different columns, or more.")
    return {name: predictions_in(campaign, columns, name, goal) for name in names}


def compared_groups(
    evaluation: Evaluation, groups, goal: BaseMetric, args: argparse.Namespace
) -> dict[str, Any]:
    """Compare groups of rows."""
    found = evaluation.compare_groups(groups, metric=goal, reference=args.reference)
    return _described(found, goal, args.level, args.compare_by)


def _described(found, goal, level, what):
    """A comparison as plain values, with the difference of each pair that matters."""
    table = found.to_dict(level)
    rows = [
        dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)
    ]
    base = found.reference or found.best_name
    others = [name for name in found.names if name != base]
    return {
        "compared": what,
        "metric": title_of(goal),
        "labels": found.n_labels,
        "level": level,
        "best": found.best_name,
        "candidates": found.candidates(level),
        "verdict": found.describe(level),
        "table": rows,
        "differences": [_difference(found, base, name, level) for name in others],
    }


def _difference(found, first, second, level):
    gap = found.difference(first, second)
    low, high = ends_of(gap, level, "fixed")
    anytime_low, anytime_high = ends_of(gap, level, "anytime")
    return {
        "better": first,
        "than": second,
        "by": float(gap),
        "low": low,
        "high": high,
        "anytime_low": anytime_low,
        "anytime_high": anytime_high,
    }


# The commands that answer: ``status``, ``estimate``, ``judges`` and others.


def status(args: argparse.Namespace) -> dict[str, Any]:
    """Say how far a campaign is. Nothing is fitted.

    The pool is read only if rows have different costs and there is a budget.
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


def estimate(args: argparse.Namespace) -> dict:
    """Answer a question from the labels of a campaign."""
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
            table.title = f"{title_of(goal)} by {args.by}"
            return table
        return _estimate(evaluation, goal, where, alike, args)


def judges(args: argparse.Namespace) -> JudgeTable:
    """Say what each judge is worth."""
    campaign = Campaign.load(args.journal)
    if not campaign.judge:
        raise ValueError("This campaign has no judge. Name one at the start: --judge.")
    with _opened(campaign) as evaluation:
        return evaluation.judges(level=args.level)


def agreement(args: argparse.Namespace) -> dict[str, Any]:
    """Say how far annotators agree."""
    with _opened(Campaign.load(args.journal)) as evaluation:
        if not evaluation.ledger.more_labels:
            raise ValueError(
                "No row has two or more answers yet. Label Studio can ask several "
                "people about a row; tell reads all their answers."
            )
        found = evaluation.agreement(level=args.level)
        return {**asdict(found), "words": str(found)}


def diagnose(args: argparse.Namespace) -> dict[str, Any]:
    """Say whether the labels agree with what was expected of them."""
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


# The commands about more labels: ``plan``, and ``check`` with its forecast.


YES, NO, UNDECIDED = 0, 1, 2


def plan(args: argparse.Namespace) -> dict[str, Any]:
    """Forecast the labels that intervals of some widths take."""
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
    """Say whether a limit is met; the exit code is the answer."""
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


# The command ``report``: what the labels say, as a page or as Markdown.


_OPTIONS = {"html": (".html", ".htm"), "md": (".md",)}


def report(args: argparse.Namespace) -> dict[str, Any]:
    """Write a report, or return it as Markdown if no file is named."""
    check_number(args.level, "--level", 0, 1, ends="()")
    paths = {name: getattr(args, name) for name in _OPTIONS}
    paths = {name: path for name, path in paths.items() if path is not None}
    for name, path in paths.items():
        _check_path(path, name)
    campaign = Campaign.load(args.journal)
    columns = campaign.columns()
    by = {name: as_groups(pick_column(columns, name, "--by")) for name in args.by}
    compare_by = {
        name: as_groups(pick_column(columns, name, "--compare-by"))
        for name in args.compare_by
    }
    alike = None
    if args.groups is not None:
        alike = as_groups(pick_column(columns, args.groups, "--groups"))
    shown = {name: pick_column(columns, name, "--show") for name in args.show}
    metrics = [_named_metric(campaign, text, args) for text in args.metric]
    models = goal = None
    if args.compare:
        goal = next(filter(_is_of_model, [*metrics, campaign.goal]), campaign.goal)
        models = models_in(campaign, columns, args.compare, goal)
    if not (campaign.prediction or campaign.proba):  # Only for the comparison.
        metrics = [each for each in metrics if not (models and _is_of_model(each))]
    with campaign.open(columns) as evaluation:
        found = make_report(
            evaluation,
            level=args.level,
            by=by,
            metrics=metrics,
            compare=models,
            compare_metric=goal,
            compare_by=compare_by,
            groups=alike,
            columns=shown,
            title=args.title,
            origin={
                "journal": campaign.journal.name,
                "pool": Path(campaign.pool).name,
                "fingerprint of the columns": campaign.fingerprint,
            },
        )
    for path in paths.values():
        found.save(path)
    result = {name: paths.get(name) for name in _OPTIONS}
    return result | ({} if paths else {"markdown": found.to_markdown()})


def _is_of_model(metric):
    return metric.response_method is not None


def _check_path(path, name):
    if Path(path).suffix.lower() not in _OPTIONS[name]:
        raise ValueError(f"--{name} {path} must end in {_OPTIONS[name][0]}.")
    check_target(path)


def _named_metric(campaign, text, args):
    half = args.half if text.startswith("share:") else None
    return other_metric(campaign, text, half, args.pos_label)
