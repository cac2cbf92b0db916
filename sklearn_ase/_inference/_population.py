"""Error of the pool as a sample of a population."""

import numpy as np

from sklearn_ase._data._groups import number_groups
from sklearn_ase._inference._skips import row_weight
from sklearn_ase._inference._steps import label_shares

# A correlation of 1 within groups counts as so many pairs of labels.
_PRIOR_PAIRS = 5.0


def population_variance(state, known=0.0):
    """Variance of the pool's risk, if its rows are drawn from a population one by one.

    Parameters
    ----------
    state : PoolState
    known : ndarray of shape (n_samples,), default=0.0
        What rows add to the values that no label changes.

    Returns
    -------
    variance : float
    """
    picks = state.settled
    if not picks.n_labels:
        return np.nan
    share, counts = label_shares(state), row_weight(state)[picks.indices]
    values = picks.losses
    if np.ndim(known):
        values = values + known[picks.indices]
    total = share @ counts
    mean = share @ values / total if total > 0 else 0.0
    return float(share @ (values - mean * counts) ** 2 / state.n_samples)


def check_groups(groups, state, problem):
    """Check the groups of the rows, and number them from 0.

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
    state : PoolState
    problem : Problem

    Returns
    -------
    groups : ndarray of shape (n_samples,)
    """
    names, numbers = number_groups(groups, problem)
    if len(names) < 2:
        raise ValueError("groups must name at least two groups, but names one.")
    if state.belief is None:
        raise ValueError(
            "groups= needs a fitted surrogate. Label more rows, or give X_train."
        )
    return numbers


def grouped_variance(state, groups, known=0.0):
    """Variance of the pool's risk, if its groups are drawn from a population.

    Rows of a group may have similar losses for two reasons: the surrogate expects so,
    or they share what it does not know. The second is a correlation, which labels of
    the same group estimate. It starts at 1, the worst, as if five pairs said so.

    Parameters
    ----------
    state : PoolState
        With a belief.
    groups : ndarray of shape (n_samples,)
        Number of the group of each row, from 0.
    known : ndarray of shape (n_samples,), default=0.0
        What rows add to the values that no label changes.

    Returns
    -------
    variance : float
    """
    picks, n_samples = state.labelled, state.n_samples
    expected = np.array(state.expected_loss)
    deviation = np.sqrt(state.belief.loss_variance(state.loss))
    surprise = np.divide(
        picks.losses - expected[picks.indices],
        deviation[picks.indices],
        out=np.zeros(len(picks)),
        where=deviation[picks.indices] > 0,
    )
    correlation = _correlation(surprise, groups[picks.indices])
    expected[picks.indices], deviation[picks.indices] = picks.losses, 0.0
    expected += known
    gap = np.bincount(groups, expected - expected.mean())
    n_groups = len(gap)
    total = np.bincount(groups, deviation)
    square = np.bincount(groups, deviation**2)
    shared = correlation * total**2 + (1.0 - correlation) * square
    # As for the variance of a sample: one degree of freedom goes to the mean.
    correction = n_groups / (n_groups - 1)
    return float(correction * np.sum(gap**2 + shared) / n_samples**2)


def _correlation(surprise, groups):
    """Correlation of standardised surprises within groups, between 0 and 1."""
    sums = np.bincount(groups, surprise)
    squares = np.bincount(groups, surprise**2)
    counts = np.bincount(groups)
    products = np.sum(sums**2 - squares) / 2.0
    n_pairs = np.sum(counts * (counts - 1)) / 2.0
    found = (products + _PRIOR_PAIRS) / (n_pairs + _PRIOR_PAIRS)
    return float(np.clip(found, 0.0, 1.0))
