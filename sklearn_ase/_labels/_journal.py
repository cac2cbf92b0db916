"""The journal: every query and label is on disk before anything else happens."""

import json
import math
import os
from contextlib import contextmanager
from functools import partial
from operator import eq
from pathlib import Path

from sklearn_ase._labels._fingerprint import same_sketch
from sklearn_ase._labels._journal_file import open_locked, sync_folder, unlock
from sklearn_ase._labels._ledger import LabelLedger
from sklearn_ase._utils._warn import warn_caller
from sklearn_ase.exceptions import JournalError, JournalWarning

FORMAT = "sklearn_ase journal"
VERSION = 1
_EVENTS = {"ask", "tell", "correct", "withdraw", "skip", "know", "refit", "note"}
# What may not differ when a journal is opened again, and how to say that it does.
_SAME = {
    "n_samples": "the size of the pool differs",
    "pool": "the rows of the pool differ",
    "predictions": "the predictions of the model differ",
    "kind": "the kind of task differs",
    "loss": "the loss differs",
    "classes": "the classes differ",
}
_COMPARE = {"predictions": same_sketch}


class Journal(LabelLedger):
    """A ledger that is written to a file as it grows, one line of JSON an event.

    The first line says which campaign it is. Lines are only ever added. Whoever holds
    the journal has locked it against other processes until :meth:`close`.

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

    def __init__(self, path):
        super().__init__()
        self.path = Path(path).absolute()  # Wherever the process goes from here.
        self._file = open_locked(self.path)
        self.header = None
        self._settings = None
        self._mend = None
        self._held = None
        try:
            self._events = self._read()
        except BaseException:
            self.close()
            raise

    @contextmanager
    def held_back(self):
        """Write what happens meanwhile at the end, and nothing of it if that fails."""
        self._held = []
        yield
        lines, self._held = self._held, None
        self._append(*lines)

    def begin(self, header):
        """Write the first line, or compare it with that of the file; then replay.

        Parameters
        ----------
        header : dict of str to JSON values
            With the keys of `_SAME`; other entries may differ, with a warning.
        """
        header = _finite({"format": FORMAT, "version": VERSION, **header})
        settings = {key: header[key] for key in header.keys() - _SAME.keys()}
        if self.header is not None:
            self._compare(header)
            self._settings = {key: self.header.get(key) for key in settings}
        for place, line in enumerate(self._events, start=2):
            self._replay(place, line, header["n_samples"])
        if self._mend is not None:
            self._mend()
        if self.header is None:
            self._append(header)
            sync_folder(self.path.parent)
        elif settings != self._settings:
            self._append(["settings", settings])
            self._warn_of_settings(settings)
        self.header = header
        self._events = None  # From here on events are written.

    def close(self):
        """Let go of the file, so that others may continue it."""
        if self._file is not None:
            unlock(self._file)
            self._file.close()
            self._file = None

    def __getstate__(self):
        # A copy or a pickle has no file.
        return {**self.__dict__, "_file": None, "_mend": None}

    def _check_event(self, event, arguments, n_samples):
        """Refuse what only a damaged file can say."""
        first = arguments[0]
        if event == "ask" and not all(0 <= index < n_samples for index in first):
            raise ValueError(f"Rows {first} are not all of the pool.")
        if event == "note" and not {*first} <= {*self.labels}:
            raise ValueError(f"Rows {first} have not all got a label.")
        if event == "refit" and not 0 <= first <= len(self.labels):
            raise ValueError(f"There are no {first} labels.")

    def _replay(self, place, line, n_samples):
        try:
            event, *arguments = line
            if event == "settings":
                self._settings = arguments[0]
                return
            if event not in _EVENTS:
                raise ValueError(f"{event!r} is no event.")
            self._check_event(event, arguments, n_samples)
            getattr(LabelLedger, event)(self, *arguments)
        except (IndexError, TypeError, ValueError) as error:
            raise JournalError(
                f"Line {place} of {self.path} does not fit what came before it: "
                f"{error} The file was left as it is."
            ) from error

    def _record(self, event, *arguments):
        if self._events is not None:
            return  # Replaying what is in the file.
        if self._file is None:
            raise JournalError(
                f"The journal {self.path} is closed. Go on with start(X, journal=...)."
            )
        # Estimates can be computed again, the rest cannot.
        self._append([event, *arguments], durable=event != "note")

    def _append(self, *lines, durable=True):
        if self._held is not None:
            self._held.extend(lines)
            return
        self._check_place()
        end = self._file.seek(0, os.SEEK_END)
        texts = [
            json.dumps(_finite(line), allow_nan=False, ensure_ascii=False) + "\n"
            for line in lines
        ]
        left = memoryview("".join(texts).encode())
        try:
            while left:
                left = left[self._file.write(left) :]
            if durable:
                os.fsync(self._file.fileno())
        except BaseException:  # A full disk, or somebody at the keyboard.
            self._file.truncate(end)  # No half lines, and none that does not count.
            raise

    def _check_place(self):
        """Refuse to write to a file that nobody would find again."""
        try:
            is_there = os.path.samestat(
                os.fstat(self._file.fileno()), os.stat(self.path)
            )
        except FileNotFoundError:
            is_there = False
        if not is_there:
            raise JournalError(
                f"{self.path} was deleted or replaced while it was open, so nothing "
                "more can be kept in it. What was recorded before is in "
                "evaluation.ledger: save it with ledger.to_csv(path), and go on with "
                "start(X, ledger=LabelLedger.from_csv(path))."
            )

    def _read(self):
        """Header and events of the file, without a last line that was torn."""
        self._file.seek(0)
        *lines, last = self._file.read().split(b"\n")
        if last:
            lines = self._with_last(lines, last)
        if not lines:
            return []
        self.header = self._parse(lines[0], 1)
        if not isinstance(self.header, dict) or self.header.get("format") != FORMAT:
            raise JournalError(
                f"{self.path} is no journal of sklearn_ase. Choose another file name."
            )
        version = self.header.get("version")
        if not isinstance(version, int) or version > VERSION:
            raise JournalError(
                f"{self.path} has format {version}, this version of "
                f"sklearn_ase reads up to {VERSION}. Upgrade sklearn_ase."
            )
        rest = enumerate(lines[1:], start=2)
        return [self._parse(line, place) for place, line in rest]

    def _with_last(self, lines, last):
        """Lines with the last one, which has no end, if it is whole.

        The file itself is mended when it is known to be the right one.
        """
        size = self._file.tell()
        try:
            json.loads(last)
        except ValueError:
            start = json.dumps({"format": FORMAT})[:-1].encode()
            if not lines and not (start.startswith(last) or last.startswith(start)):
                return [last]  # Some other file: refused.
            self._mend = partial(self._cut, size - len(last), last)
            return lines
        self._mend = partial(self._file.write, b"\n")
        return [*lines, last]

    def _cut(self, size, last):
        warn_caller(
            f"The last line of {self.path} was not written to its end and is dropped: "
            f"{last[:80]!r}. What it says was never acknowledged.",
            JournalWarning,
        )
        self._file.truncate(size)

    def _parse(self, line, place):
        try:
            return json.loads(line)
        except ValueError as error:
            raise JournalError(
                f"Line {place} of {self.path} is no JSON: {line[:80]!r}. The file was "
                "changed by something else, or is no journal; it was left as it is."
            ) from error

    def _compare(self, header):
        for key, difference in _SAME.items():
            if not _COMPARE.get(key, eq)(self.header.get(key), header[key]):
                raise JournalError(
                    f"{self.path} is of another campaign: {difference}. Give what it "
                    "was started with, or another file name. It was left as it is."
                )

    def _warn_of_settings(self, settings):
        changed = [key for key in settings if settings[key] != self._settings.get(key)]
        warn_caller(
            f"{self.path} was last used with different {', '.join(sorted(changed))}. "
            "What it recorded stays valid; what comes now follows the new ones.",
            JournalWarning,
        )


def _finite(value):
    """Numbers that JSON lacks as text, which ``float`` reads."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    return value
