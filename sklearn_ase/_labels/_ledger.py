"""The record of what was asked and what was answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sklearn_ase._labels._csv import read_csv, write_csv
from sklearn_ase._labels._ledger_contents import LedgerContents
from sklearn_ase._state import RECORDED
from sklearn_ase._utils._checks import first_of
from sklearn_ase._utils._typing import Label, StrPath

if TYPE_CHECKING:
    from sklearn_ase._state import Picks


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
