"""What values can be, and what the labels prove about their mean."""

from dataclasses import replace

import numpy as np


def proved_limits(state):
    """Least and greatest mean of the values that the labels leave possible.

    If some rows cannot be labelled, the mean is that over the others. Then only what
    holds for every row is proved.

    Parameters
    ----------
    state : PoolState
        Of a question.

    Returns
    -------
    least, most : float
    """
    least, most = (np.array(side) for side in state.loss.values.limits())
    picks = state.labelled
    if state.settled.n_skipped:
        weight = state.loss.weight
        weight = np.ones(len(least)) if weight is None else weight
        counts = weight > 0
        least, most = (side[counts] / weight[counts] for side in (least, most))
        return float(least.min()), float(most.max())
    least[picks.indices] = most[picks.indices] = picks.losses
    return float(least.mean()), float(most.mean())


def with_limits(estimate, state, cut=True):
    """The estimate of a mean, with what the labels have proved.

    Parameters
    ----------
    estimate : RiskEstimate
    state : PoolState
        Of a question.
    cut : bool, default=True
        Whether the value is cut to that, too.

    Returns
    -------
    estimate : RiskEstimate
    """
    least, most = proved_limits(state)
    value = min(max(estimate.value, least), most) if cut else estimate.value
    found = replace(estimate, value=value, least=least, most=most)
    if not state.loss.is_bounded or found.largest is not None:
        return found
    # Rows outside of a group count 0, those inside more than once.
    greatest, picks = state.loss.values.limits()[1], state.settled
    told = picks.indices[picks.answered]
    return replace(
        found,
        max_loss=float(greatest.mean()),
        largest=float(greatest.max()),
        none_seen=not picks.losses.any(),
        all_seen=bool((picks.losses[picks.answered] == greatest[told]).all()),
    )


def n_surprises(state):
    """Number of labels that are far from what was expected of them.

    They show the variance of the estimate. If the surrogate is hardly ever surprised,
    it may have missed rare losses. The same holds for labels of one kind only. Rows
    that do not count, such as those outside of a group, are no surprise.
    """
    picks = state.settled.take(state.settled.answered)
    least, most = np.full(len(picks), min_loss(state.loss)), state.loss.max_loss
    if state.is_question:
        least, most = (x[picks.indices] for x in state.loss.values.limits())
    half, counts = 0.5 * (most - least), most > least
    is_surprise = np.abs(picks.losses - picks.expected_loss) > half
    is_large = picks.losses > least + half
    kinds = counts & is_surprise, counts & is_large, counts & ~is_large
    return int(min(kind.sum() for kind in kinds))


def min_loss(loss):
    """Least value of a loss at any row; other values than losses may be negative."""
    return getattr(loss, "min_loss", 0.0)
