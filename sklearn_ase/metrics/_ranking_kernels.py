"""Ranking metrics of labels that are only believed, with their derivatives.

``positive`` is the probability that a label is positive, 0 or 1 where it is known.
Each metric is a ratio of two sums over rows and pairs of rows. The sums are the
expected ones for independent labels. So a pair of a row with itself is treated apart:
for a label, ``y (1 - y)`` is 0 and ``y²`` is y, but for a probability they are not.

The influence of a row on the metric is n_samples times the derivative with respect to
the weight of the row. It is ``rest + slope * positive``, and its weighted mean is 0.
The label of the row changes the second term only. ``weight * slope`` is n_samples times
the derivative with respect to ``positive``.
"""

import numpy as np

# Shares of pairs below it are rounding.
_TINY = 1e-14


def roc_auc(positive, weight, group):
    """Area under the ROC curve.

    Parameters
    ----------
    positive : ndarray of shape (n_samples,)
    weight : ndarray of shape (n_samples,)
    group : ndarray of int of shape (n_samples,)
        Place of the score of each row among the sorted different scores.

    Returns
    -------
    value : float
        NaN if there is no pair of a positive and a negative row.
    slope, rest : ndarray of shape (n_samples,)
        The two parts of the influence of each row; 0 if the value is NaN.
    """
    plus, minus = weight * positive, weight * (1.0 - positive)
    group_plus, group_minus = np.bincount(group, plus), np.bincount(group, minus)
    all_plus, all_minus = plus.sum(), minus.sum()
    # Half a pair counts for equal scores; the row itself is taken out.
    below = (np.cumsum(group_minus) - 0.5 * group_minus)[group] - 0.5 * minus
    above = all_plus - np.cumsum(group_plus) + 0.5 * group_plus
    above = above[group] - 0.5 * plus
    n_pairs = all_plus * all_minus - plus @ minus
    if n_pairs <= _TINY * (all_plus + all_minus) ** 2:
        return np.nan, *np.zeros((2, len(positive)))
    value = plus @ below / n_pairs
    scale = len(positive) / n_pairs
    rest = above - value * (all_plus - plus)
    slope = below - value * (all_minus - minus) - rest
    return value, scale * slope, scale * rest


def average_precision(positive, weight, group):
    """Average precision: precision at each score, weighted by the recall it adds.

    Parameters
    ----------
    positive : ndarray of shape (n_samples,)
    weight : ndarray of shape (n_samples,)
    group : ndarray of int of shape (n_samples,)
        Place of the score of each row among the sorted different scores.

    Returns
    -------
    value : float
        NaN if there is no positive row.
    slope, rest : ndarray of shape (n_samples,)
        The two parts of the influence of each row; 0 if the value is NaN.
    """
    plus = weight * positive
    total = plus.sum()
    if total <= _TINY * weight.sum():
        return np.nan, *np.zeros((2, len(positive)))
    group_plus, group_all = np.bincount(group, plus), np.bincount(group, weight)
    # Sums over all rows whose score is at least that of the group.
    found, chosen = _from_above(group_plus), _from_above(group_all)
    share = np.divide(1.0, chosen, out=np.zeros(len(chosen)), where=chosen > 0)
    own = weight * share[group]
    own_pairs = weight * own * positive * (1.0 - positive)
    pairs = group_plus * found * share + np.bincount(group, own_pairs)
    value = pairs.sum() / total
    # A positive row adds to the precision at its own score and at all lower ones.
    by_row = found * share + np.cumsum(group_plus * share)
    slope = by_row[group] - value + own * (1.0 - 2.0 * positive)
    # Any row lowers it there.
    rest = own * positive - np.cumsum(pairs * share)[group]
    scale = len(positive) / total
    return value, scale * slope, scale * rest


def _from_above(values):
    return np.cumsum(values[::-1])[::-1]
