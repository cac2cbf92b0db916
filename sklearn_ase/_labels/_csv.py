"""A ledger as a table that people and spreadsheets can read."""

import csv
import json
from collections import Counter

from sklearn_ase._labels._csv_cells import (
    KINDS,
    check_places,
    label_cell,
    read_label,
    read_number,
    read_whole,
)
from sklearn_ase._state import RECORDED, Picks
from sklearn_ase._utils._checks import check_path
from sklearn_ase._utils._warn import warn_caller
from sklearn_ase.exceptions import JournalWarning

_ASKED = ("index", "asked", *RECORDED[1:])
_ANSWER = ("label", "label_type", "order", "refit", "more_labels")
_POOL = "pool"
_SKIPPED = "skipped"
_MARK = "rows "  # So that no spreadsheet takes a fingerprint for a number.
_BEFORE = 0  # The order of labels that were known beforehand.


def write_csv(ledger, path):
    """Write a ledger; see :meth:`LabelLedger.to_csv`."""
    order = {index: place for place, index in enumerate(ledger.labels, start=1)}
    refits, skipped = set(ledger.refits), set(ledger.skipped)
    pool = "" if ledger.pool is None else _MARK + ledger.pool
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*_ASKED, *_ANSWER, _POOL])
        for index, label in ledger.known.items():
            nothing = [""] * (len(_ASKED) - 1)
            more = "" if index in ledger.labels else _more(ledger, index)
            kind = type(label).__name__
            writer.writerow(
                [index, *nothing, label_cell(label), kind, _BEFORE, "", more, pool]
            )
        rows = zip(*(getattr(ledger, name) for name in RECORDED), strict=True)
        for asked, (index, *numbers) in enumerate(rows, start=1):
            answer = [""] * len(_ANSWER)
            if index in skipped:
                answer[1] = _SKIPPED
            if index in ledger.labels:
                label, place = ledger.labels[index], order[index]
                answer = [label_cell(label), type(label).__name__, place]
                answer += [int(place in refits), _more(ledger, index)]
            writer.writerow([index, asked, *map(repr, numbers), *answer, pool])


def _more(ledger, index):
    """Further answers for a row, as a cell."""
    more = ledger.more_labels.get(index)
    return "" if more is None else json.dumps(more)


def read_csv(ledger, path):
    """Fill an empty ledger from a file; see :meth:`LabelLedger.from_csv`."""
    rows = []
    for line, cells in _lines(path):
        try:
            rows.append(_read_row(cells))
        except ValueError as error:
            raise ValueError(
                f"Line {line} of {path}: {error} Take the file as to_csv wrote it."
            ) from None
    known = [row for row in rows if row["order"] == _BEFORE]
    asked = [row for row in rows if row["order"] != _BEFORE]
    labelled = [row for row in asked if row["order"] is not None]
    try:
        for some in (known, asked):
            _check_once([row["index"] for row in some])
        check_places("asked", [row["asked"] for row in asked])
        check_places("order", [row["order"] for row in labelled])
        ledger.pool = _one_pool({row["pool"] for row in rows})
    except ValueError as error:
        raise ValueError(f"{path}: {error} Take the file as to_csv wrote it.") from None
    if rows and ledger.pool is None:
        warn_caller(
            f"{path} does not say which rows its pool has, so it is not noticed if "
            "another pool, or the same in another order, is given. Files that to_csv "
            "writes from now on say it, for pools in memory.",
            JournalWarning,
        )
    _fill(
        ledger,
        known,
        sorted(asked, key=lambda row: row["asked"]),
        sorted(labelled, key=lambda row: row["order"]),
    )
    return ledger


def _lines(path):
    """Yield the number of each line and its cells by name; empty lines are left out."""
    # Spreadsheets write a byte order mark.
    with open(check_path(path), newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        names = next(reader, [])
        missing = sorted({*_ASKED, *_ANSWER} - {*names})
        if missing == ["asked"]:
            raise ValueError(
                f"{path} does not say in which order rows were asked for. If its lines "
                "are in the order in which to_csv wrote them, add a column asked with "
                "1, 2, ... for all lines but those with order 0."
            )
        if missing or len({*names}) < len(names):
            raise ValueError(
                f"{path} is not a ledger: columns {missing} are missing, or some are "
                "there twice. Read files that LabelLedger.to_csv wrote, with columns "
                "separated by commas."
            )
        for cells in reader:
            if any(cells):
                if len(cells) != len(names):
                    raise ValueError(
                        f"Line {reader.line_num} of {path} has {len(cells)} cells, but "
                        f"there are {len(names)} columns. Take the file as to_csv "
                        "wrote it."
                    )
                yield reader.line_num, dict(zip(names, cells, strict=True))


def _read_row(cells):
    """One line of the table as values, or a ValueError that says what is wrong."""
    row = {"index": read_whole(cells["index"], "index"), "order": None, "more": None}
    row["pool"] = cells.get(_POOL, "").strip()
    kind = cells["label_type"]
    if kind not in ("", _SKIPPED, *KINDS):
        raise ValueError(f"label_type {kind!r} is not one of {sorted(KINDS)}.")
    if kind in ("", _SKIPPED) and (cells["label"] or cells["order"]):
        raise ValueError(
            f"Row {row['index']} has a label but no label_type. Write which of "
            f"{sorted(KINDS)} it is, and its order."
        )
    row["is_skipped"] = kind == _SKIPPED
    if kind in KINDS:
        row["label"] = read_label(cells["label"], kind)
        row["order"] = read_whole(cells["order"], "order")
        row["refit"] = cells["refit"] not in ("", "0")
        if cells["more_labels"]:
            row["more"] = _read_more(cells["more_labels"])
    if row["order"] != _BEFORE:
        row["asked"] = read_whole(cells["asked"], "asked")
        row["numbers"] = [read_number(cells[name], name) for name in RECORDED[1:]]
        proba = row["numbers"][0]
        if isinstance(proba, list) or not (proba != proba or 0 < proba <= 1):
            raise ValueError(
                f"query_proba is {proba}, but a probability lies above 0 and is at "
                "most 1."
            )
    return row


def _read_more(text):
    """Further answers in a cell."""
    try:
        more = json.loads(text)
    except ValueError:
        more = None
    if not isinstance(more, list):
        raise ValueError(f"more_labels is {text!r}, but must be a list as JSON.")
    return more


def _one_pool(marks):
    """The fingerprint of the pool in the lines of a file; None if they have none."""
    if len(marks) > 1:
        raise ValueError(
            "The column pool is not the same in all lines, as if lines of two files "
            "were put together."
        )
    return "".join(marks).removeprefix(_MARK) or None


def _check_once(rows):
    """Refuse rows of the pool that stand in the table twice."""
    repeated = [row for row, count in Counter(rows).items() if count > 1]
    if repeated:
        raise ValueError(
            f"Rows {repeated[:5]} of the pool are there twice. Each row is asked for "
            "once."
        )


def _fill(ledger, known, asked, labelled):
    """Record what was read, in the order in which it happened."""
    if known:
        ledger.know([row["index"] for row in known], [row["label"] for row in known])
    for row in known:
        if row["more"] is not None:
            ledger.more_labels[row["index"]] = row["more"]
    for row in asked:
        index, numbers = row["index"], [[number] for number in row["numbers"]]
        ledger.ask(Picks.unanswered([index], *numbers))
        if row["is_skipped"]:
            ledger.skip([index])
    for place, row in enumerate(labelled, start=1):
        more = () if row["more"] is None else [row["more"]]
        ledger.tell([row["index"]], [row["label"]], more)
        if row["refit"]:
            ledger.refit(place)
        ledger.note([row["index"]], None, row["refit"])
