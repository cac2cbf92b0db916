"""What a heavy tail of the losses makes of an interval."""

import numpy as np

from sklearn_ase._inference import _tails
from sklearn_ase._inference._intervals import MIN_LABELS


def heavy_tail(state):
    """Say why losses with a heavy tail have no interval; empty if they have none.

    Losses of classifiers end at the greatest one of the table.

    Parameters
    ----------
    state : PoolState

    Returns
    -------
    refusal : str
    """
    is_known = len(state.settled) == state.n_samples
    if is_known or np.isfinite(state.loss.max_loss):
        return ""
    shape = _tails.loss_tail(state)
    if not shape > _tails.MAX_TAIL_SHAPE:
        return ""
    return (
        f"No interval: the losses have a heavy tail (shape {shape:.2f}; from 0.5 "
        "on their variance is infinite, from 1 on their mean). The largest losses "
        "decide the risk, and few labels have met them. Use a loss that grows more "
        "slowly (absolute_error), clip it, or label many more rows."
    )


def beyond_largest(value, state):
    """What losses beyond the largest one met would add to their mean, eq. T13."""
    return max(float(value), 0.0) * _tails.beyond_largest(state)


def heavy_tail_before(state):
    """Say why losses have no anytime interval, though the labels allow a fixed one."""
    if np.isfinite(state.loss.max_loss):
        return ""
    shape = _tails.heaviest_tail(state, MIN_LABELS)
    if not shape > _tails.MAX_TAIL_SHAPE:
        return ""
    return (
        "No anytime interval: after fewer labels the losses had a heavy tail (shape "
        f"{shape:.2f}; from 0.5 on their variance is infinite). Use method='fixed' if "
        "the number of labels was chosen beforehand, or a loss that grows more slowly "
        "(absolute_error)."
    )
