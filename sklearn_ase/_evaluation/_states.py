"""From the ledger and what was learned to the state of the pool."""

from dataclasses import replace

import numpy as np

from sklearn_ase._inference._answers import with_several_answers
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


def observed_values(loss, indices, labels, more_labels):
    """Value at each labelled row, the mean over its answers.

    Parameters
    ----------
    loss : object with ``observed(indices, labels)``
        A loss at the rows of the pool, or other values.
    indices, labels : ndarray of shape (n_labels,)
    more_labels : dict of int to list
        Further answers for some rows.

    Returns
    -------
    values : ndarray of shape (n_labels,)
    """
    if not len(indices):
        return np.empty(0)
    losses = np.array(loss.observed(indices, labels))
    for place, others in _further(loss, indices, more_labels):
        losses[place] = (losses[place] + others.sum()) / (len(others) + 1)
    return losses


def answer_noise(loss, indices, labels, more_labels):
    """Number of answers at each labelled row, and how much their values differ.

    Parameters
    ----------
    loss, indices, labels, more_labels
        See :func:`observed_values`.

    Returns
    -------
    noise : tuple of two ndarrays of shape (n_labels,), or None
        The number of answers, and the variance between their values; 0 where there is
        only one. None if no row has several answers.
    """
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
    places = {index: place for place, index in enumerate(indices.tolist())}
    for index, more in more_labels.items():
        if more and index in places:
            rows = np.full(len(more), index)
            yield places[index], np.asarray(loss.observed(rows, np.array(more)))
