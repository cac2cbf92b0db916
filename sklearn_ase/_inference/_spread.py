"""What picks would add to the variance of a mean, whatever its values."""

import numpy as np

from sklearn_ase._inference import _kernels


def spread_of_picks(state):
    """What each row would add to the variance of a mean, had its value variance 1.

    Parameters
    ----------
    state : PoolState
        Of a question.

    Returns
    -------
    spread : ndarray of shape (n_samples,)
        Sum over the picks of ``w² / q``, as long as the row was free, divided by N².
    """
    picks, n_samples = state.settled, state.n_samples
    weights = _kernels.step_weights(len(picks), n_samples) ** 2
    weights[np.isnan(picks.query_proba)] = 0.0
    each = _over_epochs(state, weights, lambda epoch: epoch.inverse_proba)
    return each / n_samples**2


def chances_of_picks(state):
    """How often each row was expected to be picked, as long as it was free.

    Parameters
    ----------
    state : PoolState
        Of a question.

    Returns
    -------
    chances : ndarray of shape (n_samples,)
        0 where it is not known.
    """
    weights = np.ones(len(state.settled))
    return _over_epochs(state, weights, lambda epoch: epoch.query_proba)


def _over_epochs(state, weights, of_rows):
    """Sum over the picks of a weight times something of each row that was free."""
    picks, n_samples = state.settled, state.n_samples
    total, epochs = np.zeros(n_samples), getattr(state.loss, "epochs", ())
    ends = [*(epoch.start for epoch in epochs[1:]), len(picks)]
    for epoch, end in zip(epochs, ends, strict=False):
        here = weights[epoch.start : end]
        counts = np.full(n_samples, here.sum())
        counts[picks.indices[: epoch.start]] = 0.0
        counts[picks.indices[epoch.start : end]] = np.cumsum(here)
        total += counts * of_rows(epoch)
    return total
