"""The ledger: the record of what was asked and what was answered."""

from __future__ import annotations

import csv
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import replace
from itertools import chain, islice, zip_longest
from typing import Any, Self

import numpy as np

from sklearn_ase._labels._store import COMPUTED, BaseStore, as_store, finite
from sklearn_ase._state import RECORDED, Picks
from sklearn_ase._utils._checks import check_path, first_of
from sklearn_ase._utils._display import warn_caller
from sklearn_ase._utils._typing import Label, StrPath
from sklearn_ase.exceptions import JournalError, JournalWarning


class LabelLedger:
    """Record of queries and labels, in the order in which they were asked.

    Each query is kept with what was known before its label was seen. Every estimate
    can therefore be computed again from the ledger alone. With ``journal=`` each event
    is written down before it happens.

    Attributes
    ----------
    indices : list of int
        Rows of the pool, in the order in which they were asked.
    picks : Picks
        The same rows with what was known before each answer.
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
    header : dict or None
        What identifies the evaluation, as JSON values; None before it starts.
    seed : int or None
        Seed of the evaluation; None before it starts.
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

    def __init__(self) -> None:
        self.indices: list[int] = []
        self.picks = Picks.unanswered(*[[]] * len(RECORDED))
        self.labels: dict[int, Label] = {}
        self.more_labels: dict[int, list[Label]] = {}
        self.known: dict[int, Label] = {}
        self.given: dict[int, Label] = {}
        self.refits: list[int] = []
        self.notes: dict[int, dict[str, Any]] = {}
        self.pool: str | None = None
        self.header: dict[str, Any] | None = None
        self.settings: dict[str, Any] = {}
        self.n_changes = 0
        self.n_revisions = 0
        # Whether a refit waits to be noted; None if nothing waits.
        self.unnoted: bool | None = None
        self._asked: set[int] = set()
        # The keys of a dict are ordered, and quick to look up and to leave out.
        self._unsettled: dict[int, None] = {}
        self._skipped: dict[int, None] = {}
        # All that happened, as it is written; the store has the first of these lines.
        self._events: list[list] = []
        self._n_stored = 0  # With the header.
        self._store: BaseStore | None = None  # None also while events are held back.
        self._place: str | None = None  # The name of the store; None in memory.
        self._process: int | None = None  # The one that may write to the store.

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
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

    @property
    def place(self) -> str | None:
        """The name of the journal; None in memory."""
        return self._place

    @property
    def seed(self) -> int | None:
        """Seed of the evaluation; None before it starts."""
        return None if self.header is None else self.header.get("seed")

    def copy(self) -> Self:
        """Return an independent copy, in memory."""
        other = deepcopy(self)
        other._place = None
        return other

    @contextmanager
    def together(self) -> Iterator[None]:
        """Record what happens meanwhile as a whole, or nothing of it if it fails."""
        store, n_events = self._store, len(self._events)
        before = {name: copy(vars(self)[name]) for name in {*vars(self)} - {"_store"}}
        self._store = None
        try:
            yield
            events = self._events[n_events:]
            self._store = store
            if events:
                self._events[n_events:] = [["together", *events]]
                self._write()
        except BaseException:
            vars(self).update(before)
            raise
        finally:
            self._store = store

    def hold_back(self, place: str) -> None:
        """Keep events for a store of this name until :meth:`write_to` gives it."""
        self._place, self._process = place, os.getpid()
        self._n_stored = len(self._events) + (self.header is not None)

    def write_to(self, store: BaseStore) -> None:
        """Write what happened, and from here on everything before it happens."""
        self._store = store
        self._write()

    def save(self, path: BaseStore | StrPath) -> None:
        """Write a new journal, which ``start(..., journal=path)`` resumes.

        For a ledger in memory, or for a journal to which nothing can be written any
        more. The ledger itself is written where it was before.

        Parameters
        ----------
        path : str, path or BaseStore
            A file that does not exist or is empty.
        """
        if self.header is None:
            raise ValueError(
                "The ledger does not know of which evaluation it is. Save that of an "
                "evaluation: evaluation.ledger.save(path)."
            )
        store = as_store(path, "path")
        try:
            if store.read():
                raise JournalError(
                    f"{store} is a journal already and was left as it is. Choose "
                    "another file name."
                )
            store.append(finite([self.header, *self._events]))
        finally:
            if store is not path:
                store.close()

    def close(self) -> None:
        """Release the journal, if there is one; nothing more is recorded then."""
        store, self._store = self._store, None
        # A child that closes the journal would take it from its parent.
        if store is not None and self._process == os.getpid():
            store.close()
        self._process = None

    def __getstate__(self) -> dict[str, Any]:
        # A copy or a pickle of a journal knows all and writes nothing.
        return vars(self) | {"_store": None, "_process": None}

    def _is_settled(self, index: int) -> bool:
        """Whether a row has an answer or was skipped."""
        return index in self.labels or index in self._skipped

    def _was_learned(self, index: int) -> bool:
        """Whether the surrogate was fitted to this label."""
        if index in self.known:
            return True
        n_learned = self.refits[-1] if self.refits else 0
        n_later = max(len(self.labels) - n_learned, 0)
        return index in self.labels and index not in islice(
            reversed(self.labels), n_later
        )

    def _check_asked(self, indices: list[int]) -> None:
        """Refuse rows that nobody asked for."""
        unknown = sorted(set(indices) - self._asked)
        if unknown:
            pending = self.pending
            raise ValueError(
                f"Rows {unknown} were not asked for, "
                + (f"open are {pending}" if pending else "and no row is open")
                + ". Call ask(), and answer the rows that it returns: their places in "
                "the pool, from 0."
            )

    def _check_labelled(self, index: int) -> None:
        """Refuse a row that has no label."""
        if index not in self.labels and index not in self.known:
            raise ValueError(
                f"Row {index} has no label that could be changed. Rows that were asked "
                f"for and are open: {self.pending}."
            )

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
        self.indices.extend(indices)
        self.picks = self.picks.followed_by(Picks.unanswered(**columns))

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

    def use(self, settings: dict[str, Any]) -> None:
        """Record the settings of what comes now, as JSON values by name."""
        self._record("settings", settings)
        self.settings = settings

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

    def renamed(self, name_of: Callable[[list[int]], np.ndarray]) -> LabelLedger:
        """Return a copy, in memory, in which rows have other names.

        Parameters
        ----------
        name_of : callable
            Of a list of rows, returns an array of as many names.

        Returns
        -------
        ledger : LabelLedger
        """
        other = copy(self)
        names: dict[int, int] = {}
        for rows in (self.indices, self.known, self.given):
            names |= dict(zip(rows, name_of(list(rows)).tolist(), strict=True))
        other.indices = [names[row] for row in self.indices]
        other.picks = replace(self.picks, indices=np.array(other.indices, dtype=int))
        for column in ("labels", "more_labels", "known", "given", "notes"):
            named = {names[row]: x for row, x in getattr(self, column).items()}
            setattr(other, column, named)
        other._asked = {names[row] for row in self._asked}
        other._unsettled = {names[row]: None for row in self._unsettled}
        other._skipped = {names[row]: None for row in self._skipped}
        return other

    def to_csv(self, path: StrPath) -> None:
        """Write the ledger as a table with one line per query, for people to read.

        ``asked`` and ``order`` are the positions in which the row was asked for and in
        which the label arrived, starting at 1. The label is empty while the query is
        open. ``refit`` is 1 if the surrogate was fitted again after it. ``label_type``
        is the type of the label, or says that the row was skipped. ``more_labels``
        holds further answers as JSON. Labels that were known beforehand come first,
        with ``order`` 0. A text that a spreadsheet would take for a formula, a number
        or a date starts with an apostrophe. Estimates are not in the file.
        """
        with open(check_path(path), "w", newline="", encoding="utf-8") as file:
            names = ["index", "asked", *RECORDED[1:], *_ANSWER]
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            known = {n: getattr(self.picks, n).tolist() for n in RECORDED[1:]}
            for index, label in self.known.items():
                more = None if index in self.labels else self.more_labels.get(index)
                writer.writerow({"index": index, **_cells(label, more), "order": 0})
            order = {index: place for place, index in enumerate(self.labels, start=1)}
            for asked, index in enumerate(self.indices, start=1):
                row: dict[str, Any] = {"index": index, "asked": asked}
                row |= {name: repr(column[asked - 1]) for name, column in known.items()}
                if index in self._skipped:
                    row["label_type"] = "skipped"
                if index in self.labels:
                    row |= _cells(self.labels[index], self.more_labels.get(index))
                    row["order"] = order[index]
                    row["refit"] = int(order[index] in self.refits)
                writer.writerow(row)

    def _record(self, event: str, *arguments: Any) -> None:
        """Write an event down before it happens; nothing happens if that fails."""
        self._check_writable()
        self._events.append([event, *arguments])
        try:
            self._write()
        except BaseException:
            self._events.pop()
            raise
        self.n_changes += event not in ("note", "settings")

    def _write(self) -> None:
        """Write what the store lacks. What can be computed again may wait."""
        if self._store is None:  # In memory, or held back.
            return
        events = self._events[max(self._n_stored - 1, 0) :]
        entries = events if self._n_stored else [self.header, *events]
        try:
            self._store.append(finite(entries))
        except Exception as error:
            may_wait = all(event[0] in COMPUTED for event in events)
            if not (self._n_stored and events and may_wait):
                raise
            warn_caller(
                f"All answers are recorded, but what was computed from them could not "
                f"be written to {self._place} ({error}). It is written with the next "
                "answer, or computed again when the journal is opened.",
                JournalWarning,
            )
            return
        self._n_stored = 1 + len(self._events)

    def _check_writable(self) -> None:
        """Refuse to record what this process cannot write to the journal."""
        if self._place is None:
            return
        if self._process is None:
            raise JournalError(
                f"The journal {self._place} is closed. Resume with start(X, "
                "journal=...)."
            )
        if self._process != os.getpid():
            raise JournalError(
                f"The journal {self._place} is open in process {self._process}, and "
                f"this is its child {os.getpid()}. Only one of them may write: record "
                "answers there, or continue without the file with start(X, "
                "ledger=evaluation.ledger)."
            )

    def _happened(self, refit: bool = False) -> None:
        """Remember that the estimate has changed, until it is noted."""
        self.unnoted = bool(refit or self.unnoted)


def _plain(labels: Iterable) -> list:
    """Labels as Python's own scalars, which every file format can hold."""
    return [
        label.item() if isinstance(label, np.generic) else label for label in labels
    ]


# Labels as cells of a table.

_ANSWER = ["label", "label_type", "order", "refit", "more_labels"]
# Spreadsheets take such texts for formulas, numbers, dates or truth values.
_AT_RISK = re.compile(r"[=+\-@\t\r\n'.\d]|(true|false)$", re.IGNORECASE)


def _cells(label: Label, more: list[Label] | None) -> dict[str, Any]:
    """The cells of an answer and of further ones for the same row."""
    is_at_risk = isinstance(label, str) and _AT_RISK.match(label)
    return {
        "label": f"'{label}" if is_at_risk else label,
        "label_type": type(label).__name__,
        "more_labels": "" if more is None else json.dumps(more),
    }
