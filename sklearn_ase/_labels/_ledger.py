"""What a ledger holds, and what can be asked of it."""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from itertools import chain, islice, zip_longest
from typing import Any, Self

import numpy as np

from sklearn_ase._state import RECORDED, Picks
from sklearn_ase._utils._checks import check_path, first_of
from sklearn_ase._utils._display import warn_caller
from sklearn_ase._utils._typing import Label, StrPath
from sklearn_ase.exceptions import JournalWarning


class LedgerContents:
    """Queries and labels; the attributes are those of :class:`LabelLedger`."""

    indices: list[int]
    query_proba: list
    expected_loss: list
    free_expected_loss: list
    residual_moment: list
    loss_moment: list
    labels: dict[int, Label]
    more_labels: dict[int, list[Label]]
    known: dict[int, Label]
    given: dict[int, Label]
    refits: list[int]
    notes: dict[int, dict[str, Any]]
    seed: int | None = None
    pool: str | None
    unnoted: bool | None

    def __init__(self) -> None:
        for name in RECORDED:
            setattr(self, name, [])
        self.labels = {}
        self.more_labels = {}
        self.known = {}
        self.given = {}
        self.refits = []
        self.notes = {}
        self.pool = None
        self.n_changes = 0
        self.n_revisions = 0
        # Whether a refit waits to be noted; None if nothing waits.
        self.unnoted = None
        self._asked: set[int] = set()
        # The keys of a dict are ordered, and quick to look up and to leave out.
        self._unsettled: dict[int, None] = {}
        self._skipped: dict[int, None] = {}

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self):
        n_open = len(self.pending)
        return f"<{type(self).__name__}: {len(self)} labels, {n_open} open queries>"

    @property
    def skipped(self) -> list[int]:
        """Rows that were asked for and that nobody can label, as a list."""
        return list(self._skipped)

    @property
    def pending(self) -> list[int]:
        """Rows that were asked for and wait for an answer."""
        return list(self._unsettled)

    def may_answer(self, indices: Iterable[int]) -> bool:
        """Whether all these rows were asked for, or known beforehand."""
        return all(index in self._asked or index in self.known for index in indices)

    def last_labels(self, n_labels: int) -> dict[int, Label]:
        """Return the labels that came last, as a dict of row to label."""
        return dict([*islice(reversed(self.labels.items()), max(n_labels, 0))][::-1])

    @property
    def ends_of_batches(self) -> list[bool]:
        """Whether the estimate noted for each label was made right after it, a list.

        Labels of a batch share one estimate, which was made after the last of them.
        """
        estimates = [note["estimate"] for note in self.notes.values()]
        # The last label may have another one by now, of a refit. Then the one that the
        # rest shares was made of more labels.
        return [
            made is None or (made is not after and made["n_labels"] <= count)
            for count, (made, after) in enumerate(
                zip_longest(estimates, estimates[1:]), start=1
            )
        ]

    def answers(self, n_labels: int | None = None) -> list[Label]:
        """Return the answers for the first `n_labels` rows (or all) and known ones."""
        rows = list(self.labels)[:n_labels]
        known = [row for row in self.known if row not in self.labels]
        more = chain(*(self.more_labels.get(row, ()) for row in [*rows, *known]))
        return [*(self.labels[row] for row in rows), *self.known.values(), *more]

    def copy(self):
        """Return an independent copy, in memory."""
        other = self._in_memory()
        for name in vars(other):
            setattr(other, name, deepcopy(getattr(self, name)))
        return other

    @contextmanager
    def together(self) -> Iterator[None]:
        """Record what happens meanwhile as a whole, or nothing of it if it fails."""
        names = vars(self._in_memory())
        before = {name: copy(getattr(self, name)) for name in names}
        try:
            yield
        except BaseException:
            vars(self).update(before)
            raise

    @staticmethod
    def _in_memory() -> None:
        """An empty ledger that has no file."""
        raise NotImplementedError

    def _is_settled(self, index):
        """Whether a row has an answer or was skipped."""
        return index in self.labels or index in self._skipped

    def _was_learned(self, index):
        """Whether the surrogate was fitted to this label."""
        if index in self.known:
            return True
        n_learned = self.refits[-1] if self.refits else 0
        n_later = max(len(self.labels) - n_learned, 0)
        return index in self.labels and index not in islice(
            reversed(self.labels), n_later
        )

    def _check_asked(self, indices):
        unknown = sorted(set(indices) - self._asked)
        if unknown:
            pending = self.pending
            raise ValueError(
                f"Rows {unknown} were not asked for, "
                + (f"open are {pending}" if pending else "and no row is open")
                + ". Call ask(), and answer the rows that it returns: their places in "
                "the pool, from 0."
            )

    def _check_labelled(self, index):
        if index not in self.labels and index not in self.known:
            raise ValueError(
                f"Row {index} has no label that could be changed. Rows that were asked "
                f"for and are open: {self.pending}."
            )


# Cells of a ledger's table: labels and numbers as text that spreadsheets keep.


KINDS = ("bool", "float", "int", "str")
_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_SIGN = "'"
# Spreadsheets take such texts for formulas, numbers, dates or truth values.
_AT_RISK = re.compile(r"[=+\-@\t\r\n'.\d]|(true|false)$", re.IGNORECASE)
_EXACT = 2**53  # Greater whole numbers are rounded when they are written as 1E+16.


def label_cell(label: Any) -> Any:
    """Return a label as the content of a cell."""
    is_at_risk = isinstance(label, str) and _AT_RISK.match(label)
    return _SIGN + label if is_at_risk else label


def read_label(text: str, kind: str) -> Any:
    """Return the label in a cell."""
    if kind == "str":
        return text.removeprefix(_SIGN)
    if kind == "int":
        return read_whole(text, "label", least=-math.inf)
    if kind == "bool":
        if text.casefold() not in _TRUTH:
            raise ValueError(f"label {text!r} is not True or False.")
        return _TRUTH[text.casefold()]
    label = read_number(text, "label")
    if not isinstance(label, float) or not math.isfinite(label):
        raise ValueError(f"label {text!r} is not a finite number.")
    return label


def read_whole(text, name, least=0):
    """Return the whole number in a cell; `name` is that of its column."""
    try:
        number = int(text)
    except ValueError:  # Spreadsheets may write 3 as 3.0.
        number = _float(text)
        is_exact = number.is_integer() and abs(number) <= _EXACT
        number = int(number) if is_exact else math.nan
    if not number >= least:
        kind = "a whole number" if least < 0 else f"a whole number from {least}"
        raise ValueError(f"{name} is {text!r}, but must be {kind}.")
    return number


def read_number(text, name):
    """Return a number, or a list of numbers, as ``repr`` writes them."""
    parts = text[1:-1].split(",") if text.startswith("[") else [text]
    numbers = [_float(part) for part in parts]
    is_wrong = [
        n != n and p.strip() != "nan" for n, p in zip(numbers, parts, strict=True)
    ]
    if any(is_wrong):
        raise ValueError(f"{name} is {text!r}, but must be a number.")
    return numbers if text.startswith("[") else numbers[0]


def check_places(name: str, places: list[int]) -> None:
    """Refuse positions that are not 1, 2, ... in some order."""
    last = max([*places, len(places)])
    found = {*places}
    missing = [*islice((n for n in range(1, last + 1) if n not in found), 5)]
    if missing:  # Also if one is there twice, or is greater than all places.
        raise ValueError(
            f"The column {name} must have each of 1 to {last} once, but {missing} are "
            "missing."
        )


def _float(text):
    try:
        return float(text)
    except ValueError:
        return math.nan


# A ledger as a table that people and spreadsheets can read.


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


# The record of what was asked and what was answered.


class LabelLedger(LedgerContents):
    """Record of queries and labels, in the order in which they were asked.

    Each query is kept with what was known before its label was seen. Every estimate
    can therefore be computed again from the ledger alone.

    Attributes
    ----------
    indices : list of int
        Rows of the pool, in the order in which they were asked.
    query_proba, expected_loss, free_expected_loss, residual_moment, loss_moment : list
        What was known before each answer, see :class:`Picks`. Entries are numbers, or
        lists of numbers where several quantities are estimated.
    labels : dict of int to label
        Answers so far, in the order in which they came; the first one of each row.
    more_labels : dict of int to list
        Further answers for the same rows, where several people were asked.
    skipped : list of int
        Rows that were asked for and that nobody can label.
    known : dict of int to label
        Labels that were available before anything was asked.
    given : dict of int to label
        The same as they were at the start, before corrections and withdrawals.
    refits : list of int
        Numbers of labels at which the surrogate was fitted again.
    notes : dict of int to dict
        For each labelled row the estimate after its label came, and whether the
        surrogate was fitted again.
    pool : str or None
        Fingerprint of the rows of the pool; None before an evaluation starts, and for
        a pool that is not in memory.
    seed : int or None
        Seed of the evaluation that the ledger continues; None if it has none.
    n_changes : int
        Number of changes so far; notes do not count.
    n_revisions : int
        How many of them changed an answer or a skip of before.

    Examples
    --------
    >>> from sklearn_ase import LabelLedger, Picks
    >>> ledger = LabelLedger()
    >>> ledger.ask(Picks.unanswered([7, 3], [0.25, 0.5], *[[0.0, 0.0]] * 4))
    >>> ledger.tell([3], ["cat"])
    >>> ledger.pending
    [7]
    """

    def begin(self, make_header: Callable[[], dict[str, Any]]) -> None:
        """Connect the ledger with an evaluation; in memory there is nothing to do.

        Parameters
        ----------
        make_header : callable
            Returns a dict that identifies the evaluation. Called only by ledgers that
            are kept in a file.
        """

    def close(self) -> None:
        """Release the file of the ledger; in memory there is none."""

    def ask(self, picks: Picks) -> None:
        """Record queries, each with what was known before its label.

        Parameters
        ----------
        picks : Picks
        """
        columns = {name: np.asarray(getattr(picks, name)).tolist() for name in RECORDED}
        indices = columns["indices"]
        repeated = sorted({*indices} & self._asked)
        if repeated or len({*indices}) < len(indices):
            raise ValueError(
                f"Rows {repeated or indices} are asked for twice. Each row is asked "
                "for once."
            )
        if any(len(values) != len(indices) for values in columns.values()):
            raise ValueError(
                f"Each of the {len(indices)} rows needs one entry in each of the "
                f"columns {', '.join(RECORDED[1:])}."
            )
        self._record("ask", *columns.values())
        self._asked.update(indices)
        self._unsettled.update(dict.fromkeys(indices))
        for name, values in columns.items():
            getattr(self, name).extend(values)

    def tell(
        self,
        indices: Sequence[int] | np.ndarray,
        labels: Sequence[Label] | np.ndarray,
        more_labels: Sequence | np.ndarray = (),
    ) -> None:
        """Record the labels of rows that were asked for.

        Nothing is recorded unless all of it can be. A skipped row may be answered
        after all. `more_labels` holds a sequence of further answers for each row, or
        nothing.
        """
        indices = [int(index) for index in indices]
        if len(indices) != len(labels):
            raise ValueError(
                f"{len(indices)} rows were to be answered, but {len(labels)} labels "
                "came. Give one label for each of these rows, in their order: "
                "y[query.indices] of an array, y.iloc[query.indices] of a Series."
            )
        repeated = [index for index in indices if index in self.labels]
        if repeated:
            raise ValueError(
                f"Rows {first_of(repeated)} have a label already. Each row takes one "
                "label; correct(index, label) replaces it."
            )
        twice = sorted(row for row, n in Counter(indices).items() if n > 1)
        if twice:
            raise ValueError(
                f"Rows {first_of(twice)} are answered twice in this call. Name each "
                "row once."
            )
        self._check_asked(indices)
        labels, more_labels = _plain(labels), [_plain(more) for more in more_labels]
        self._record("tell", indices, labels, more_labels)
        for index in indices:
            self._unsettled.pop(index, None)
            if index in self._skipped:
                del self._skipped[index]
                self.n_revisions += 1
        self._happened()
        self.labels.update(zip(indices, labels, strict=True))
        self.more_labels.update(zip(indices, more_labels, strict=False))

    def correct(
        self,
        index: int | np.integer,
        label: Label,
        more_labels: Sequence | np.ndarray = (),
    ) -> bool:
        """Replace the label of a row, also where it was known beforehand.

        Returns whether the surrogate has learned from the old label, so that it must be
        fitted again.
        """
        index, (label, *others) = int(index), _plain([label, *more_labels])
        self._check_labelled(index)
        self._record("correct", index, label, others)
        learned = self._was_learned(index)
        self._happened(learned)
        self.n_revisions += 1
        for answers in (self.labels, self.known):
            if index in answers:
                answers[index] = label
        self.more_labels.pop(index, None)
        if others:
            self.more_labels[index] = others
        if learned:
            self.refits.append(len(self.labels))
        return learned

    def withdraw(self, index: int | np.integer) -> bool:
        """Take a label, or a skip, back: the row waits for an answer again.

        A label that was known beforehand is then no longer known. Returns whether the
        surrogate has learned from the label, so that it must be fitted again.
        """
        index = int(index)
        if index not in self._skipped:
            self._check_labelled(index)
        self._record("withdraw", index)
        learned = self._was_learned(index)
        self._happened(learned)
        for rows in (
            self._skipped,
            self.labels,
            self.more_labels,
            self.notes,
            self.known,
        ):
            rows.pop(index, None)
        self.n_revisions += 1
        is_open = (row for row in self.indices if not self._is_settled(row))
        self._unsettled = dict.fromkeys(is_open)  # In the order of the picks.
        if learned:
            while self.refits and self.refits[-1] >= len(self.labels):
                self.refits.pop()
            self.refits.append(len(self.labels))
        return learned

    def skip(self, indices: Sequence[int] | np.ndarray) -> None:
        """Record that nobody can label these rows."""
        indices = [int(index) for index in indices]
        self._check_asked(indices)
        settled = [index for index in indices if self._is_settled(index)]
        if settled or len(set(indices)) < len(indices):
            raise ValueError(
                f"Rows {settled or indices} are answered or skipped already, or named "
                "twice. withdraw(index) opens a row again."
            )
        self._record("skip", indices)
        self._happened()
        self._skipped.update(dict.fromkeys(indices))
        for index in indices:
            self._unsettled.pop(index, None)

    def know(self, indices: Iterable[int], labels: Iterable[Label]) -> None:
        """Record labels that were available beforehand."""
        indices, labels = [int(index) for index in indices], _plain(labels)
        self._record("know", indices, labels)
        self.given.update(zip(indices, labels, strict=True))
        self.known.update(self.given)

    def refit(self, n_labels: int) -> None:
        """Record that the surrogate was fitted to the first `n_labels` labels."""
        if self.refits[-1:] != [n_labels]:
            self._record("refit", n_labels)
            self._happened(True)
            self.refits.append(n_labels)

    def note(
        self, indices: Sequence[int], estimate: dict[str, Any] | None, refit: bool
    ) -> None:
        """Keep the estimate after some labels, and whether it came with a refit.

        `estimate` is a dict or None. It replaces what was noted for these rows before,
        except for a refit.
        """
        indices = [int(index) for index in indices]
        self._record("note", indices, estimate, refit)
        self.unnoted = None
        for index in indices:
            before = self.notes.get(index, {"refit": False})["refit"]
            last = bool(refit) and index == indices[-1]
            self.notes[index] = {"estimate": estimate, "refit": last or before}

    def to_csv(self, path: StrPath) -> None:
        """Write the ledger as a table with one line per query.

        ``asked`` and ``order`` are the positions in which the row was asked for and in
        which the label arrived, starting at 1. The label is empty while the query is
        open. ``refit`` is 1 if the surrogate was fitted again after it. ``label_type``
        is the type of the label, or says that the row was skipped. ``more_labels``
        holds further answers as JSON. Labels that were known beforehand come first,
        with ``order`` 0. A text that a spreadsheet would take for a formula, a number
        or a date starts with an apostrophe. ``pool`` is a fingerprint of the rows of
        the pool, so that the file is not continued with other rows, or in another
        order. Estimates are not in the file.
        """
        write_csv(self, path)

    @classmethod
    def from_csv(cls, path: StrPath) -> Self:
        """Read a ledger that :meth:`to_csv` wrote.

        Lines and columns may be in another order. What cannot be right is refused:
        rows, positions or probabilities that are missing, repeated or out of range. A
        file without the column ``pool`` is read with a warning.
        """
        return read_csv(cls(), path)

    def _record(self, event, *arguments):
        """Count an event before it happens; journals also write it to their file."""
        self.n_changes += event != "note"

    def _happened(self, refit=False):
        """Remember that the estimate has changed, until it is noted."""
        self.unnoted = bool(refit or self.unnoted)

    @staticmethod
    def _in_memory():
        return LabelLedger()


def _plain(labels):
    """Labels as Python's own scalars, which every file format can hold."""
    return [
        label.item() if isinstance(label, np.generic) else label for label in labels
    ]
