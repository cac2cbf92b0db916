"""The file of a journal: locked, only ever added to, one JSON value per line."""

import errno
import json
import math
import os
from contextlib import suppress
from pathlib import Path

from sklearn_ase._utils._warn import warn_caller
from sklearn_ase.exceptions import JournalError, JournalWarning

# Refused by the operating system because somebody else has the lock.
_LOCKED = {errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK}


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
    is_open : bool
    """

    def __init__(self, path):
        self.path = Path(path).absolute()
        self._file = _open_locked(self.path)
        self._end = None  # What to do about a last line that has no end.

    @property
    def is_open(self):
        """Whether lines can be added."""
        return self._file is not None

    def read(self, first_line):
        """Read all lines, without a last one that was not written to its end.

        The file itself is not changed; :meth:`mend` does that.

        Parameters
        ----------
        first_line : bytes
            How the first line of a journal starts. A file that starts differently is
            read as it is.

        Returns
        -------
        values : iterator of JSON values
            Lines are parsed one by one, so that the first one can be checked before
            the others are looked at.
        """
        self._file.seek(0)
        *lines, last = self._file.read().split(b"\n")
        if last:
            lines += self._unfinished(last, lines, first_line)
        return (self._parse(line, place) for place, line in enumerate(lines, start=1))

    def mend(self):
        """Complete the last line of the file, or cut it off if it is not whole."""
        if self._end == b"\n":
            self._file.write(b"\n")
        elif self._end is not None:
            warn_caller(
                f"The last line of {self.path} was not written to its end and is "
                f"dropped: {self._end[:80]!r}. What it says was never acknowledged.",
                JournalWarning,
            )
            self._file.truncate(self._file.seek(0, os.SEEK_END) - len(self._end))
        self._end = None

    def append(self, values, durable=True):
        """Add one line per value; either all of them or none.

        Parameters
        ----------
        values : sequence of JSON values
            Numbers that JSON lacks become text, which ``float`` reads.
        durable : bool, default=True
            Whether to wait until they are on disk.
        """
        self._check_place()
        end = self._file.seek(0, os.SEEK_END)
        texts = [
            json.dumps(finite(value), allow_nan=False, ensure_ascii=False) + "\n"
            for value in values
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

    def sync_folder(self):
        """Make the name of a new file durable, where folders can be synced."""
        try:
            descriptor = os.open(self.path.parent, os.O_RDONLY)
        except OSError:  # Windows
            return
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def close(self):
        """Release the lock, also where a child process still has the file."""
        if self._file is None:
            return
        with suppress(ImportError):
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_UN)
        self._file.close()
        self._file = None

    def __getstate__(self):
        # A copy or a pickle has no file.
        return {**self.__dict__, "_file": None, "_end": None}

    def _unfinished(self, last, lines, first_line):
        """The last line, which has no end, if it counts."""
        try:
            json.loads(last)
        except ValueError:
            is_start = first_line.startswith(last) or last.startswith(first_line)
            if not lines and not is_start:
                return [last]  # Some other file: it is refused later.
            self._end = last
            return []
        self._end = b"\n"
        return [last]

    def _parse(self, line, place):
        try:
            return json.loads(line)
        except ValueError as error:
            raise JournalError(
                f"Line {place} of {self.path} is not valid JSON: {line[:80]!r}. The "
                "file was changed by something else, or is not a journal. It was left "
                "as it is."
            ) from error

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
                "evaluation.ledger: save it with ledger.to_csv(path), and resume with "
                "start(X, ledger=LabelLedger.from_csv(path))."
            )


def _open_locked(path):
    """The file, open for reading and adding, locked against other processes."""
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


def finite(value):
    """Numbers that JSON lacks as text, which ``float`` reads."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(entry) for entry in value]
    return value
