"""What a ledger holds, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, Any

from sklearn_ase._state import RECORDED
from sklearn_ase._utils._typing import Label

if TYPE_CHECKING:
    from sklearn_ase._labels._ledger import LabelLedger


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

    def copy(self) -> LabelLedger:
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
    def _in_memory():
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
