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
    x : ndarray of shape (4, ...)
        1, found, missed, predicted.
    empty : float, default=nan
        Value, and derivative, of 0 / 0.

    Returns
    -------
    value : ndarray of shape (...)
    slope : ndarray of the shape of `x`
        Derivative with respect to each row of `x`.
    """
    below = np.tensordot(bottom, x, 1)
    is_empty = below <= TINY
    below = np.where(is_empty, 1.0, below)
    value = np.where(is_empty, empty, np.tensordot(top, x, 1) / below)
    shape = (4,) + (1,) * (x.ndim - 1)
    slope = (top.reshape(shape) - value * bottom.reshape(shape)) / below
    return value, np.where(is_empty, empty, slope)


def one_class(top, bottom, means):
    """Ratio of one class against the rest, of the means (u, v, p) on the last axis."""
    u, v, p = np.moveaxis(means, -1, 0)
    value, slope = ratio(top, bottom, np.stack([np.ones_like(u), u, v, p]))
    return value, np.moveaxis(slope[1:], 0, -1)


def pooled(top, bottom, means):
    """Ratio of the counts of all classes together ("micro").

    Every row has one label and one prediction. So the share of hits says it all.

    Parameters
    ----------
    top, bottom : ndarrays of shape (4,)
    means : ndarray of shape (..., 2)
        Share of hits, and the number of classes less one.

    Returns
    -------
    value : ndarray of shape (...)
    gradient : ndarray of shape (..., 2)
    """
    hits, others = np.moveaxis(means, -1, 0)
    x = np.stack([1.0 + others, hits, 1.0 - hits, np.ones_like(hits)])
    value, slope = ratio(top, bottom, x)
    return value, np.stack([slope[1] - slope[2], slope[0]], axis=-1)


def averaged(top, bottom, means, by_size):
    """Average of the ratios of the classes.

    Classes that occur neither as a label nor as a prediction do not count. The ratio
    0 / 0 of a class that does counts as 0.

    Parameters
    ----------
    top, bottom : ndarrays of shape (4,)
    means : ndarray of shape (..., 3 * n_classes)
        Found, missed and predicted shares.
    by_size : bool
        Whether a class counts by its share of the labels, or all count the same.

    Returns
    -------
    value : ndarray of shape (...)
    gradient : ndarray of shape (..., 3 * n_classes)
    """
    counts = np.moveaxis(means.reshape(*means.shape[:-1], 3, -1), -2, 0)
    x = np.concatenate([np.ones_like(counts[:1]), counts])
    each, slope = ratio(top, bottom, x, empty=0.0)
    size = counts[0] + counts[1]
    weight = size if by_size else (size + counts[2] > TINY).astype(float)
    total = weight.sum(axis=-1, keepdims=True)
    value = (weight * each).sum(axis=-1, keepdims=True) / total
    gradient = weight * slope[1:] / total
    if by_size:
        gradient[:2] += (each - value) / total
    return value[..., 0], np.moveaxis(gradient, 0, -2).reshape(means.shape)


def averaged_of_two(top, bottom, means, by_size):
    """The same for two classes, of the means (u, v, p) of the second one.

    Parameters
    ----------
    top, bottom : ndarrays of shape (4,)
    means : ndarray of shape (..., 3)
    by_size : bool

    Returns
    -------
    value : ndarray of shape (...)
    gradient : ndarray of shape (..., 3)
    """
    u, v, p = np.moveaxis(means, -1, 0)
    # The first class has what is neither of the second nor predicted so.
    both = np.stack([1.0 - p - v, u, p - u, v, 1.0 - p, p], axis=-1)
    value, slopes = averaged(top, bottom, both, by_size)
    other_found, found, other_missed, missed, other, own = np.moveaxis(slopes, -1, 0)
    gradient = (
        found - other_missed,
        missed - other_found,
        own - other - other_found + other_missed,
    )
    return value, np.stack(gradient, axis=-1)
