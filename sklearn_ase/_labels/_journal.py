"""Journals of format 1, written by version 0.1, under the names of today."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import contextmanager
from functools import partial
from operator import eq
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._data._predictions import Predictions
from sklearn_ase._data._rows import check_indices, n_rows
from sklearn_ase._labels._fingerprint import (
    fingerprint,
    fingerprint_of_pool,
    same_experts,
    same_loss_values,
    same_sketch,
    sketch,
    sketch_loss,
)
from sklearn_ase._labels._journal_file import CHECK, JournalFile, finite
from sklearn_ase._labels._ledger import LabelLedger
from sklearn_ase._state import Picks
from sklearn_ase._utils._checks import check_path
from sklearn_ase._utils._display import warn_caller
from sklearn_ase.exceptions import JournalError, JournalWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from sklearn_ase._data._problem import Problem
    from sklearn_ase._utils._typing import StrPath

_SETTINGS = {"cross_fit": "cv"}
_IN_SETTINGS = {
    r"\bGuarded\(": "GuardedASE(",
    r"\bTrusted\(": "TrustWeighted(",
    r"\bAudited\(": "UniformMixed(",
    r"(UniformMixed\(.*?)\bshare=": r"\1uniform_share=",
    r"\bdefensive=": "uniform_share=",
    r"\bcalibration=False\b": "calibration=None",
}


def upgraded_header(header: dict) -> dict:
    """Return a header with today's names."""
    names = {"kind": "task", **_SETTINGS}
    header = {names.get(key, key): value for key, value in header.items()}
    for key, value in header.items():
        if isinstance(value, str):
            for old, new in _IN_SETTINGS.items():
                value = re.sub(old, new, value, flags=re.DOTALL)
            # The names have other lengths, so that long lines break elsewhere.
            header[key] = " ".join(value.split())
    return header


def upgraded_estimate(estimate):
    """Return a noted estimate, a dict, with today's names."""
    names = {"greatest_loss": "max_loss"}
    return {names.get(name, name): value for name, value in estimate.items()}


# A ledger in a file: every query and label is on disk before anything else happens.


FORMAT = "sklearn_ase journal"
VERSION = 3
_FIRST_WITH_CHECKSUMS = 3
_FIRST_LINE = json.dumps({"format": FORMAT})[:-1].encode()
_EVENTS = {"ask", "tell", "correct", "withdraw", "skip", "know", "refit", "note"}
# What can be computed again from the other events.
_COMPUTED = {"refit", "note"}
# What may not differ when a journal is opened again, and how to say that it does.
_SAME = {
    "n_samples": "the size of the pool differs",
    "pool": "the rows of the pool differ",
    "predictions": "the predictions of the model differ",
    "task": "one is of classification and the other of regression",
    "classes": "the classes differ",
    "loss": "the loss differs",
    "loss_values": "the loss has the same name but other values",
    "experts": "the experts, or what they say, differ",
}
_COMPARE = {
    "predictions": same_sketch,
    "loss_values": same_loss_values,
    "experts": same_experts,
}
_NOT_NUMBERS = ("refusal", "anytime_refusal", "of", "name", "scale")


class Journal(LabelLedger):
    """A ledger that is written to a file as it grows, one line of JSON per event.

    The first line identifies the evaluation. Lines are only ever added, each with a
    checksum of all lines so far. The file is locked against other processes until
    :meth:`close`. Files of older formats have no checksums and get none.

    Parameters
    ----------
    path : str or path
        A new file, or one to continue.

    Attributes
    ----------
    path : Path
    header : dict or None
        None until :meth:`begin` in a new journal.
    """

    _open = JournalFile

    def __init__(self, path):
        super().__init__()
        self._file = self._open(path)
        self.path = self._file.path
        self.header = None
        self._settings = None
        self._held = None
        self._waiting = []  # Events that could not be written, but computed again.
        self._is_format_1 = False
        try:
            self._events = self._read()
        except BaseException:
            self.close()
            raise

    @property
    def seed(self):
        """Seed of the evaluation that the journal continues; None if it is new."""
        return None if self.header is None else self.header.get("seed")

    @contextmanager
    def held_back(self):
        """Write what happens meanwhile at the end, and nothing of it if that fails."""
        self._held = []
        yield
        values, self._held = self._held, None
        self._append(*values)

    @contextmanager
    def together(self):
        """Record what happens meanwhile in one line, or nothing of it if it fails."""
        with super().together():
            self._held = values = []
            try:
                yield
            finally:
                self._held = None
            if values:
                self._append(["together", *values])

    def begin(self, make_header: Callable) -> None:
        """Write the first line, or compare it with that of the file; then replay."""
        header = finite({"format": FORMAT, "version": VERSION, **make_header()})
        settings = {
            key: header[key]
            for key in header
            if key not in _SAME and key not in ("format", "version")
        }
        if self.header is not None:
            self._compare(header)
            self._settings = {key: self.header.get(key) for key in settings}
        for place, event in enumerate(self._events, start=2):
            self._replay(place, event, header["n_samples"])
        if self.header is not None:  # Old events have entries that are not settings.
            self._settings = {key: self._settings.get(key) for key in settings}
        self._file.mend()
        if self.header is None:
            self._append(header)
            self._file.sync_folder()
        elif settings != self._settings:
            self._append(["settings", settings])
            self._warn_of_settings(settings)
        if not self._file.has_checksums:
            header["version"] = self.header["version"]
            self._warn_of_format()
        self.header = header
        self._events = None  # From here on events are written.

    def close(self) -> None:
        """Release the file, so that others may continue it."""
        self._file.close()

    def _check_event(self, event, arguments, n_samples):
        """Refuse what only a damaged file can say."""
        first = arguments[0]
        if event == "ask" and not all(0 <= index < n_samples for index in first):
            raise ValueError(f"Rows {first} are not all rows of the pool.")
        if event == "note" and not all(index in self.labels for index in first):
            raise ValueError(f"Rows {first} do not all have a label.")
        if event == "refit" and not 0 <= first <= len(self.labels):
            raise ValueError(f"There are fewer than {first} labels.")

    def _replay(self, place, line, n_samples):
        if isinstance(line, list) and line[:1] == ["together"]:
            for each in line[1:]:
                self._replay(place, each, n_samples)
            return
        try:
            event, *arguments = line
            if event == "settings":
                self._settings = self._upgraded(arguments[0])
                return
            if event not in _EVENTS:
                raise ValueError(f"{event!r} is not an event.")
            self._check_event(event, arguments, n_samples)
            if event == "ask":
                arguments = [Picks.unanswered(*arguments)]
            if event == "note":
                arguments[1] = _read_estimate(arguments[1])
            getattr(LabelLedger, event)(self, *arguments)
        except (IndexError, TypeError, ValueError) as error:
            raise JournalError(
                f"Line {place} of {self.path} does not fit what came before it: "
                f"{error} The file was left as it is."
            ) from error

    def _record(self, event, *arguments):
        if self._events is None:  # Else this replays what is in the file.
            self._file.check_open()
            # Estimates can be computed again, the rest cannot.
            self._append([event, *arguments], durable=event != "note")
        super()._record(event, *arguments)

    def _append(self, *values, durable=True):
        if self._held is not None:
            self._held.extend(values)
            return
        values = [*self._waiting, *values]
        try:
            self._file.append(values, durable)
            self._waiting = []
        except (OSError, JournalError) as error:
            if not all(isinstance(v, list) and v[0] in _COMPUTED for v in values):
                raise
            self._waiting = values
            warn_caller(
                f"All answers are recorded, but what was computed from them could not "
                f"be written to {self.path} ({error}). It is written with the next "
                "answer, or computed again when the journal is opened.",
                JournalWarning,
            )

    def _read(self):
        """Check the header of the file and return its events."""
        lines = self._file.read(_FIRST_LINE)
        if not lines:
            return []
        header = self._file.parse(lines[0])
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise JournalError(
                f"{self.path} is not a sklearn_ase journal. Choose another file name."
            )
        version = header.get("version")
        if not isinstance(version, int) or version > VERSION:
            raise JournalError(
                f"{self.path} has format {version}; this version of sklearn_ase reads "
                f"formats up to {VERSION}. Upgrade sklearn_ase."
            )
        self._is_format_1 = version == 1
        self._file.has_checksums = version >= _FIRST_WITH_CHECKSUMS or CHECK in header
        header, *events = self._file.values(lines)
        self.header = self._upgraded(header)
        return events

    def _upgraded(self, settings):
        """A header or settings under the names of today."""
        return upgraded_header(settings) if self._is_format_1 else settings

    def _compare(self, header):
        for key, difference in _SAME.items():
            if not _COMPARE.get(key, eq)(self.header.get(key), header.get(key)):
                raise JournalError(
                    f"{self.path} belongs to another evaluation: {difference}. Give "
                    "what it was started with, or another file name. It was left as "
                    "it is."
                )

    def _warn_of_format(self) -> None:
        warn_caller(
            f"{self.path} has format {self.header['version']}, which has no checksums: "
            "a label that was changed in the file may pass unnoticed. New journals "
            "have them; this one is continued as it is.",
            JournalWarning,
        )

    def _warn_of_settings(self, settings):
        changed = [key for key in settings if settings[key] != self._settings.get(key)]
        warn_caller(
            f"{self.path} was last used with different {', '.join(sorted(changed))}. "
            "What it recorded stays valid; what comes now follows the new ones.",
            JournalWarning,
        )


def _read_estimate(estimate):
    """A noted estimate with the numbers that JSON lacks."""
    if estimate is None:
        return None
    return _numbers(upgraded_estimate(estimate))


def _numbers(value):
    """The same with numbers in place of their names."""
    if isinstance(value, dict):
        return {
            name: entry if name in _NOT_NUMBERS else _numbers(entry)
            for name, entry in value.items()
        }
    if isinstance(value, list):
        return [_numbers(entry) for entry in value]
    return float(value) if isinstance(value, str) else value


# Read a journal as it is now, without a lock and without changing it.


class _UnlockedFile(JournalFile):
    """File of a journal that is only read, also while another process has it open."""

    _open = staticmethod(partial(open, mode="rb"))


class _ReadJournal(Journal):
    """A journal whose events are replayed in memory, and that never writes."""

    _open = _UnlockedFile

    def replay(self) -> None:
        for place, event in enumerate(self._events, start=2):
            self._replay(place, event, self.header["n_samples"])


def read_journal(path: StrPath) -> tuple[dict | None, LabelLedger]:
    """Return what a journal holds.

    Nothing is fitted and the pool is not needed. A last line that was not written to
    its end is left out, as it is when the journal is opened.
    """
    journal = _ReadJournal(path)
    try:
        if journal.header is not None:
            journal.replay()
        return journal.header, journal.copy()
    finally:
        journal.close()


# Open the ledger of an evaluation: in memory, or in the file of a journal.


@contextmanager
def open_ledger(ledger: LabelLedger | None, journal) -> Iterator[LabelLedger]:
    """Open a ledger to continue; it is closed again if the start fails."""
    if journal is None:
        yield LabelLedger() if ledger is None else ledger.copy()
        return
    if ledger is not None:
        raise ValueError(
            "Give ledger= or journal=, not both: a journal has a ledger of its own."
        )
    journal = Journal(check_path(journal, "journal"))
    try:
        with journal.held_back():  # A start that fails leaves no trace.
            yield journal
    except BaseException:
        journal.close()
        raise


def check_ledger(ledger, n_samples):
    """Check that a ledger may be of this pool."""
    if ledger is None:
        return
    if not isinstance(ledger, LabelLedger):
        raise TypeError(
            f"ledger must be a LabelLedger, got {ledger!r}. Read a file with "
            "LabelLedger.from_csv(path)."
        )
    rows = [*ledger.indices, *ledger.known]
    wrong = [index for index in rows if not 0 <= index < n_samples]
    if wrong:
        raise ValueError(
            f"The ledger is of another pool: it has row {wrong[0]}, but this pool has "
            f"{n_samples} rows."
        )
    if len(set(ledger.indices)) < len(ledger.indices):
        raise ValueError(
            "The ledger asks for some rows twice. Each row is asked for once."
        )


def recognise_pool(ledger: LabelLedger, problem: Problem) -> None:
    """Refuse a ledger of other rows, and let it remember these."""
    pool = fingerprint_of_pool(problem)
    if None not in (pool, ledger.pool) and pool != ledger.pool:
        raise ValueError(
            "The ledger is of another pool: the rows, their order or their types "
            "differ. Labels belong to rows by their place in the pool, so give the "
            "pool that the ledger was made with. If only types of columns have "
            "changed, remove the column pool from the file of to_csv."
        )
    ledger.pool = pool or ledger.pool


def check_known_labels(known_labels, n_samples):
    """Check labels that are available before the first query, as a dict."""
    if known_labels is None:
        return {}
    if not isinstance(known_labels, Mapping):
        raise TypeError(
            "known_labels must be a dict {row: label}, where rows are counted from 0, "
            f"got a {type(known_labels).__name__}. For an array with None where no "
            "label is known: {row: label for row, label in enumerate(labels) if label "
            "is not None}."
        )
    rows = check_indices(list(known_labels), "known_labels", n_samples)
    return dict(zip(rows.tolist(), known_labels.values(), strict=True))


def header_of(problem: Problem, seed: int, settings: dict[str, Any]) -> dict:
    """Return what identifies an evaluation, as JSON values."""
    rows = {
        "X_train": problem.X_train,
        "y_train": problem.y_train,
        "cost": problem.cost,
        "sample_weight": problem.sample_weight,
        "train_predictions": getattr(problem.train_predictions, "response", None),
    }
    experts = None
    if problem.experts is not None:
        experts = {one.name: sketch(one.values) for one in problem.experts.each}
    return {
        "n_samples": n_rows(problem.X),
        "pool": fingerprint(problem.X),
        "predictions": sketch_predictions(problem.predictions),
        "task": problem.task,
        "loss": described(problem.loss),
        "loss_values": sketch_loss(problem),
        "classes": None if problem.classes is None else problem.classes.tolist(),
        "seed": seed,
        **{name: None if X is None else fingerprint(X) for name, X in rows.items()},
        "metric": None,  # As in journals of older versions.
        "experts": experts,
        **{name: described(value) for name, value in settings.items()},
    }


def record_known_labels(
    ledger: LabelLedger, problem: Problem, known_labels: dict[int, Any]
) -> None:
    """Record labels that are available before the first query."""
    if not known_labels:
        return
    rows, labels = list(known_labels), list(known_labels.values())
    labels = problem.check_new_labels(labels, rows, "known_labels")
    if not ledger.given:
        problem.refuse_respelled(problem.classes, [], labels, name="known_labels")
    loss = problem.loss_for(problem.classes_with(labels))
    loss.observed(np.array([*known_labels]), labels)  # Refuses one without a loss.
    known_labels = dict(zip(known_labels, labels.tolist(), strict=True))
    if ledger.given and ledger.given != known_labels:
        raise ValueError(
            "known_labels differ from those the journal was started with. Leave "
            "them out, or give the same."
        )
    if ledger.indices and not ledger.given:
        raise ValueError(
            "known_labels must be given at the start: some rows have been asked "
            "for already."
        )
    if not ledger.given:
        ledger.know(known_labels, known_labels.values())


def sketch_predictions(predictions) -> list[list[float]]:
    """Sketch of the response, and of the expert if it differs."""
    if not predictions.has_expert:
        return []
    if not isinstance(predictions, Predictions):
        predictions = predictions.some()
    columns = sketch(predictions.response)
    if predictions.expert is not predictions.response:
        columns += sketch(predictions.expert)
    return columns


def described(value):
    """Text that tells a strategy, a loss or a metric from others, in any session."""
    # Where a function lies in memory differs from run to run.
    return " ".join(re.sub(r" at 0x\w+", "", repr(value)).split())
