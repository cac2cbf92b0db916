"""Which of several models is best: formulas on vectors with one entry per model.

The method is in docs/guide/best_model.md. Greater is better everywhere here.
"""

import numpy as np
from scipy import stats

from sklearn_ase._inference import _kernels
from sklearn_ase._inference._intervals import anytime_quantile

# Share of errors that the counting rule allows a model, and its weight of a label.
ERROR_SHARE = 0.35
LABEL_WEIGHT = float(np.log((1.0 - ERROR_SHARE) / ERROR_SHARE))
N_DRAWS = 400
_N_CRITICAL = 1000
# Fewer labels exclude no model.
_LEAST_LABELS = 5
# Number of labels that the believed variance is worth.
_BELIEVED_LABELS = 10.0


def symmetric_root(covariance):
    """Symmetric square root, which follows the models when they are reordered."""
    square, basis = np.linalg.eigh(0.5 * (covariance + covariance.T))
    return (basis * np.sqrt(np.maximum(square, 0.0))) @ basis.T


def proba_of_best(gains, covariance, seed):
    """Probability of each model to be the best, from draws of a normal distribution.

    Parameters
    ----------
    gains : ndarray of shape (n_models,)
    covariance : ndarray of shape (n_models, n_models)
    seed : int or sequence of int

    Returns
    -------
    proba : ndarray of shape (n_models,)
        Models that are alike share theirs.
    """
    # Draws belong to ranks, so that the order of the models does not matter.
    order = np.argsort(gains, kind="stable")
    noise = np.random.default_rng(seed).normal(size=(N_DRAWS, len(gains)))
    root = symmetric_root(covariance[np.ix_(order, order)])
    drawn = gains[order] + noise @ root
    # Roots of rounding errors are greater than these.
    slack = 1e-6 * np.sqrt(np.abs(covariance).max()) + 1e-12 * np.abs(gains).max()
    is_best = drawn >= drawn.max(axis=1, keepdims=True) - slack
    proba = np.empty(len(gains))
    proba[order] = (is_best / is_best.sum(axis=1, keepdims=True)).mean(axis=0)
    return proba


def seen_covariance(steps, n_samples):
    """Covariance of the weighted means of steps, from their scatter.

    Parameters
    ----------
    steps : ndarray of shape (n_picks, n_models)
    n_samples : int

    Returns
    -------
    covariance : ndarray of shape (n_models, n_models)
    """
    n_steps = len(steps)
    if n_steps < 2 or n_steps == n_samples:
        return np.zeros((steps.shape[1], steps.shape[1]))
    weights = _kernels.step_weights(n_steps, n_samples)
    scale = 1.0 - np.arange(n_steps) / n_samples
    gap = (steps - weights @ steps) / scale[:, None]
    return gap.T @ gap / (n_steps - 1) * np.sum((weights * scale) ** 2)


def blended(seen, believed, n_labels):
    """Mean of two covariances; what is believed counts as ten labels."""
    share = (n_labels - 1) / (_BELIEVED_LABELS + n_labels - 1)
    return share * seen + (1.0 - share) * believed


def of_differences(covariance):
    """Variance of the difference of each two, of shape (n_models, n_models)."""
    own = np.diag(covariance)
    return np.maximum(own[:, None] + own - 2.0 * covariance, 0.0)


def is_excluded(corrected, deviation, n_labels, level=0.9):
    """Whether the labels exclude a model: another is better beyond doubt.

    Parameters
    ----------
    corrected : ndarray of shape (n_models,)
    deviation : ndarray of shape (n_models, n_models)
        Standard error of each difference.
    n_labels : int
    level : float, default=0.9

    Returns
    -------
    excluded : ndarray of shape (n_models,), dtype bool
    """
    n_models = len(corrected)
    if n_labels < _LEAST_LABELS or n_models < 2:
        return np.zeros(n_models, dtype=bool)
    least = stats.t.ppf(1.0 - (1.0 - level) / (n_models - 1), n_labels - 1)
    gap = corrected[:, None] - corrected
    return ((gap > least * deviation) & (gap > 0)).any(axis=0)


def regret_bounds(corrected, covariance, n_apart, n_labels, seed, level=0.9):
    """Simultaneous bounds of how much better the best model is: Hsu's comparisons.

    Parameters
    ----------
    corrected : ndarray of shape (n_models,)
    covariance : ndarray of shape (n_models, n_models)
    n_apart : ndarray of shape (n_models, n_models)
        Number of labelled rows on which two models predict differently, as if all
        weighed the same.
    n_labels : int
    seed : int or sequence of int
    level : float, default=0.9

    Returns
    -------
    low, high : ndarray of shape (n_models, n_models)
        How much better each (first axis) is at least, and at most, than each other
        (second axis). A model is out if another is better for certain.
    """
    n_models = len(corrected)
    gap = corrected[:, None] - corrected
    if n_models < 2 or n_labels < 2:
        unknown = np.where(np.eye(n_models, dtype=bool), 0.0, np.inf)
        return -unknown, unknown
    order = np.argsort(corrected, kind="stable")
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(_N_CRITICAL, n_models))
    noise /= np.sqrt(rng.chisquare(n_labels - 1, (_N_CRITICAL, 1)) / (n_labels - 1))
    drawn = np.empty((_N_CRITICAL, n_models))
    drawn[:, order] = noise @ symmetric_root(covariance[np.ix_(order, order)])
    deviation = np.sqrt(of_differences(covariance))
    # Models without a difference have one of rounding.
    deviation[deviation < 1e-7 * np.sqrt(np.diag(covariance).max())] = 0.0
    critical = np.zeros(n_models)
    for model in range(n_models):
        apart = deviation[:, model] > 0
        if apart.any():
            found = (drawn[:, apart] - drawn[:, [model]]) / deviation[apart, model]
            critical[model] = np.quantile(found.max(axis=1), level)
    tail = 0.5 * (1.0 + level)
    factor = _t(tail, n_apart - 1.0) / stats.t.ppf(tail, n_labels - 1)
    with np.errstate(invalid="ignore"):
        half = critical * factor * deviation
    # Two that have never differed on a label are not known to differ at all.
    half[np.isnan(half)] = np.inf
    np.fill_diagonal(half, 0.0)
    return gap - half, gap + half


def _t(proba, degrees):
    """Quantile of t; infinite without degrees of freedom."""
    safe = np.where(degrees >= 1, degrees, 1.0)
    return np.where(degrees >= 1, stats.t.ppf(proba, safe), np.inf)


def anytime_bounds(corrected, deviation, n_apart, n_labels, level=0.9):
    """The same bounds for someone who looks after every label.

    The best model and each other one are compared at a level that all of these
    comparisons together hold (Bonferroni).

    Parameters
    ----------
    corrected : ndarray of shape (n_models,)
    deviation : ndarray of shape (n_models, n_models)
        Standard error of each difference.
    n_apart, n_labels, level
        See :func:`regret_bounds`.

    Returns
    -------
    low, high : ndarray of shape (n_models, n_models)
    """
    gap = corrected[:, None] - corrected
    with np.errstate(invalid="ignore"):
        half = each_quantile(n_apart, n_labels, level, is_fixed=False) * deviation
    # So few labels say nothing, even if they do not scatter.
    half[np.isnan(half)] = np.inf
    np.fill_diagonal(half, 0.0)
    return gap - half, gap + half


def each_quantile(n_apart, n_labels, level, is_fixed):
    """Half the width of the interval of each difference, in standard errors.

    All comparisons with the best model hold together (Bonferroni).

    Parameters
    ----------
    n_apart, n_labels, level
        See :func:`regret_bounds`.
    is_fixed : bool
        For one look; else for looks after every label.

    Returns
    -------
    quantile : ndarray of shape (n_models, n_models)
        Infinite where too few labels tell anything.
    """
    each = 1.0 - (1.0 - level) / max(len(n_apart) - 1, 1)
    found = np.full(n_apart.shape, np.inf)
    known = n_apart > 1
    if is_fixed:
        found[known] = stats.t.ppf(each, np.maximum(n_apart[known] - 1.0, 1.0))
    else:
        quantile = np.vectorize(anytime_quantile, otypes=[float])
        found[known] = quantile(each, n_apart[known] - 1.0, n_labels)
    return found


def information_gain(log_weights, ratings, proba=None):
    """How much a label is expected to tell about which model is the best.

    Models have weights that fall with what they have wrong. The gain is the expected
    fall of the entropy of these weights.

    Parameters
    ----------
    log_weights : ndarray of shape (n_models,)
    ratings : ndarray of shape (n_rows, n_classes, n_models)
        How well each model does at each row, for each label; from 0 to 1.
    proba : ndarray of shape (n_rows, n_classes), default=None
        Of the labels. None means equal.

    Returns
    -------
    gain : ndarray of shape (n_rows,)
    """
    logits = log_weights + LABEL_WEIGHT * ratings
    logits -= logits.max(axis=2, keepdims=True)
    weights = np.exp(logits)
    total = weights.sum(axis=2)
    entropy = np.log(total) - (weights * logits).sum(axis=2) / total
    start = log_weights - log_weights.max()
    sizes = np.exp(start)
    before = np.log(sizes.sum()) - sizes @ start / sizes.sum()
    after = entropy.mean(axis=1) if proba is None else (proba * entropy).sum(axis=1)
    return before - after


def gain_of_votes(log_weights, codes, n_classes):
    """The same where a model does well, 1, or not, 0, as it votes.

    Parameters
    ----------
    log_weights : ndarray of shape (n_models,)
    codes : ndarray of int of shape (n_rows, n_models)
        Class that each model votes for.
    n_classes : int

    Returns
    -------
    gain : ndarray of shape (n_rows,)
    """
    start = log_weights - log_weights.max()
    omega = np.exp(start)
    omega /= omega.sum()
    log_omega = np.log(np.maximum(omega, 1e-300))
    places = (np.arange(len(codes))[:, None] * n_classes + codes).ravel()
    size = len(codes) * n_classes

    def sums(values):
        values = np.broadcast_to(values, codes.shape).ravel()
        return np.bincount(places, values, size).reshape(-1, n_classes)

    right, lean = sums(omega), sums(omega * log_omega)
    before = -omega @ log_omega
    hit, miss = 1.0 - ERROR_SHARE, ERROR_SHARE
    total = hit * right + miss * (1.0 - right)
    inner = hit * lean + miss * (-before - lean)
    inner += hit * np.log(hit) * right + miss * np.log(miss) * (1.0 - right)
    return before - (np.log(total) - inner / total).mean(axis=1)
