"""Fit a conditional logit: weights of experts that vote for classes."""

import numpy as np
from scipy.special import logsumexp, softmax

_MOST_STEPS = 60
_MOST_HALVINGS = 30
_TOLERANCE = 1e-12


def fit_logit(design, codes, mean, precision, start=None):
    """Most probable weights, by Newton's method with step halving.

    Parameters
    ----------
    design : ndarray of shape (n_rows, n_classes, n_weights)
        What each weight adds to the score of each class.
    codes : ndarray of int of shape (n_rows,)
        Place of the label among the classes.
    mean : ndarray of shape (n_weights,)
        Of the normal prior.
    precision : ndarray of shape (n_weights, n_weights)
    start : ndarray of shape (n_weights,), default=None
        Where the search begins; None means `mean`.

    Returns
    -------
    weights : ndarray of shape (n_weights,)
    covariance : ndarray of shape (n_weights, n_weights)
        Inverse of the second derivative there (Laplace).
    """
    weights = np.array(mean if start is None else start)
    rows = np.arange(len(codes))
    chosen = design[rows, codes]

    def cost(weights):
        scores = design @ weights
        gap = weights - mean
        lost = logsumexp(scores, axis=1) - scores[rows, codes]
        return lost.sum() + 0.5 * gap @ precision @ gap

    value = cost(weights)
    for _ in range(_MOST_STEPS):
        proba = softmax(design @ weights, axis=1)
        expected = np.einsum("nc,ncd->nd", proba, design)
        slope = precision @ (weights - mean) - (chosen - expected).sum(axis=0)
        step = np.linalg.solve(_curvature(design, proba, expected, precision), slope)
        if slope @ step < _TOLERANCE:
            break
        # A full step may overshoot where the scores are far from the labels.
        for halving in range(_MOST_HALVINGS):
            trial = weights - 0.5**halving * step
            trial_value = cost(trial)
            if trial_value <= value - 1e-4 * 0.5**halving * (slope @ step):
                break
        if not trial_value < value:
            break
        weights, value = trial, trial_value
    proba = softmax(design @ weights, axis=1)
    expected = np.einsum("nc,ncd->nd", proba, design)
    return weights, np.linalg.inv(_curvature(design, proba, expected, precision))


def left_out_proba(design, codes, weights, covariance):
    """Probabilities of the classes at each row as if it had not been in the fit.

    One Newton step without the row, from the weights with it.

    Parameters
    ----------
    design : ndarray of shape (n_rows, n_classes, n_weights)
    codes : ndarray of int of shape (n_rows,)
    weights : ndarray of shape (n_weights,)
    covariance : ndarray of shape (n_weights, n_weights)
        What :func:`fit_logit` returned for these rows.

    Returns
    -------
    proba : ndarray of shape (n_rows, n_classes)
    """
    scores = design @ weights
    proba = softmax(scores, axis=1)
    n_classes = proba.shape[1]
    surprise = np.eye(n_classes)[codes] - proba
    spread = np.einsum("ncd,nkd->nck", design @ covariance, design)
    weight = proba[:, :, None] * (np.eye(n_classes) - proba[:, None, :])
    # (H - H_i)^-1, seen from the row: (I - S W)^-1 S.
    moved = np.linalg.solve(
        np.eye(n_classes) - spread @ weight, spread @ surprise[:, :, None]
    )
    return softmax(scores - moved[:, :, 0], axis=1)


def _curvature(design, proba, expected, precision):
    gap = (design - expected[:, None]) * np.sqrt(proba)[:, :, None]
    gap = gap.reshape(-1, design.shape[2])
    return gap.T @ gap + precision


def exchangeable_precision(n_weights, of_sum, of_each):
    """Precision of weights that have a common part and deviate from it.

    Parameters
    ----------
    n_weights : int
    of_sum, of_each : float
        Standard deviation of the sum of the weights, and of the deviation of each.

    Returns
    -------
    precision : ndarray of shape (n_weights, n_weights)
    """
    common = 1.0 / of_sum**2 - 1.0 / (of_each**2 * n_weights)
    return np.eye(n_weights) / of_each**2 + common
