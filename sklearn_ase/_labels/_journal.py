"""A ledger in a file: every query and label is on disk before anything else happens."""

import json
from contextlib import contextmanager
from operator import eq

from sklearn_ase._labels._checksums import CHECK
from sklearn_ase._labels._fingerprint import same_experts, same_sketch
from sklearn_ase._labels._format_1 import upgraded_estimate, upgraded_header
from sklearn_ase._labels._journal_file import JournalFile, finite
from sklearn_ase._labels._ledger import LabelLedger
from sklearn_ase._labels._loss_values import same_loss_values
from sklearn_ase._state import Picks
from sklearn_ase._utils._warn import warn_caller
from sklearn_ase.exceptions import JournalError, JournalWarning

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

    def begin(self, make_header):
        """Write the first line, or compare it with that of the file; then replay.

        Parameters
        ----------
        make_header : callable
            Returns a dict of JSON values with the keys of `_SAME`; other entries may
            differ from those of the file, with a warning.
        """
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

    def close(self):
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

    def _warn_of_format(self):
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
