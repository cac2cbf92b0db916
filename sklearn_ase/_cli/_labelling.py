"""The commands ``ask`` and ``tell``: sheets for those who label."""

from functools import partial
from pathlib import Path

from sklearn_ase._annotation._export import check_suffix
from sklearn_ase._annotation._label_studio import write_tasks
from sklearn_ase._annotation._sheet import write_sheet
from sklearn_ase._cli._campaign import Campaign
from sklearn_ase._cli._columns import pick_column
from sklearn_ase._cli._stopping import pick_rows, reason_to_stop
from sklearn_ase._evaluation._annotating import import_files

_OWN = ("row", "label")


def ask(args):
    """Write rows to label; open rows again if there are any.

    Parameters
    ----------
    args : argparse.Namespace

    Returns
    -------
    result : dict of str to object
    """
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


def check_shown(columns, args):
    """Refuse options that name columns which the pool does not have.

    Parameters
    ----------
    columns : dict of str to list
        The pool.
    args : argparse.Namespace
        With ``show`` and ``columns``.
    """
    for option in ("show", "columns"):
        for name in getattr(args, option):
            pick_column(columns, name, f"--{option}")


def shown_cells(campaign, columns, args, rows):
    """Return what people see of some rows.

    Parameters
    ----------
    campaign : Campaign
    columns : dict of str to list
        The pool.
    args : argparse.Namespace
        With ``columns`` to show, none for the texts of the campaign, and ``show`` with
        others besides these.
    rows : list of int

    Returns
    -------
    cells : dict of str to list
        Columns by the names that they have in a sheet.
    """
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


def tell(args):
    """Record the answers of one sheet or several: all of them, or none.

    Parameters
    ----------
    args : argparse.Namespace

    Returns
    -------
    result : dict of str to object
    """
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
