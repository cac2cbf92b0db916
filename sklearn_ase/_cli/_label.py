"""The command ``start``: check everything, then write the journal."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sklearn_ase._annotation._answers import check_suffix
from sklearn_ase._annotation._console import label_rows
from sklearn_ase._annotation._sheet import write_sheet, write_tasks
from sklearn_ase._cli._campaign import (
    FORMS,
    Campaign,
    config_path,
    is_started,
    pick_rows,
    reason_to_stop,
)
from sklearn_ase._cli._columns import pick_column
from sklearn_ase._cli._pool_file import read_pool
from sklearn_ase._cli._printing import printable
from sklearn_ase._evaluation._evaluation import import_files
from sklearn_ase.losses import as_loss
from sklearn_ase.metrics._lookup import title_of

if TYPE_CHECKING:
    import argparse
    from typing import Any


def start(args) -> dict[str, Any]:
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
    options = {f.name for f in fields(Campaign)} & vars(args).keys()
    options = {name: getattr(args, name) for name in options - {"journal", "metric"}}
    campaign = Campaign(journal=journal, metric=_metric(args), **options)
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
    return {
        "journal": str(journal),
        "metric": title_of(campaign.goal),
        "rows": n_samples,
        "known_labels": n_known,
    }


def _metric(args):
    for metric in (args.metric, args.loss):
        if metric is not None:
            return metric
    if args.prediction or args.proba:
        return "accuracy"
    raise ValueError(f"--metric is needed: {FORMS}; or accuracy with --prediction.")


def _check(campaign):
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
    if not (campaign.judge or campaign.features or _has_model(campaign)):
        raise ValueError(
            "Give --judge, --features or --prediction: something must tell rows apart."
        )
    if goal.response_method is not None and not _has_model(campaign):
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


def _check_train(campaign):
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
    if campaign.train_predictions and not _has_model(campaign):
        raise ValueError("--train-predictions needs --prediction or --proba.")


def _check_labels(campaign, goal):
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


def _check_words(campaign):
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


def _seen(campaign):
    """Labels that the predictions have, as a hint."""
    if not campaign.prediction:
        return ""
    columns, _ = read_pool(campaign.pool, campaign.format)
    cells = columns.get(campaign.prediction, [])
    found = sorted({str(cell).strip() for cell in cells if cell is not None})
    return f"Column {campaign.prediction} has {', '.join(found[:20])}."


def _has_model(campaign):
    return bool(campaign.prediction or campaign.proba)


# The commands ``ask`` and ``tell``: sheets for those who label.


_OWN = ("row", "label")


def ask(args: argparse.Namespace) -> dict[str, Any]:
    """Write rows to label; open rows again if there are any."""
    campaign, path = Campaign.load(args.journal), Path(args.out)
    suffix = check_suffix(path)
    if path.exists() and not args.overwrite:
        raise ValueError(
            f"{path} exists already and may hold answers. Choose another name, or add "
            "--overwrite."
        )
    if not path.absolute().parent.is_dir():
        raise ValueError(f"The folder {path.absolute().parent} does not exist.")
    columns = campaign.columns()
    check_shown(columns, args)
    with campaign.open(columns) as evaluation:
        was_open, reason = len(evaluation.pending) > 0, ""
        if not was_open:
            if not args.more:
                about = evaluation.ledger, evaluation.spent
                reason = reason_to_stop(campaign, *about)
            if not reason:
                _check_number(args.n, evaluation)
                pick_rows(campaign, evaluation, args.n)
        rows = evaluation.pending.indices.tolist()
    cells = shown_cells(campaign, columns, args, rows)
    if rows and suffix == ".json":
        write_tasks(path, rows, cells)
    elif rows:
        write_sheet(path, {"row": rows, "label": [""] * len(rows), **cells})
    return {
        "out": str(path) if rows else None,
        "rows": len(rows),
        "asked_again": was_open,
        "labels": campaign.classes,
        "stop_reason": reason,
    }


def check_shown(columns: dict[str, list], args: argparse.Namespace) -> None:
    """Refuse options that name columns which the pool does not have."""
    for option in ("show", "columns"):
        for name in getattr(args, option):
            pick_column(columns, name, f"--{option}")


def shown_cells(
    campaign: Campaign,
    columns: dict[str, list],
    args: argparse.Namespace,
    rows: list[int],
) -> dict[str, list]:
    """Return what people see of some rows."""
    return _cells(columns, [*(args.columns or campaign.text), *args.show], rows)


def _cells(columns, names, rows):
    return {
        f"{name} (text)" if name in _OWN else name: [
            "" if columns[name][row] is None else columns[name][row] for row in rows
        ]
        for name in dict.fromkeys(names)
    }


def _check_number(n, evaluation):
    n_left = evaluation.n_samples - len(evaluation.ledger.indices)
    if not n_left:
        raise ValueError("Every row of the pool was asked for. There are no more.")
    if n > n_left:
        raise ValueError(
            f"{n} rows are too many: {n_left} of {evaluation.n_samples} are left. Ask "
            f"for at most {n_left}."
        )


def tell(args: argparse.Namespace) -> dict[str, Any]:
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
            args.correct,
            args.skip,
        )
        evaluation.refit()
        return {
            "new_labels": n_new,
            "new_skipped": len(evaluation.ledger.skipped) - before,
            "labels": len(evaluation.ledger),
            "open": len(evaluation.pending),
        }


# The command ``annotate``: label rows in the terminal.


def annotate(args: argparse.Namespace) -> dict[str, Any]:
    """Show row after row and record what is typed; each label is kept at once."""
    campaign = Campaign.load(args.journal)
    columns = campaign.columns()
    check_shown(columns, args)
    with campaign.open(columns) as evaluation:
        ledger = evaluation.ledger
        before, target = len(ledger), None if args.n is None else len(ledger) + args.n

        def view(index):
            cells = shown_cells(campaign, columns, args, [index])
            return {name: printable(str(some[0])) for name, some in cells.items()}

        def enough():
            if args.more:
                return ""
            return reason_to_stop(campaign, ledger, evaluation.spent)

        # With --json only the result is printed to stdout.
        with redirect_stdout(sys.stderr) if args.json else nullcontext():
            n_answers = label_rows(
                evaluation,
                view,
                target,
                enough,
                read=input,
                with_estimate=args.estimate,
            )
        if len(ledger) > before:
            evaluation.refit()
        return {
            "answers": n_answers,
            "labels": len(ledger),
            "open": len(evaluation.pending),
        }
