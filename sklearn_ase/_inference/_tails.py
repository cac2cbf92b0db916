"""Tails: how heavy the tail of the losses is, and what lies beyond the largest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._inference._steps import row_weight
from sklearn_ase._utils._checks import same_settings

if TYPE_CHECKING:
    from sklearn_ase._state import PoolState
    from sklearn_ase.metrics._row_values import RowValues

# The arrays of this file.
#
#   relative (L,)   r = l / g: losses relative to what the surrogate expected of them
#   excess          relative losses of the upper half, minus the median
#   shape           of the generalised Pareto distribution fitted to them: xi in (T13)

# Prior guess of the shape, and the number of values that it counts for. What training
# rows show counts for more, but labels of the pool can outweigh them.
_PRIOR_SHAPE, _PRIOR_VALUES = 0.5, 10.0
_TRAINING_VALUES = 50.0
# From this shape on the tail of training rows is clearly heavy. Few labels have missed
# it if they look harmless, so many more are needed to outweigh it.
_CLEARLY_HEAVY, _HEAVY_VALUES = 0.75, 250.0
# Fewer values say nothing about a tail.
_MIN_VALUES = 5
# With a heavier tail there is no interval.
MAX_TAIL_SHAPE = 0.7
# Earlier label counts, each this many times smaller than the next, at which the tail is
# looked at again.
_FEWER = 1.5


def heaviest_tail(state: PoolState, min_labels: int) -> float:
    """Greatest shape of the tail that fewer of the labels have shown.

    Someone who looks at every label count will see one at which the labels have missed
    the large losses. So for such looks a tail that was heavy once stays heavy.
    """
    counts, n_picks = [], len(state.settled) / _FEWER
    while n_picks >= min_labels:
        counts.append(int(n_picks))
        n_picks /= _FEWER
    return max((loss_tail(state, count) for count in counts), default=0.0)


def loss_tail(state: PoolState, n_picks: int | None = None) -> float:
    """Shape of the tail of the losses, relative to what the surrogate expected.

    Where the surrogate knows that some rows have large losses, these are not a tail.
    Few labels may have missed the large losses, or met one by chance. So the shape at
    training rows counts as if 50 values had shown it, or 250 if it is clearly heavy.
    """
    relative = _relative_losses(state, n_picks)
    of_training = state.training_tail
    if np.isnan(of_training):
        return tail_shape(relative)
    is_heavy = of_training > _CLEARLY_HEAVY
    n_values = _HEAVY_VALUES if is_heavy else _TRAINING_VALUES
    found = tail_shape(relative, of_training, n_values)
    return of_training if np.isnan(found) else found


def tail_for(values: RowValues, state: PoolState) -> float:
    """Shape of the tail at training rows, if the other values are similar losses."""
    own = getattr(state.loss, "loss", None)
    asked = getattr(getattr(values, "loss", None), "loss", None)
    is_same = own is not None and same_settings(asked, own)
    return state.training_tail if is_same else np.nan


def beyond_largest(state: PoolState) -> float:
    """Mean of the losses beyond the largest one met, relative to the mean, eq. T13.

    It is what the tail has there more than an exponential one, for which the interval
    allows anyhow.
    """
    if np.isfinite(state.loss.max_loss):
        return 0.0
    relative, shape = np.sort(_relative_losses(state)), loss_tail(state)
    half = len(relative) // 2
    if not (half and shape > 0 and relative.mean() > 0):
        return 0.0
    shape = min(shape, MAX_TAIL_SHAPE)
    excess = relative[-half:] - relative[-half - 1]
    mean = shape * (excess.mean() + excess[-1] / (1.0 - shape)) / len(relative)
    return float(mean / relative.mean())


def _relative_losses(state, n_picks=None):
    """Losses at the first picks, relative to what the surrogate expected."""
    picks = state.settled.take(slice(n_picks))
    counts = row_weight(state)[picks.indices]
    counted = picks.answered & (counts > 0)
    losses, expected = (
        column[counted] / counts[counted]
        for column in (picks.losses, picks.expected_loss)
    )
    if not (expected > 0).all():  # Before its first fit the surrogate expects 0.
        expected = np.where(expected > 0, expected, losses.mean() or 1.0)
    return losses / expected


def tail_shape(
    values: np.ndarray, prior: float = _PRIOR_SHAPE, prior_values: float = _PRIOR_VALUES
) -> float:
    """Shape of a generalised Pareto distribution fitted to the upper half of a sample.

    From one half on the variance is infinite, from 1 on the mean. The estimate is that
    of Zhang and Stephens [1]_, moved towards a prior guess: by default towards one
    half as if ten values said so [2]_.

    .. [1] Zhang and Stephens, "A new and efficient estimation method for the
       generalized Pareto distribution", Technometrics 2009.
    .. [2] Vehtari et al., "Pareto smoothed importance sampling", JMLR 2024.
    """
    values, half = np.sort(values), len(values) // 2
    if half < _MIN_VALUES:
        return np.nan
    excess = values[len(values) - half :] - values[len(values) - half - 1]
    excess = excess[excess > 0]
    n = len(excess)
    if n < _MIN_VALUES:
        return np.nan
    n_grid = 30 + int(np.sqrt(n))
    quarter = excess[int(n / 4 + 0.5) - 1]
    grid = 1.0 - np.sqrt(n_grid / (np.arange(1, n_grid + 1) - 0.5))
    grid = grid / (3.0 * quarter) + 1.0 / excess[-1]
    grid = grid[grid != 0.0]  # An exponential tail, which its neighbours stand for.
    shape = np.log1p(-grid[:, None] * excess).mean(axis=1)
    log_likelihood = n * (np.log(-grid / shape) - shape - 1.0)
    weight = np.exp(log_likelihood - log_likelihood.max())
    best = weight @ grid / weight.sum()
    found = np.log1p(-best * excess).mean()
    return float((n * found + prior_values * prior) / (n + prior_values))
