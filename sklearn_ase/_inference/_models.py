"""Several models at once: unbiased means, and how probably each is the best."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from sklearn_ase._inference import _steps as _kernels
from sklearn_ase._inference._bounds import MIN_TO_EXCLUDE, anytime_quantile
from sklearn_ase._inference._steps import over_answerable
from sklearn_ase.metrics._row_values import ClassValues, TableValues, combine

if TYPE_CHECKING:
    from collections.abc import Sequence

# The arrays of this file. N rows, M picks, K models, C columns: values at each row, one
# or more for each model, of whose means its metric is a function.
#
#   keys (N, K)        models with equal keys at a row predict the same there
#   observed (L, C)    what the labels make of each column
#   steps (M, K)       one-step estimates of how good each model is
#   gains (K,)         how good each model is; greater is better
#   gradient (C,)      derivative of the gain of a model by the means of its columns
#   seen (K, K)        covariance of the errors of the gains, from the scatter of steps
#   n_apart (K, K)     labels that tell about each difference, as if all weighed alike


# Where models predict the same.


@dataclass(frozen=True, eq=False)
class SamePredictions:
    """Which models predict the same at which rows.

    Attributes
    ----------
    keys : ndarray of int of shape (n_samples, n_models)
        Two models with equal keys at a row predict the same there.
    weight : ndarray of shape (n_samples,) or None
        How much each row counts, with mean 1; None if all count the same. A row that
        has weight 0 does not tell models apart.
    """

    keys: np.ndarray
    weight: np.ndarray | None = None

    @classmethod
    def of(cls, responses, weight=None):
        """Find out which of the predictions are the same."""
        if responses[0].ndim == 2:
            # Rows of probabilities are told apart by one number each.
            mixture = np.random.default_rng(0).normal(size=responses[0].shape[1])
            responses = [each @ mixture for each in responses]
        table = np.stack(responses, axis=1)
        keys = np.unique(table, return_inverse=True)[1].reshape(table.shape)
        return cls(keys, weight)

    @cached_property
    def apart(self):
        """Rows on which not all models predict the same, (n_samples,)."""
        found = (self.keys != self.keys[:, :1]).any(axis=1)
        return found if self.weight is None else found & (self.weight > 0)

    @cached_property
    def _size_apart(self):
        """Weight of all rows on which each two models differ, (n_models, n_models)."""
        rows = np.flatnonzero(self.apart)
        keys, weight = self.keys[rows], self._weight_of(rows)
        return np.array([weight @ (keys != column[:, None]) for column in keys.T])

    def are_alike(self, first, second):
        """Whether two models predict the same at all rows that count."""
        return not (self.keys[self.apart, first] != self.keys[self.apart, second]).any()

    def size(self, rows):
        """Weight of some rows together."""
        return float(self._weight_of(rows).sum())

    def open_apart(self, rows: np.ndarray) -> np.ndarray:
        """Weight of the rows beside the given ones on which each two models differ."""
        labelled = np.tensordot(self._weight_of(rows), self._differ(rows), axes=1)
        return np.maximum(self._size_apart - labelled, 0.0)

    def effective_apart(self, rows: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Number of rows on which each two models differ, as if of equal weight."""
        weight, apart = weight * self._weight_of(rows), self._differ(rows)
        total = np.tensordot(weight, apart, axes=1)
        square = np.tensordot(weight**2, apart, axes=1)
        return np.divide(total**2, square, out=np.zeros_like(total), where=square > 0)

    def _differ(self, rows):
        keys = self.keys[rows]
        return (keys[:, :, None] != keys[:, None, :]).astype(float)

    def _weight_of(self, rows):
        return np.ones(len(rows)) if self.weight is None else self.weight[rows]


# Values whose means decide how good each model is.


# Nodes for labels that are numbers, in standard deviations, and their weights. They are
# exact for squares of squared errors.
_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
_NODE_WEIGHTS = _NODE_WEIGHTS / _NODE_WEIGHTS.sum()


class Columns:
    """Values at each row whose means decide how good each model is.

    A model has one column for each mean that its metric depends on.

    Parameters
    ----------
    metrics : list of PoolMetric
        One for each model.
    classes : ndarray of shape (n_classes,) or None
        None for regression.
    sign : {1.0, -1.0}
        1 if a greater metric is better.

    Attributes
    ----------
    targets : ndarray of int of shape (n_samples, n_models) or None
        If each model has one column, which is the weight of the row where the label is
        the target and 0 elsewhere, and the metric is its mean: the targets.
    """

    def __init__(self, metrics, classes, sign):
        self.metrics = metrics
        self.classes = classes
        self.sign = sign
        self.parts = [part for metric in metrics for part in metric.parts]
        sizes = [len(metric.parts) for metric in metrics]
        self.ends = np.cumsum([0, *sizes])
        self.n_samples = self.parts[0].n_samples
        self._gather = None
        if all(isinstance(part, ClassValues) for part in self.parts):
            targets = np.stack([part.target for part in self.parts], axis=1)
            self._gather = (
                targets,
                np.stack([part.weight for part in self.parts], axis=1),
            )
        self.targets = self._simple_targets()

    @property
    def n_models(self):
        """Number of models."""
        return len(self.metrics)

    def _simple_targets(self):
        if self._gather is None or len(self.parts) != self.n_models or self.sign < 0:
            return None
        points = np.array([0.0, 0.25, 1.0])
        values = [
            [metric.value(point[None]) for point in points] for metric in self.metrics
        ]
        is_mean = np.array_equal(values, np.tile(points, (self.n_models, 1)))
        targets, weight = self._gather
        is_common = (weight == weight[:, :1]).all() and (weight >= 0).all()
        return targets if is_mean and is_common else None

    @cached_property
    def are_linear(self):
        """Whether all metrics are linear functions of their means."""
        return all(metric.is_linear for metric in self.metrics)

    def each(self):
        """A copy in which each column is a model of its own, with one mean."""
        found = copy(self)
        found.metrics, found.ends = self.parts, np.arange(len(self.parts) + 1)
        return found

    def limits(self, state, observed, weight=None):
        """Least and greatest mean of each column that the labels leave possible."""
        ends = []
        for part, seen in zip(self.parts, observed.T, strict=True):
            sides = [np.array(side, dtype=float) for side in part.limits()]
            if state.settled.n_skipped:  # Only what holds for every row is proved.
                counts = np.ones(self.n_samples) if weight is None else weight
                here = counts > 0
                low, high = (side[here] / counts[here] for side in sides)
                ends.append((low.min(), high.max()))
                continue
            for side in sides:
                side[state.indices] = seen
            ends.append([side.mean() for side in sides])
        return tuple(np.array(ends).T)

    def expected(self, belief):
        """Expected value of each column at each row, (n_samples, n_columns)."""
        if self._gather is not None:
            targets, weight = self._gather
            proba = [belief.proba_of(target) for target in targets.T]
            return weight * np.stack(proba, axis=1)
        found = [part.moments(belief)[0] for part in self.parts]
        return np.stack(found, axis=1)

    def observed(
        self,
        indices: np.ndarray,
        labels: np.ndarray,
        more_labels: dict[int, list] | None = None,
    ):
        """Values at labelled rows, the mean over several answers."""
        if not len(indices):
            return np.empty((0, len(self.parts)))
        found = self._at(indices, labels)
        for row, more in (more_labels or {}).items():
            places = np.flatnonzero(indices == row)
            if more and len(places):
                others = self._at(np.full(len(more), row), np.array(more))
                total = found[places[0]] + others.sum(axis=0)
                found[places[0]] = total / (len(more) + 1)
        return found

    def _at(self, indices, labels):
        if self._gather is not None:
            targets, weight = (part[indices] for part in self._gather)
            codes = np.searchsorted(self.classes, labels)
            return weight * (targets == codes[:, None])
        found = [part.observed(indices, labels) for part in self.parts]
        return np.stack(found, axis=1).astype(float)

    def gains(self, means):
        """How good each model is, greater is better, given the means of all columns.

        A metric that is not defined counts as the least.
        """
        found = np.array([m.value(own) for m, own in self._split(means)]) * self.sign
        known = np.isfinite(found)
        found[~known] = found[known].min() if known.any() else 0.0
        return found

    def gradient(self, means):
        """Derivative of each model's gain by its own columns, (n_columns,)."""
        found = [m.gradient(own) for m, own in self._split(means)]
        return np.nan_to_num(self.sign * np.concatenate(found), posinf=0.0, neginf=0.0)

    def _split(self, means):
        for place, metric in enumerate(self.metrics):
            yield metric, means[self.ends[place] : self.ends[place + 1]]

    def per_model(self, values, gradient):
        """Values of the columns, combined to one for each model, (..., n_models)."""
        return np.add.reduceat(values * gradient, self.ends[:-1], axis=-1)

    def influence(self, model, gradient):
        """What a label of each row adds to the gain of a model, as RowValues."""
        here = slice(self.ends[model], self.ends[model + 1])
        return combine(self.parts[here], gradient[here])

    def tables(
        self, rows, belief, gradient: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What each label of some rows would add to the gain of each model."""
        if self.classes is None:
            return self._tables_at_nodes(rows, belief, gradient)
        proba = belief.proba_at(rows)
        values = np.zeros((len(rows), len(self.classes), self.n_models))
        places = np.arange(len(rows))
        for model in range(self.n_models):
            for column in range(self.ends[model], self.ends[model + 1]):
                part, factor = self.parts[column], gradient[column]
                if isinstance(part, ClassValues):
                    target = part.target[rows]
                    values[places, target, model] += factor * part.weight[rows]
                elif isinstance(part, TableValues):
                    values[:, :, model] += factor * part.values[rows]
                else:
                    for code, label in enumerate(self.classes):
                        labels = np.full(len(rows), label)
                        found = part.observed(rows, labels)
                        values[:, code, model] += factor * found
        return values, proba, proba

    def _tables_at_nodes(self, rows, belief, gradient):
        deviation = np.sqrt(belief.variance[rows])
        labels = belief.mean[rows][:, None] + deviation[:, None] * _NODES
        repeated = np.repeat(rows, len(_NODES))
        found = self._at(repeated, labels.ravel())
        shape = len(rows), len(_NODES), self.n_models
        values = self.per_model(found, gradient).reshape(shape)
        proba = np.broadcast_to(_NODE_WEIGHTS, shape[:2])
        # Stein: the mean of f moves with that of the label as E[f z] / deviation.
        return values, proba, proba * _NODES / deviation[:, None]


# Which model is the best, and how sure that is.


# Share of errors that the counting rule allows a model, and its weight of a label.
ERROR_SHARE = 0.35
LABEL_WEIGHT = float(np.log((1.0 - ERROR_SHARE) / ERROR_SHARE))
N_DRAWS = 400
_N_CRITICAL = 1000


def symmetric_root(covariance):
    """Symmetric square root, which follows the models when they are reordered."""
    square, basis = np.linalg.eigh(0.5 * (covariance + covariance.T))
    return (basis * np.sqrt(np.maximum(square, 0.0))) @ basis.T


def proba_of_best(
    gains: np.ndarray, covariance: np.ndarray, seed: int | Sequence[int]
) -> np.ndarray:
    """Probability of each model to be the best, from draws of a normal distribution."""
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


def seen_covariance(steps: np.ndarray, n_samples: int) -> np.ndarray:
    """Covariance of the weighted means of steps, from their scatter."""
    n_steps = len(steps)
    if n_steps < 2 or n_steps == n_samples:
        return np.zeros((steps.shape[1], steps.shape[1]))
    weights = _kernels.step_weights(n_steps, n_samples)
    scale = 1.0 - np.arange(n_steps) / n_samples
    gap = (steps - weights @ steps) / scale[:, None]
    return gap.T @ gap / (n_steps - 1) * np.sum((weights * scale) ** 2)


def of_differences(covariance):
    """Variance of the difference of each two, of shape (n_models, n_models)."""
    own = np.diag(covariance)
    return np.maximum(own[:, None] + own - 2.0 * covariance, 0.0)


def is_excluded(
    corrected: np.ndarray, deviation: np.ndarray, n_labels: int, level: float = 0.9
) -> np.ndarray:
    """Whether the labels exclude a model: another is better beyond doubt."""
    n_models = len(corrected)
    if n_labels < MIN_TO_EXCLUDE or n_models < 2:
        return np.zeros(n_models, dtype=bool)
    least = stats.t.ppf(1.0 - (1.0 - level) / (n_models - 1), n_labels - 1)
    gap = corrected[:, None] - corrected
    return ((gap > least * deviation) & (gap > 0)).any(axis=0)


def regret_bounds(
    corrected: np.ndarray,
    covariance: np.ndarray,
    n_apart: np.ndarray,
    n_labels: int,
    seed: int | Sequence[int],
    level: float = 0.9,
) -> tuple[np.ndarray, np.ndarray]:
    """Simultaneous bounds of how much better the best model is: Hsu's comparisons."""
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
    # `critical` has a t distribution with n_labels - 1 degrees of freedom, the same for
    # all pairs. But a pair is seen to differ at its n_apart labels only. So its half
    # width grows as a quantile of t does from the first degrees to n_apart - 1.
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


def anytime_bounds(
    corrected: np.ndarray, deviation: np.ndarray, n_apart, n_labels, level=0.9
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of how much better each model is, valid at all label counts at once.

    The best model and each other one are compared at a level that all of these
    comparisons together hold (Bonferroni).
    """
    gap = corrected[:, None] - corrected
    with np.errstate(invalid="ignore"):
        half = each_quantile(n_apart, n_labels, level, is_fixed=False) * deviation
    # So few labels say nothing, even if they do not scatter.
    half[np.isnan(half)] = np.inf
    np.fill_diagonal(half, 0.0)
    return gap - half, gap + half


def each_quantile(n_apart, n_labels, level, is_fixed: bool) -> np.ndarray:
    """Half the width of the interval of each difference, in standard errors.

    All comparisons with the best model hold together (Bonferroni).
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


def information_gain(
    log_weights: np.ndarray, ratings: np.ndarray, proba: np.ndarray | None = None
) -> np.ndarray:
    """How much a label is expected to tell about which model is the best.

    Models have weights that fall with what they have wrong. The gain is the expected
    fall of the entropy of these weights.
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


def gain_of_votes(
    log_weights: np.ndarray, codes: np.ndarray, n_classes: int
) -> np.ndarray:
    """Information gain of labels if a model is right, 1, or wrong, 0, by its vote."""
    # If the label is c, a model that votes c keeps the share `hit` of its weight ω, any
    # other the share `miss`. Let R be the sum of ω over the voters of c, L that of
    # ω log ω, and T the sum of the new weights w. Their entropy after division by T is
    #     log T - (Σ w log w) / T,    T = hit R + miss (1 - R),
    #     Σ w log w = hit (L + R log hit) + miss (L_all - L + (1 - R) log miss),
    # so R and L of each class suffice (`right`, `lean`), and no table of rows, labels
    # and models is made. The gain is the entropy of ω minus the mean over all classes.
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


# Unbiased means of all models.


# Numbers of a table of rows, labels and models that are looked at for a covariance.
_MOST_NUMBERS = 2_000_000
_MOST_ROWS = 2000


class Corrected:
    """Unbiased means of all models from labels picked with known probabilities.

    Parameters
    ----------
    columns : Columns
    state : PoolState
    epochs : list of Epoch
        With the classes of the columns.
    observed : ndarray of shape (n_labels, n_columns)
    cache : dict
        Keeps what was computed for epochs that are over.
    weight : ndarray of shape (n_samples,), default=None
        How much each row counts in the columns, with mean 1.
    """

    def __init__(self, columns, state, epochs, observed, cache, weight=None):
        self.columns = columns
        self.state = state
        self.epochs = [epoch for epoch in epochs if epoch.start < len(state.picks)]
        self._cache = cache
        picks = state.settled
        self.n_picks = len(picks)
        losses = np.zeros((self.n_picks, observed.shape[1]))
        losses[picks.answered] = observed[: picks.n_labels]
        expected, free = self._expected(len(losses), observed.shape[1])
        before = np.cumsum(losses, axis=0) - losses
        surprise = (losses - expected) / picks.query_proba[:, None]
        steps = (before + free + surprise) / state.n_samples
        if picks.n_skipped:
            found = [over_answerable(each, state, weight) for each in steps.T]
            steps = np.stack(found, axis=1)
        self.column_steps = steps
        weights = _kernels.step_weights(self.n_picks, state.n_samples)
        self.plain_means = weights @ steps
        self.means = self.plain_means
        if not columns.are_linear:  # The cut would bias plain means.
            self.limits = columns.limits(state, observed, weight)
            self.means = np.clip(self.plain_means, *self.limits)
        self.gains = columns.gains(self.means)
        self.steps = columns.per_model(steps, columns.gradient(self.means))
        self.seen = seen_covariance(self.steps, state.n_samples)

    def _expected(self, n_picks, n_columns):
        """What was expected of each pick, and of all rows that were free."""
        expected = np.zeros((n_picks, n_columns))
        free = np.zeros((n_picks, n_columns))
        for epoch, end in self.spans():
            # Picks of an epoch that is not over have a longer span later.
            key = "expected", self.columns, epoch.belief, epoch.start, end
            found = self._cache.get(key)
            if found is None:
                found = self._cache[key] = self._expected_of(epoch, end)
            here = slice(epoch.start, min(end, n_picks))
            size = max(here.stop - here.start, 0)
            expected[here], free[here] = found[0][:size], found[1][:size]
        return expected, free

    def spans(self):
        """Each epoch, and the pick that it ends before."""
        ends = [epoch.start for epoch in self.epochs[1:]] + [len(self.state.picks)]
        return list(zip(self.epochs, ends, strict=True))

    def kept(self, key, make, *known):
        """What was computed for an epoch, which is kept."""
        key = *key, self.columns
        if key not in self._cache:
            self._cache[key] = make(*known)
        return self._cache[key]

    def _expected_of(self, epoch, end):
        rows = self.state.picks.indices
        values = self.columns.expected(epoch.belief)
        free = np.ones(len(values), dtype=bool)
        free[rows[: epoch.start]] = False
        picked = values[rows[epoch.start : end]]
        left = values[free].sum(axis=0) - (np.cumsum(picked, axis=0) - picked)
        return picked, left

    def believed(self, apart: np.ndarray) -> np.ndarray:
        """Covariance of the gains expected by the surrogate, up to a common factor."""
        n_samples, n_models = self.state.n_samples, self.columns.n_models
        total = np.zeros((n_models, n_models))
        if self.n_picks == n_samples:
            return total
        squares = _kernels.step_weights(self.n_picks, n_samples) ** 2
        for epoch, end in self.spans():
            share = squares[epoch.start : min(end, self.n_picks)].sum()
            if not share:
                continue
            key = "believed", epoch.belief, epoch.start
            total += share * self.kept(key, self._believed_of, epoch, apart)
        return total

    def _believed_of(self, epoch, apart):
        rows = np.flatnonzero(apart & (epoch.query_proba > 0))
        gradient = self.columns.gradient(self.means)
        rows, factor = some_rows(rows, self.columns)
        if not len(rows):
            return np.zeros((self.columns.n_models, self.columns.n_models))
        values, proba, _ = self.columns.tables(rows, epoch.belief, gradient)
        inverse = 1.0 / epoch.query_proba[rows].astype(float)
        found = sum_of_covariances(values, proba, inverse)
        return factor * found / self.state.n_samples**2

    def excluded(self, apart, model, level=0.9):
        """Whether the labels exclude one model."""
        n_labels = self.state.settled.n_labels
        by_scatter = is_excluded(
            self.gains, np.sqrt(of_differences(self.seen)), n_labels, level
        )
        if not by_scatter[model]:  # The greater variance excludes no more.
            return False
        believed = of_differences(self.believed(apart))
        deviation = np.sqrt(np.maximum(of_differences(self.seen), believed))
        return bool(is_excluded(self.gains, deviation, n_labels, level)[model])


def sum_of_covariances(values, proba, weight):
    """Weighted sum over rows of the covariance of values, (n_models, n_models)."""
    values = values - np.einsum("nc,nck->nk", proba, values)[:, None]
    values *= np.sqrt(proba * weight[:, None])[:, :, None]
    values = values.reshape(-1, values.shape[2])
    return values.T @ values


def some_rows(rows, columns):
    """At most a few thousand of the rows, and how many each stands for."""
    n_labels = 7 if columns.classes is None else len(columns.classes)
    most = int(min(_MOST_ROWS, _MOST_NUMBERS // (n_labels * columns.n_models)))
    most = max(most, 200)
    if len(rows) <= most:
        return rows, 1.0
    chosen = np.random.default_rng(0).choice(len(rows), most, replace=False)
    return rows[np.sort(chosen)], len(rows) / most


# What an acquisition sees.


@dataclass(frozen=True, eq=False)
class ModelsView:
    """Several models at one moment: which leads, and where the others differ from it.

    Attributes
    ----------
    leader : int
        The model that is chosen now.
    best_proba : ndarray of shape (n_models,)
        Probability of each model to be the best, as believed.
    belief : CategoricalBelief or GaussianBelief
        About the labels.
    influence : callable
        ``model -> RowValues``: what a label of each row adds to its metric.
    apart : ndarray of shape (n_samples,), dtype bool
        Rows on which not all models are alike, whatever the label.
    gain : callable
        ``rows -> ndarray``: what a label of these rows is expected to tell about which
        model is the best.
    """

    leader: int
    best_proba: np.ndarray
    belief: Any
    influence: Any
    apart: np.ndarray
    gain: Any

    def challengers(self, n_challengers: int) -> np.ndarray:
        """The models most likely to be the best, without the leader."""
        order = np.argsort(-self.best_proba, kind="stable")
        order = order[order != self.leader][:n_challengers]
        # Models that are alike come in or stay out together.
        least = self.best_proba[order[-1]] if len(order) else 0.0
        is_in = (self.best_proba >= least) & (self.best_proba > 0)
        is_in[self.leader] = False
        return np.flatnonzero(is_in)

    def difference_spread(self, n_challengers: int) -> np.ndarray:
        """Root mean square spread of the differences to the leader, (n_samples,)."""
        total = np.zeros(len(self.apart))
        leader = self.influence(self.leader)
        for model in self.challengers(n_challengers):
            gap = combine((self.influence(model), leader), np.array([1.0, -1.0]))
            total += self.best_proba[model] * gap.moments(self.belief)[1]
        return np.sqrt(np.maximum(total, 0.0)) * self.apart
