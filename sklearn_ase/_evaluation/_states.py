"""From the ledger and what was learned to the state of the pool."""

from dataclasses import replace

import numpy as np

from sklearn_ase._state import RECORDED, Picks, PoolState


def pool_state(ledger, learned):
    """Put together everything that is known about the pool.

    Parameters
    ----------
    ledger : LabelLedger
    learned : Learned

    Returns
    -------
    state : PoolState
    """
    picks = Picks.unanswered(*(getattr(ledger, name) for name in RECORDED))
    answered = np.array([index in ledger.labels for index in ledger.indices], bool)
    indices = picks.indices[answered]
    labels = np.array([ledger.labels[index] for index in indices.tolist()])
    losses = np.zeros(len(picks))
    losses[answered] = _observed(learned.loss, indices, labels, ledger.more_labels)
    skipped = np.isin(picks.indices, ledger.skipped)
    picks = replace(picks, losses=losses, answered=answered, skipped=skipped)
    for column in vars(picks).values():
        column.setflags(write=False)  # Strategies of others see them.
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


def _observed(loss, indices, labels, more_labels):
    """Loss at each labelled row, the mean over its answers."""
    if not len(indices):
        return np.empty(0)
    losses = np.array(loss.observed(indices, labels))
    places = {index: place for place, index in enumerate(indices.tolist())}
    for index, more in more_labels.items():
        if more and index in places:
            others = loss.observed(np.full(len(more), index), np.array(more))
            place = places[index]
            losses[place] = (losses[place] + others.sum()) / (len(more) + 1)
    return losses
