"""Intervals of functions of several means, from a region of possible means."""

import numpy as np

_ANGLES = np.linspace(0.0, 2.0 * np.pi, 72, endpoint=False)
_RADII = (0.2, 0.4, 0.6, 0.8, 1.0)
# Axes, steps of a search, and moves into limits, for more than two means.
_N_AXES = 3
_N_STEPS = 5
_N_MOVES = 20


def ends_over_ellipse(function, means, covariance, quantile, limits):
    """Least and greatest value of a function over an ellipse of two means.

    For a ratio of the means this is Fieller's interval. It needs no gradient, stays
    within the range of the function, and is finite where no label has shown a positive.

    Parameters
    ----------
    function : callable
        Of an ndarray of shape (2,); NaN where it is not defined.
    means : ndarray of shape (2,)
        Centre of the ellipse.
    covariance : ndarray of shape (2, 2)
    quantile : float
        Half-axes in standard errors.
    limits : tuple of two ndarrays of shape (2,)
        What the means can be for certain; points are moved into these limits.

    Returns
    -------
    low, high : float
        NaN if the function is defined nowhere on the ellipse.
    """
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    circle = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)])
    points = np.concatenate([r * circle for r in (0.0, *_RADII)], axis=1)
    points = np.clip((means[:, None] + quantile * root @ points).T, *limits)
    found = np.array([function(point) for point in np.unique(points, axis=0)])
    found = found[np.isfinite(found)]
    if not len(found):
        return np.nan, np.nan
    return float(found.min()), float(found.max())


def ends_over_means(function, gradient, means, covariance, quantile, limits):
    """The same for any number of means, by following the gradient.

    Parameters
    ----------
    function, gradient : callable
        Of an ndarray of shape (n_means,). Two means need no gradient.
    means : ndarray of shape (n_means,)
        Centre of the ellipsoid, within the limits.
    covariance : ndarray of shape (n_means, n_means)
    quantile : float
    limits : tuple of two ndarrays of shape (n_means,)

    Returns
    -------
    low, high : float
        NaN if the function is not defined at the centre, or on the ellipse.
    """
    if len(means) == 2:
        return ends_over_ellipse(function, means, covariance, quantile, limits)
    centre = function(means)
    if not np.isfinite(centre):
        return np.nan, np.nan
    axes = scale, values, vectors = _axes(covariance)
    root = scale[:, None] * vectors * np.sqrt(values)
    # The longest axes are tried first, and then the gradient leads.
    reach = quantile * root[:, -_N_AXES:].T
    reach = np.concatenate([reach, -reach])
    starts = [means, *_moved(means + reach, axes, limits)]
    found = [(function(point), point) for point in starts]
    found = [each for each in found if np.isfinite(each[0])]
    ends = []
    for sign in (-1.0, 1.0):
        best, point = max(found, key=lambda each: sign * each[0])
        for start in (means, point):
            for _ in range(_N_STEPS):
                slope = sign * (root.T @ gradient(start))
                size = np.sqrt(slope @ slope)
                if not size > 0:
                    break
                reach = quantile * (root @ (slope / size))
                start = _moved(means + reach, axes, limits)
                value = function(start)
                if not np.isfinite(value):
                    break
                best = sign * max(sign * best, sign * value)
        ends.append(best)
    return float(ends[0]), float(ends[1])


def _axes(covariance):
    """Scales, and variances and axes of the correlations, the longest axis last."""
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    return scale, np.maximum(values, 0.0), vectors


def into_limits(point, covariance, limits):
    """Move means into their limits along directions in which they have an error.

    Means that are bound to each other, such as the positives of two models, stay so.

    Parameters
    ----------
    point : ndarray of shape (..., n_means)
    covariance : ndarray of shape (n_means, n_means)
    limits : tuple of two ndarrays of shape (n_means,)

    Returns
    -------
    moved : ndarray of shape (..., n_means)
    """
    return _moved(point, _axes(covariance), limits)


def _moved(point, axes, limits):
    """The same, for axes that are known."""
    low, high = limits
    moved = np.minimum(np.maximum(point, low), high)
    if (moved == point).all():
        return moved
    scale, values, vectors = axes
    free = vectors[:, values > 1e-9 * max(values.max(), 1e-300)]
    turn = free @ free.T * scale / scale[:, None]
    for _ in range(_N_MOVES):
        along = point + (moved - point) @ turn
        moved = np.minimum(np.maximum(along, low), high)
        if np.abs(moved - along).max() <= 1e-9:
            break
    return moved


def greater_covariance(first, second):
    """The least covariance that is as great as both of two in each direction.

    Parameters
    ----------
    first, second : ndarray of shape (n, n)

    Returns
    -------
    covariance : ndarray of shape (n, n)
    """
    scale = np.sqrt(np.maximum(np.diag(first) + np.diag(second), 1e-300))
    total = (first + second) / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(total)
    free = values > 1e-12 * max(values.max(), 1e-300)
    root = vectors[:, free] * np.sqrt(values[free])
    back = vectors[:, free] / np.sqrt(values[free])
    # As shares of both together: the greater share of each direction is taken.
    share, turn = np.linalg.eigh(back.T @ (first / np.outer(scale, scale)) @ back)
    half = scale[:, None] * (root @ turn)
    return (half * np.maximum(share, 1.0 - share)) @ half.T


def covariance_of_steps(deviations, scaled_weights):
    """Covariance of weighted means of steps, from the scatter of the steps.

    Parameters
    ----------
    deviations : ndarray of shape (n_means, n_steps)
        Distances of the steps from their means, on one scale.
    scaled_weights : ndarray of shape (n_steps,)
        Weight of each step on that scale.

    Returns
    -------
    covariance : ndarray of shape (n_means, n_means)
    """
    n_steps = deviations.shape[1]
    square = deviations @ deviations.T / max(n_steps - 1, 1)
    return square * np.sum(scaled_weights**2)
