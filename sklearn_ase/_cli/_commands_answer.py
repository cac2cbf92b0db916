"""The commands that answer: status, estimate, judges, check, report and others."""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_ase._cli._campaign import Campaign, reason_to_stop, spent_on
from sklearn_ase._cli._pool_file import Columns, groups_of, pick_column
from sklearn_ase._cli._terminal import Answer
from sklearn_ase._display._blocks import Facts, Table, Words, counted, percent
from sklearn_ase._display._text import text
from sklearn_ase._evaluation._history import last_noted, metric_labels_needed
from sklearn_ase._evaluation._report import check_target, make_report
from sklearn_ase._evaluation._sections import compared_blocks
from sklearn_ase._utils._checks import check_number
from sklearn_ase.metrics._lookup import title_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase._evaluation._report import Report
    from sklearn_ase._labels._ledger import LabelLedger
    from sklearn_ase._utils._typing import Method, Target
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.risk._estimate import Estimate


# Estimates as values and as words.


def _described(
    goal: BaseMetric, found: Estimate | None, level: float
) -> dict[str, Any]:
    """An estimate as plain values."""
    return {
        "metric": title_of(goal),
        "estimate": None if found is None else float(found),
        "level": level,
        **_both_ends(found, level),
        "no_interval": "" if found is None else found.refusal,
        "note": getattr(found, "note", ""),
        "labels_used": 0 if found is None else found.n_labels,
    }


def _ends_of(
    found: Estimate | None, level: float, method: Method, target: Target = "pool"
) -> tuple[float | None, float | None]:
    """The ends of an interval, or None twice if there is no interval."""
    if found is None or found.refusal_of(method):
        return None, None
    ends = found.interval(level, method=method, target=target)
    return ends if all(map(math.isfinite, ends)) else (None, None)


def _both_ends(found: Estimate | None, level: float) -> dict[str, float | None]:
    """The ends of the interval for one look and of that for every look."""
    low, high = _ends_of(found, level, "fixed")
    ends = {"low": low, "high": high}
    ends["anytime_low"], ends["anytime_high"] = _ends_of(found, level, "anytime")
    return ends


def _facts_of(result: dict[str, Any]) -> dict[str, str]:
    """An estimate and its intervals in words."""
    value, name = result["estimate"], result["metric"]
    if value is None:
        return {name: "no estimate yet" if result["labels"] else "no label yet"}
    facts, fixed = {name: _cell(value) or "not defined"}, _ends(result)
    interval = f"{percent(result['level'])} interval"
    if not fixed:
        return facts | {interval: f"none. {result['no_interval']}"}
    often, population = _ends(result, "anytime_"), _ends(result, "population_")
    facts[interval] = f"{fixed} (for one look)"
    facts["at every look"] = f"{often or 'no interval yet'} (look as often as you like)"
    if population:
        facts["for rows to come"] = f"{population} (for one look)"
    return facts | {"note": result["note"]}


def _labels(result: dict[str, Any]) -> str:
    """How many labels there are, and how many of them the estimate uses."""
    words = f"{result['labels']} of {result['rows']} rows"
    n_used = result["labels_used"]
    is_known = result["estimate"] is not None and result.get("is_current", True)
    if not (is_known and n_used < result["labels"]):
        return words
    return f"{words}; {n_used} count so far, the others wait for a row that is open"


def _cell(value: float) -> str:
    """A number of a table; an end that is not there is empty."""
    return f"{value:.3f}" if math.isfinite(value) else ""


def _ends(result: dict[str, Any], kind: str = "") -> str:
    """Ends of an interval in words; empty if there is none."""
    low, high = result.get(f"{kind}low"), result.get(f"{kind}high")
    return "" if low is None else f"{low:.3f} to {high:.3f}"


# The commands about the labels that are there.


def _noted_estimate(
    campaign: Campaign, ledger: LabelLedger
) -> tuple[Estimate | None, bool]:
    """The estimate that was noted last, and whether it is up to date."""
    if not ledger.labels:
        return None, True
    last = last_noted(ledger, campaign.goal)
    return last, last is not None and ledger.unnoted is None


def status(args: argparse.Namespace) -> Answer:
    """Say how far a campaign is. Nothing is fitted.

    The pool is read only if rows have different costs and there is a budget.
    """
    campaign = Campaign.load(args.journal)
    n_samples, ledger = campaign.read()
    found, is_current = _noted_estimate(campaign, ledger)
    last = [{"row": row, "label": ledger.labels[row]} for row in [*ledger.labels][-1:]]
    result = {
        "rows": n_samples,
        "labels": len(ledger),
        "known_labels": len(ledger.known),
        "open": len(ledger.pending),
        "skipped": len(ledger.skipped),
        "last_label": last[0] if last else None,
        "is_current": is_current,
        **_described(campaign.goal, found, args.level),
    }
    if campaign.has_rules:
        has_budget = campaign.budget is not None
        spent = spent_on(campaign, ledger) if has_budget else None
        reason = reason_to_stop(campaign, ledger, spent)
        result |= {"spent": spent, "budget": campaign.budget, "stop_reason": reason}
    return Answer(result, text(Facts(_facts_of_status(result))))


def _facts_of_status(result: dict[str, Any]) -> dict[str, str]:
    """How far a campaign is, in words."""
    waits = "waits" if result["open"] == 1 else "wait"
    facts = {
        "labels": _labels(result),
        "open": f"{counted(result['open'], 'row')} {waits} for a label",
    }
    if result["skipped"]:
        facts["skipped"] = f"{counted(result['skipped'], 'row')} that nobody can label"
    if result["last_label"] is not None:
        facts["last label"] = "row {row}: {label}".format(**result["last_label"])
    facts |= _facts_of(result)
    if not result["is_current"]:
        facts["note"] = (
            "some labels are not in the estimate yet; sklearn-ase estimate adds them"
        )
    if result.get("budget") is not None:
        facts["spent"] = f"{result['spent']:g} of {result['budget']:g}"
    return facts | {"enough labels": result.get("stop_reason", "")}


def estimate(args: argparse.Namespace) -> Answer:
    """Answer a question from the labels of a campaign."""
    _check_question(args)
    campaign = Campaign.load(args.journal)
    columns = campaign.columns()
    goal = campaign.goal
    if args.metric is not None:
        goal = campaign.other_goal(args.metric, args.half, args.pos_label)
    by, compare_by, alike = (
        name and groups_of(columns, name, option)
        for option, name in (
            ("--by", args.by),
            ("--compare-by", args.compare_by),
            ("--groups", args.groups),
        )
    )
    where = _where(columns, args.where) if args.where else None
    with _opened(campaign, columns) as evaluation:
        if args.compare:
            models = _models_in(campaign, columns, args.compare, goal)
            found = evaluation.compare(
                models, metric=goal, where=where, reference=args.reference
            )
            return _compared(found, goal, args.level, "model")
        if args.compare_by:
            found = evaluation.compare_groups(
                compare_by, metric=goal, reference=args.reference
            )
            return _compared(found, goal, args.level, args.compare_by)
        if args.by:
            table = evaluation.estimate_by(
                by, metric=goal, level=args.level, simultaneous=args.simultaneous
            )
            together = " that hold all at once" if args.simultaneous else ""
            title = f"{title_of(goal)} by {args.by}, {percent(args.level)} intervals"
            return Answer(table.rows(), text(Words(title + together), *table.blocks()))
        return _estimated(evaluation, goal, where, alike, args)


def _check_question(args: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
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


def _estimated(
    evaluation: Evaluation,
    goal: BaseMetric,
    where: np.ndarray | None,
    alike: list[str] | None,
    args: argparse.Namespace,
) -> Answer:
    """One estimate, of all rows or some of them."""
    found = evaluation.estimate(groups=alike, metric=goal, where=where)
    labelled = list(evaluation.ledger.labels)
    result: dict[str, Any]
    result = {"rows": evaluation.n_samples, "labels": len(labelled)}
    if where is not None:
        result = {"rows": int(where.sum()), "labels": int(where[labelled].sum())}
    result |= _described(goal, found, args.level)
    if args.population:
        ends = _ends_of(found, args.level, "fixed", "population")
        result["population_low"], result["population_high"] = ends
    return Answer(result, text(Facts({"labels": _labels(result)} | _facts_of(result))))


def _where(columns: Columns, conditions: list[str]) -> np.ndarray:
    """Rows that meet all conditions such as ``region=north``."""
    where = np.ones(len(next(iter(columns.values()))), dtype=bool)
    for condition in conditions:
        name, sign, value = condition.partition("=")
        if not sign:
            raise ValueError(f"--where {condition} must have the form COLUMN=VALUE.")
        cells = groups_of(columns, name, "--where")
        if value not in cells:
            some = ", ".join(sorted(set(cells))[:8])
            raise ValueError(f"--where {condition}: no row has it. There are {some}.")
        where &= np.array([cell == value for cell in cells])
    if not where.any():
        raise ValueError("No row meets all conditions of --where.")
    return where


def judges(args: argparse.Namespace) -> Answer:
    """Say what each judge is worth, one column for each."""
    campaign = Campaign.load(args.journal)
    if not campaign.judge:
        raise ValueError("This campaign has no judge. Name one at the start: --judge.")
    with _opened(campaign) as evaluation:
        found = evaluation.judges(level=args.level)
        (table,) = found.blocks()
        return Answer(found.rows(), text(Words(found.title), table.turned()))


def agreement(args: argparse.Namespace) -> Answer:
    """Say how far annotators agree."""
    with _opened(Campaign.load(args.journal)) as evaluation:
        if not evaluation.ledger.more_labels:
            raise ValueError(
                "No row has two or more answers yet. Label Studio can ask several "
                "people about a row; tell reads all their answers."
            )
        return _as_said(evaluation.agreement(level=args.level))


def diagnose(args: argparse.Namespace) -> Answer:
    """Say whether the labels agree with what was expected of them."""
    with _opened(Campaign.load(args.journal)) as evaluation:
        return _as_said(evaluation.diagnose())


def _as_said(found: Any) -> Answer:
    """A result that has words of its own."""
    return Answer({**asdict(found), "words": str(found)}, str(found))


@contextmanager
def _opened(campaign: Campaign, columns: Columns | None = None) -> Iterator[Evaluation]:
    """The evaluation of a campaign that has a label."""
    columns = campaign.columns() if columns is None else columns
    with campaign.open(columns) as evaluation:
        if not len(evaluation.ledger):
            raise ValueError("There is no label yet. Use ask and tell first.")
        yield evaluation


# The command ``compare``.


def _models_in(
    campaign: Campaign, columns: Columns, names: list[str], goal: BaseMetric
) -> dict[str, list | np.ndarray]:
    """Columns of predictions that are to be compared."""
    for name in names:
        pick_column(columns, name, "--compare")
    if goal.response_method is None:
        raise ValueError(
            f"--compare: {title_of(goal)} does not depend on predictions. Name a "
            "metric that does, such as --metric accuracy."
        )
    if len(set(names)) < 2:
        raise ValueError("--compare needs two different columns, or more.")
    return {name: campaign.predictions_in(columns, name, goal) for name in names}


def _compared(found: Any, goal: BaseMetric, level: float, what: str) -> Answer:
    """A comparison, with the difference of each pair that matters."""
    table = found.to_dict(level)
    rows = zip(*table.values(), strict=True)
    lines = [dict(zip(table, row, strict=True)) for row in rows]
    base = found.reference or found.best_name
    gaps = [
        _difference(found, base, name, level) for name in found.names if name != base
    ]
    result = {
        "compared": what,
        "metric": title_of(goal),
        "labels": found.n_labels,
        "level": level,
        "best": found.best_name,
        "candidates": found.candidates(level),
        "verdict": found.describe(level),
        "table": lines,
        "differences": gaps,
    }
    words = [
        f"{gap['better']} is better than {gap['than']} by {gap['by']:.3f} "
        f"({_ends(gap) or 'no interval'})"
        for gap in gaps
    ]
    blocks = compared_blocks(found, level)
    return Answer(result, text(*blocks, *map(Words, words)))


def _difference(found: Any, first: str, second: str, level: float) -> dict[str, Any]:
    """How much better one model is than another."""
    gap = found.difference(first, second)
    about = {"better": first, "than": second, "by": float(gap)}
    return about | _both_ends(gap, level)


# The commands about labels to come: ``plan`` and ``check``.


YES, NO, UNDECIDED = 0, 1, 2


def _last_estimate(campaign: Campaign) -> tuple[int, int, Any]:
    """Numbers of rows and labels, and the estimate; fits only if it must."""
    n_samples, ledger = campaign.read()
    found, is_current = _noted_estimate(campaign, ledger)
    if is_current:
        return n_samples, len(ledger), found
    with campaign.open(campaign.columns()) as evaluation:
        return n_samples, len(evaluation.ledger), evaluation.estimate()


def plan(args: argparse.Namespace) -> Answer:
    """Forecast the labels that intervals of some widths take."""
    campaign = Campaign.load(args.journal)
    n_samples, n_labels, found = _last_estimate(campaign)
    if found is None:
        raise ValueError(
            "There is no label yet. Label some 20 rows first: a plan needs a pilot."
        )
    forecasts = {
        width: metric_labels_needed(
            found, n_samples, n_labels, width, level=args.level, method=args.method
        )
        for width in args.width
    }
    basis = forecasts[args.width[0]].basis
    lines = [
        {"width": width, "labels": each.n_labels, "more_labels": each.n_more}
        for width, each in forecasts.items()
    ]
    result = _described(campaign.goal, found, args.level)
    result |= {"rows": n_samples, "labels": n_labels, "method": args.method}
    result |= {"plan": lines, "basis": basis}
    return Answer(result, _words_of_plan(result))


def _words_of_plan(result: dict[str, Any]) -> str:
    """How many labels narrower intervals take."""
    is_fixed, n_samples = result["method"] == "fixed", result["rows"]
    look = "for one look" if is_fixed else "at every look"
    head = [
        f"{result['metric']} {result['estimate']:.3f},",
        f"{percent(result['level'])} interval {look}",
        _ends(result, "" if is_fixed else "anytime_"),
        f"after {result['labels']} labels.",
    ]
    rows = []
    for line in result["plan"]:
        n_labels = line["labels"]
        in_all = f"all {n_samples}" if n_labels >= n_samples else n_labels
        rows.append([f"{line['width']:g}", in_all, line["more_labels"]])
    table = Table(["width", "labels in all", "more labels"], rows)
    return text(Words(" ".join(filter(None, head))), table, Words(result["basis"]))


def check(args: argparse.Namespace) -> Answer:
    """Say whether a limit is met; the exit code is the answer."""
    if args.at_least is None and args.at_most is None:
        raise ValueError("check needs --at-least or --at-most, or both.")
    campaign = Campaign.load(args.journal)
    n_samples, n_labels, found = _last_estimate(campaign)
    limits = {"at_least": args.at_least, "at_most": args.at_most}
    low, high = ends = _ends_of(found, args.level, args.method)
    least = -math.inf if args.at_least is None else args.at_least
    most = math.inf if args.at_most is None else args.at_most
    answer, code, why, needed = "not decided", UNDECIDED, "", None
    if low is None or high is None:
        why = "There is no label yet."
        if found is not None:
            why = found.refusal or "There is no such interval yet."
    elif least <= low and high <= most:
        answer, code = "yes", YES
    elif high < least or low > most:
        answer, code = "no", NO
    else:
        needed = _needed(found, ends, (least, most), n_samples, n_labels, args)
    result = {"metric": title_of(campaign.goal), "labels": n_labels, **limits}
    result |= {"level": args.level, "method": args.method, "labels_needed": needed}
    result |= {"estimate": None if found is None else found.value}
    result |= {"low": low, "high": high, "answer": answer, "exit_code": code}
    if code == UNDECIDED:
        result["why"] = why
    return Answer(result, _words_of_check(result), code)


def _words_of_check(result: dict[str, Any]) -> str:
    """Whether a limit is met, and how many labels will decide it."""
    limits = {"at least": result["at_least"], "at most": result["at_most"]}
    are = [f"{words} {v:g}" for words, v in limits.items() if v is not None]
    name = f"{result['metric']} {' and '.join(are)}"
    if result["low"] is None:
        return f"not decided: {name}. {result['why']}"
    interval = f"{percent(result['level'])} interval {_ends(result)}"
    words = f"{result['answer']}: {name} ({interval}, {result['labels']} labels)"
    if result["answer"] != "not decided":
        return words
    if result["labels_needed"] is None:
        return f"{words}. The estimate is so close that no number can be forecast."
    return (
        f"{words}. If the estimate stays {result['estimate']:.3f}, about "
        f"{result['labels_needed']} labels in all will decide it."
    )


def _needed(
    found: Any,
    ends: tuple[Any, Any],
    limits: tuple[float, float],
    n_samples: int,
    n_known: int,
    args: argparse.Namespace,
) -> int | None:
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


# The command ``report``.


_ENDINGS = {"html": (".html", ".htm"), "md": (".md",)}


def report(args: argparse.Namespace) -> Answer:
    """Write a report, or return it as Markdown if no file is named."""
    check_number(args.level, "--level", 0, 1, ends="()")
    paths = {name: getattr(args, name) for name in _ENDINGS}
    for name, path in paths.items():
        if path is not None:
            if Path(path).suffix.lower() not in _ENDINGS[name]:
                raise ValueError(f"--{name} {path} must end in {_ENDINGS[name][0]}.")
            check_target(path)
    found = _made_report(args, Campaign.load(args.journal))
    written = [path for path in paths.values() if path is not None]
    for path in written:
        found.save(path)
    if written:
        return Answer(paths, f"Wrote {' and '.join(written)}.")
    markdown = found.to_markdown()
    return Answer({**paths, "markdown": markdown}, markdown.rstrip("\n"))


def _made_report(args: argparse.Namespace, campaign: Campaign) -> Report:
    """The report of a campaign."""
    columns = campaign.columns()
    by = {name: groups_of(columns, name, "--by") for name in args.by}
    compare_by = {
        name: groups_of(columns, name, "--compare-by") for name in args.compare_by
    }
    alike = args.groups and groups_of(columns, args.groups, "--groups")
    shown = {name: pick_column(columns, name, "--show") for name in args.show}
    metrics = []
    for name in args.metric:
        half = args.half if name.startswith("share:") else None
        metrics.append(campaign.other_goal(name, half, args.pos_label))
    models = goal = None
    if args.compare:
        goal = next(filter(_is_of_model, [*metrics, campaign.goal]), campaign.goal)
        models = _models_in(campaign, columns, args.compare, goal)
        if not campaign.has_model:  # Such metrics are only for the comparison.
            metrics = [each for each in metrics if not _is_of_model(each)]
    with campaign.open(columns) as evaluation:
        return make_report(
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


def _is_of_model(metric: BaseMetric) -> bool:
    return metric.response_method is not None
