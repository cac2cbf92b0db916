"""Intervals of functions of several means, from a region of possible means."""

import numpy as np

_ANGLES = np.linspace(0.0, 2.0 * np.pi, 72, endpoint=False)
_RADII = (0.2, 0.4, 0.6, 0.8, 1.0)


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
