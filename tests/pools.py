"""Pools of right and wrong answers, of which everything can be said by hand."""

import numpy as np

from sklearn_ase import PoolState
from sklearn_ase._inference import _kernels
from sklearn_ase.belief import CategoricalBelief
from sklearn_ase.losses import LossTable


def plain_sample(expected, losses, n_labels):
    """State after a plain random sample: the first rows, picked with equal chances.

    Parameters
    ----------
    expected : array-like of shape (n_samples,)
        Chance of an error at each row, as the surrogate has it all along.
    losses : array-like of shape (n_labels,) or longer
        1 where the model was wrong, else 0.
    n_labels : int

    Returns
    -------
    state : PoolState
    """
    expected = np.asarray(expected, dtype=float)
    n_samples, labels = len(expected), np.asarray(losses[:n_labels], dtype=int)
    loss = LossTable(np.tile([0.0, 1.0], (n_samples, 1)), np.arange(2))
    member = np.stack([1.0 - expected, expected], axis=1)
    belief = CategoricalBelief.from_members(np.stack([member, member]), loss)
    variance = belief.loss_variance(loss)
    query_proba = 1.0 / (n_samples - np.arange(n_labels))
    moments = [
        _kernels.believed_moments(np.full(n_samples - m, q), expected[m:], variance[m:])
        for m, q in enumerate(query_proba)
    ]
    residual_moment, loss_moment = np.transpose(moments)
    return PoolState(
        loss=loss,
        belief=belief,
        expected_loss=expected,
        free=np.arange(n_samples) >= n_labels,
        indices=np.arange(n_labels),
        labels=labels,
        losses=labels.astype(float),
        query_proba=query_proba,
        query_expected_loss=expected[:n_labels],
        free_expected_loss=np.cumsum(expected[::-1])[::-1][:n_labels],
        residual_moment=residual_moment,
        loss_moment=loss_moment,
        n_in_order=n_labels,
        is_calibrated=True,
    )
