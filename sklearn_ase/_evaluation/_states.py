"""From the ledger and what was learned to the state of the pool."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._inference._steps import with_several_answers
from sklearn_ase._state import PoolState

if TYPE_CHECKING:
    from sklearn_ase._evaluation._beliefs import Learned
    from sklearn_ase._labels._ledger import LabelLedger


def pool_state(ledger: LabelLedger, learned: Learned) -> PoolState:
    """Put together everything that is known about the pool."""
    picks = ledger.picks
    skipped = np.isin(picks.indices, ledger.skipped)
    answered = ~(skipped | np.isin(picks.indices, ledger.pending))
    indices = picks.indices[answered]
    labels = np.array(list(map(ledger.labels.get, indices.tolist())))
    losses = np.zeros(len(picks))
    losses[answered] = observed_values(
        learned.loss, indices, labels, ledger.more_labels
    )
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


def observed_values(
    loss, indices: np.ndarray, labels: np.ndarray, more_labels: dict[int, list]
) -> np.ndarray:
    """Value at each labelled row, the mean over its answers."""
    if not len(indices):
        return np.empty(0)
    losses = np.array(loss.observed(indices, labels))
    for place, others in _further(loss, indices, more_labels):
        losses[place] = (losses[place] + others.sum()) / (len(others) + 1)
    return losses


def answer_noise(
    loss, indices, labels, more_labels
) -> tuple[np.ndarray, np.ndarray] | None:
    """Number of answers at each labelled row, and how much their values differ."""
    if not any(more_labels.values()) or not len(indices):
        return None
    first = np.asarray(loss.observed(indices, labels))
    counts, within = np.ones(len(indices)), np.zeros(len(indices))
    for place, others in _further(loss, indices, more_labels):
        counts[place] = len(others) + 1
        within[place] = np.var([first[place], *others], ddof=1)
    return counts, within


def _further(loss, indices, more_labels):
    """Place of each row with several answers, and the values of the further ones."""
    if not any(more_labels.values()):
        return
    places = {index: place for place, index in enumerate(indices.tolist())}
    for index, more in more_labels.items():
        if more and index in places:
            rows = np.full(len(more), index)
            yield places[index], np.asarray(loss.observed(rows, np.array(more)))
