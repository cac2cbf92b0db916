"""Fit a conditional logit: weights of experts that vote for classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp, softmax

from sklearn_ase._data._predictions import align_columns, cross_fitted
from sklearn_ase._data._rows import take_rows
from sklearn_ase._utils._estimators import fit_seeded
from sklearn_ase.surrogate._members import out_of_bag, predict_members

if TYPE_CHECKING:
    from typing import Any

    from sklearn_ase._utils._typing import Rows

_MOST_STEPS = 60
_MOST_HALVINGS = 30
_TOLERANCE = 1e-12


def fit_logit(
    design: np.ndarray,
    codes: np.ndarray,
    mean: np.ndarray,
    precision: np.ndarray,
    start: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Most probable weights, by Newton's method with step halving."""
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


def left_out_proba(
    design: np.ndarray, codes: np.ndarray, weights: np.ndarray, covariance: np.ndarray
) -> np.ndarray:
    """Probabilities of the classes at each row as if it had not been in the fit.

    One Newton step without the row, from the weights with it.
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


def exchangeable_precision(n_weights: int, of_sum: float, of_each: float) -> np.ndarray:
    """Precision of weights that have a common part and deviate from it."""
    common = 1.0 / of_sum**2 - 1.0 / (of_each**2 * n_weights)
    return np.eye(n_weights) / of_each**2 + common


# Fit an estimator on features, and predict each of its rows as if it were held out.


_FOLDS = 5


def fit_held_out(
    estimator, X: Rows, y: np.ndarray, classes: np.ndarray | None, seed: int
) -> tuple[Any, np.ndarray | None]:
    """Fit an estimator, and predict its rows by members or copies without them."""
    model = fit_seeded(estimator, seed, X, y)
    found = out_of_bag(model, X)
    if found is not None:
        values = _aligned(found[0], model, classes)
    else:

        def fit(chosen, seed):
            return fit_seeded(estimator, seed, take_rows(X, chosen), y[chosen])

        def predict(model, rows):
            return (mean_prediction(model, rows, classes),)

        found = cross_fitted(fit, predict, X, y, _FOLDS, seed, classes is not None)
        if found is None:
            return None, None
        values = found[0]
    # A row that every member has learned from is predicted as an average row.
    missing = ~np.isfinite(values.reshape(len(values), -1)).all(axis=1)
    values[missing] = values[~missing].mean(axis=0)
    return model, values


def mean_prediction(model, X: Rows, classes: np.ndarray | None) -> np.ndarray:
    """Mean of the members."""
    return _aligned(predict_members(model, X).mean(axis=0), model, classes)


def _aligned(values, model, classes):
    if classes is not None:
        values = align_columns(values, model.classes_, classes)
    return np.array(values, dtype=float)
