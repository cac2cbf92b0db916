"""How much training rows count in a calibration, by the evidence of acquired labels.

Training rows may come from another population than the pool, or have wrong labels.
There are several hypotheses about them: all of them together are worth 2, 10, 50 or 250
labels of the pool, or count in full, or count in full except for rows whose label looks
wrong. In regression the rows whose label looks right may be worth less, too. Each
hypothesis is a Gaussian prior of the parameters of the calibration. The marginal
likelihood of the acquired labels says how probable each hypothesis is. The equations
are those of docs/method.md.
"""

# Arrays have the same names in all functions of this file and in both stacks.
#
#   d, h        number of parameters of a calibration, number of hypotheses
#   at, start   (d,) or (h, d) parameters θ; several searches run side by side
#   value       () or (h,) log-likelihood or log-posterior J(θ)
#   gradient    (d,) or (h, d) of the value
#   curvature   (d, d) or (h, d, d) minus its second derivatives, H
#   rows        function (at, row_weight) -> value, gradient, curvature
#   row_weight  (n,) by how much each training row counts; None is 1
#   bounds      least and greatest parameters, each () or (d,)
#   centre, discounted, kept   (d,) prior of θ: mean, and two parts of the precision

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.special import expit, logit, softmax
from sklearn.ensemble import ExtraTreesClassifier

from sklearn_ase._data._rows import is_frame, n_rows, stack_rows, take_rows

if TYPE_CHECKING:
    from collections.abc import Callable

# All training rows together count as so many acquired labels.
WORTHS = (2.0, 10.0, 50.0, 250.0, np.inf)
PRIOR = (0.06, 0.06, 0.09, 0.14, 0.65)
# Prior probability that labels which look wrong are wrong, and the pool has none.
_PRIOR_OF_ERRORS = 0.2
# If cleaned rows are discounted, they are worth at least so many labels: rows that are
# worth fewer say next to nothing, cleaned or not.
_LEAST_CLEANED = 50.0
# The share of wrong labels before the rows are seen: so many wrong ones of so many.
_WRONG_BEFORE = 1.0, 20.0
_CLEANING_ROUNDS = 12
_MAX_STEPS, _LEAST_GAIN = 50, 1e-5
# Less probable hypotheses are left out.
_LEAST_SHARE = 1e-3


@dataclass(frozen=True, eq=False)
class ParameterPrior:
    """What is likely of the parameters before rows are seen: a Gaussian.

    Its precision has two parts, both (d,): training rows that count less discount the
    first as they discount what they say themselves, and keep the second.
    """

    centre: np.ndarray
    discounted: np.ndarray
    kept: np.ndarray


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """What training rows say of the parameters, if they are worth so many labels.

    `prior` is its probability before acquired labels are seen.
    """

    worth: float
    prior: float
    mean: np.ndarray
    precision: np.ndarray

    @cached_property
    def log_det(self):
        """Logarithm of the determinant of the precision."""
        return _log_det(self.precision)


@dataclass(frozen=True, eq=False)
class WeighedFit:
    """The hypotheses that are left, with their parameters (h, d) and shares (h,)."""

    hypotheses: list[Hypothesis]
    parameters: np.ndarray
    shares: np.ndarray

    @property
    def worths(self) -> np.ndarray:
        """Number of labels that the training rows are worth, (h,)."""
        return np.array([hypothesis.worth for hypothesis in self.hypotheses])


def training_hypotheses(
    rows: Callable,
    n_training: int,
    prior: ParameterPrior,
    bounds: tuple,
    by_evidence: bool = True,
    discounts_cleaned: bool = False,
) -> list[Hypothesis]:
    """Hypotheses about the training rows, as priors of the parameters, eq. T8.

    Without `by_evidence` all rows count in full. With `discounts_cleaned` rows may also
    count for less after those with a wrong label were left out.
    """
    precision = np.diag(prior.discounted + prior.kept)
    if not n_training:
        return [Hypothesis(0.0, 1.0, prior.centre, precision)]

    def posterior(row_weight=None) -> Callable:
        return lambda at: _with_normal(
            rows(at, row_weight), at, prior.centre, precision
        )

    mean, (_, _, curvature) = maximise(posterior(), prior.centre, bounds)
    whole = Hypothesis(float(n_training), 1.0, mean, curvature)
    if not by_evidence:
        return [whole]
    row_weight = _clean_weights(rows, posterior, mean, bounds)
    mean, (_, _, curvature) = maximise(posterior(row_weight), mean, bounds)
    cleaned = Hypothesis(row_weight.sum(), _PRIOR_OF_ERRORS, mean, curvature)
    right = replace(whole, prior=1.0 - _PRIOR_OF_ERRORS)
    hypotheses = _power_priors(right, prior.kept)
    if discounts_cleaned:
        return hypotheses + _power_priors(cleaned, prior.kept, _LEAST_CLEANED)
    return [*hypotheses, cleaned]


def weigh_hypotheses(
    hypotheses: list[Hypothesis],
    rows: Callable,
    bounds,
    starts: np.ndarray | None = None,
) -> WeighedFit:
    """Fit the parameters under each hypothesis and weigh the hypotheses, eq. T9."""
    means = np.array([hypothesis.mean for hypothesis in hypotheses])
    precisions = np.array([hypothesis.precision for hypothesis in hypotheses])

    def both(at):
        return _with_normal(rows(at), at, means, precisions)

    starts = means if starts is None else starts
    parameters, (value, _, curvature) = maximise(both, starts, bounds)
    # log E = J(θ) - ½ (log det H - log det H0), by Laplace's method.
    prior = np.array([hypothesis.prior for hypothesis in hypotheses])
    log_det = np.array([hypothesis.log_det for hypothesis in hypotheses])
    evidence = np.log(prior) + value - 0.5 * (_log_det(curvature) - log_det)
    if not np.isfinite(evidence).all():
        raise ValueError(
            "The calibration failed: the predictions of the surrogate or of the model "
            "have probabilities or values that are not finite."
        )
    shares = softmax(evidence)
    kept = shares >= _LEAST_SHARE
    return WeighedFit(
        hypotheses=list(compress(hypotheses, kept)),
        parameters=parameters[kept],
        shares=shares[kept] / shares[kept].sum(),
    )


def _power_priors(
    whole: Hypothesis, kept: np.ndarray, least: float = 0.0
) -> list[Hypothesis]:
    """Hypotheses by which the rows of one are worth less; they share its prior."""
    n_rows = whole.worth
    # Worths beyond the two limits are merged.
    clipped = np.clip(WORTHS, least, n_rows)
    worths, place = np.unique(clipped, return_inverse=True)
    priors = np.bincount(place, weights=PRIOR)
    hypotheses = []
    for worth, prior in zip(worths, priors, strict=True):
        power = worth / n_rows if worth < n_rows else 1.0
        precision = power * (whole.precision - np.diag(kept)) + np.diag(kept)
        hypotheses.append(Hypothesis(worth, whole.prior * prior, whole.mean, precision))
    return hypotheses


def _clean_weights(rows, posterior, start, bounds) -> np.ndarray:
    """Probability of each training label that it is right, by the EM algorithm."""
    wrong, at = 0.1, start
    weight: Any = None
    n_wrong, n_rows = _WRONG_BEFORE
    for _ in range(_CLEANING_ROUNDS):
        at, _ = maximise(posterior(weight), at, bounds)
        odds = rows.log_density(at) - rows.log_outlier - logit(wrong)
        weight = expit(odds)
        wrong = (n_wrong + np.sum(1.0 - weight)) / (n_rows + len(weight))
    return weight


def maximise(
    function: Callable, start, bounds: tuple[float | np.ndarray, ...]
) -> tuple[np.ndarray, tuple]:
    """Maximise a function within bounds by damped Newton steps.

    Several searches run side by side. Each ends where it would end alone.
    """
    low, high = bounds
    here, at = start, function(start)
    goes_on = np.ones(start.shape[:-1], dtype=bool)
    for _ in range(_MAX_STEPS):
        value, gradient, curvature = at
        # Parameters at a bound that the gradient pushes beyond it stay there.
        free = ((here > low) | (gradient > 0)) & ((here < high) | (gradient < 0))
        both_free = free[..., :, None] & free[..., None, :]
        matrix = np.where(both_free, curvature, np.eye(here.shape[-1]))
        slope = np.where(free, gradient, 0.0)
        step = np.linalg.solve(matrix, slope[..., None])[..., 0]
        # A step gains about half of this in log-likelihood.
        goes_on = goes_on & ((step * slope).sum(axis=-1) > _LEAST_GAIN)
        length, searches = 1.0, goes_on
        while searches.any() and length > 1e-4:
            there = np.clip(here + length * step, low, high)
            at_there = function(there)
            better = searches & (at_there[0] > value)
            here = np.where(better[..., None], there, here)
            at = _chosen(better, at_there, at)
            searches, length = searches & ~better, 0.5 * length
        goes_on = goes_on & ~searches
        if not goes_on.any():
            break
    return here, at


def _chosen(better, new, old):
    """Value, gradient and curvature of the searches that became better."""
    places = better, better[..., None], better[..., None, None]
    return tuple(map(np.where, places, new, old))


def _with_normal(rows, at, mean, precision):
    """A log-likelihood plus the log-density of a normal prior, up to a constant."""
    value, gradient, curvature = rows
    gap = at - mean
    slope = (precision @ gap[..., None])[..., 0]
    prior = -0.5 * (gap * slope).sum(axis=-1)
    return value + prior, gradient - slope, curvature + precision


def _log_det(curvature):
    return np.linalg.slogdet(curvature)[1]


def check_expert(uses_model, expert):
    """Refuse to predict without the model if it took part in the fit."""
    if uses_model and expert is None:
        raise ValueError(
            "The calibration was fitted with the predictions of the model under test "
            "and needs them to predict. Pass expert=..."
        )


# The shift: how much more common such rows are in the pool than in training.


# Rows of each kind that are compared; more would take longer and tell little more.
_MOST_ROWS = 5000
_N_TREES = 30
# Leaves this large hardly remember single rows, so that rows need not be held out: a
# share of all rows, but at least so many.
_LEAF_SHARE, _LEAST_LEAF = 0.03, 20
_LEAST_ROWS = 50
# Beyond this logarithm of a ratio the number of rows is all that it shows.
_GREATEST = 2.0


class ShiftScore:
    """Logarithm of the ratio of two densities: rows of the pool to training rows.

    Trees learn to tell rows of the pool from training rows, without any labels. Where
    nothing has shifted the score is close to 0 everywhere.

    >>> import numpy as np
    >>> from sklearn_ase.surrogate._power_prior import ShiftScore
    >>> X_train, X = np.linspace([0.0], [1.0], 200), np.linspace([0.0], [2.0], 400)
    >>> score = ShiftScore(X, X_train).score(np.array([[0.5], [1.5]]))
    >>> bool(score[1] > score[0] + 1.0)
    True
    """

    def __init__(self, X, X_train):
        rng = np.random.default_rng(0)
        pool, training = (_numbers(_some_rows(rows, rng)) for rows in (X, X_train))
        n_pool, n_training = pool.shape[0], training.shape[0]
        is_pool = np.repeat([True, False], [n_pool, n_training])
        leaf = max(_LEAST_LEAF, math.ceil(_LEAF_SHARE * len(is_pool)))
        self._trees = ExtraTreesClassifier(
            _N_TREES, max_features=0.3, min_samples_leaf=leaf, random_state=0
        )
        self._trees.fit(stack_rows(pool, training), is_pool)
        equal = np.log(n_pool / n_training)
        gap = np.clip(self._log_odds(training) - equal, -_GREATEST, _GREATEST)
        self._offset = equal + gap.mean()

    def score(self, X):
        """Return the score of each row, of shape (n_rows,).

        It is 0 for training rows on average.
        """
        rows = _numbers(X)
        rows = np.asarray(X, dtype=float) if rows is None else rows
        return np.clip(self._log_odds(rows) - self._offset, -_GREATEST, _GREATEST)

    def _log_odds(self, rows):
        share = self._trees.predict_proba(rows)[:, 1]
        return logit(np.clip(share, 0.01, 0.99))


def can_compare(X, X_train):
    """Whether both are tables of numbers, with sufficient rows to compare them."""
    if X_train is None or min(n_rows(X), n_rows(X_train)) < _LEAST_ROWS:
        return False
    tables = map(_numbers, (X, X_train))
    return all(rows is not None and rows.ndim == 2 for rows in tables)


def _numbers(rows):
    """The rows as an array or sparse matrix of numbers; None if they are not."""
    if is_frame(rows):
        rows = np.asarray(rows)
    is_array = isinstance(rows, np.ndarray) or sparse.issparse(rows)
    if not is_array or rows.dtype.kind not in "biuf":
        return None
    values = rows.data if sparse.issparse(rows) else rows
    # Trees compute in single precision and refuse what is too large for it.
    greatest = np.finfo(np.float32).max
    if rows.dtype == np.float64 and np.any(np.abs(values) > greatest):
        rows = rows.copy()
        values = rows.data if sparse.issparse(rows) else rows
        np.clip(values, -greatest, greatest, out=values)
    return rows


def _some_rows(rows, rng):
    size = n_rows(rows)
    if size <= _MOST_ROWS:
        return rows
    return take_rows(rows, rng.choice(size, _MOST_ROWS, replace=False))
