"""Open a file that no other process may open in this way."""

from __future__ import annotations

import errno
import json
import math
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from sklearn_ase._utils._display import warn_caller
from sklearn_ase.exceptions import JournalError, JournalWarning

# Refused by the operating system because another process has the lock.
_LOCKED = {errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK}


def open_locked(path: Path):
    """Return a file, open for reading and adding, locked against other processes."""
    # Without a buffer nothing of a line that failed can be written later.
    file = open(path, "a+b", buffering=0)  # noqa: SIM115 -- kept open
    try:
        _lock(file)
    except OSError as error:
        if error.errno in _LOCKED:
            file.close()
            raise JournalError(
                f"{path} is open in another evaluation, of this or another process. "
                "Close that one first: evaluation.close()."
            ) from error
        warn_caller(
            f"{path} cannot be locked in its folder ({error}). Make sure that nobody "
            "else opens it.",
            JournalWarning,
        )
    return file


def unlock(file):
    """Release the lock of a file before it is closed, if it has one."""
    with suppress(ImportError, OSError):  # Windows, or a drive without locks.
        import fcntl

        fcntl.flock(file, fcntl.LOCK_UN)


def _lock(file):
    """Lock a file until it is closed or the process dies."""
    try:
        import fcntl
    except ImportError:  # Windows: a byte far behind all lines.
        import msvcrt

        file.seek(2**40)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


# Lines of JSON that carry a checksum of all bytes before it, in their line and above.


CHECK = "check"  # Its name in a line that is a dict; in a list it is the last entry.
_END = re.compile(rb', (?:"check": )?"([0-9a-f]{8})"[\]}]')
_LENGTHS = (len(b', "01234567"]'), len(b', "check": "01234567"}'))


def sealed(line: bytes, before: int) -> bytes:
    """Return a line with its checksum."""
    body, end = line[:-1], line[-1:]
    name = b'"check": ' if end == b"}" else b""
    return b'%b, %b"%08x"%b' % (body, name, crc32(body, before), end)


def is_intact(line, before):
    """Return whether a line agrees with its checksum; see :func:`sealed`."""
    for length in _LENGTHS:
        found = _END.fullmatch(line[-length:])
        if found:
            return crc32(line[:-length], before) == int(found[1], 16)
    return False


def unsealed(value):
    """Return the value of a line without its checksum."""
    if isinstance(value, dict):
        return {key: entry for key, entry in value.items() if key != CHECK}
    return value[:-1]


# The file of a journal: locked, only ever added to, one JSON value per line.


_RESCUE = (
    "What was recorded is in evaluation.ledger: save it with ledger.to_csv(path), and "
    "resume with start(X, ledger=LabelLedger.from_csv(path))."
)


@dataclass(frozen=True)
class _Contents:
    """What counts in a file: its first bytes, and when they were last changed."""

    n_bytes: int = 0
    crc: int = 0
    time: int | None = None

    def with_line(self, line):
        return _Contents(self.n_bytes + len(line), crc32(line, self.crc))


class JournalFile:
    """File that one process at a time may add lines to.

    Parameters
    ----------
    path : str or path
        A new file, or one to continue. It is locked until :meth:`close`.

    Attributes
    ----------
    path : Path
        Absolute, so that it stays valid if the process changes its folder.
    has_checksums : bool
        Whether each line has a checksum; True for a new file.
    """

    _open = staticmethod(open_locked)

    def __init__(self, path):
        self.path = Path(path).absolute()
        if not self.path.parent.is_dir():
            raise FileNotFoundError(
                f"journal={str(path)!r}: the folder {self.path.parent} does not exist. "
                "Make it first."
            )
        self.has_checksums = True
        self._file = self._open(self.path)
        self._process = os.getpid()
        self._contents = _Contents()
        self._end = b""  # A last line that does not count, or the end that it lacks.
        self._failure = None  # Of a write of which something may still be there.

    def read(self, first_line: bytes) -> list[bytes]:
        """Read all lines, without a last one that was not written to its end.

        The file itself is not changed; :meth:`mend` does that.
        """
        self._file.seek(0)
        *lines, last = self._file.read().split(b"\n")
        if not last:
            return lines
        is_start = first_line.startswith(last) or last.startswith(first_line)
        if _is_torn(last) and (lines or is_start):
            self._end = last
            return lines
        self._end = b"\n"  # Only the end is missing, or the line is damaged.
        return [*lines, last]

    def values(self, lines: list[bytes]):
        """Check and parse lines one by one."""
        for place, line in enumerate(lines, start=1):
            if self.has_checksums and not is_intact(line, self._contents.crc):
                raise JournalError(
                    f"Line {place} of {self.path} does not agree with its checksum: it "
                    "was changed, or lines before it were removed, repeated or moved. "
                    "Take a copy of the file that was not changed. It was left as it "
                    "is."
                )
            value = self.parse(line, place)
            self._contents = self._contents.with_line(line + b"\n")
            yield unsealed(value) if self.has_checksums else value

    def parse(self, line, place=1):
        """Return the value of a line."""
        try:
            return json.loads(line)
        except ValueError as error:
            raise JournalError(
                f"Line {place} of {self.path} is not valid JSON: {line[:80]!r}. The "
                "file was changed by something else, or is not a journal. It was left "
                "as it is."
            ) from error

    def mend(self) -> None:
        """Complete the last line of the file, or cut it off if it is not whole."""
        if self._end == b"\n":
            self._file.write(b"\n")
        elif self._end:
            warn_caller(
                f"The last line of {self.path} was not written to its end and is "
                f"dropped: {self._end[:80]!r}. What it says was never acknowledged.",
                JournalWarning,
            )
            self._file.truncate(self._contents.n_bytes)
        self._end = b""
        self._contents = self._now(self._contents)

    def append(self, values, durable: bool = True) -> None:
        """Add one line per value; either all of them or none."""
        self._check_unchanged()
        lines, contents = [], self._contents
        for value in values:
            text = json.dumps(finite(value), allow_nan=False, ensure_ascii=False)
            line = text.encode()
            if self.has_checksums:
                line = sealed(line, contents.crc)
            lines.append(line + b"\n")
            contents = contents.with_line(lines[-1])
        try:
            self._write(b"".join(lines), durable)
            self._contents = self._now(contents)
        except BaseException as error:  # A full disk, or a keyboard interrupt.
            self._cut(error)  # No half lines, and none that does not count.
            error.add_note(f"Nothing of it was recorded in {self.path}. Try it again.")
            raise

    def sync_folder(self) -> None:
        """Make the name of a new file durable, where folders can be synced."""
        try:
            descriptor = os.open(self.path.parent, os.O_RDONLY)
        except OSError:  # Windows
            return
        try:
            os.fsync(descriptor)
        except OSError:  # Some network drives
            pass
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Release the lock, also where a child process still has the file."""
        if self._file is None:
            return
        file, self._file = self._file, None
        if os.getpid() == self._process:  # A child would release that of its parent.
            unlock(file)
        file.close()

    def check_open(self) -> None:
        """Refuse if this process cannot add lines."""
        if self._file is None:
            raise JournalError(
                f"The journal {self.path} is closed. Resume with start(X, journal=...)."
            )
        if os.getpid() != self._process:
            raise JournalError(
                f"The journal {self.path} is open in process {self._process}, and this "
                f"is its child {os.getpid()}. Only one of them may write: record "
                "answers there, or continue without the file with start(X, "
                "ledger=evaluation.ledger)."
            )

    def __getstate__(self):
        # A copy or a pickle has no file.
        return {**self.__dict__, "_file": None, "_end": b"", "_failure": None}

    def _write(self, text, durable):
        left = memoryview(text)
        while left:
            left = left[self._file.write(left) :]
        if durable:
            os.fsync(self._file.fileno())

    def _cut(self, error):
        """Remove what does not count, after a write that failed."""
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

    def _now(self, contents):
        """The same contents, seen now."""
        time = os.fstat(self._file.fileno()).st_mtime_ns
        return _Contents(contents.n_bytes, contents.crc, time)

    def _check_unchanged(self) -> None:
        """Refuse to write to a file that others have removed or changed."""
        self.check_open()
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
        is_same = here.st_size == self._contents.n_bytes
        # Times may change by themselves on network drives, so the bytes decide.
        if is_same and here.st_mtime_ns != self._contents.time:
            self._file.seek(0)
            is_same = crc32(self._file.read()) == self._contents.crc
        if not is_same:
            raise JournalError(
                f"{self.path} was changed by something else while it was open. Nothing "
                f"was written to it. {_RESCUE}"
            )


def _is_torn(line):
    """Whether a line without an end is the beginning of a JSON value."""
    try:
        json.JSONDecoder().raw_decode(line.decode(errors="replace"))
    except ValueError:
        return True
    return False  # A whole value, and perhaps something behind it.


def finite(value):
    """Numbers that JSON lacks as text, which ``float`` reads."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(entry) for entry in value]
    return value
