"""A metric of one mean is estimated from the end that its values are close to."""

import numpy as np

from sklearn_ase._inference._skips import row_weight
from sklearn_ase.metrics._from_end import FromEndMetric
from sklearn_ase.metrics._pool_metric import PoolMetric


def from_an_end(pool_metric, state_of):
    """The metric as a function of how far its only mean is from the closer end.

    Intervals allow for rare values that no label has shown. If nearly all rows have
    the greatest value, the rare event is that one has less. So the same question has
    the same interval, in whatever units it is asked.

    Parameters
    ----------
    pool_metric : PoolMetric
    state_of : callable
        ``RowValues -> PoolState``.

    Returns
    -------
    pool_metric : PoolMetric
    """
    if len(pool_metric.parts) != 1:
        return pool_metric
    state = state_of(pool_metric.parts[0])
    least, most = _ends_of_rows(state)
    has_ends = np.isfinite([least, most]).all() and (most > least).any()
    if not (has_ends and getattr(state.loss.values, "is_bounded", True)):
        return pool_metric
    # Differences and tangents are no means of values of which one may be rare.
    if type(pool_metric) is not PoolMetric or pool_metric.line() is None:
        if least.min() < 0:
            return pool_metric
        least = np.zeros(len(most))
    expected = state.expected_loss
    if expected is not None and 2.0 * expected.mean() > (least + most).mean():
        return FromEndMetric.of(pool_metric, most, -1.0)
    return FromEndMetric.of(pool_metric, least, 1.0) if least.any() else pool_metric


def _ends_of_rows(state):
    """Least and greatest value of each row, such that their means are known.

    Nobody knows all rows that can be labelled. If some cannot, the ends are the same
    at all rows, times what a row counts.
    """
    least, most = state.loss.values.limits()
    if not state.settled.n_skipped:
        return least, most
    weight = row_weight(state)
    counts = weight > 0
    low, high = (side[counts] / weight[counts] for side in (least, most))
    return low.min() * weight, high.max() * weight
