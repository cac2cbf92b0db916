"""Read a journal as it is now, without a lock and without changing it."""

from functools import partial

from sklearn_ase._labels._journal import Journal
from sklearn_ase._labels._journal_file import JournalFile


class _UnlockedFile(JournalFile):
    """File of a journal that is only read, also while another process has it open."""

    _open = staticmethod(partial(open, mode="rb"))


class _ReadJournal(Journal):
    """A journal whose events are replayed in memory, and that never writes."""

    _open = _UnlockedFile

    def replay(self):
        for place, event in enumerate(self._events, start=2):
            self._replay(place, event, self.header["n_samples"])


def read_journal(path):
    """Return what a journal holds.

    Nothing is fitted and the pool is not needed. A last line that was not written to
    its end is left out, as it is when the journal is opened.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    header : dict or None
        The first line, with the size of the pool, the classes and the settings. None
        if the file is empty.
    ledger : LabelLedger
        Queries and labels so far, in memory.
    """
    journal = _ReadJournal(path)
    try:
        if journal.header is not None:
            journal.replay()
        return journal.header, journal.copy()
    finally:
        journal.close()
