"""Stores: where a journal is kept, in memory, in a file or in a place of the user's."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import sys
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

from sklearn_ase._utils._checks import check_path
from sklearn_ase._utils._display import Advice, warn_caller
from sklearn_ase._utils._typing import StrPath
from sklearn_ase.exceptions import JournalError, JournalWarning

FORMAT = "sklearn_ase journal"
VERSION = 3
# What can be computed again from the other events.
COMPUTED = {"refit", "note"}


class BaseStore(ABC):
    """Base class of places where a journal is kept: a list that only ever grows.

    Pass a store as ``journal=`` of `fit` and `start`. It has to keep a list of entries
    that JSON can hold, in which all numbers are finite. The first entry is a dict that
    says of which evaluation the journal is; all others are events, lists that begin
    with a verb. A store need not understand them.

    A store promises two things, on which everything rests that is said of journals:

    * :meth:`append` adds all entries or none. If it returns, they are there for good,
      also if the process or the machine dies right afterwards; if it raises, none of
      them is there.
    * :meth:`read` returns all entries that were added so far, in their order and with
      their values, or raises. It changes nothing.

    A store should also refuse to be open in two processes at a time: each would add
    what does not fit to that of the other. The name in messages is ``str(store)``.

    See Also
    --------
    MemoryStore : The shortest example.

    Examples
    --------
    >>> from sklearn_ase import BaseStore
    >>> class Printed(BaseStore):
    ...     def read(self):
    ...         return []
    ...
    ...     def append(self, entries):
    ...         print(*entries, sep="\\n")
    >>> Printed().append([["skip", [7]]])
    ['skip', [7]]
    """

    @abstractmethod
    def read(self) -> list[Any]:
        """Return all entries that were added so far.

        Returns
        -------
        entries : list
        """

    @abstractmethod
    def append(self, entries: list[Any]) -> None:
        """Add all entries, or raise and add none.

        Parameters
        ----------
        entries : list
            What JSON can hold. May be empty: an evaluation that starts calls this once
            before it is used, whether or not there is something to add.
        """

    def close(self) -> None:  # noqa: B027 -- may be left out
        """Release the place, so that others may open it. May be left out."""


class MemoryStore(BaseStore):
    """Keep a journal in memory: it ends with the process.

    Examples
    --------
    >>> from sklearn_ase import MemoryStore
    >>> store = MemoryStore()
    >>> store.append([["skip", [7]]])
    >>> store.read()
    [['skip', [7]]]
    """

    def __init__(self) -> None:
        self._entries: list[Any] = []

    def read(self) -> list[Any]:
        """Return all entries that were added so far, as a list."""
        return [*self._entries]

    def append(self, entries: list[Any]) -> None:
        """Add all entries."""
        self._entries.extend(entries)


def as_store(journal: BaseStore | StrPath, name: str = "journal") -> BaseStore:
    """Return a store, or that of the file with this path."""
    if isinstance(journal, BaseStore):
        return journal
    return FileStore(check_path(journal, name))


def check_header(header: Any, name: str) -> None:
    """Refuse a journal whose first entry is not one that this version reads."""
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise JournalError(
            f"{name} is not a sklearn_ase journal. Choose another file name."
        )
    version = header.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise JournalError(
            f"{name} has format {version}; this version of sklearn_ase reads "
            f"format {VERSION}. Upgrade sklearn_ase."
        )


def finite(value: Any) -> Any:
    """Numbers that JSON lacks as text, which ``float`` reads."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(entry) for entry in value]
    return value


# The file of a journal: locked, and only ever added to.

_RESCUE = (
    "What was recorded is in evaluation.ledger: write it to another file with "
    "evaluation.ledger.save(path), and resume with start(X, journal=path)."
)
_FIRST_LINE = json.dumps({"format": FORMAT})[:-1].encode()


@dataclass(frozen=True)
class _Contents:
    """What counts in a file, and when it was last seen.

    `end` is a last line that does not count, or the end that the last line lacks.
    """

    n_bytes: int = 0
    crc: int = 0
    end: bytes = b""
    time: int | None = None

    def with_line(self, line: bytes) -> _Contents:
        """The contents after one more line."""
        n_bytes, crc = self.n_bytes + len(line), crc32(line, self.crc)
        return replace(self, n_bytes=n_bytes, crc=crc)


class FileStore(BaseStore):
    """Keep a journal in a file that one process at a time may add lines to.

    Each line is one JSON value with a checksum of all bytes before it. A last line that
    was not written to its end does not count, and is cut off before the next one.
    """

    def __init__(self, path: StrPath) -> None:
        # Absolute, so that it stays valid if the process changes its folder.
        self.path = Path(path).absolute()
        if not self.path.parent.is_dir():
            raise FileNotFoundError(
                f"journal={str(path)!r}: the folder {self.path.parent} does not exist. "
                "Make it first."
            )
        self._file = _open_locked(self.path)
        self._contents: _Contents | None = None  # None until it is read.
        # Of a write of which something may still be there.
        self._failure: BaseException | None = None

    def __str__(self) -> str:
        return str(self.path)

    def read(self) -> list[Any]:
        """Return the values of all lines; the file itself is not changed."""
        self._file.seek(0)
        values, self._contents = _parse(self._file.read(), self.path)
        return values

    def append(self, entries: list[Any]) -> None:
        """Add one line per entry; either all of them or none."""
        if self._contents is None:
            self.read()
        assert self._contents is not None
        if self._contents.end:
            self._contents = self._mended(self._contents)
        self._check_unchanged(self._contents)
        is_new = not self._contents.n_bytes
        lines, contents = [], self._contents
        for entry in entries:
            lines.append(_sealed(entry, contents.crc))
            contents = contents.with_line(lines[-1])
        # A note can be computed again: it need not wait for the disk.
        durable = not all(isinstance(e, list) and e[0] == "note" for e in entries)
        try:
            self._write(b"".join(lines), durable)
            self._contents = self._now(contents)
        except BaseException as error:  # A full disk, or a keyboard interrupt.
            self._cut(error)  # No half lines, and none that does not count.
            error.add_note(f"Nothing of it was recorded in {self.path}. Try it again.")
            raise
        if is_new and lines:
            _sync_folder(self.path.parent)

    def close(self) -> None:
        """Release the lock, also where a child process still has the file."""
        with suppress(ImportError, OSError, ValueError):  # Windows, or without locks.
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_UN)
        self._file.close()

    def _write(self, text: bytes, durable: bool) -> None:
        """Write some bytes, and wait until they are on the disk."""
        left = memoryview(text)
        while left:
            left = left[self._file.write(left) :]
        if text and durable:
            os.fsync(self._file.fileno())

    def _mended(self, contents: _Contents) -> _Contents:
        """Complete the last line of the file, or cut it off if it is not whole."""
        if contents.end == b"\n":
            self._file.write(b"\n")
        elif contents.end:
            warn_caller(
                f"The last line of {self.path} was not written to its end and is "
                f"dropped: {contents.end[:80]!r}. What it says was never acknowledged.",
                JournalWarning,
            )
            self._file.truncate(contents.n_bytes)
        return replace(contents, end=b"")

    def _cut(self, error: BaseException) -> None:
        """Remove what does not count, after a write that failed."""
        assert self._contents is not None
        self._failure = error
        try:
            self._file.truncate(self._contents.n_bytes)
            self._contents = self._now(self._contents)
        except OSError:
            raise JournalError(
                f"Writing to {self.path} failed ({error!r}), and what was written "
                "could not be removed. It does not count in this evaluation, but may "
                "be there when the file is opened again. Repair the disk, close the "
                "evaluation, resume it, and see which rows are open."
            ) from error
        self._failure = None

    def _now(self, contents: _Contents) -> _Contents:
        """These contents with the present time of the file."""
        return replace(contents, time=os.fstat(self._file.fileno()).st_mtime_ns)

    def _check_unchanged(self, contents: _Contents) -> None:
        """Refuse to write to a file that others have removed or changed."""
        here = os.fstat(self._file.fileno())
        try:
            is_there = os.path.samestat(here, os.stat(self.path))
        except FileNotFoundError:
            is_there = False
        if not is_there:
            raise JournalError(
                f"{self.path} was deleted or replaced while it was open, so nothing "
                f"more can be kept in it. {_RESCUE}"
            )
        if self._failure is not None:
            self._cut(self._failure)
            return
        is_same = here.st_size == contents.n_bytes
        # Times may change by themselves on network drives, so the bytes decide.
        if is_same and here.st_mtime_ns != contents.time:
            self._file.seek(0)
            is_same = crc32(self._file.read()) == contents.crc
        if not is_same:
            raise JournalError(
                f"{self.path} was changed by something else while it was open. Nothing "
                f"was written to it. {_RESCUE}"
            )


def read_file(path: StrPath) -> list[Any]:
    """Return what a journal holds, also while another process has it open."""
    path = Path(check_path(path, "journal")).absolute()
    return _parse(path.read_bytes(), path)[0]


def _parse(text: bytes, path: Path) -> tuple[list[Any], _Contents]:
    """The values of all lines that count, and what counts."""
    contents = _Contents()
    *lines, last = text.split(b"\n")
    is_start = _FIRST_LINE.startswith(last) or last.startswith(_FIRST_LINE)
    if last and _is_torn(last) and (lines or is_start):
        contents = replace(contents, end=last)
    elif last:  # Only the end is missing, or the line is damaged.
        contents = replace(contents, end=b"\n")
        lines.append(last)
    if lines:  # First of all: a newer format may have other checksums.
        check_header(_value(lines[0], 1, path), str(path))
    values = []
    for place, line in enumerate(lines, start=1):
        if not _is_intact(line, contents.crc):
            raise JournalError(
                f"Line {place} of {path} does not agree with its checksum: it was "
                "changed, or lines before it were removed, repeated or moved. Take a "
                "copy of the file that was not changed. It was left as it is."
            )
        values.append(_unsealed(_value(line, place, path)))
        contents = contents.with_line(line + b"\n")
    return values, contents


def _value(line: bytes, place: int, path: Path) -> Any:
    """The value of a line."""
    try:
        return json.loads(line)
    except ValueError as error:
        raise JournalError(
            f"Line {place} of {path} is not valid JSON: {line[:80]!r}. The file was "
            "changed by something else, or is not a journal. It was left as it is."
        ) from error


def _is_torn(line: bytes) -> bool:
    """Whether a line without an end is the beginning of a JSON value."""
    try:
        json.JSONDecoder().raw_decode(line.decode(errors="replace"))
    except ValueError:
        return True
    return False  # A whole value, and perhaps something behind it.


# Lines with a checksum.


# The checksum is of all bytes before it, in its line and above. It is the last entry:
# of a dict under this name, of a list without a name.
_CHECK = "check"
_SEAL = re.compile(rb', (?:"check": )?"([0-9a-f]{8})"[\]}]')
_LENGTHS = (len(b', "01234567"]'), len(b', "check": "01234567"}'))


def _sealed(entry: Any, before: int) -> bytes:
    """The line of an entry; `before` is the checksum of all lines above."""
    text = json.dumps(entry, allow_nan=False, ensure_ascii=False).encode()
    body, end = text[:-1], text[-1:]
    name = b'"check": ' if end == b"}" else b""
    return b'%b, %b"%08x"%b\n' % (body, name, crc32(body, before), end)


def _is_intact(line: bytes, before: int) -> bool:
    """Whether a line agrees with its checksum."""
    for length in _LENGTHS:
        seal = _SEAL.fullmatch(line[-length:])
        if seal:
            return crc32(line[:-length], before) == int(seal[1], 16)
    return False


def _unsealed(value: Any) -> Any:
    """The value of a line without its checksum."""
    if isinstance(value, dict):
        return {key: entry for key, entry in value.items() if key != _CHECK}
    return value[:-1]


# Locks: a file that no other process may open in this way.

# Refused by the operating system because another process has the lock.
_LOCKED = {errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK}


def _open_locked(path: Path) -> Any:
    """A file, open for reading and adding, locked against other processes."""
    # Without a buffer nothing of a line that failed can be written later.
    file = open(path, "a+b", buffering=0)  # noqa: SIM115 -- kept open
    try:
        _lock(file)
    except OSError as error:
        if error.errno in _LOCKED:
            file.close()
            raise JournalError(
                Advice(
                    f"{path} is open in another evaluation, of this or another "
                    "process.",
                    cure="close",
                    in_python="Close that one first: evaluation.close().",
                )
            ) from error
        warn_caller(
            f"{path} cannot be locked in its folder ({error}). Make sure that nobody "
            "else opens it.",
            JournalWarning,
        )
    return file


def _lock(file: Any) -> None:
    """Lock a file until it is closed or the process dies."""
    if sys.platform == "win32":  # A byte far behind all lines.
        import msvcrt

        file.seek(2**40)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _sync_folder(folder: Path) -> None:
    """Make the name of a new file durable, where folders can be synced."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows
        return
    try:
        os.fsync(descriptor)
    except OSError:  # Some network drives
        pass
    finally:
        os.close(descriptor)
