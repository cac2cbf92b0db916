"""Beliefs from what experts say: judges of each row, or the models of a choice."""

# Arrays have the same names in all functions of this file.
#
#   n, c, e, d  number of rows, classes, experts, weights
#   experts     (n, e, c) what each expert adds to the score of each class, or Votes;
#               (n, e) numbers on the scale of the labels
#   model       (n, c) or (n,) what the model under test predicts
#   linear      (n, f) a few features
#   learned     (n, c) or (n,) what an estimator on features predicts
#   design      (n, c, d) what each weight adds to the score of each class, or
#               (n, d) what it adds to the mean of the label
#   target      (n,) place of the class of each label, or labels in units of `scale`
#   weights     (d,) of experts, offsets, model, learned and linear, in this order;
#               a priori normal with mean (d,) and precision (d, d)
#   covariance  (d, d) of the weights, by Laplace's method
#   left_out    what is predicted at each row of the fit as if it had not been in it
#
# The score of a class, or the mean of a number, is design @ weights.

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import gen_batches

from sklearn_ase._data._predictions import align_columns, cross_fitted
from sklearn_ase._data._rows import is_dataset, n_rows, stack_rows, take_rows
from sklearn_ase._utils._checks import check_integer, shown
from sklearn_ase._utils._estimators import fit_seeded
from sklearn_ase._utils._typing import Estimator, Floats, Rows, Task
from sklearn_ase.belief import Belief, CategoricalBelief, GaussianBelief
from sklearn_ase.losses._base import PoolLoss
from sklearn_ase.surrogate._base import BaseSurrogate
from sklearn_ase.surrogate._classifier import ClassifierSurrogate
from sklearn_ase.surrogate._members import out_of_bag, predict_members
from sklearn_ase.surrogate._regressor import RegressorSurrogate

# What is likely before labels are seen.


@dataclass(frozen=True, eq=False)
class Prior:
    """Prior of weights and noise: what is likely before labels are seen.

    Numbers are in units of the spread of the labels.
    """

    # Mean of the weight of a single expert, of the sum of several, and the greatest
    # such mean beside an estimator on features.
    of_one: float
    of_all: float
    most_beside_learned: float = np.inf
    # Standard deviation of the sum, and of each weight around its mean.
    sum_spread: float = 1.0
    each_spread: float = 0.7
    # Mean and standard deviation of the weight of the model under test, and of the
    # estimator on features.
    model: tuple[float, float] = (0.6, 0.3)
    learned: tuple[float, float] = (0.5, 0.5)
    # Whether the estimator counts by its difference from the mean of the experts.
    learned_is_difference: bool = False
    # Standard deviation of an offset, and of the weight of a feature.
    offset: float = 1.0
    feature: float = 0.3
    # Expected variance of the noise, and the variances that are tried, relative to it.
    noise: float = 1.0
    tried: np.ndarray = field(default_factory=lambda: np.geomspace(1e-4, 1e4, 81))


JUDGES_OF_CLASSES = Prior(of_one=1.5, of_all=2.0)
JUDGES_OF_NUMBERS = Prior(
    of_one=0.7,
    of_all=0.7,
    sum_spread=0.5,
    each_spread=0.4,
    model=(0.6, 0.4),
    learned=(0.4, 0.4),
    feature=0.15,
    noise=0.5,
    tried=np.geomspace(2e-4, 8.0, 61),
)
# Models of a choice. Logarithms of probabilities are experts by themselves.
VOTES = Prior(
    of_one=4.0, of_all=4.0, most_beside_learned=2.0, sum_spread=2.0, learned=(0.7, 0.5)
)
PROBABILITIES = Prior(
    of_one=1.0, of_all=1.0, sum_spread=0.5, each_spread=0.3, learned=(0.7, 0.5)
)
PREDICTED_NUMBERS = Prior(
    of_one=1.0,
    of_all=1.0,
    sum_spread=0.2,
    each_spread=0.5,
    learned=(0.0, 0.5),
    learned_is_difference=True,
    offset=0.5,
)
# For how many labels the expected noise counts.
_NOISE_LABELS = 2.0
# Probability of each stack of judges; those that cannot be made are left out.
_SHARES = {"experts": 0.5, "features": 0.25, "learned": 0.25}
# By so much probabilities are smoothed before their logarithm is taken.
_SMOOTHING = {"model": 0.001, "votes": 0.01, "learned": 0.02}
# Probabilities of the models of a choice are at least so large.
_LEAST_PROBA = 1e-3
# Models that agree are wrong all the same: by this share of the variance of labels.
_COMMON_ERROR = 0.05


# What is known about rows, and how it becomes columns.


class Votes:
    """Votes of experts for classes: an array of shape (n, e, c) that is never made."""

    def __init__(self, codes: np.ndarray, n_classes: int) -> None:
        self.codes, self.n_classes = codes, n_classes
        self.shape = (*codes.shape, n_classes)

    def __getitem__(self, rows: Any) -> Votes:
        return Votes(self.codes[rows], self.n_classes)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        votes = self.codes[:, :, None] == np.arange(self.n_classes)
        return votes.astype(float if dtype is None else dtype)

    @cached_property
    def _matrix(self) -> sparse.csr_array:
        """One row for each row and class: as fast as there are votes."""
        n_samples, n_experts = self.codes.shape
        places = np.arange(n_samples)[:, None] * self.n_classes + self.codes
        columns = np.broadcast_to(np.arange(n_experts), places.shape)
        return sparse.csr_array(
            (np.ones(places.size), (places.ravel(), columns.ravel())),
            (n_samples * self.n_classes, n_experts),
        )

    def weighed(self, weights: np.ndarray) -> np.ndarray:
        """Sum of the weights of the experts that vote for each class, (n, c)."""
        return (self._matrix @ weights).reshape(-1, self.n_classes)


@dataclass(frozen=True, eq=False)
class Blocks:
    """What is known about some rows beside their labels; each part may be None."""

    experts: Any = None
    model: Any = None
    linear: Any = None
    learned: Any = None

    def take(self, rows: Any) -> Blocks:
        """These columns at some of the rows."""
        return Blocks(*(None if part is None else part[rows] for part in self._parts))

    def below(self, others: Blocks) -> Blocks:
        """The columns of these rows and, below them, those of others."""
        pairs = zip(self._parts, others._parts, strict=True)
        return Blocks(
            *(
                None if a is None or b is None else np.concatenate([a, b])
                for a, b in pairs
            )
        )

    @property
    def n_experts(self) -> int:
        """Number of experts."""
        return 0 if self.experts is None else self.experts.shape[1]

    @property
    def _parts(self) -> list:
        return [getattr(self, part.name) for part in fields(self)]


@dataclass(frozen=True, eq=False)
class Stack:
    """Fitted weights of one set of columns.

    `left_out` holds the columns of the predictions without each row in turn, and
    `density` (n,) the log-densities of the labels by them; None where not asked for.
    """

    kind: str
    weights: np.ndarray
    covariance: np.ndarray
    noise: float = 0.0
    left_out: Any = None
    density: Any = None


@dataclass(frozen=True, eq=False)
class PoolStack:
    """A fitted stack and the rows of the pool: how a belief follows from weights."""

    likelihood: Likelihood
    stack: Stack
    blocks: Blocks

    @property
    def covariance(self) -> np.ndarray:
        """Covariance of the weights, (d, d)."""
        return self.stack.covariance

    def slopes(self, rows: np.ndarray, proba: Floats, values: np.ndarray) -> Floats:
        """Derivatives by the weights of sums of values over some rows, (n_values, d).

        Classes: `proba` (n, c), and `values` (n, c, n_values) less what is expected of
        them at the row. Numbers: `proba` (n, n_nodes), the derivatives of the
        probabilities of nodes by the mean, and `values` (n, n_nodes, n_values).
        """
        blocks = self.blocks.take(rows)
        design = self.likelihood.design(self.stack.kind, blocks, len(rows))
        return self.likelihood.slopes(design, proba, values)


# Two likelihoods: of classes and of numbers.


class Likelihood:
    """How labels follow from columns and weights; base class of the two."""

    def __init__(self, prior: Prior, n_offsets: int) -> None:
        self.prior, self.n_offsets = prior, n_offsets

    def weights_before(self, kind: str, blocks: Blocks) -> tuple:
        """Mean and precision of the weights of a stack."""
        prior, n_experts = self.prior, blocks.n_experts
        total = prior.of_one if n_experts == 1 else prior.of_all
        if kind == "learned":
            total = min(total, prior.most_beside_learned)
        others = [(0.0, prior.offset)] * self.n_offsets
        others += [prior.model] * (blocks.model is not None)
        others += [prior.learned] * (kind == "learned")
        if kind == "features":
            others += [(0.0, prior.feature)] * self.n_feature_weights(blocks)
        mean = [total / max(n_experts, 1)] * n_experts + [mean for mean, _ in others]
        precision = np.zeros((len(mean), len(mean)))
        precision[:n_experts, :n_experts] = exchangeable_precision(
            n_experts, prior.sum_spread, prior.each_spread
        )
        place = np.arange(n_experts, len(mean))
        precision[place, place] = np.array([spread for _, spread in others]) ** -2.0
        return np.array(mean), precision

    @abstractmethod
    def target(self, y: np.ndarray) -> np.ndarray:
        """Labels as the likelihood takes them."""

    @abstractmethod
    def n_feature_weights(self, blocks: Blocks) -> int:
        """Number of weights of features."""

    @abstractmethod
    def design(self, kind: str, blocks: Blocks, n_samples: int) -> np.ndarray:
        """What each weight adds at each row."""

    @abstractmethod
    def fit(self, kind, blocks, target, *, start=None, leave_out=True) -> Stack:
        """Fit the weights of a stack to the labels of some rows."""

    @abstractmethod
    def mixed(self, stacks: Sequence[Stack], shares: np.ndarray) -> tuple:
        """Mixture of what stacks predict at rows left out of the fit; shares (k, n)."""

    @abstractmethod
    def belief(self, stacks, shares, blocks, loss, keep_member_loss) -> Belief:
        """The belief about rows by several stacks, with shares of shape (k,)."""

    @abstractmethod
    def slopes(self, design: np.ndarray, proba: Floats, values: np.ndarray) -> Floats:
        """See :meth:`PoolStack.slopes`."""


def exchangeable_precision(n_weights: int, of_sum: float, of_each: float) -> np.ndarray:
    """Precision of weights that have a common part and deviate from it."""
    if not n_weights:
        return np.zeros((0, 0))
    common = 1.0 / of_sum**2 - 1.0 / (of_each**2 * n_weights)
    return np.eye(n_weights) / of_each**2 + common


# Numbers of a design that are made at a time.
_CHUNK_NUMBERS = 2**21


class Logit(Likelihood):
    """Class labels: a conditional logit."""

    def __init__(self, prior: Prior, classes: np.ndarray) -> None:
        super().__init__(prior, len(classes))
        self.classes = classes

    def target(self, y: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.classes, y) if len(y) else np.empty(0, dtype=int)

    def n_feature_weights(self, blocks: Blocks) -> int:
        n_blocks = len(self.classes) + (blocks.n_experts > 0)
        return n_blocks * blocks.linear.shape[1]

    def design(self, kind: str, blocks: Blocks, n_samples: int) -> np.ndarray:
        offset = np.eye(len(self.classes))
        parts = [np.broadcast_to(offset, (n_samples, *offset.shape))]
        if blocks.experts is not None:
            parts.insert(0, np.asarray(blocks.experts).transpose(0, 2, 1))
        parts += self._other_columns(kind, blocks)
        return np.concatenate(parts, axis=2, dtype=float)

    def _other_columns(self, kind: str, blocks: Blocks) -> list[np.ndarray]:
        """Columns behind those of experts and offsets, each (n, c, n_columns)."""
        parts = []
        if blocks.model is not None:
            is_vote = np.isin(blocks.model, (0.0, 1.0)).all()
            parts.append(_logs(blocks.model, "votes" if is_vote else "model"))
        if kind == "learned":
            parts.append(_logs(blocks.learned, "learned"))
        if kind == "features":
            linear = blocks.linear
            own = np.einsum("nd,ck->nckd", linear, np.eye(len(self.classes)))
            n_columns = own.shape[2] * own.shape[3]
            parts.append(own.reshape(*own.shape[:2], n_columns))
            if blocks.experts is not None:  # Where an expert is right.
                mean = blocks.experts.mean(axis=1)
                parts.append(mean[:, :, None] * linear[:, None, :])
        return parts

    def fit(self, kind, blocks, target, *, start=None, leave_out=True) -> Stack:
        mean, precision = self.weights_before(kind, blocks)
        design = self.design(kind, blocks, len(target))
        weights, covariance = fit_logit(design, target, mean, precision, start)
        stack = Stack(kind, weights, covariance)
        if not leave_out:
            return stack
        proba = left_out_proba(design, target, weights, covariance)
        density = np.log(proba[np.arange(len(target)), target])
        return replace(stack, left_out=(proba,), density=density)

    def mixed(self, stacks: Sequence[Stack], shares: np.ndarray) -> tuple:
        left_out = np.array([stack.left_out[0] for stack in stacks])
        return (np.einsum("kn,knc->nc", shares, left_out),)

    def belief(self, stacks, shares, blocks, loss, keep_member_loss) -> Belief:
        n_samples, n_classes = loss.n_samples, len(self.classes)
        proba = np.zeros((n_samples, n_classes))
        most = max(len(stack.weights) for stack in stacks) - blocks.n_experts
        size = max(1, _CHUNK_NUMBERS // (most * n_classes))
        for rows in gen_batches(n_samples, size):
            part = blocks if size >= n_samples else blocks.take(rows)
            for stack, share in zip(stacks, shares, strict=True):
                proba[rows] += share * softmax(self._scores(stack, part), axis=-1)
        return CategoricalBelief.from_members(
            proba[None], loss, keep_member_loss=keep_member_loss
        )

    def _scores(self, stack: Stack, blocks: Blocks) -> np.ndarray:
        """Score of each class, (n, c): the design times the weights, part by part.

        Without columns it is the same for all rows, (c,).
        """
        n_experts, n_classes = blocks.n_experts, len(self.classes)
        of_experts, scores, rest = np.split(
            stack.weights, [n_experts, n_experts + n_classes]
        )
        if isinstance(blocks.experts, Votes):
            scores = scores + blocks.experts.weighed(of_experts)
        elif n_experts:
            scores = scores + np.einsum("nec,e->nc", blocks.experts, of_experts)
        for columns in self._other_columns(stack.kind, blocks):
            weights, rest = np.split(rest, [columns.shape[2]])
            scores = scores + columns @ weights
        return scores

    def slopes(self, design: np.ndarray, proba: Floats, values: np.ndarray) -> Floats:
        n_values = values.shape[2]
        weighted = (proba[:, :, None] * values).reshape(-1, n_values)
        return weighted.T @ design.reshape(-1, design.shape[2])


def _logs(proba: np.ndarray, kind: str) -> np.ndarray:
    """Logarithms of smoothed probabilities, (n, c, 1)."""
    least = _SMOOTHING[kind]
    return np.log((proba + least) / (1.0 + least * proba.shape[1]))[:, :, None]


_MOST_STEPS = 60
_MOST_HALVINGS = 30
_TOLERANCE = 1e-12


def fit_logit(
    design: np.ndarray,
    target: np.ndarray,
    mean: np.ndarray,
    precision: np.ndarray,
    start: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Most probable weights and covariance, by Newton's method with step halving."""
    weights = np.array(mean if start is None else start)
    rows = np.arange(len(target))
    chosen = design[rows, target]

    def cost(weights: np.ndarray) -> float:
        scores = design @ weights
        gap = weights - mean
        lost = logsumexp(scores, axis=1) - scores[rows, target]
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


def _curvature(design, proba, expected, precision) -> np.ndarray:
    gap = (design - expected[:, None]) * np.sqrt(proba)[:, :, None]
    gap = gap.reshape(-1, design.shape[2])
    return gap.T @ gap + precision


def left_out_proba(
    design: np.ndarray, target: np.ndarray, weights: np.ndarray, covariance: np.ndarray
) -> np.ndarray:
    """Probabilities of the classes at each row as if it had not been in the fit.

    One Newton step without the row, from the weights with it.
    """
    scores = design @ weights
    proba = softmax(scores, axis=1)
    n_classes = proba.shape[1]
    surprise = np.eye(n_classes)[target] - proba
    spread = np.einsum("ncd,nkd->nck", design @ covariance, design)
    weight = proba[:, :, None] * (np.eye(n_classes) - proba[:, None, :])
    # (H - H_i)^-1, seen from the row: (I - S W)^-1 S.
    moved = np.linalg.solve(
        np.eye(n_classes) - spread @ weight, spread @ surprise[:, :, None]
    )
    return softmax(scores - moved[:, :, 0], axis=1)


class Normal(Likelihood):
    """Numbers as labels: a linear regression with the most probable noise.

    It computes in units of `scale`, from the middle of the labels.
    """

    def __init__(self, prior: Prior, middle: float, scale: float) -> None:
        super().__init__(prior, 1)
        self.middle, self.scale = middle, scale

    def target(self, y: np.ndarray) -> np.ndarray:
        return (np.asarray(y, dtype=float) - self.middle) / self.scale

    def n_feature_weights(self, blocks: Blocks) -> int:
        return blocks.linear.shape[1]

    def design(self, kind: str, blocks: Blocks, n_samples: int) -> np.ndarray:
        parts = [np.ones((n_samples, 1))]
        if blocks.experts is not None:
            parts.insert(0, blocks.experts)
        if blocks.model is not None:
            parts.append(self.target(blocks.model)[:, None])
        if kind == "learned":
            learned = self.target(blocks.learned)
            if self.prior.learned_is_difference:
                learned = learned - blocks.experts.mean(axis=1)
            parts.append(learned[:, None])
        if kind == "features":
            parts.append(blocks.linear)
        return np.concatenate(parts, axis=1)

    def fit(self, kind, blocks, target, *, start=None, leave_out=True) -> Stack:
        mean, precision = self.weights_before(kind, blocks)
        design = self.design(kind, blocks, len(target))
        gap = target - design @ mean
        noise = most_probable_noise(design, gap, precision, self.prior)
        covariance = np.linalg.inv(design.T @ design / noise + precision)
        weights = mean + covariance @ (design.T @ gap) / noise
        stack = Stack(kind, weights, covariance, noise)
        if not leave_out:
            return stack
        lever = np.einsum("nd,de,ne->n", design, covariance, design) / noise
        residual = (target - design @ weights) / (1.0 - lever)
        variance = noise / (1.0 - lever)
        density = -0.5 * (np.log(variance) + residual**2 / variance)
        left_out = target - residual, variance
        return replace(stack, left_out=left_out, density=density)

    def mixed(self, stacks: Sequence[Stack], shares: np.ndarray) -> tuple:
        mean, variance = (
            np.array(part)
            for part in zip(*(stack.left_out for stack in stacks), strict=True)
        )
        return self._in_units(*_mixture(shares, mean, variance))

    def belief(self, stacks, shares, blocks, loss, keep_member_loss) -> Belief:
        n_samples, means, epistemics = loss.n_samples, [], []
        for stack in stacks:
            design = self.design(stack.kind, blocks, n_samples)
            means.append(design @ stack.weights)
            epistemics.append(
                np.einsum("nd,de,ne->n", design, stack.covariance, design)
            )
        mean, epistemic = self._in_units(
            *_mixture(shares[:, None], np.array(means), np.array(epistemics))
        )
        noise = shares @ [stack.noise for stack in stacks] * self.scale**2
        noise = np.full(n_samples, noise)
        expected = loss.expected(mean, epistemic + noise)
        return GaussianBelief(
            mean=mean,
            epistemic=epistemic,
            noise=noise,
            member_risk=np.array([expected.mean()]),
            member_loss=expected[None] if keep_member_loss else None,
        )

    def slopes(self, design: np.ndarray, proba: Floats, values: np.ndarray) -> Floats:
        return self.scale * np.einsum("nq,nqk->kn", proba, values) @ design

    def _in_units(self, mean, variance) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance in units of the labels."""
        return self.middle + self.scale * mean, self.scale**2 * variance


def most_probable_noise(
    design: np.ndarray, gap: np.ndarray, precision: np.ndarray, prior: Prior
) -> float:
    """Variance of the noise, on a grid; `gap` are labels less what is expected."""
    prior_covariance = np.linalg.inv(precision)
    square, basis = np.linalg.eigh(design @ prior_covariance @ design.T)
    part = (basis.T @ gap) ** 2
    tried = prior.noise * prior.tried
    total = np.maximum(square, 0.0) + tried[:, None]
    cost = (np.log(total) + part / total).sum(axis=1)
    cost += _NOISE_LABELS * (np.log(tried) + prior.noise / tried)
    return float(tried[np.argmin(cost)])


def _mixture(shares, mean, variance) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of a mixture, over the first axis."""
    centre = (shares * mean).sum(axis=0)
    return centre, (shares * (variance + (mean - centre) ** 2)).sum(axis=0)


# What features tell: a few numbers for each row, and an estimator.


_MOST_WORDS = 20_000
_FOLDS = 5


class LinearFeatures(TransformerMixin, BaseEstimator):
    """Transformer of rows into a few standardised numbers; it needs no labels.

    Tables keep their columns, or their main directions if there are many. Texts become
    main directions of their tf-idf vectors of words and of runs of characters.
    """

    def __init__(self, n_components=8):
        self.n_components = n_components

    def fit(self, X: Rows, y=None) -> Any:
        """Learn how to describe rows."""
        self.pipeline_ = make_pipeline(*self._steps(X), StandardScaler())
        self.pipeline_.fit(X)
        return self

    def transform(self, X):
        """Describe rows."""
        # Rows far from all others must not decide alone.
        return np.clip(self.pipeline_.transform(X), -5.0, 5.0)

    def _steps(self, X):
        if isinstance(X, list):
            options = {"sublinear_tf": True, "max_features": _MOST_WORDS}
            vectors = FeatureUnion(
                [
                    ("words", TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", **options)),
                    (
                        "characters",
                        TfidfVectorizer(
                            analyzer="char_wb", ngram_range=(2, 4), **options
                        ),
                    ),
                ]
            )
            return [vectors, _SomeDirections(self.n_components)]
        if sparse.issparse(X):
            return [_SomeDirections(self.n_components)]
        steps = [SimpleImputer(keep_empty_features=True), StandardScaler()]
        if X.shape[1] > self.n_components:
            n_components = min(self.n_components, len(X))
            steps.append(PCA(n_components, svd_solver="full", random_state=0))
        return steps


class _SomeDirections(TransformerMixin, BaseEstimator):
    """Main directions of a sparse matrix, as many as it has at most."""

    def __init__(self, n_components):
        self.n_components = n_components

    def fit(self, X, y=None):
        self.svd_ = None
        if X.shape[1] == 1:  # TruncatedSVD needs two columns.
            return self
        n_components = max(1, min(self.n_components, *(n - 1 for n in X.shape)))
        self.svd_ = TruncatedSVD(n_components, random_state=0).fit(X)
        return self

    def transform(self, X):
        return X.toarray() if self.svd_ is None else self.svd_.transform(X)


def fit_held_out(
    estimator, X: Rows, y: np.ndarray, classes: np.ndarray | None, seed: int
) -> tuple[Any, Any]:
    """Fit an estimator, and predict its rows by members or copies without them."""
    model = fit_seeded(estimator, seed, X, y)
    held_out = out_of_bag(model, X)
    if held_out is not None:
        values = _aligned(held_out[0], model, classes)
    else:

        def fit(chosen, seed):
            return fit_seeded(estimator, seed, take_rows(X, chosen), y[chosen])

        def predict(model, rows):
            return (mean_prediction(model, rows, classes),)

        held_out = cross_fitted(fit, predict, X, y, _FOLDS, seed, classes is not None)
        if held_out is None:
            return None, None
        values = held_out[0]
    # A row that every member has learned from is predicted as an average row.
    missing = ~np.isfinite(values.reshape(len(values), -1)).all(axis=1)
    values[missing] = values[~missing].mean(axis=0)
    return model, values


def mean_prediction(model, X: Rows, classes: np.ndarray | None) -> np.ndarray:
    """Prediction of an ensemble: the mean of its members."""
    return _aligned(predict_members(model, X).mean(axis=0), model, classes)


def _aligned(values, model, classes):
    if classes is not None:
        values = align_columns(values, model.classes_, classes)
    return np.array(values, dtype=float)


# The surrogates: of judges, and of the models of a choice.


# Labels that an estimator on features needs.
_LEAST_LABELS = 10


class ExpertSurrogate(BaseSurrogate):
    """Belief about labels from experts, such as judges, and from features.

    Three stacks are fitted to the labels of the pool: the experts alone; the experts
    and a few features, which may also say where an expert is right; the experts and an
    estimator that learns from the features. A stack is a conditional logit for classes
    and a linear regression for numbers, with a normal prior. Each predicts every label
    without having seen it, and the stacks count by how well they do. With few labels
    the experts lead; a useless expert gets a weight of about 0, one that says the
    opposite a negative one.

    Parameters
    ----------
    task : {"classification", "regression"}
        What the labels are. Experts may use another scale than labels that are numbers:
        each is standardised.
    estimator : classifier, regressor, "drop" or None, default=None
        Learns the labels from features. None means extremely randomised trees.
        ``"drop"`` learns nothing from features.
    n_components : int, default=8
        Greatest number of features in the second stack; with more columns their main
        directions. 0 leaves it out.

    Attributes
    ----------
    weights_ : ndarray of shape (n_experts,)
        Weight of each expert, the mean over the stacks. For numbers, an expert that is
        worth 1 moves the prediction by a standard deviation of the labels where the
        expert moves by one of its own.
    shares_ : dict of str to float
        How much each stack counts.
    classes_ : ndarray of shape (n_classes,) or None

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.surrogate import ExpertSurrogate
    >>> y = np.array(["bad", "good"] * 20)
    >>> scores = np.where(y[:, None, None] == ["bad", "good"], 0.5, -0.5)
    >>> surrogate = ExpertSurrogate("classification", "drop")
    >>> rows, _ = surrogate.prepare(np.zeros((40, 1)))
    >>> fitted = surrogate.fit(
    ...     rows, y, classes=np.unique(y), n_acquired=40, experts=scores)
    >>> bool(fitted.weights_[0] > 3)
    True
    """

    uses_estimator = True
    uses_experts = True
    can_update = True
    classes_: Any = None
    estimator_: Any = None
    _wrapper: Any = None  # Encodes rows for the estimator.
    _linear: LinearFeatures | None = None
    _pool: tuple = (None, None)  # The rows of the pool, and what is known about them.

    def __init__(
        self,
        task: Task = "classification",
        estimator: Estimator | None = None,
        n_components: int = 8,
    ) -> None:
        self.task = task
        self.estimator = estimator
        self.n_components = n_components

    @property
    def min_rows(self) -> int:
        """Labels that a fit needs: numbers have a scale that labels tell."""
        return 3 if self.task == "regression" else 0

    @property
    def has_features(self) -> bool:
        """Whether anything is learned from features."""
        return not isinstance(self.estimator, str)

    def validate(self) -> None:
        check_integer(self.n_components, "n_components", 0)
        if isinstance(self.estimator, str) and self.estimator != "drop":
            raise ValueError(
                f"estimator={shown(self.estimator)} must be an estimator, None for the "
                "default, or 'drop' to learn nothing from the features."
            )

    def prepare(self, X: Rows, X_train: Rows | None = None) -> tuple[Rows, Rows]:
        """Encode frames or images, and find a few numbers that describe each row."""
        self._wrapper = self._linear = None
        if self.has_features:
            is_number = self.task == "regression"
            wrap: Any = RegressorSurrogate if is_number else ClassifierSurrogate
            self._wrapper = wrap(clone(self.estimator), calibration=None)
            X, X_train = self._wrapper.prepare(X, X_train)
            if self.n_components and not is_dataset(X):
                self._linear = LinearFeatures(self.n_components).fit(X)
        self._pool = X, None
        return X, X_train

    def prepare_other(self, X: Rows) -> Rows:
        return X if self._wrapper is None else self._wrapper.prepare_other(X)

    def fit(
        self,
        X: Rows,
        y: np.ndarray,
        *,
        classes: np.ndarray | None = None,
        expert: Floats | None = None,
        experts: np.ndarray | None = None,
        n_acquired: int = 0,
        seed: int = 0,
        **other: Any,
    ) -> Self:
        y = np.asarray(y)
        self.classes_ = None if classes is None else np.asarray(classes)
        self._likelihood = self._likelihood_of(y)
        held_out = self._fit_estimator(X, y, seed)
        # Experts speak of the pool only, so that training rows teach the estimator.
        rows = np.arange(len(y) - n_acquired, len(y))
        acquired = take_rows(X, rows) if n_acquired else None
        self._blocks = Blocks(
            experts=None if experts is None else experts[rows],
            model=None if expert is None else expert[rows],
            linear=self._described(acquired, n_acquired),
            learned=None if held_out is None else held_out[rows],
        )
        self._y = y[rows]
        # Updates begin where this fit ends, and not where the last one did: the order
        # of labels must not change the result.
        self._starts: dict = {}
        self._fit_stacks(self._blocks, self._y)
        self._starts = {stack.kind: stack.weights for stack in self._stacks}
        return self

    def belief(
        self,
        X: Rows,
        loss: PoolLoss,
        expert: Floats | None = None,
        keep_member_loss: bool = False,
        experts: np.ndarray | None = None,
    ) -> Belief:
        learned = None
        if self.estimator_ is not None:
            learned = mean_prediction(self.estimator_, X, self.classes_)
        blocks = Blocks(
            experts=experts,
            model=expert,
            linear=self._described(X, n_rows(X)),
            learned=learned,
        )
        if X is self._pool[0]:  # Not another pool.
            self._pool = X, blocks
        return self._belief(blocks, loss, keep_member_loss)

    def update(
        self,
        belief: Belief,
        loss: PoolLoss,
        rows: np.ndarray,
        y: np.ndarray,
        expert: Floats | None = None,
        experts: np.ndarray | None = None,
    ) -> Belief:
        pool = self._pool[1]
        blocks = self._blocks.below(pool.take(rows))
        self._fit_stacks(blocks, np.concatenate([self._y, y]))
        return self._belief(pool, loss, belief.member_loss is not None)

    def left_out(self) -> tuple[np.ndarray, ...] | None:
        return self._left_out

    def _likelihood_of(self, y: np.ndarray) -> Likelihood:
        """The likelihood of these labels, training rows among them."""
        if self.task == "classification":
            return Logit(JUDGES_OF_CLASSES, self.classes_)
        middle, scale = float(np.mean(y)), float(np.std(y))
        return Normal(
            JUDGES_OF_NUMBERS, middle, scale if scale > 0 else max(abs(middle), 1.0)
        )

    def _described(self, X: Rows | None, n_samples: int) -> np.ndarray | None:
        """The few features of some rows."""
        if self._linear is None:
            return None
        if not n_samples:
            return np.empty((0, self._linear.pipeline_[-1].n_features_in_))
        return self._linear.transform(X)

    def _fit_estimator(self, X: Rows, y: np.ndarray, seed: int) -> np.ndarray | None:
        """Fit the estimator on features; returns held-out predictions, or None."""
        self.estimator_ = None
        can_learn = len(y) >= _LEAST_LABELS and len(np.unique(y)) > 1
        if self._wrapper is None or not can_learn:
            return None
        self.estimator_, held_out = fit_held_out(
            self._wrapper.estimator, X, y, self.classes_, seed
        )
        return held_out

    def _fit_stacks(self, blocks: Blocks, y: np.ndarray) -> None:
        """Fit each stack that the blocks allow, and weigh them by what they predict."""
        kinds = ["experts"]
        kinds += ["features"] if blocks.linear is not None else []
        kinds += ["learned"] if blocks.learned is not None else []
        likelihood = self._likelihood
        target = likelihood.target(y)
        self._stacks = [
            likelihood.fit(kind, blocks, target, start=self._starts.get(kind))
            for kind in kinds
        ]
        densities = np.array([stack.density for stack in self._stacks])
        prior = np.log([[_SHARES[kind]] for kind in kinds])
        total = densities.sum(axis=1, keepdims=True) + prior
        self._shares = softmax(total, axis=0)[:, 0]
        # Each row is predicted by stacks that count as if it had no label.
        without_row = softmax(total - densities, axis=0)
        self._left_out = likelihood.mixed(self._stacks, without_row)
        weights = [stack.weights[: blocks.n_experts] for stack in self._stacks]
        self.weights_ = self._shares @ np.array(weights)
        self.shares_ = dict(zip(kinds, self._shares.tolist(), strict=True))

    def _belief(self, blocks: Blocks, loss: PoolLoss, keep_member_loss: bool) -> Belief:
        return self._likelihood.belief(
            self._stacks, self._shares, blocks, loss, keep_member_loss
        )


# Labels at the first fit of an estimator beside models, and the factor by which they
# grow until the next.
_FIRST, _GROWTH = 5, 1.5


class ModelSurrogate(ExpertSurrogate):
    """Belief about labels from what the models of a choice predict for the pool.

    The models are experts whose weights the labels move, so that a wrong majority is
    found out with a few labels. There is one stack: the models, and an estimator that
    learns from features if there is one. It is fitted again at a few numbers of labels
    only. The belief has the stack, which tells how it depends on the weights.

    `predictions` (n_samples, n_models) are labels or numbers; `proba` are pairs of
    probabilities and the classes of their columns, in the place of labels.
    """

    uses_estimator = False
    uses_experts = False
    can_update = False
    min_rows = 0
    _experts: Any = None  # What the models say of all rows, by the classes of the fit.

    def __init__(
        self,
        task: Task = "classification",
        predictions: ArrayLike | None = None,
        proba: Sequence[tuple[np.ndarray, np.ndarray]] | None = None,
        estimator: Estimator | None = "drop",
        X_train: Rows | None = None,
        y_train: np.ndarray | None = None,
    ) -> None:
        super().__init__(task, estimator, n_components=0)
        self.predictions = predictions
        self.proba = proba
        self.X_train = X_train
        self.y_train = y_train

    def prepare(self, X: Rows, X_train: Rows | None = None) -> tuple[Rows, Rows]:
        """Return the numbers of the rows, by which predictions are looked up."""
        features: Any = super().prepare(X, self.X_train)
        self._features, self._train_features = features
        self._learned: dict = {}  # Labels that the estimator learned, and predictions.
        return np.arange(n_rows(X)), None

    def fit(
        self,
        X: Rows,
        y: np.ndarray,
        *,
        classes: np.ndarray | None = None,
        seed: int = 0,
        **other: Any,
    ) -> Self:
        rows, y = np.asarray(X, dtype=int), np.asarray(y)
        before: Any = self.classes_
        if self._experts is None or not np.array_equal(before, np.asarray(classes)):
            self.classes_ = classes
            self._likelihood, self._experts = self._columns()
        learned = self._learn(rows, y, seed)
        self._blocks = Blocks(experts=self._experts, learned=learned)
        stack = self._likelihood.fit(
            "experts" if learned is None else "learned",
            self._blocks.take(rows),
            self._likelihood.target(y),
            leave_out=False,
        )
        self._stacks, self._shares = [stack], np.ones(1)
        self.weights_ = stack.weights[: self._blocks.n_experts]
        return self

    def belief(
        self,
        X: Rows,
        loss: PoolLoss,
        expert: Floats | None = None,
        keep_member_loss: bool = False,
        **other: Any,
    ) -> Belief:
        rows = np.asarray(X, dtype=int)
        is_pool = len(rows) == n_rows(self._experts)
        blocks = self._blocks if is_pool else self._blocks.take(rows)
        belief = self._belief(blocks, loss, keep_member_loss)
        return replace(
            belief, stack=PoolStack(self._likelihood, self._stacks[0], blocks)
        )

    def left_out(self) -> None:
        return None

    def _columns(self) -> tuple[Likelihood, Any]:
        """The likelihood, and what the models say of all rows."""
        if self.task == "regression":
            return self._numbers()
        if self.proba is None:
            codes = np.searchsorted(self.classes_, np.asarray(self.predictions))
            return Logit(VOTES, self.classes_), Votes(codes, len(self.classes_))
        aligned = [
            align_columns(proba, columns, self.classes_)
            for proba, columns in self.proba
        ]
        clipped = np.maximum(np.stack(aligned, axis=1), _LEAST_PROBA)
        return Logit(PROBABILITIES, self.classes_), np.log(clipped)

    def _numbers(self) -> tuple[Normal, np.ndarray]:
        """Likelihood of numbers, from the spread and the error of the models' mean."""
        values = np.asarray(self.predictions, dtype=float)
        mean = values.mean(axis=1)
        noise = values.var(axis=1).mean() + _COMMON_ERROR * mean.var()
        scale = float(np.sqrt(mean.var() + noise))
        scale = scale if scale > 0 else 1.0
        noise = max(noise / scale**2, np.finfo(float).eps)
        prior = replace(PREDICTED_NUMBERS, noise=noise)
        likelihood = Normal(prior, float(mean.mean()), scale)
        return likelihood, likelihood.target(values)

    def _learn(self, rows: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray | None:
        """Predict the whole pool by the estimator, from the first labels; or None."""
        if self._wrapper is None:
            return None
        n_used = _n_learned(len(y))
        rows, y = rows[:n_used], y[:n_used]
        labels = y if self.y_train is None else np.concatenate([self.y_train, y])
        is_number = self.classes_ is None
        if len(labels) < _FIRST or (not is_number and len(np.unique(labels)) < 2):
            return None
        key = rows.tolist(), y.tolist(), None if is_number else self.classes_.tolist()
        if self._learned.get("from") != key:
            predictions = self._predict_pool(rows, labels, seed)
            self._learned.update({"from": key, "predictions": predictions})
        return self._learned["predictions"]

    def _predict_pool(
        self, rows: np.ndarray, labels: np.ndarray, seed: int
    ) -> np.ndarray | None:
        """Rows that the estimator learns from are predicted as if held out."""
        X, n_labels = take_rows(self._features, rows), len(rows)
        if self.y_train is not None:
            features = self._train_features
            X = stack_rows(features, X) if n_labels else features
        model, held_out = fit_held_out(
            self._wrapper.estimator, X, labels, self.classes_, seed
        )
        if model is None:
            return None
        predictions = mean_prediction(model, self._features, self.classes_)
        if n_labels:
            predictions[rows] = held_out[-n_labels:]
        return predictions


def _n_learned(n_labels: int) -> int:
    """Number of labels at the last fit of the estimator."""
    count = _FIRST
    if n_labels < count:
        return 0
    while (following := int(np.ceil(count * _GROWTH))) <= n_labels:
        count = following
    return count
