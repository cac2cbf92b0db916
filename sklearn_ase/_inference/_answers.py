"""Rows with several answers: their mean is less noisy than a single answer."""

from dataclasses import replace

import numpy as np

# Number of rows without any noise that are assumed before answers are compared.
_PRIOR_ROWS = 3


def with_several_answers(picks, noise):
    """Picks with the variance that means of several answers are believed to have.

    The surrogate believes in the variance of a single answer. A part of it is noise of
    the answers, and the mean of k answers has 1/k of that part. The part is found
    from rows with several answers: the variance between the answers for a row, relative
    to what was believed. For each pick it is found from the picks before, so that what
    is expected of a pick is still known before its label.

    Parameters
    ----------
    picks : Picks
    noise : tuple of two ndarrays of shape (n_labels,), or None
        Number of answers at each labelled row, and the variance between their values.
        None if no row has several answers.

    Returns
    -------
    picks : Picks
    """
    if noise is None:
        return picks
    counts, within = np.ones(len(picks)), np.zeros(len(picks))
    counts[picks.answered], within[picks.answered] = noise
    residual, is_compared = picks.residual_moment, counts > 1
    is_compared &= np.isfinite(residual)
    # Both are means over the pick of a variance divided by q².
    found = _before(np.where(is_compared, within / picks.query_proba**2, 0.0))
    believed = _before(np.where(is_compared, residual, 0.0))
    n_rows = _before(is_compared.astype(float))
    believed = believed * (n_rows + _PRIOR_ROWS) / np.maximum(n_rows, 1.0)
    part = np.divide(found, believed, out=np.zeros(len(picks)), where=believed > 0)
    less = residual * np.minimum(part, 1.0) * (1.0 - 1.0 / counts)
    return replace(
        picks, residual_moment=residual - less, loss_moment=picks.loss_moment - less
    )


def _before(values):
    """Sum of the values before each one."""
    return np.cumsum(values) - values
