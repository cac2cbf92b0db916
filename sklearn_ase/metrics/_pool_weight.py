"""Weights of the rows of a pool."""

import numpy as np


def pool_weight(prediction, weight, n_samples=None):
    """Weight of each row of a pool: what is given, else 1.

    Parameters
    ----------
    prediction : ndarray of shape (n_samples, ...) or None
    weight : ndarray of shape (n_samples,) or None
    n_samples : int, default=None

    Returns
    -------
    weight : ndarray of shape (n_samples,)
    """
    if weight is not None:
        return np.asarray(weight, dtype=float)
    if prediction is not None:
        n_samples = len(prediction)
    if n_samples is None:
        raise ValueError(
            "The size of the pool is not known, for there are no predictions. Pass "
            "n_samples=..."
        )
    return np.ones(n_samples)
