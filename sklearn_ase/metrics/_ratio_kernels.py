"""Ratios of two linear functions of a confusion matrix, and averages of them.

A class has the counts ``u`` (found), ``v`` (missed) and ``p`` (predicted), as shares of
the pool. Every ratio is ``(a · x) / (b · x)`` with ``x = (1, u, v, p)``.
"""

import numpy as np

from sklearn_ase.metrics._counts import TINY


def ratio(top, bottom, x, empty=np.nan):
    """A ratio and its derivative, for one class or many.

    Parameters
    ----------
    top, bottom : ndarrays of shape (4,)
    x : ndarray of shape (4,) or (4, n_classes)
        1, found, missed, predicted.
    empty : float, default=nan
        Value, and derivative, of 0 / 0.

    Returns
    -------
    value : ndarray of shape () or (n_classes,)
    slope : ndarray of the shape of `x`
        Derivative with respect to each row of `x`.
    """
    below = bottom @ x
    is_empty = below <= TINY
    below = np.where(is_empty, 1.0, below)
    value = np.where(is_empty, empty, (top @ x) / below)
    shape = (4,) + (1,) * (x.ndim - 1)
    slope = (top.reshape(shape) - value * bottom.reshape(shape)) / below
    return value, np.where(is_empty, empty, slope)


def one_class(top, bottom, means):
    """Ratio of one class against the rest, of the means (u, v, p)."""
    value, slope = ratio(top, bottom, np.append(1.0, means))
    return value, slope[1:]


def pooled(top, bottom, means):
    """Ratio of the counts of all classes together ("micro").

    Every row has one label and one prediction. So the share of hits says it all.

    Parameters
    ----------
    top, bottom : ndarrays of shape (4,)
    means : ndarray of shape (2,)
        Share of hits, and the number of classes less one.

    Returns
    -------
    value : float
    gradient : ndarray of shape (2,)
    """
    hits, others = means
    value, slope = ratio(top, bottom, np.array([1.0 + others, hits, 1.0 - hits, 1.0]))
    return value, np.array([slope[1] - slope[2], slope[0]])


def averaged(top, bottom, means, by_size):
    """Average of the ratios of the classes.

    Classes that occur neither as a label nor as a prediction do not count. The ratio
    0 / 0 of a class that does counts as 0.

    Parameters
    ----------
    top, bottom : ndarrays of shape (4,)
    means : ndarray of shape (3 * n_classes,)
        Found, missed and predicted shares.
    by_size : bool
        Whether a class counts by its share of the labels, or all count the same.

    Returns
    -------
    value : float
    gradient : ndarray of shape (3 * n_classes,)
    """
    counts = np.reshape(means, (3, -1))
    x = np.vstack([np.ones(counts.shape[1]), counts])
    each, slope = ratio(top, bottom, x, empty=0.0)
    size = counts[0] + counts[1]
    weight = size if by_size else (size + counts[2] > TINY).astype(float)
    total = weight.sum()
    value = weight @ each / total
    gradient = weight * slope[1:] / total
    if by_size:
        gradient[:2] += (each - value) / total
    return value, gradient.ravel()
