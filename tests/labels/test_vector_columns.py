"""What is recorded of a pick may be a vector, one number per quantity estimated."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_ase import LabelLedger, Picks
from sklearn_ase._labels._journal import open_ledger
from sklearn_ase._labels._store import FORMAT, VERSION
from sklearn_ase._state import RECORDED

HEADER = {
    "format": FORMAT,
    "version": VERSION,
    "n_samples": 9,
    "pool": "a",
    "predictions": [[1.0] * 6],
    "task": "classification",
    "loss": "ZeroOne()",
    "loss_values": [[1.0] * 6],
    "classes": None,
}
VECTORS = np.array([[1.0, 2.0], [3.0, 4.0]])
COLUMNS = {
    "finite": [VECTORS, -VECTORS / 3, 1e-300 * VECTORS],
    "with NaN": [VECTORS, VECTORS, [[np.nan, 0.5], [np.nan, np.nan]]],
    "with infinity": [[[np.inf, 0.1], [0.2, -np.inf]], VECTORS, VECTORS],
    "one quantity": [VECTORS[:, :1], VECTORS[:, 1:], VECTORS[:, :1]],
    "many quantities": [np.random.default_rng(0).normal(size=(2, 30))] * 3,
}
vectors = pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)


def two_picks(columns):
    """Two picks whose expectations are vectors, and whose probabilities are numbers."""
    expected, free, residual = columns
    return Picks.unanswered([3, 5], [0.1, 0.2], expected, free, residual, residual)


def fill(ledger, columns):
    """Ask for two picks and answer one."""
    ledger.ask(two_picks(columns))
    ledger.tell([5], ["cat"])
    return ledger


def assert_same_picks(ledger, columns):
    """Assert that the ledger has these picks, to the last digit."""
    picks = two_picks(columns)
    for name in RECORDED:
        found, expected = getattr(ledger.picks, name), getattr(picks, name)
        assert_array_equal(found, expected, strict=True, err_msg=name)
    assert ledger.labels == {5: "cat"}
    assert ledger.pending == [3]


@vectors
def test_vectors_are_kept_with_an_axis_of_their_own(columns):
    ledger = fill(LabelLedger(), columns)
    assert_same_picks(ledger, columns)
    assert ledger.picks.expected_loss.ndim == 2
    assert ledger.picks.query_proba.ndim == 1


@vectors
@pytest.mark.parametrize(
    "copy_of",
    [
        LabelLedger.copy,
        copy.deepcopy,
        lambda ledger: pickle.loads(pickle.dumps(ledger)),
    ],
    ids=["copy", "deepcopy", "pickle"],
)
def test_vectors_survive_a_copy(columns, copy_of):
    ledger = fill(LabelLedger(), columns)
    other = copy_of(ledger)
    other.picks.expected_loss[0][0] = 99.0
    none = np.zeros((1, *other.picks.expected_loss.shape[1:]))
    other.ask(Picks.unanswered([7], [0.5], *[none] * 4))
    assert_same_picks(ledger, columns)


@vectors
def test_vectors_survive_a_journal(tmp_path, columns):
    with open_ledger(None, tmp_path / "labels.jsonl") as ledger:
        ledger.header = HEADER
    fill(ledger, columns)
    assert_same_picks(ledger, columns)
    assert_same_picks(ledger.copy(), columns)
    ledger.save(tmp_path / "saved.jsonl")
    ledger.close()
    for name in ("labels.jsonl", "saved.jsonl"):
        with open_ledger(None, tmp_path / name) as resumed:
            assert_same_picks(resumed, columns)
        resumed.tell([3], ["dog"])
        resumed.close()
        with open_ledger(None, tmp_path / name) as again:
            assert again.labels == {5: "cat", 3: "dog"}
        again.close()


@vectors
def test_some_of_the_picks_keep_their_vectors(columns):
    picks = two_picks(columns)
    second = picks.take(slice(1, None))
    assert len(second) == 1
    for name in RECORDED:
        assert_array_equal(getattr(second, name), getattr(picks, name)[1:])


@pytest.mark.parametrize("n_entries", [1, 3])
def test_each_pick_needs_a_vector(n_entries):
    ledger = LabelLedger()
    vectors = np.zeros((n_entries, 2))
    with pytest.raises(ValueError, match="needs one entry in each of the columns"):
        ledger.ask(Picks.unanswered([3, 5], [0.1, 0.2], *[vectors] * 4))
    assert ledger.indices == []
