"""Open a file that no other process may open in this way."""

import errno
from contextlib import suppress

from sklearn_ase._utils._warn import warn_caller
from sklearn_ase.exceptions import JournalError, JournalWarning

# Refused by the operating system because another process has the lock.
_LOCKED = {errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK}


def open_locked(path):
    """Return a file, open for reading and adding, locked against other processes.

    Parameters
    ----------
    path : Path

    Returns
    -------
    file : binary file without a buffer
        It stays unlocked, with a warning, where files cannot be locked.
    """
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
