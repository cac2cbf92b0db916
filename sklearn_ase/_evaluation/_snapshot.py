"""From the ledger and the belief to the state of the pool."""

import numpy as np

from sklearn_ase._state import PoolState, Skips

# Columns of the ledger under the names they have in the state.
_COLUMNS = {
    "query_proba": "query_proba",
    "query_expected_loss": "expected_loss",
    "free_expected_loss": "free_expected_loss",
    "residual_moment": "residual_moment",
    "loss_moment": "loss_moment",
}


def pool_state(ledger, learner, n_samples):
    """All that is known about the pool.

    Parameters
    ----------
    ledger : LabelLedger
    learner : Learner
    n_samples : int

    Returns
    -------
    state : PoolState
    """
    asked = np.array(ledger.indices, dtype=int)
    is_labelled = np.array([index in ledger.labels for index in ledger.indices], bool)
    is_skipped = np.isin(asked, ledger.skipped)
    settled = is_labelled | is_skipped
    n_settled = len(asked) if settled.all() else int(np.argmin(settled))
    columns = {name: np.array(getattr(ledger, of)) for name, of in _COLUMNS.items()}
    free = np.ones(n_samples, dtype=bool)
    free[asked] = False
    indices = asked[is_labelled]
    labels = np.array([ledger.labels[index] for index in indices.tolist()])
    skipped = np.flatnonzero(is_skipped[:n_settled])
    skips = None
    if len(skipped):
        of_skips = {name: values[skipped] for name, values in columns.items()}
        skips = Skips(place=np.cumsum(is_labelled)[skipped], **of_skips)
    return PoolState(
        loss=learner.loss,
        belief=learner.belief,
        expected_loss=learner.expected_loss,
        free=free,
        indices=indices,
        labels=labels,
        losses=_observed_losses(learner.loss, indices, labels, ledger.more_labels),
        n_in_order=int(is_labelled[:n_settled].sum()),
        skips=skips,
        is_calibrated=learner.is_calibrated,
        training_gap=learner.training_gap,
        **{name: values[is_labelled] for name, values in columns.items()},
    )


def _observed_losses(loss, indices, labels, more_labels):
    """Loss at each labelled row, the mean over its answers."""
    if not len(indices):
        return np.empty(0)
    losses = np.array(loss.observed(indices, labels))
    for index, more in more_labels.items():
        if more:
            others = loss.observed(np.full(len(more), index), np.array(more))
            place = indices == index
            losses[place] = (losses[place] + others.sum()) / (len(more) + 1)
    return losses
