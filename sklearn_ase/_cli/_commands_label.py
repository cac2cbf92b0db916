"""The commands that lead to labels: columns, start, ask, tell and annotate."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn_ase._annotation._answers import import_files
from sklearn_ase._annotation._console import at_most, label_rows
from sklearn_ase._annotation._sheet import as_number, check_free, write_rows
from sklearn_ase._cli._campaign import (
    FORMS,
    Campaign,
    config_path,
    is_started,
    pick_rows,
    reason_to_stop,
)
from sklearn_ase._cli._pool_file import (
    Columns,
    as_label,
    pick_column,
    read_pool,
)
from sklearn_ase._cli._terminal import Answer, printable
from sklearn_ase._display._blocks import Table, Words, counted, plain
from sklearn_ase._display._text import text
from sklearn_ase.losses import as_loss
from sklearn_ase.metrics._lookup import title_of

if TYPE_CHECKING:
    import argparse

    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase.metrics._base import BaseMetric

_MOST_CHARACTERS = 40
_MOST_VALUES = 6


def columns(args: argparse.Namespace) -> Answer:
    """Describe the columns of a file."""
    found, form = read_pool(args.pool, args.format)
    n_rows = len(next(iter(found.values())))
    lines = [_described(name, cells) for name, cells in found.items()]
    values = {"file": str(args.pool), "format": form, "rows": n_rows, "columns": lines}
    head = Words(f"{args.pool}: {n_rows} rows, format {form}")
    table = Table(list(lines[0]), [list(line.values()) for line in lines])
    return Answer(values, text(head, table))


def _described(name: str, cells: list) -> dict[str, str | int]:
    """How many cells are filled, and what stands in them."""
    filled = [cell for cell in cells if cell is not None]
    values = list(dict.fromkeys(str(as_label(cell)) for cell in filled))
    numbers = [as_number(cell) for cell in filled]
    if filled and len(values) <= _MOST_VALUES:
        what = ", ".join(plain(value, _MOST_CHARACTERS) for value in values)
    elif filled and all(number == number for number in numbers):
        what = f"numbers from {min(numbers):g} to {max(numbers):g}"
    else:
        what = plain(values[0], _MOST_CHARACTERS) if values else ""
    counts = {"filled": len(filled), "different": len(values)}
    return {"column": name, **counts, "holds": what}


# The command ``start``.


def start(args: argparse.Namespace) -> Answer:
    """Start a campaign; nothing is written if anything is wrong."""
    journal = Path(args.journal)
    if is_started(journal):
        raise ValueError(
            f"{journal} exists already. Go on with sklearn-ase ask {journal} 20 --out "
            "batch.csv, or choose another name."
        )
    if not journal.absolute().parent.is_dir():
        raise ValueError(f"The folder {journal.absolute().parent} does not exist.")
    is_there = journal.exists()
    names = {option.name for option in fields(Campaign)}
    options = {name: value for name, value in vars(args).items() if name in names}
    campaign = Campaign(**options | {"journal": journal, "metric": _metric(args)})
    _check(campaign)
    campaign, columns = campaign.of_files()
    # First the options: a journal without them could not be continued.
    campaign.save()
    try:
        with campaign.open(columns) as evaluation:
            n_known = len(evaluation.ledger.known)
            n_samples = evaluation.n_samples
    except BaseException:
        config_path(journal).unlink(missing_ok=True)
        if not is_there and journal.exists() and not journal.stat().st_size:
            journal.unlink()
        raise
    metric = title_of(campaign.goal)
    lines = [f"Started {journal}: {metric} over {n_samples} rows."]
    if n_known:
        lines.append(f"{n_known} labels were there already.")
    lines.append(f"Next: sklearn-ase ask {journal} 20 --out batch.csv")
    values = {"journal": str(journal), "metric": metric, "rows": n_samples}
    return Answer(values | {"known_labels": n_known}, text(*map(Words, lines)))


def _metric(args: argparse.Namespace) -> str:
    """The metric as it was typed, or the usual one."""
    for metric in (args.metric, args.loss):
        if metric is not None:
            return metric
    if args.prediction or args.proba:
        return "accuracy"
    raise ValueError(f"--metric is needed: {FORMS}; or accuracy with --prediction.")


def _check(campaign: Campaign) -> None:
    """Refuse options that do not go together."""
    goal = campaign.goal
    if not campaign.text:
        raise ValueError(
            "--text is needed: name the columns that people read in order to label a "
            "row."
        )
    secret = [name for name in campaign.text if name in campaign.hidden()]
    if secret:
        raise ValueError(
            f"--text {secret[0]}: those who label a row should not see what a judge or "
            "a model says of it. Leave it out here; ask --show can show it."
        )
    if campaign.prediction and campaign.proba:
        raise ValueError("Give --prediction or --proba, not both.")
    if not (campaign.judge or campaign.features or campaign.has_model):
        raise ValueError(
            "Give --judge, --features or --prediction: something must tell rows apart."
        )
    if goal.response_method is not None and not campaign.has_model:
        raise ValueError(
            f"--metric {campaign.metric} compares labels with the predictions of a "
            "model. Name their column with --prediction."
        )
    if goal.response_method == "predict_proba" and not campaign.proba:
        raise ValueError(
            f"--metric {campaign.metric} needs probabilities. Name their columns with "
            "--proba."
        )
    if campaign.loss and as_loss(campaign.loss).task != goal.task:
        raise ValueError(
            f"--loss {campaign.loss} does not go together with --metric "
            f"{campaign.metric}: one is about names and the other about numbers."
        )
    _check_train(campaign)
    _check_labels(campaign, goal)
    _check_words(campaign)


def _check_train(campaign: Campaign) -> None:
    """Refuse options of training rows that do not go together."""
    if campaign.train is None:
        for option in ("train_label", "train_format", "train_predictions"):
            if getattr(campaign, option):
                name = option.replace("_", "-")
                raise ValueError(f"--{name} belongs to --train FILE.")
        return
    if not campaign.features or campaign.train_label is None:
        raise ValueError(
            "--train needs --features, the columns to learn from, and --train-label, "
            "the column with the labels."
        )
    if campaign.train_predictions and not campaign.has_model:
        raise ValueError("--train-predictions needs --prediction or --proba.")


def _check_labels(campaign: Campaign, goal: BaseMetric) -> None:
    """Refuse labels that are missing, too few or not as they are used."""
    if goal.task == "regression":
        if campaign.labels:
            raise ValueError(
                f"--metric {campaign.metric} is about numbers. Leave out --labels."
            )
        if campaign.proba:
            raise ValueError(
                f"--metric {campaign.metric} is about numbers. Use --prediction in "
                "place of --proba."
            )
        return
    labels = [label.strip() for label in campaign.labels]
    if len(set(labels)) < 2 or len(set(labels)) < len(labels) or "" in labels:
        raise ValueError(
            "--labels must name every label there may be, at least two different "
            f"ones, as in --labels correct wrong. {_seen(campaign)}".rstrip()
        )
    if labels != campaign.labels:
        raise ValueError("--labels must not start or end with blanks.")
    named = [*getattr(goal, "labels", []), campaign.pos_label]
    for label in named:
        if label is not None and label not in labels:
            raise ValueError(
                f"{label!r} is not one of the labels {', '.join(labels)}. Write it as "
                "in --labels."
            )


def _check_words(campaign: Campaign) -> None:
    """Refuse words of a judge that stand for no label."""
    for each in campaign.judge_says:
        word, sign, label = each.partition("=")
        if not (word and sign and label in campaign.labels):
            raise ValueError(
                f"--judge-says {each} must have the form WORD=LABEL with one of the "
                f"labels {', '.join(campaign.labels)}."
            )
    if campaign.judge_says and not campaign.judge:
        raise ValueError("--judge-says belongs to --judge COL.")


def _seen(campaign: Campaign) -> str:
    """Labels that the predictions have, as a hint."""
    if not campaign.prediction:
        return ""
    columns, _ = read_pool(campaign.pool, campaign.format)
    cells = columns.get(campaign.prediction, [])
    found = sorted({str(cell).strip() for cell in cells if cell is not None})
    return f"Column {campaign.prediction} has {', '.join(found[:20])}."


# The commands ``ask`` and ``tell``.


_OWN = ("row", "label")


def ask(args: argparse.Namespace) -> Answer:
    """Write rows to label; open rows again if there are any."""
    campaign, path = Campaign.load(args.journal), Path(args.out)
    check_free(path, args.overwrite)
    if not path.absolute().parent.is_dir():
        raise ValueError(f"The folder {path.absolute().parent} does not exist.")
    columns = campaign.columns()
    _check_shown(columns, args)
    with campaign.open(columns) as evaluation:
        was_open, reason = len(evaluation.pending) > 0, ""
        if not was_open:
            if not args.more:
                spent = evaluation.spent
                reason = reason_to_stop(campaign, evaluation.ledger, spent)
            if not reason:
                _check_number(args.n, evaluation)
                pick_rows(campaign, evaluation, args.n)
        rows = evaluation.pending.indices.tolist()
    cells = _cells(columns, _shown_names(campaign, args), rows)
    if rows:
        write_rows(path, rows, cells)
    values: dict[str, Any] = {
        "out": str(path) if rows else None,
        "rows": len(rows),
        "asked_again": was_open,
        "labels": campaign.classes,
        "stop_reason": reason,
    }
    return Answer(values, _words_of_ask(**values))


def _words_of_ask(
    out: str | None,
    rows: int,
    asked_again: bool,
    labels: list[str] | None,
    stop_reason: str,
) -> str:
    """What was written, and what to do with it."""
    if stop_reason:
        return f"Enough labels: {stop_reason} To go on, add --more."
    if not rows:
        return "All rows that were picked had a known label. Ask again for others."
    fill = "Fill in the column label"
    if labels:
        fill += f" with {', '.join(labels[:-1])} or {labels[-1]}"
    lines = [f"Wrote {counted(rows, 'row')} to {out}. {fill}."]
    if asked_again:
        lines.append(
            "These rows were asked for before and have no label yet, so no new rows "
            "were picked."
        )
    return text(*map(Words, lines))


def _check_shown(columns: Columns, args: argparse.Namespace) -> None:
    """Refuse options that name columns which the pool does not have."""
    for option in ("show", "columns"):
        for name in getattr(args, option):
            pick_column(columns, name, f"--{option}")


def _shown_names(campaign: Campaign, args: argparse.Namespace) -> list[str]:
    """Names of the columns that people see."""
    return [*(args.columns or campaign.text), *args.show]


def _cells(columns: Columns, names: list[str], rows: list[int]) -> Columns:
    """Cells of some rows, for a sheet."""
    return {
        f"{name} (text)" if name in _OWN else name: [
            "" if columns[name][row] is None else columns[name][row] for row in rows
        ]
        for name in dict.fromkeys(names)
    }


def _check_number(n: int, evaluation: Evaluation) -> None:
    n_left = evaluation.n_samples - len(evaluation.ledger.indices)
    if not n_left:
        raise ValueError("Every row of the pool was asked for. There are no more.")
    if n > n_left:
        raise ValueError(
            f"{n} rows are too many: {n_left} of {evaluation.n_samples} are left. Ask "
            f"for at most {n_left}."
        )


def tell(args: argparse.Namespace) -> Answer:
    """Record the answers of one sheet or several: all of them, or none."""
    campaign = Campaign.load(args.journal)
    for sheet in args.sheet:
        if not Path(sheet).exists():
            raise ValueError(f"{sheet} does not exist.")
    columns = campaign.columns()
    with campaign.open(columns) as evaluation:
        before = len(evaluation.ledger.skipped)
        n_new = import_files(
            evaluation,
            args.sheet,
            partial(_cells, columns, list(columns)),
            correct=args.correct,
            skip=args.skip,
        )
        evaluation.refit()
        n_skipped = len(evaluation.ledger.skipped) - before
        recorded = counted(n_new, "new label")
        if n_skipped:
            recorded += f" and {counted(n_skipped, 'skipped row')}"
        counts = {"new_labels": n_new, "new_skipped": n_skipped}
        return _recorded(evaluation, counts, recorded)


def _recorded(evaluation: Evaluation, counts: dict[str, int], recorded: str) -> Answer:
    """What was recorded, how many labels there are, and how many rows are open."""
    n_labels, n_open = len(evaluation.ledger), len(evaluation.pending)
    there = "There is" if n_labels == 1 else "There are"
    are = "is" if n_open == 1 else "are"
    words = f"Recorded {recorded}. {there} {counted(n_labels, 'label')}; "
    words += f"{counted(n_open, 'row')} {are} open."
    return Answer(counts | {"labels": n_labels, "open": n_open}, words)


# The command ``annotate``.


def annotate(args: argparse.Namespace) -> Answer:
    """Show row after row and record what is typed; each label is kept at once."""
    campaign = Campaign.load(args.journal)
    columns = campaign.columns()
    _check_shown(columns, args)
    with campaign.open(columns) as evaluation:
        ledger = evaluation.ledger
        before = len(ledger)
        limits = [] if args.more else [campaign.limits]
        if args.n is not None:
            limits = [at_most(before + args.n), *limits]

        def view(index: int) -> dict[str, str]:
            cells = _cells(columns, _shown_names(campaign, args), [index])
            return {name: printable(str(some[0])) for name, some in cells.items()}

        # With --json only the result is printed to stdout.
        with redirect_stdout(sys.stderr) if args.json else nullcontext():
            n_answers = label_rows(
                evaluation, view, limits, read=input, with_estimate=args.estimate
            )
        if len(ledger) > before:
            evaluation.refit()
        counts = {"answers": n_answers}
        return _recorded(evaluation, counts, counted(n_answers, "answer"))
