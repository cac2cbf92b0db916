"""Balanced accuracy, Matthews' correlation and Cohen's kappa of shares.

For two classes the means are ``u`` (positives found), ``v`` (positives missed) and
``p`` (predicted positives). For more, these are arrays with a value for each class.
Each function returns the value and its derivatives.
"""

import numpy as np

from sklearn_ase.metrics._counts import TINY


def balanced_of_two(u, v, p, adjusted=False):
    """Mean of the recalls of two classes.

    Parameters
    ----------
    u, v, p : float
    adjusted : bool, default=False

    Returns
    -------
    value : float
    slopes : ndarray of shape (3,)
    """
    # The other class has the counts of what is neither positive nor predicted so.
    found = np.array([u, 1.0 - p - v])
    missed = np.array([v, p - u])
    value, (by_found, by_missed, _) = balanced_of_many(
        found, missed, np.array([p, 1.0 - p]), adjusted
    )
    slopes = [
        by_found[0] - by_missed[1],
        by_missed[0] - by_found[1],
        by_missed[1] - by_found[1],
    ]
    return value, np.array(slopes)


def balanced_of_many(u, v, p, adjusted=False):
    """Mean of the recalls of the classes that occur among the labels.

    Parameters
    ----------
    u, v, p : ndarrays of shape (n_classes,)
    adjusted : bool, default=False
        Whether chance is 0 and the best value 1.

    Returns
    -------
    value : float
    slopes : ndarray of shape (3, n_classes)
    """
    size = u + v
    occurs = size > TINY
    size, n_classes = np.where(occurs, size, 1.0), occurs.sum()
    value = np.where(occurs, u / size, 0.0).sum() / n_classes
    slopes = np.where(occurs, [v, -u, np.zeros(len(u))] / size**2, 0.0) / n_classes
    if adjusted:
        if n_classes < 2:  # Chance is always right.
            return np.nan, np.full(slopes.shape, np.nan)
        chance = 1.0 / n_classes
        value, slopes = (value - chance) / (1.0 - chance), slopes / (1.0 - chance)
    return value, slopes


def matthews_of_two(u, v, p):
    """Matthews' correlation of two classes.

    Parameters
    ----------
    u, v, p : float

    Returns
    -------
    value : float
    slopes : ndarray of shape (3,)
    """
    size = u + v
    spread, known = size * (1.0 - size), p * (1.0 - p)
    if min(spread, known) <= TINY:
        return np.nan, np.full(3, np.nan)
    root = np.sqrt(spread * known)
    value = (u - p * size) / root
    by_size = value * (1.0 - 2.0 * size) / (2.0 * spread)
    by_p = value * (1.0 - 2.0 * p) / (2.0 * known)
    slopes = [(1.0 - p) / root - by_size, -p / root - by_size, -size / root - by_p]
    return value, np.array(slopes)


def matthews_of_many(u, v, p):
    """Matthews' correlation of many classes.

    Parameters
    ----------
    u, v, p : ndarrays of shape (n_classes,)

    Returns
    -------
    value : float
    slopes : ndarray of shape (3, n_classes)
    """
    size = u + v
    spread, known = 1.0 - size @ size, 1.0 - p @ p
    if min(spread, known) <= TINY:
        return np.nan, np.full((3, len(u)), np.nan)
    root = np.sqrt(spread * known)
    value = (u.sum() - p @ size) / root
    by_size = value * size / spread
    by_p = -size / root + value * p / known
    return value, np.array([(1.0 - p) / root + by_size, -p / root + by_size, by_p])


def kappa_of_two(u, v, p):
    """Cohen's kappa of two classes.

    Parameters
    ----------
    u, v, p : float

    Returns
    -------
    value : float
    slopes : ndarray of shape (3,)
    """
    size = u + v
    below = p + size - 2.0 * p * size
    if below <= TINY:
        return np.nan, np.full(3, np.nan)
    value = 2.0 * (u - p * size) / below
    by_size = -2.0 * p - value * (1.0 - 2.0 * p)
    by_p = -2.0 * size - value * (1.0 - 2.0 * size)
    return value, np.array([2.0 + by_size, by_size, by_p]) / below


def kappa_of_many(u, v, p):
    """Cohen's kappa of many classes.

    Parameters
    ----------
    u, v, p : ndarrays of shape (n_classes,)

    Returns
    -------
    value : float
    slopes : ndarray of shape (3, n_classes)
    """
    size = u + v
    below = 1.0 - p @ size
    if below <= TINY:
        return np.nan, np.full((3, len(u)), np.nan)
    value = (u.sum() - p @ size) / below
    by_size = -p * (1.0 - value)
    return value, np.array([1.0 + by_size, by_size, -size * (1.0 - value)]) / below
