"""Intervals of functions of several means, from a region of possible means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

# The arrays of this file. R regions, each of K means; P points are tried in each.
#
#   means (R, K)          the middle of each region
#   covariance (R, K, K)  of the means
#   quantile (R,)         how many standard errors a region reaches
#   limits                the least and the greatest possible means, (R, K) each
#   points (R, P, K)      means at which the function is tried

# A region of this many standard errors is everything; only what is proved stays.
MOST_QUANTILE = 1e9
_ANGLES = np.linspace(0.0, 2.0 * np.pi, 72, endpoint=False)
_RADII = (0.2, 0.4, 0.6, 0.8, 1.0)
# Axes, steps of a search, and moves into limits, for more than two means.
_N_AXES = 3
_N_STEPS = 5
_N_MOVES = 20


def ends_over_means(
    function: Callable,
    gradient,
    means: np.ndarray,
    covariance: np.ndarray,
    quantile: float,
    limits: tuple[np.ndarray, np.ndarray],
) -> tuple[float, float]:
    """Least and greatest value of a function over an ellipsoid of means.

    For a ratio of two means this is Fieller's interval. It stays within the range of
    the function, and is finite where no label has shown a positive.
    """
    low, high = ends_over_regions(
        _of_many(function),
        _of_many(gradient),
        means[None],
        covariance[None],
        np.array([quantile]),
        tuple(side[None] for side in limits),
    )
    return float(low[0]), float(high[0])


def _of_many(function):
    """A function of one point as a function of many, which may be alike."""

    def each(points):
        flat = points.reshape(-1, points.shape[-1])
        back = np.zeros(1, dtype=int)
        if len(flat) > 1:
            flat, back = np.unique(flat, axis=0, return_inverse=True)
        found = np.array([function(point) for point in flat])[back.ravel()]
        return found.reshape(*points.shape[:-1], *found.shape[1:])

    return each


def ends_over_regions(
    function: Callable,
    gradient,
    means,
    covariance: np.ndarray,
    quantile: np.ndarray,
    limits,
) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest value of a function over many ellipsoids of means."""
    if means.shape[1] == 2:
        return _over_ellipses(function, means, covariance, quantile, limits)
    centre = means[:, None]
    is_defined = np.isfinite(function(centre)[:, 0])
    axes = scale, values, vectors = _axes(covariance)
    root = scale[:, :, None] * vectors * np.sqrt(values)[:, None]
    # The longest axes are tried first, and then the gradient leads.
    reach = quantile[:, None, None] * root[:, :, -_N_AXES:].transpose(0, 2, 1)
    reach = np.concatenate([reach, -reach], axis=1)
    tried = np.concatenate([centre, _moved(centre + reach, axes, limits)], axis=1)
    found = function(tried)
    ends = []
    for sign in (-1.0, 1.0):
        heights = np.where(np.isfinite(found), sign * found, -np.inf)
        first = heights.argmax(axis=1)[:, None]
        best = np.take_along_axis(heights, first, axis=1)[:, 0]
        for start in (centre, np.take_along_axis(tried, first[:, :, None], axis=1)):
            goes_on = is_defined.copy()
            for _ in range(_N_STEPS):
                slope = sign * (gradient(start) @ root)
                size = np.sqrt((slope**2).sum(axis=2, keepdims=True))
                goes_on &= size[:, 0, 0] > 0
                if not goes_on.any():
                    break
                slope = slope / np.where(size > 0, size, 1.0)
                step = quantile[:, None, None] * (slope @ root.transpose(0, 2, 1))
                # Where the search has ended it stays at a point that is defined.
                step = np.where(goes_on[:, None, None], step, 0.0)
                start = _moved(centre + step, axes, limits)
                height = sign * function(start)[:, 0]
                goes_on &= np.isfinite(height)
                best = np.where(goes_on, np.fmax(best, height), best)
        ends.append(np.where(is_defined, sign * best, np.nan))
    return ends[0], ends[1]


def _over_ellipses(function, means, covariance, quantile, limits):
    """Ends over ellipses of two means, which need no gradient."""
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None]
    circle = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)])
    points = np.concatenate([r * circle for r in (0.0, *_RADII)], axis=1)
    points = means[:, :, None] + quantile[:, None, None] * (root @ points)
    points = np.clip(points.transpose(0, 2, 1), *(side[:, None] for side in limits))
    found = function(points)
    found = np.where(np.isfinite(found), found, np.nan)
    nowhere = np.isnan(found).all(axis=1)
    found[nowhere] = 0.0
    ends = np.nanmin(found, axis=1), np.nanmax(found, axis=1)
    return tuple(np.where(nowhere, np.nan, end) for end in ends)


def _axes(covariance):
    """Scales, and variances and axes of the correlations, the longest axis last."""
    scale = np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 1e-300))
    outer = scale[..., :, None] * scale[..., None, :]
    values, vectors = np.linalg.eigh(covariance / outer)
    return scale, np.maximum(values, 0.0), vectors


def into_limits(
    points: np.ndarray, covariance: np.ndarray, limits: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Move means into their limits along directions in which they have an error.

    Means that are bound to each other, such as the positives of two models, stay so.
    """
    return _moved(points, _axes(covariance), limits)


def _moved(points, axes, limits):
    """Move means into their limits along the axes in which they have an error."""
    # A point may move along its free axes, those with a variance, and must end in the
    # box of its limits. It is projected on the one and on the other in turn until both
    # agree, or _N_MOVES times: alternating projection. Clipping projects on the box.
    # Lengths count in standard errors: with points as rows `turn` is S⁻¹ P S, where
    # S = diag(scale) and P projects on the free axes of the correlations.
    low, high = (side[:, None] for side in limits)
    moved = np.clip(points, low, high)
    left = np.flatnonzero((moved != points).any(axis=(1, 2)))
    if not len(left):
        return moved
    scale, values, vectors = (each[left] for each in axes)
    is_free = values > 1e-9 * np.maximum(values[:, -1:], 1e-300)
    free = vectors * is_free[:, None]
    turn = free @ free.transpose(0, 2, 1) * scale[:, None] / scale[:, :, None]
    for _ in range(_N_MOVES):
        start, least, most = points[left], low[left], high[left]
        along = start + (moved[left] - start) @ turn
        moved[left] = np.clip(along, least, most)
        is_near = np.abs(moved[left] - along).max(axis=(1, 2)) <= 1e-9
        left, turn = left[~is_near], turn[~is_near]
        if not len(left):
            break
    return moved


def greater_covariance(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """A covariance that is as great as each of two in each direction."""
    # Both are diagonal in one basis: with A + B = R Rᵀ, the matrix R⁻¹ A R⁻ᵀ has
    # eigenvalues s, the shares of A in the sum, and those of B are 1 - s. So
    # max(s, 1 - s) in this basis is as great as both, and equal to the greater one in
    # each of its directions. Before that the sum is scaled to a diagonal of ones.
    # Directions in which the sum has no variance are left out.
    diagonal = np.diagonal(first + second, axis1=-2, axis2=-1)
    scale = np.sqrt(np.maximum(diagonal, 1e-300))[..., None]
    outer = scale * scale.swapaxes(-1, -2)
    values, vectors = np.linalg.eigh((first + second) / outer)
    is_free = values > 1e-12 * np.maximum(values[..., -1:], 1e-300)
    size = np.sqrt(np.where(is_free, values, 1.0))[..., None, :]
    vectors = vectors * is_free[..., None, :]
    root, back = vectors * size, vectors / size
    # As shares of both together: the greater share of each direction is taken.
    share, turn = np.linalg.eigh(back.swapaxes(-1, -2) @ (first / outer) @ back)
    half = scale * (root @ turn)
    greater = np.maximum(share, 1.0 - share)[..., None, :]
    return (half * greater) @ half.swapaxes(-1, -2)
