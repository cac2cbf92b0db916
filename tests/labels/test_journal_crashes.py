"""Crashes: a campaign whose process was killed resumes without loss."""

import os
import time
import warnings

import numpy as np
import pytest
from helpers.crashing_campaign import (
    KINDS,
    differences,
    do_step,
    next_step,
    shown,
    start,
)
from helpers.journals import LABELS, needs_fork, start_small, values_in

from sklearn_ase.exceptions import JournalWarning

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_ase.exceptions.NewClassWarning"
)


COMPUTED = ("refit", "note")


def events_of(path):
    """Events of a file that cannot be computed again; its torn line is left out."""
    if b"\n" not in path.read_bytes():
        return []
    return [event for event in values_in(path)[1:] if event[0] not in COMPUTED]


def answers_of(events):
    """What was answered: verb, rows and first labels."""
    for verb, *words in events:
        if verb == "tell":
            first = [
                label[0] if isinstance(label, list) else label for label in words[1]
            ]
            yield verb, words[0], first
        elif verb in ("correct", "withdraw", "skip"):
            yield verb, *words[:2]


def is_within(some, events):
    """Whether all of `some` happened, in this order."""
    events = iter(events)
    return all(event in events for event in some)


@pytest.mark.slow
@needs_fork
@pytest.mark.parametrize("kind", KINDS)
def test_a_campaign_killed_fifty_times_ends_like_the_uninterrupted_one(
    tmp_path, run_and_kill, kind
):
    rng, n_kills, n_campaigns = np.random.default_rng(0), 0, 0
    began = time.perf_counter()
    assert [*run_and_kill(tmp_path / "whole", kind)][-1] == ("ended",)
    reach = (time.perf_counter() - began) / 4
    whole = start(tmp_path / "whole", kind)
    while n_kills < 50:
        path, told, end = tmp_path / str(n_campaigns), [], ""
        while end != ("ended",):
            seconds = rng.uniform(0, reach) if n_kills < 50 else 3600.0
            *words, end = run_and_kill(path, kind, seconds)
            assert {verb for verb, *_ in words} <= {"done"}, words[-1]
            told += answers_of(step for _, step in words)
            n_kills += end == ("killed",)
            if path.exists():  # Acknowledged is on disk.
                assert is_within(told, answers_of(events_of(path)))
        assert events_of(path) == events_of(tmp_path / "whole")
        with start(path, kind) as resumed:
            assert differences(resumed, whole) == []
        n_campaigns += 1
    whole.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_crash_between_any_two_lines_changes_nothing(tmp_path, kind):
    """Half a step is finished when the journal is opened again."""
    moments = []
    with start(tmp_path / "whole", kind) as whole:
        moments.append((n_lines_of(tmp_path / "whole"), shown(whole)))
        while step := next_step(whole.ledger):
            do_step(whole, step)
            moments.append((n_lines_of(tmp_path / "whole"), shown(whole)))
    lines = (tmp_path / "whole").read_bytes().splitlines(keepends=True)
    wrong = []
    for n_lines in range(1, len(lines) + 1):
        (tmp_path / "cut").write_bytes(b"".join(lines[:n_lines]))
        place = next(k for k, (n, _) in enumerate(moments) if n >= n_lines)
        with start(tmp_path / "cut", kind) as resumed:
            found = differences(resumed, moments[place][1])
            step = next_step(resumed.ledger)
            if not found and step is not None and step[0] == "ask":
                do_step(resumed, step)
                found = differences(resumed, moments[place + 1][1])
        if found:
            wrong.append(f"after {lines[n_lines - 1][:40]}: {found}")
    assert not wrong, "\n".join(wrong)


def n_lines_of(path):
    return path.read_bytes().count(b"\n")


ENDINGS = {
    "an ask": lambda evaluation, rows: evaluation.ask(2),
    "labels": lambda evaluation, rows: evaluation.tell(rows[3:], LABELS[rows[3:]]),
    "a correction": lambda evaluation, rows: evaluation.correct(rows[0], 2),
}


@pytest.mark.parametrize("ending", list(ENDINGS))
def test_a_journal_cut_anywhere_in_its_last_two_lines_resumes(
    tmp_path, written, monkeypatch, ending
):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # It takes its time.
    with start_small(written) as evaluation:
        ENDINGS[ending](evaluation, np.array(evaluation.ledger.indices))
    text, cut = written.read_bytes(), tmp_path / "cut"
    *_, second, last = text.splitlines(keepends=True)
    start = len(text) - len(second) - len(last)
    around = [start + len(second) + k for k in (-2, -1, 0, 1, 2)]
    for size in sorted(
        {*range(start, len(text), 7), *around, len(text) - 1, len(text)}
    ):
        cut.write_bytes(text[:size])
        is_torn = not text[:size].endswith(b"\n")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            evaluation = start_small(cut)
        said = [str(one.message) for one in caught if one.category is JournalWarning]
        is_whole = text[size : size + 1] == b"\n"  # All is there but the line's end.
        assert len(said) == (is_torn and not is_whole)
        assert all("was not written to its end and is dropped" in one for one in said)
        row = evaluation.ask().indices
        evaluation.tell(row, LABELS[row])
        before = shown(evaluation)
        evaluation.close()
        with start_small(cut) as again:
            assert differences(again, before) == []


@pytest.mark.parametrize("n_bytes", [0, 1, 5, 32, 33, 200])
def test_a_journal_cut_in_its_first_line_starts_anew(written, n_bytes):
    header = written.read_bytes().splitlines()[0]
    written.write_bytes(header[:n_bytes])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JournalWarning)
        evaluation = start_small(written)
    assert len(evaluation.ledger) == 0
    evaluation.close()
    assert written.read_bytes() == header + b"\n"
