"""The state of the pool, put together from the ledger and the belief."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._inference._questions import answer_noise, observed_values
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
