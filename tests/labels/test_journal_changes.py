"""Files that others change, children that inherit them, drives without locks."""

import errno
import os

import numpy as np
import pytest
from helpers.crashing_campaign import X, Y, differences, shown
from helpers.journals import LABELS, iris_evaluator, needs_fork, start_small, values_in

from sklearn_ase.exceptions import JournalError, JournalWarning


def appended(text):
    return text + text.splitlines(keepends=True)[-1]


def shortened(text):
    return b"".join(text.splitlines(keepends=True)[:-1])


def altered(text):
    return text[:-30] + bytes([text[-30] ^ 1]) + text[-29:]


@pytest.mark.parametrize("change", [appended, shortened, altered])
def test_a_file_that_others_changed_is_noticed_before_the_next_line(written, change):
    evaluation = start_small(written)
    before, rows = shown(evaluation), evaluation.pending.indices
    changed = change(written.read_bytes())
    written.write_bytes(changed)
    later = os.stat(written).st_mtime_ns + 10**9
    os.utime(written, ns=(later, later))
    with pytest.raises(JournalError, match=r"changed by something else.*Nothing was"):
        evaluation.tell(rows[:1], LABELS[rows[:1]])
    assert written.read_bytes() == changed
    assert differences(evaluation, before) == []
    evaluation.ledger.save(written.with_suffix(".new"))  # As the message says.
    evaluation.close()
    with start_small(written.with_suffix(".new")) as rescued:
        assert differences(rescued, before) == []


def test_a_file_of_which_only_the_time_changed_is_the_same(written):
    with start_small(written) as evaluation:
        os.utime(written, ns=(10**18, 10**18))
        evaluation.ask()
    with start_small(written) as evaluation:
        assert len(evaluation.ledger.indices) == 6


@needs_fork
def test_a_child_does_not_write_and_does_not_release_the_journal(written):
    evaluation = start_small(written)
    text, row = written.read_bytes(), evaluation.pending.indices[:1]
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for verb in (evaluation.ask, evaluation.refit):
                try:
                    verb()
                except JournalError as error:
                    code = 0 if "this is its child" in str(error) else 2
            evaluation.close()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert written.read_bytes() == text
    with pytest.raises(JournalError, match="is open in another evaluation"):
        start_small(written)
    evaluation.tell(row, LABELS[row])
    evaluation.close()
    start_small(written).close()


@pytest.fixture
def without_locks(monkeypatch):
    """A drive that cannot lock files."""
    fcntl = pytest.importorskip("fcntl")

    def flock(file, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)


@pytest.mark.usefixtures("without_locks")
def test_where_files_cannot_be_locked_a_fit_returns(path):
    with pytest.warns(JournalWarning, match="cannot be locked"):
        evaluator = iris_evaluator(n_labels=6).fit(X, Y, journal=path)
    assert len(evaluator.ledger_) == 6
    with pytest.warns(JournalWarning, match="cannot be locked"):
        evaluator.start(X, journal=path).close()


def test_a_folder_that_cannot_be_synced_holds_a_journal(path, monkeypatch):
    sync = os.fsync

    def fsync(descriptor):
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            raise OSError(errno.EINVAL, "Invalid argument")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    start_small(path).close()
    assert path.stat().st_size > 0


def test_a_label_that_is_on_disk_does_not_fail_for_what_follows(path, monkeypatch):
    """The estimate after it does not fit on the disk."""
    evaluation = start_small(path, refit=1)
    rows = evaluation.ask(6).indices
    append = evaluation.ledger._store._write

    def write(text, durable):
        if text.startswith((b'["note"', b'["refit"')):
            raise OSError(errno.ENOSPC, "No space left on device")
        append(text, durable)

    with monkeypatch.context() as full:
        full.setattr(evaluation.ledger._store, "_write", write)
        with pytest.warns(JournalWarning, match=r"All answers are recorded.*No space"):
            evaluation.tell(rows[:4], LABELS[rows[:4]])
    assert [value[0] for value in values_in(path)[1:]] == ["ask", "tell"]
    evaluation.tell(rows[4:5], LABELS[rows[4:5]])  # Now there is room again.
    events = [value[0] for value in values_in(path)[1:]]
    assert events[:2] == ["ask", "tell"]
    assert events.index("note") < events.index("tell", 2)
    before = shown(evaluation)
    evaluation.close()
    with start_small(path, refit=1) as resumed:
        assert differences(resumed, before) == []


def test_a_write_that_cannot_be_undone_says_what_may_be_in_the_file(
    written, monkeypatch
):
    evaluation = start_small(written)
    file, row = evaluation.ledger._store, evaluation.pending.indices[:1]
    before, text = shown(evaluation), written.read_bytes()

    class BrokenDisk:
        """Keeps what it is given, but cannot cut it off again."""

        def __getattr__(self, name):
            return getattr(whole, name)

        def truncate(self, size):
            raise OSError(errno.EIO, "Input/output error")

    def fail(descriptor):
        raise OSError(errno.EIO, "Input/output error")

    whole = file._file
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fail)
        broken.setattr(file, "_file", BrokenDisk())
        for _ in range(2):  # Nothing is written behind what may be there.
            with pytest.raises(JournalError, match=r"may be there when.*opened again"):
                evaluation.tell(row, LABELS[row])
            assert len(written.read_bytes().splitlines()) == text.count(b"\n") + 1
    assert differences(evaluation, before) == []
    evaluation.tell(row, LABELS[row])  # The disk works again.
    evaluation.close()
    with start_small(written) as resumed:
        assert len(resumed.ledger) == 4


@pytest.mark.parametrize("fault", [OSError(errno.EIO, "I/O"), KeyboardInterrupt()])
def test_answers_of_a_file_are_recorded_together_or_not_at_all(
    written, monkeypatch, fault
):
    evaluation = start_small(written)
    rows = np.array(evaluation.ledger.indices)
    answers = written.with_suffix(".csv")
    new = [(LABELS[rows[0]] + 1) % 3, "?", LABELS[rows[2]], 1, "?"]
    lines = [f"{row},{label}\n" for row, label in zip(rows, new, strict=True)]
    answers.write_text("row,label\n" + "".join(lines))
    before, text = shown(evaluation), written.read_bytes()

    def fail(descriptor):
        raise fault

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fail)
        with pytest.raises(type(fault)):
            evaluation.import_answers(answers, correct=True, skip="?")
    assert written.read_bytes() == text
    assert differences(evaluation, before) == []
    assert evaluation.import_answers(answers, correct=True, skip="?") == 1
    verb, *events = values_in(written)[text.count(b"\n")]
    assert verb == "together"
    assert [event[0] for event in events] == ["tell", "correct", "withdraw", "skip"]
    assert evaluation.ledger.labels == {rows[0]: new[0], rows[2]: new[2], rows[3]: 1}
    assert sorted(evaluation.ledger.skipped) == sorted(rows[[1, 4]])
    before = shown(evaluation)
    evaluation.close()
    with start_small(written) as resumed:
        assert differences(resumed, before) == []
