"""From the ledger and what was learned to the state of the pool."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._inference._questions import answer_noise, observed_values
from sklearn_ase._inference._steps import (
    TRUSTED_LABELS,
    RunningSteps,
    with_several_answers,
)
from sklearn_ase._state import RECORDED, Picks, PoolState
from sklearn_ase._utils._arrays import GrowingArray

if TYPE_CHECKING:
    from sklearn_ase._evaluation._beliefs import Learned
    from sklearn_ase._labels._ledger import LabelLedger


def pool_state(ledger: LabelLedger, learned: Learned) -> PoolState:
    """Put together everything that is known about the pool."""
    picks = Picks.unanswered(*(getattr(ledger, name) for name in RECORDED))
    answered = np.array([index in ledger.labels for index in ledger.indices], bool)
    indices = picks.indices[answered]
    labels = np.array([ledger.labels[index] for index in indices.tolist()])
    losses = np.zeros(len(picks))
    losses[answered] = observed_values(
        learned.loss, indices, labels, ledger.more_labels
    )
    skipped = np.isin(picks.indices, ledger.skipped)
    picks = replace(picks, losses=losses, answered=answered, skipped=skipped)
    noise = answer_noise(learned.loss, indices, labels, ledger.more_labels)
    picks = with_several_answers(picks, noise)
    for column in vars(picks).values():
        column.setflags(write=False)  # Strategies of users get them.
    return PoolState(
        loss=learned.loss,
        belief=learned.belief,
        expected_loss=learned.expected_loss,
        picks=picks,
        labels=labels,
        is_calibrated=learned.is_calibrated,
        training_gap=learned.training_gap,
        training_tail=learned.training_tail,
    )


# The state of the pool, renewed with what is new since the last time.


class StateKeeper:
    """Builds the state of the pool, label by label.

    The time for a label does not depend on the number of labels. After a correction,
    an answer out of order, or several answers for a row, all of it is built again.
    """

    def __init__(self):
        self._state = self._ledger = None

    def state(self, ledger: LabelLedger, learned: Learned):
        """Return everything that is known about the pool."""
        if not self._can_go_on(ledger, learned):
            return self._begin(ledger, learned)
        self._add_picks(ledger)
        n_before = len(self._labels)
        if not self._add_labels(ledger.last_labels(len(ledger) - n_before), learned):
            return self._begin(ledger, learned)
        return self._made(learned)

    def _can_go_on(self, ledger, learned):
        is_same = self._ledger is ledger and self._loss is learned.loss
        return (
            is_same
            and self._n_revisions == ledger.n_revisions
            and self._n_skipped == len(ledger.skipped)
            and not ledger.more_labels
            and len(ledger) >= len(self._labels)
            and len(ledger.indices) >= len(self._answered)
        )

    def _begin(self, ledger, learned):
        """Put all together, and keep it."""
        state = pool_state(ledger, learned)
        picks = state.picks
        self._ledger, self._loss = ledger, learned.loss
        self._n_revisions, self._n_skipped = ledger.n_revisions, len(ledger.skipped)
        self._recorded = {n: GrowingArray(getattr(picks, n)) for n in RECORDED}
        self._answered, self._losses = picks.answered.copy(), picks.losses.copy()
        self._skipped = picks.skipped
        self._labels = GrowingArray(state.labels)
        self._places = {row: place for place, row in enumerate(picks.indices.tolist())}
        answered = np.flatnonzero(picks.answered)
        self._last = int(answered[-1]) if len(answered) else -1
        self._running = RunningSteps(state.n_samples, TRUSTED_LABELS)
        state.memo["running"] = self._running
        return state

    def _add_picks(self, ledger):
        n_before, n_picks = len(self._answered), len(ledger.indices)
        if n_picks == n_before:
            return
        for name, column in self._recorded.items():
            column.extend(getattr(ledger, name)[n_before:])
        rows = ledger.indices[n_before:]
        self._places.update(zip(rows, range(n_before, n_picks), strict=True))
        none = np.zeros(n_picks - n_before)
        self._losses = np.concatenate([self._losses, none])
        self._answered = np.concatenate([self._answered, none.astype(bool)])
        self._skipped = np.concatenate([self._skipped, none.astype(bool)])

    def _add_labels(self, new, learned):
        """Add labels of later picks; returns whether all of them are such."""
        if not new:
            return True
        places = np.array([self._places[row] for row in new])
        if places[0] <= self._last or (np.diff(places) <= 0).any():
            return False
        rows, labels = np.array(list(new)), np.array(list(new.values()))
        self._answered, self._losses = self._answered.copy(), self._losses.copy()
        self._answered[places] = True
        self._losses[places] = observed_values(learned.loss, rows, labels, {})
        self._labels.extend(labels)
        self._last = int(places[-1])
        return True

    def _made(self, learned):
        arrays = self._losses, self._answered, self._skipped
        for array in arrays:
            array.setflags(write=False)  # Strategies of users get them.
        recorded = (column.values for column in self._recorded.values())
        state = PoolState(
            loss=learned.loss,
            belief=learned.belief,
            expected_loss=learned.expected_loss,
            picks=Picks(*recorded, *arrays),
            labels=self._labels.values,
            is_calibrated=learned.is_calibrated,
            training_gap=learned.training_gap,
            training_tail=learned.training_tail,
        )
        state.memo["running"] = self._running
        return state
