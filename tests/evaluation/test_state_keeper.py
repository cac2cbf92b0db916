"""States are renewed label by label, and equal those that are built again."""

from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_ase import LabelLedger, Picks
from sklearn_ase._evaluation import _states as _state_keeper
from sklearn_ase._evaluation._states import StateKeeper, pool_state
from sklearn_ase._inference import _steps as _kernels
from sklearn_ase._inference._steps import RunningSteps, parts_of_steps
from sklearn_ase.losses import LossTable
from sklearn_ase.testing import make_state

CLASSES = np.array(["a", "bb", "ccc"])


def make_learned(rng, n_samples=60):
    loss = LossTable(rng.exponential(size=(n_samples, 3)), CLASSES)
    return SimpleNamespace(
        loss=loss,
        belief=None,
        expected_loss=None,
        is_calibrated=False,
        training_gap=np.nan,
        training_tail=np.nan,
    )


def ask(ledger, rng, n_samples=60):
    free = np.setdiff1d(np.arange(n_samples), ledger.indices)
    rows = rng.permutation(free)[: rng.integers(1, 4)]
    ledger.ask(Picks.unanswered(rows, *rng.random((7, len(rows)))))


def assert_same(found, expected):
    assert found.labels.tolist() == expected.labels.tolist()
    for field in fields(Picks):
        values = getattr(expected.picks, field.name)
        assert_allclose(getattr(found.picks, field.name), values, err_msg=field.name)


def happen(ledger, rng, event):
    """Let something happen, if it can."""
    if event == "ask" and len(ledger.indices) < 57:
        ask(ledger, rng)
    elif event == "tell first" and ledger.pending:
        ledger.tell(ledger.pending[:1], [rng.choice(CLASSES)])
    elif event == "tell last" and ledger.pending:
        ledger.tell(ledger.pending[-1:], [rng.choice(CLASSES)])
    elif event == "skip" and ledger.pending:
        ledger.skip(ledger.pending[:1])
    elif event == "correct" and ledger.labels:
        ledger.correct(rng.choice(list(ledger.labels)), rng.choice(CLASSES))
    elif event == "withdraw" and ledger.labels:
        ledger.withdraw(rng.choice(list(ledger.labels)))
    elif event == "answer skipped" and ledger.skipped:
        ledger.tell(ledger.skipped[:1], [rng.choice(CLASSES)])


@pytest.mark.parametrize("seed", range(6))
def test_whatever_happens_the_state_is_that_of_the_ledger(seed):
    rng = np.random.default_rng(seed)
    ledger, learned, keeper = LabelLedger(), make_learned(rng), StateKeeper()
    events = ["ask"] * 4 + ["tell first"] * 6 + ["tell last", "skip", "correct"]
    events += ["withdraw", "answer skipped"]
    earlier = []
    for event in rng.choice(events, 150):
        happen(ledger, rng, event)
        state, expected = keeper.state(ledger, learned), pool_state(ledger, learned)
        earlier.append((state, expected))
        still_open = [row for row in ledger.indices if row not in ledger.labels]
        assert ledger.pending == [r for r in still_open if r not in ledger.skipped]
    for state, expected in earlier:  # Nothing has changed a state of before.
        assert_same(state, expected)


def test_a_label_in_order_is_added_without_a_look_at_the_others(monkeypatch):
    rng = np.random.default_rng(0)
    ledger, learned, keeper = LabelLedger(), make_learned(rng), StateKeeper()
    ask(ledger, rng)
    keeper.state(ledger, learned)
    monkeypatch.setattr(_state_keeper, "pool_state", None)  # It cannot be called.
    for event in ["tell first", "ask"] * 15:
        happen(ledger, rng, event)
        state = keeper.state(ledger, learned)
    assert state.n_labels == 15


def test_another_loss_is_observed_for_all_labels():
    rng = np.random.default_rng(0)
    ledger, keeper = LabelLedger(), StateKeeper()
    ask(ledger, rng)
    happen(ledger, rng, "tell first")
    first = keeper.state(ledger, make_learned(rng))
    other = make_learned(rng)
    found = keeper.state(ledger, other)
    assert_same(found, pool_state(ledger, other))
    assert found.losses[0] != first.losses[0]


def test_running_steps_are_those_computed_at_once():
    state = make_state(n_samples=200, n_labels=80)
    picks, running = state.settled, RunningSteps(200, 10)
    for n_picks in (1, 2, 3, 40, 41, 80, 30):
        first = picks.take(slice(n_picks))
        plain, control = parts_of_steps(first, 200)
        power = _kernels.predictable_power(plain, control, 10)
        # To the last digit: a journal that is opened again gives the same estimates.
        np.testing.assert_array_equal(running.up_to(first), [plain, control, power])
