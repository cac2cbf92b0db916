"""A journal is kept in a file, in memory, or in a store of one's own."""

import json
import sqlite3

import pytest
from helpers.crashing_campaign import (
    KINDS,
    differences,
    do_step,
    next_step,
    run_to_the_end,
    shown,
    start,
)
from helpers.journals import LABELS, POOL, start_small, values_in

from sklearn_ase import BaseStore, MemoryStore
from sklearn_ase.exceptions import JournalError, JournalWarning

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_ase.exceptions.NewClassWarning"
)


class SqliteStore(BaseStore):
    """A journal in a table of a database."""

    def __init__(self, path):
        # The lock of a transaction that began is held until it ends.
        self.path, self.database = path, sqlite3.connect(path, isolation_level=None)
        self.database.execute("CREATE TABLE IF NOT EXISTS journal (entry TEXT)")

    def __str__(self):
        return f"the journal in {self.path}"

    def read(self):
        rows = self.database.execute("SELECT entry FROM journal ORDER BY rowid")
        return [json.loads(entry) for (entry,) in rows]

    def append(self, entries):
        rows = [(json.dumps(entry, allow_nan=False),) for entry in entries]
        self.database.execute("BEGIN IMMEDIATE")
        try:
            self.database.executemany("INSERT INTO journal VALUES (?)", rows)
            self.database.execute("COMMIT")
        except BaseException:
            self.database.execute("ROLLBACK")
            raise

    def close(self):
        self.database.close()


class BrokenStore(MemoryStore):
    """Fails where its owner says so."""

    def __init__(self):
        super().__init__()
        self.breaks_at = None

    def append(self, entries):
        if self.breaks_at in [entry[0] for entry in entries if isinstance(entry, list)]:
            raise RuntimeError("no room")
        super().append(json.loads(json.dumps(entries, allow_nan=False)))


@pytest.fixture(params=["memory", "sqlite"])
def opened(request, tmp_path):
    """A function that opens the same store again."""
    if request.param == "memory":
        store = MemoryStore()
        return lambda: store
    return lambda: SqliteStore(tmp_path / "labels.db")


@pytest.mark.parametrize("kind", KINDS)
def test_a_campaign_resumes_from_any_store_after_each_step(opened, kind):
    whole, n_steps = start(None, kind), 0
    while step := next_step(whole.ledger):
        with start(opened(), kind) as resumed:
            if n_steps % 5 == 0:
                assert differences(resumed, whole) == []
            do_step(resumed, step)
        do_step(whole, step)
        n_steps += 1
    with start(opened(), kind) as resumed:
        assert differences(resumed, whole) == []


def test_a_store_holds_what_a_file_holds(opened, path):
    for journal in (path, opened()):
        with start(journal) as evaluation:
            run_to_the_end(evaluation)
    assert json.loads(json.dumps(opened().read())) == values_in(path)


def test_a_store_of_another_campaign_is_refused(opened):
    start_small(opened()).close()
    before = opened().read()
    with pytest.raises(JournalError, match="belongs to another evaluation: the rows"):
        start_small(opened(), X=POOL + 1)
    assert opened().read() == before


@pytest.mark.parametrize("entries", [[{}], [[1, 2]], [{"format": "another"}]])
def test_a_store_that_holds_something_else_is_refused(entries):
    store = MemoryStore()
    store.append(entries)
    with pytest.raises(JournalError, match="is not a sklearn_ase journal"):
        start_small(store)
    assert store.read() == entries


@pytest.mark.parametrize("verb", ["tell", "correct", "withdraw", "skip"])
def test_a_store_that_raises_leaves_all_as_it_was(verb):
    store = BrokenStore()
    evaluation = start_small(store)
    rows = evaluation.ask(5).indices
    evaluation.tell(rows[:3], LABELS[rows[:3]])
    before, entries = shown(evaluation), store.read()
    words = {
        "tell": (rows[3:], LABELS[rows[3:]]),
        "correct": (rows[0], 2),
        "withdraw": (rows[0],),
        "skip": (rows[4:],),
    }
    store.breaks_at = verb
    with pytest.raises(RuntimeError, match="no room"):
        getattr(evaluation, verb)(*words[verb])
    assert differences(evaluation, before) == []
    assert store.read() == entries
    store.breaks_at = None
    getattr(evaluation, verb)(*words[verb])
    before = shown(evaluation)
    with start_small(store) as resumed:
        assert differences(resumed, before) == []


def test_a_store_that_takes_the_label_but_not_what_follows_loses_nothing():
    store = BrokenStore()
    evaluation = start_small(store, refit=1)
    rows = evaluation.ask(6).indices
    store.breaks_at = "note"
    with pytest.warns(JournalWarning, match=r"All answers are recorded.*no room"):
        evaluation.tell(rows[:4], LABELS[rows[:4]])
    store.breaks_at = None
    before = shown(evaluation)
    with start_small(store, refit=1) as resumed:
        assert differences(resumed, before) == []


def test_a_start_that_fails_leaves_a_store_empty_and_open():
    store = MemoryStore()
    with pytest.raises(ValueError, match="not among the classes"):
        start_small(store, known_labels={0: 5})
    assert store.read() == []
    start_small(store).close()


# Ledgers that are saved.


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("journal", [None, "labels.jsonl"])
def test_a_saved_ledger_resumes_as_the_same_campaign(tmp_path, kind, journal):
    journal = journal and tmp_path / journal
    evaluation = start(journal, kind, random_state=None)
    n_steps = 0
    while step := next_step(evaluation.ledger):
        if n_steps % 12 == 0:
            path = tmp_path / f"{n_steps}.jsonl"
            evaluation.ledger.save(path)
            with start(path, kind) as resumed:
                assert differences(resumed, evaluation) == []
                if step[0] == "ask":
                    do_step(resumed, step)
                    do_step(evaluation, step)
                    assert differences(resumed, evaluation) == []
                    step = next_step(evaluation.ledger)
        do_step(evaluation, step)
        n_steps += 1
    evaluation.close()
    evaluation.ledger.save(tmp_path / "end.jsonl")
    with start(tmp_path / "end.jsonl", kind) as resumed:
        assert differences(resumed, evaluation) == []


def test_a_ledger_that_went_on_in_memory_is_saved_with_its_settings(path, recwarn):
    first = start_small(None, refit=[10**6])
    query = first.ask(3)
    first.tell(query, LABELS[query.indices])
    again = start_small(None, refit=3, ledger=first.ledger)
    again.ledger.save(path)
    with start_small(path, refit=3) as resumed:
        assert differences(resumed, again) == []
    assert [one for one in recwarn if one.category is JournalWarning] == []


def test_a_ledger_can_be_saved_in_a_store(opened):
    evaluation = start_small(None)
    query = evaluation.ask(3)
    evaluation.tell(query, LABELS[query.indices])
    evaluation.ledger.save(opened())
    with start_small(opened()) as resumed:
        assert differences(resumed, evaluation) == []


def test_a_ledger_is_not_saved_over_another_file(written):
    text = written.read_bytes()
    evaluation = start_small(None)
    with pytest.raises(JournalError, match=r"is a journal already.*another file name"):
        evaluation.ledger.save(written)
    assert written.read_bytes() == text


def test_a_ledger_of_no_evaluation_cannot_be_saved(path):
    ledger = start_small(None).ledger
    with pytest.raises(ValueError, match=r"evaluation.ledger.save\(path\)"):
        type(ledger)().save(path)
    assert not path.exists()
