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
    total, n_picks = np.zeros(n_samples), len(picks)
    squares = _kernels.step_weights(n_picks, n_samples) ** 2
    squares[np.isnan(picks.query_proba)] = 0.0
    epochs = getattr(state.loss, "epochs", ())
    ends = [*(epoch.start for epoch in epochs[1:]), n_picks]
    for epoch, end in zip(epochs, ends, strict=False):
        here = squares[epoch.start : end]
        counts = np.full(n_samples, here.sum())
        counts[picks.indices[: epoch.start]] = 0.0
        counts[picks.indices[epoch.start : end]] = np.cumsum(here)
        total += counts * epoch.inverse_proba
    return total / n_samples**2
