"""Rows that nobody can label: means are over the others."""

import numpy as np

from sklearn_ase._inference import _kernels


def over_answerable(steps, state, weight=None):
    """Turn steps towards the mean over all rows into steps over answerable rows.

    A row that nobody can label counts 0 in the sum, and the share of the other rows is
    estimated in the same way as the sum. The ratio of the two is not exactly unbiased;
    its bias falls faster with the number of labels than its standard error.

    Parameters
    ----------
    steps : ndarray of shape (n_picks,)
    state : PoolState
    weight : ndarray of shape (n_samples,), default=None
        How much each row counts, with mean 1. None means as in the state.

    Returns
    -------
    steps : ndarray of shape (n_picks,)
    """
    picks, n_samples = state.settled, state.n_samples
    if picks.answered.all():
        return steps
    n_picks = len(steps)
    weight = row_weight(state) if weight is None else weight
    share_steps, least, most = _answerable(picks, n_samples, weight)
    weights = _kernels.step_weights(n_picks, n_samples)
    share = weights @ share_steps
    if not most > 0:
        return np.zeros(n_picks)  # No row that counts can be labelled.
    if not least <= share <= most:  # By chance outside what is known for certain.
        return steps / np.clip(share, max(least, 1.0 / n_samples**2), most)
    # The ratio, linearised around its value.
    value = weights @ steps / share
    return value + (steps - value * share_steps) / share


def answerable_share(state, weight=None):
    """Estimated share of the rows that can be labelled, by their weight.

    Parameters
    ----------
    state : PoolState
    weight : ndarray of shape (n_samples,), default=None
        How much each row counts, with mean 1. None means that all count the same.

    Returns
    -------
    share : float
        Within what is known for certain.
    """
    picks, n_samples = state.settled, state.n_samples
    if not picks.n_skipped:
        return 1.0
    weight = np.ones(n_samples) if weight is None else weight
    steps, least, most = _answerable(picks, n_samples, weight)
    share = _kernels.step_weights(len(picks), n_samples) @ steps
    return float(np.clip(share, least, most))


def _answerable(picks, n_samples, weight):
    """Steps towards the share of answerable rows, its least and greatest value."""
    counts = weight[picks.indices]
    steps = _kernels.step_estimates(
        picks.answered * counts,
        picks.query_proba,
        n_samples,
        expected=counts,
        free_expected=n_samples - (np.cumsum(counts) - counts),
    )
    least = counts[picks.answered].sum() / n_samples
    most = 1.0 - counts[~picks.answered].sum() / n_samples
    return steps, least, most


def row_weight(state):
    """How much each row counts in the mean that is estimated; the mean weight is 1."""
    weight = getattr(state.loss, "weight", None)
    return np.broadcast_to(1.0, state.n_samples) if weight is None else weight
