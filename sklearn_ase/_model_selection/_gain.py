"""What a label is expected to tell about which of several models is the best."""

import numpy as np

from sklearn_ase._inference._best_of import (
    LABEL_WEIGHT,
    gain_of_votes,
    information_gain,
)
from sklearn_ase._inference._corrected import some_rows

# Numbers of a table of rows, labels and models that is made at a time.
_NUMBERS_AT_A_TIME = 4_000_000


def expected_gain(rows, state, columns, gradient, weight=None):
    """What labels of some rows are expected to tell about the best model.

    Parameters
    ----------
    rows : ndarray of int of shape (n_rows,)
    state : PoolState
    columns : Columns
    gradient : ndarray of shape (n_columns,)
    weight : ndarray of shape (n_samples,), default=None
        How much each row counts, with mean 1.

    Returns
    -------
    gain : ndarray of shape (n_rows,)
    """
    observed = columns.observed(state.indices, state.labels)
    if columns.targets is not None:
        log_weights = LABEL_WEIGHT * observed.sum(axis=0)
        n_classes = len(columns.classes)
        gain = gain_of_votes(log_weights, columns.targets[rows], n_classes)
        return gain if weight is None else gain * weight[rows]
    sample, _ = some_rows(rows, columns)
    values = columns.tables(sample, state.belief, gradient)[0]
    spreads = np.ptp(values, axis=2)
    scale = np.quantile(spreads[spreads > 0], 0.95) if spreads.any() else 1.0
    rated = _ratings(columns.per_model(observed, gradient), scale)
    log_weights = LABEL_WEIGHT * rated.sum(axis=0)
    n_labels = 7 if columns.classes is None else len(columns.classes)
    size = max(1, _NUMBERS_AT_A_TIME // (n_labels * columns.n_models))
    found = []
    for start in range(0, len(rows), size):
        here = rows[start : start + size]
        values, proba, _ = columns.tables(here, state.belief, gradient)
        share = proba if columns.classes is None else None
        found.append(information_gain(log_weights, _ratings(values, scale), share))
    return np.concatenate(found)


def _ratings(values, scale):
    """How well each model does, from 0 to 1, beside the best at that row and label."""
    worse = values - values.max(axis=-1, keepdims=True)
    return np.clip(1.0 + worse / scale, 0.0, 1.0)
