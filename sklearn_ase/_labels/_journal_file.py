"""Files that one process at a time may hold."""

import errno
import os
from contextlib import suppress

from sklearn_ase._utils._warn import warn_caller
from sklearn_ase.exceptions import JournalError, JournalWarning

# Refused by the operating system because somebody else has the lock.
_LOCKED = {errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK}


def sync_folder(folder):
    """Make the name of a new file durable, where folders can be synced."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_locked(path):
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
            f"{path} cannot be locked where it lies ({error}). See to it that nobody "
            "else opens it.",
            JournalWarning,
        )
    return file


def unlock(file):
    """Let go of the lock also where a child process still has the file."""
    with suppress(ImportError):
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
