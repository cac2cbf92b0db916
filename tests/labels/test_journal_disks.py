"""Disks that are full or fail, and keyboard interrupts, lose no label."""

import errno
import os
import signal

import numpy as np
import pytest
from helpers.crashing_campaign import (
    differences,
    do_step,
    next_step,
    run_to_the_end,
    shown,
    start,
)
from helpers.journals import LABELS, start_small, values_in

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_ase.exceptions.NewClassWarning", "ignore:All answers are recorded"
)


def look_at_each_sync(monkeypatch, path, ledger):
    """Have each sync look at the file and at what is known by then."""
    seen = []
    sync = os.fsync

    def look(descriptor):
        sync(descriptor)
        seen.append((values_in(path)[-1], len(ledger)))

    monkeypatch.setattr(os, "fsync", look)
    return seen


def test_a_label_is_on_disk_before_anything_else_happens(path, monkeypatch):
    with start_small(path) as evaluation:
        rows = evaluation.ask(2).indices.tolist()
        seen = look_at_each_sync(monkeypatch, path, evaluation.ledger)
        evaluation.tell(rows, [0, 1])
        evaluation.correct(rows[0], 2)
        evaluation.withdraw(rows[1])
        evaluation.skip(rows[1:])
    assert [(line, n) for line, n in seen if line[0] != "refit"] == [
        (["tell", rows, [0, 1], []], 0),
        (["correct", rows[0], 2, []], 2),
        (["withdraw", rows[1]], 2),
        (["skip", rows[1:]], 1),
    ]


VERBS = {
    "ask": lambda evaluation, rows: evaluation.ask(2),
    "tell": lambda evaluation, rows: evaluation.tell(rows[3:4], LABELS[rows[3:4]]),
    "correct": lambda evaluation, rows: evaluation.correct(rows[0], 2),
    "withdraw": lambda evaluation, rows: evaluation.withdraw(rows[0]),
    "skip": lambda evaluation, rows: evaluation.skip(rows[4:]),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_sync_that_fails_leaves_all_as_it_was(written, monkeypatch, verb):
    def fail(descriptor):
        raise OSError(errno.EIO, "Input/output error")

    evaluation = start_small(written)
    rows = np.array(evaluation.ledger.indices)
    before, text = shown(evaluation), written.read_bytes()
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="Input/output"):
            VERBS[verb](evaluation, rows)
    assert differences(evaluation, before) == []
    assert written.read_bytes() == text
    assert_goes_on(evaluation, written, verb, rows)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("n_bytes", [0, 1, 10, 13])
def test_a_full_disk_loses_nothing(written, verb, n_bytes):
    """The line does not fit; there is room again later."""
    evaluation = start_small(written)
    rows = np.array(evaluation.ledger.indices)
    before, text = shown(evaluation), written.read_bytes()
    with at_most(len(text) + n_bytes), pytest.raises(OSError, match="too large"):
        VERBS[verb](evaluation, rows)
    assert differences(evaluation, before) == []
    assert written.read_bytes() == text
    assert_goes_on(evaluation, written, verb, rows)


@pytest.mark.parametrize("verb", VERBS)
def test_a_keyboard_interrupt_loses_nothing(written, monkeypatch, verb):
    sync = os.fsync

    def interrupt(descriptor):
        sync(descriptor)
        raise KeyboardInterrupt

    evaluation = start_small(written)
    rows = np.array(evaluation.ledger.indices)
    with monkeypatch.context() as pressed:
        pressed.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            VERBS[verb](evaluation, rows)
    assert_goes_on(evaluation, written, verb, rows)


def assert_goes_on(evaluation, path, verb, rows):
    """The verb works now, and what is in the file is what is in memory."""
    if len(evaluation.ledger.indices) == 5 or verb != "ask":
        VERBS[verb](evaluation, rows)
    before = shown(evaluation)
    evaluation.close()
    with start_small(path) as resumed:
        assert differences(resumed, before) == []
        assert len(set(resumed.ledger.indices)) == len(resumed.ledger.indices)


def at_most(n_bytes):
    """No file may grow beyond that, as on a full disk."""
    resource = pytest.importorskip("resource")

    class Limit:
        def __enter__(self):
            self.old = resource.getrlimit(resource.RLIMIT_FSIZE)
            self.handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, self.old[1]))

        def __exit__(self, *error):
            resource.setrlimit(resource.RLIMIT_FSIZE, self.old)
            signal.signal(signal.SIGXFSZ, self.handler)

    return Limit()


def test_a_disk_that_is_full_after_the_label_loses_nothing(path):
    """There is room for the label, but not for what follows from it."""
    whole = start(path.with_suffix(".whole"))
    for _ in range(24):
        do_step(whole, next_step(whole.ledger))
    lines = path.with_suffix(".whole").read_bytes().splitlines(keepends=True)
    places = [
        k for k, line in enumerate(lines) if line.startswith((b'["refit', b'["note'))
    ]
    wrong = []
    for place in places:
        path.unlink(missing_ok=True)
        evaluation = start(path)
        n_bytes = sum(map(len, lines[:place])) + 3
        with at_most(n_bytes), pytest.raises(OSError, match="too large"):
            run_to_the_end(evaluation)
        evaluation.close()
        with start(path) as resumed:
            while len(resumed.ledger.indices) < len(whole.ledger.indices) or (
                next_step(resumed.ledger) != next_step(whole.ledger)
            ):
                do_step(resumed, next_step(resumed.ledger))
            if found := differences(resumed, whole):
                wrong.append(f"before {lines[place][:30]}: {found}")
    whole.close()
    assert not wrong, "\n".join(wrong)
