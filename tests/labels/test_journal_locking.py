"""A journal is open in one evaluation at a time, and only while it is needed."""

import os

import pytest
from helpers.crashing_campaign import X, Y, differences, shown, start
from helpers.journals import LABELS, POOL, needs_fork, start_small
from sklearn.naive_bayes import GaussianNB

from sklearn_ase.exceptions import JournalError, JournalWarning


def test_a_journal_is_open_once_at_a_time(written):
    first = start_small(written)
    text = written.read_bytes()
    with pytest.raises(JournalError, match=r"open in another evaluation.*close\(\)"):
        start_small(written)
    assert written.read_bytes() == text
    first.ask()  # The first is not disturbed.
    first.close()
    first.close()
    with start_small(written) as second:
        assert len(second.ledger.indices) == 6
    start_small(written).close()


def test_a_journal_is_released_when_the_evaluation_is_deleted(written):
    evaluation = start_small(written)
    del evaluation
    start_small(written).close()


@pytest.mark.parametrize("changes", [{"X": POOL + 1}, {"known_labels": {0: 1}}])
def test_a_start_that_fails_releases_the_journal(written, changes):
    with pytest.raises(ValueError, match=r"another evaluation|at the start"):
        start_small(written, **changes)
    start_small(written).close()


class UnfitClassifier(GaussianNB):
    """Cannot be fitted, which only shows when it is."""

    def fit(self, X, y, sample_weight=None):
        raise RuntimeError("cannot be fitted")


def test_a_start_that_fails_does_not_claim_the_name(path):
    given = {"X_train": X[::5], "y_train": Y[::5], "cv": 0}
    with pytest.raises(ValueError, match="not among the classes"):
        start_small(path, known_labels={0: 5})
    with pytest.raises(RuntimeError, match="cannot be fitted"):
        start_small(path, surrogate=UnfitClassifier(), known_labels={0: 1}, **given)
    assert path.read_bytes() == b""
    start_small(path, X=POOL + 1).close()  # Another campaign has it now.


def test_a_start_that_fails_changes_no_journal(written):
    text, given = written.read_bytes(), {"X_train": X[::5], "y_train": Y[::5]}
    with (
        pytest.warns(JournalWarning, match="different X_train, surrogate, y_train"),
        pytest.raises(RuntimeError, match="cannot be fitted"),
    ):
        start_small(written, surrogate=UnfitClassifier(), **given)
    assert written.read_bytes() == text


@pytest.mark.skipif(os.name == "nt", reason="open files cannot be deleted there")
@pytest.mark.parametrize("what", ["deleted", "replaced"])
def test_nothing_is_written_to_a_file_that_is_no_longer_there(written, what):
    evaluation = start_small(written)
    before = shown(evaluation)
    written.unlink()
    if what == "replaced":
        written.write_bytes(b"")
    with pytest.raises(JournalError, match=r"was deleted or replaced.*save\(path\)"):
        evaluation.ask()
    assert differences(evaluation, before) == []
    evaluation.close()


def test_a_journal_stays_where_it_is_when_the_process_moves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with start_small("labels.jsonl") as evaluation:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        evaluation.ask()
    assert b'["ask"' in (tmp_path / "labels.jsonl").read_bytes()


@needs_fork
def test_another_process_is_refused_until_this_one_closes_the_journal(
    path, run_and_kill
):
    evaluation = start(path)
    first, end = run_and_kill(path)
    assert first[0] == "refused"
    assert "is open in another evaluation, of this or another process" in first[1]
    evaluation.close()
    assert next(iter(words := [*run_and_kill(path)]))[0] == "done"
    assert words[-1] == end == ("ended",)


@needs_fork
def test_this_process_is_refused_until_the_other_one_has_ended(path, run_and_kill):
    words = run_and_kill(path, "idle")
    assert next(words) == ("waits", 0)
    with pytest.raises(JournalError, match="is open in another evaluation"):
        start(path)
    assert [*words] == [("killed",)]
    start(path).close()


def test_a_closed_evaluation_takes_no_more_answers(path):
    evaluation = start_small(path)
    rows = evaluation.ask(3).indices
    evaluation.tell(rows[:2], LABELS[rows[:2]])
    evaluation.close()
    before, text = shown(evaluation), path.read_bytes()
    for verb, *words in [
        ("ask", 1),
        ("tell", rows[2:], [0]),
        ("correct", rows[0], 2),
        ("withdraw", rows[0]),
        ("skip", rows[2:]),
        ("refit",),
    ]:
        with pytest.raises(JournalError, match="is closed"):
            getattr(evaluation, verb)(*words)
    assert differences(evaluation, before) == []
    assert path.read_bytes() == text
