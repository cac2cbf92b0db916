"""What experts say and what features tell, in blocks of columns."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.special import softmax
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import gen_batches

from sklearn_ase._data._rows import is_dataset, n_rows, take_rows
from sklearn_ase._utils._checks import check_integer, shown
from sklearn_ase._utils._typing import Estimator, Floats, Rows
from sklearn_ase.belief import Belief, CategoricalBelief, GaussianBelief
from sklearn_ase.losses._base import PoolLoss
from sklearn_ase.surrogate._base import BaseSurrogate
from sklearn_ase.surrogate._classifier import ClassifierSurrogate
from sklearn_ase.surrogate._logit import (
    exchangeable_precision,
    fit_held_out,
    fit_logit,
    left_out_proba,
    mean_prediction,
)
from sklearn_ase.surrogate._regressor import RegressorSurrogate


@dataclass(frozen=True, eq=False)
class Blocks:
    """What is known about some rows beside their labels; each part may be None.

    Attributes
    ----------
    experts : ndarray of shape (n_rows, n_experts, n_classes) or (n_rows, n_experts)
        What each expert says.
    model : ndarray of shape (n_rows, n_classes) or (n_rows,)
        What the model under test predicts.
    linear : ndarray of shape (n_rows, n_columns)
        A few features.
    learned : ndarray of shape (n_rows, n_classes) or (n_rows,)
        What the estimator on features predicts.
    """

    experts: np.ndarray | None = None
    model: np.ndarray | None = None
    linear: np.ndarray | None = None
    learned: np.ndarray | None = None

    def take(self, rows):
        """Some of the rows."""
        return Blocks(*(None if part is None else part[rows] for part in self.parts))

    def below(self, others):
        """These rows and, below them, others."""
        pairs = zip(self.parts, others.parts, strict=True)
        return Blocks(
            *(
                None if a is None or b is None else np.concatenate([a, b])
                for a, b in pairs
            )
        )

    @property
    def n_experts(self):
        """Number of experts."""
        return 0 if self.experts is None else self.experts.shape[1]

    @property
    def parts(self):
        """The parts, in order."""
        return [getattr(self, field.name) for field in fields(self)]


class WeightsBefore(NamedTuple):
    """What is likely of the weights before labels are seen.

    Attributes
    ----------
    of_one, of_all : float
        Mean of the weight of a single expert, and of the sum of several.
    sum_spread, each_spread : float
        Standard deviation of the sum, and of each around its mean.
    model, learned : tuple of two float
        Mean and standard deviation of the weight of the model under test, and of the
        estimator on features.
    offset, feature : float
        Standard deviation of an offset, and of the weight of a feature.
    """

    of_one: float
    of_all: float
    sum_spread: float
    each_spread: float
    model: tuple
    learned: tuple
    offset: float
    feature: float


# A few numbers that describe a row, for models that are linear in them.


_MOST_FEATURES = 20_000


class LinearFeatures(TransformerMixin, BaseEstimator):
    """Transformer of rows into a few standardised numbers; it needs no labels.

    Tables keep their columns, or their main directions if there are many. Texts become
    main directions of their tf-idf vectors of words and of runs of characters.

    Parameters
    ----------
    n_components : int, default=8
        Greatest number of columns.

    Attributes
    ----------
    pipeline_ : Pipeline
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
            options = {"sublinear_tf": True, "max_features": _MOST_FEATURES}
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


# What surrogates share that learn from experts: features, and held-out predictions.


# Prior probability of each stack; those that cannot be made are left out.
_PRIOR = {"experts": 0.5, "features": 0.25, "learned": 0.25}
# Labels that an estimator on features needs.
_LEAST_LABELS = 10


class BaseExpertSurrogate(BaseSurrogate):
    """Base class of surrogates that weigh what experts say.

    A subclass has the constructor parameters ``estimator`` and ``n_components`` and the
    abstract methods below.
    """

    uses_experts = True
    uses_estimator = True
    can_update = True
    min_rows = 0
    _wrapper = _linear = None
    _pool: tuple = (None, None)  # The rows of the pool, and what is known about them.
    estimator_ = None
    _weights_before: Any = None  # A WeightsBefore.

    def validate(self) -> None:
        check_integer(self.n_components, "n_components", 0)
        if isinstance(self.estimator, str) and self.estimator != "drop":
            raise ValueError(
                f"estimator={shown(self.estimator)} must be an estimator, None for the "
                "default, or 'drop' to learn nothing from the features."
            )

    @property
    def has_features(self) -> bool:
        """Whether anything is learned from features."""
        return not isinstance(self.estimator, str)

    def prepare(self, X: Rows, X_train: Rows | None = None) -> tuple[Rows, Rows]:
        """Encode frames or images, and find a few numbers that describe each row."""
        self._wrapper = self._linear = None
        self._pool = X, None
        if not self.has_features:
            return X, X_train
        self._wrapper = self._wrapped(clone(self.estimator))
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
        model_classes: np.ndarray | None = None,
        n_acquired: int = 0,
        seed: int = 0,
        experts: np.ndarray | None = None,
    ) -> Self:
        y = np.asarray(y)
        self.classes_ = None if classes is None else np.asarray(classes)
        self._start(y)
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
        self._starts = {}
        self._fit_stack(self._blocks, self._y)
        # An update begins here, and not at the last one: the order of labels must not
        # change the result.
        self._starts = self._weights()
        return self

    def belief(
        self,
        X: Rows,
        loss: PoolLoss,
        expert: Floats | None = None,
        keep_member_loss: bool = False,
        experts: np.ndarray | None = None,
    ) -> Belief:
        blocks = Blocks(
            experts=experts,
            model=expert,
            linear=self._described(X, n_rows(X)),
            learned=self._predicted(X),
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
        self._fit_stack(blocks, np.concatenate([self._y, y]))
        return self._belief(pool, loss, belief.member_loss is not None)

    def _described(self, X, n_samples):
        if self._linear is None:
            return None
        if not n_samples:
            return np.empty((0, self._linear.pipeline_[-1].n_features_in_))
        return self._linear.transform(X)

    def _fit_estimator(self, X, y, seed):
        """Fit the estimator on features; returns held-out predictions, or None."""
        self.estimator_ = None
        can_learn = len(y) >= _LEAST_LABELS and len(np.unique(y)) > 1
        if self._wrapper is None or not can_learn:
            return None
        self.estimator_, held_out = fit_held_out(
            self._wrapper.estimator, X, y, self.classes_, seed
        )
        return held_out

    def _predicted(self, X):
        """What the estimator on features predicts, or None."""
        if self.estimator_ is None:
            return None
        return mean_prediction(self.estimator_, X, self.classes_)

    def _kinds(self, blocks):
        """The stacks that these blocks allow."""
        kinds = ["experts"]
        kinds += ["features"] if blocks.linear is not None else []
        kinds += ["learned"] if blocks.learned is not None else []
        return kinds

    def _prior(self, kind, blocks):
        """Mean and precision of the weights of a stack."""
        prior, n_experts, n_offsets = self._weights_before, blocks.n_experts, 1
        if self.classes_ is not None:
            n_offsets = len(self.classes_)
        total = prior.of_one if n_experts == 1 else prior.of_all
        mean = [total / max(n_experts, 1)] * n_experts + [0.0] * n_offsets
        scale = [prior.offset] * n_offsets
        more = [prior.model] * (blocks.model is not None)
        more += [prior.learned] * (kind == "learned")
        mean, scale = mean + [m for m, _ in more], scale + [s for _, s in more]
        if kind == "features":
            n_more = self._n_feature_weights(blocks)
            mean, scale = mean + [0.0] * n_more, scale + [prior.feature] * n_more
        precision = np.zeros((len(mean), len(mean)))
        if n_experts:
            precision[:n_experts, :n_experts] = exchangeable_precision(
                n_experts, prior.sum_spread, prior.each_spread
            )
        place = np.arange(n_experts, len(mean))
        precision[place, place] = np.array(scale) ** -2.0
        return np.array(mean), precision

    def _shared_out(
        self, kinds: list[str], densities: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """How much each stack counts, and without each row in turn."""
        prior = np.log([[_PRIOR[kind]] for kind in kinds])
        total = densities.sum(axis=1, keepdims=True) + prior
        shares = softmax(total, axis=0)[:, 0]
        self.shares_ = dict(zip(kinds, shares.tolist(), strict=True))
        return shares, softmax(total - densities, axis=0)

    @abstractmethod
    def _wrapped(self, estimator):
        """A surrogate of this estimator alone, which encodes frames."""

    def _start(self, y):
        """Look at the labels before a fit."""

    @abstractmethod
    def _n_feature_weights(self, blocks):
        """Number of weights of features in a stack."""

    @abstractmethod
    def _weights(self):
        """Weights of each stack, by its kind."""

    @abstractmethod
    def _fit_stack(self, blocks, y):
        """Fit the weights to acquired rows."""

    @abstractmethod
    def _belief(self, blocks, loss, keep_member_loss):
        """The belief about rows."""


# A surrogate that weighs what experts say about class labels.


_BEFORE = WeightsBefore(
    of_one=1.5,
    of_all=2.0,
    sum_spread=1.0,
    each_spread=0.7,
    model=(0.6, 0.3),
    learned=(0.5, 0.5),
    offset=1.0,
    feature=0.3,
)
_LEAST_PROBA = {"model": 0.001, "votes": 0.01, "learned": 0.02}
_CHUNK_NUMBERS = 2**21


@dataclass(frozen=True, eq=False)
class FittedLogit:
    """One of the stacks: which blocks it uses, its weights, and held-out predictions.

    Attributes
    ----------
    kind : str
    weights : ndarray of shape (n_weights,)
    left_out : ndarray of shape (n_rows, n_classes)
        Probabilities at the rows of the fit, each as if it had not been in it.
    """

    kind: str
    weights: np.ndarray
    left_out: np.ndarray


class ExpertClassifierSurrogate(BaseExpertSurrogate):
    """Belief about class labels from experts, such as judges, and from features.

    Three stacks are fitted to the labels of the pool, each a conditional logit with a
    normal prior: the experts alone; the experts and a few features, which may also say
    where an expert is right; the experts and an estimator that learns from the
    features. Each predicts every label without having seen it, and the stacks count by
    how well they do. With few labels the experts lead; a useless expert gets a weight
    of about 0, one that says the opposite a negative one.

    Parameters
    ----------
    estimator : classifier, "drop" or None, default=None
        Learns the labels from features. None means extremely randomised trees.
        ``"drop"`` learns nothing from features.
    n_components : int, default=8
        Greatest number of features in the second stack; with more columns their main
        directions. 0 leaves it out.

    Attributes
    ----------
    weights_ : ndarray of shape (n_experts,)
        Weight of each expert, the mean over the stacks.
    shares_ : dict of str to float
        How much each stack counts.
    classes_ : ndarray of shape (n_classes,)

    See Also
    --------
    ExpertRegressorSurrogate : The same for numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.surrogate import ExpertClassifierSurrogate
    >>> y = np.array(["bad", "good"] * 20)
    >>> scores = np.where(y[:, None, None] == ["bad", "good"], 0.5, -0.5)
    >>> surrogate = ExpertClassifierSurrogate("drop")
    >>> rows, _ = surrogate.prepare(np.zeros((40, 1)))
    >>> fitted = surrogate.fit(
    ...     rows, y, classes=np.unique(y), n_acquired=40, experts=scores)
    >>> bool(fitted.weights_[0] > 3)
    True
    """

    task = "classification"
    _weights_before = _BEFORE

    def __init__(
        self, estimator: Estimator | None = None, n_components: int = 8
    ) -> None:
        self.estimator = estimator
        self.n_components = n_components

    def left_out(self) -> tuple[np.ndarray, ...] | None:
        return (self._left_out,)

    def _wrapped(self, estimator):
        return ClassifierSurrogate(estimator, calibration=None)

    def _fit_stack(self, blocks, y):
        codes = np.searchsorted(self.classes_, y) if len(y) else np.empty(0, dtype=int)
        self._fitted = []
        for kind in self._kinds(blocks):
            mean, precision = self._prior(kind, blocks)
            design = self._design(kind, blocks, len(codes))
            weights, covariance = fit_logit(
                design, codes, mean, precision, self._starts.get(kind)
            )
            left_out = left_out_proba(design, codes, weights, covariance)
            self._fitted.append(FittedLogit(kind, weights, left_out))
        rows = np.arange(len(codes))
        logs = np.log([each.left_out[rows, codes] for each in self._fitted])
        kinds = [each.kind for each in self._fitted]
        self._shares, without = self._shared_out(kinds, logs)
        left_out = np.array([each.left_out for each in self._fitted])
        self._left_out = np.einsum("kn,knc->nc", without, left_out)
        weights = [each.weights[: blocks.n_experts] for each in self._fitted]
        self.weights_ = self._shares @ np.array(weights)

    def _weights(self):
        return {each.kind: each.weights for each in self._fitted}

    def _belief(self, blocks, loss, keep_member_loss):
        n_samples, n_classes = loss.n_samples, len(self.classes_)
        proba = np.empty((len(self._fitted), n_samples, n_classes))
        most = max(len(each.weights) for each in self._fitted) * n_classes
        for rows in gen_batches(n_samples, max(1, _CHUNK_NUMBERS // most)):
            part = blocks.take(rows)
            for place, each in enumerate(self._fitted):
                design = self._design(each.kind, part, len(proba[place, rows]))
                proba[place, rows] = softmax(design @ each.weights, axis=1)
        mean = np.einsum("k,knc->nc", self._shares, proba)
        return CategoricalBelief.from_members(
            mean[None], loss, keep_member_loss=keep_member_loss
        )

    def _design(self, kind, blocks, n_rows):
        """What each weight adds to the score of each class."""
        n_classes = len(self.classes_)
        parts = []
        if blocks.experts is not None:
            parts.append(blocks.experts.transpose(0, 2, 1))
        offset = np.eye(n_classes)
        parts.append(np.broadcast_to(offset, (n_rows, n_classes, n_classes)))
        if blocks.model is not None:
            is_vote = np.isin(blocks.model, (0.0, 1.0)).all()
            parts.append(_logs(blocks.model, "votes" if is_vote else "model"))
        if kind == "learned":
            parts.append(_logs(blocks.learned, "learned"))
        if kind == "features":
            linear = blocks.linear
            own = np.einsum("nd,ck->nckd", linear, offset)
            n_columns = n_classes * linear.shape[1]
            parts.append(own.reshape(n_rows, n_classes, n_columns))
            if blocks.experts is not None:
                mean = blocks.experts.mean(axis=1)
                parts.append(mean[:, :, None] * linear[:, None, :])
        return np.concatenate(parts, axis=2, dtype=float)

    def _n_feature_weights(self, blocks):
        n_blocks = len(self.classes_) + (blocks.n_experts > 0)
        return n_blocks * blocks.linear.shape[1]


def _logs(proba, kind):
    """Logarithms of smoothed probabilities, of shape (n_rows, n_classes, 1)."""
    least = _LEAST_PROBA[kind]
    n_classes = proba.shape[1]
    return np.log((proba + least) / (1.0 + least * n_classes))[:, :, None]


# A surrogate that weighs what experts say about numeric labels.


# All in units of the spread of the labels.
_BEFORE_NUMBERS = WeightsBefore(
    of_one=0.7,
    of_all=0.7,
    sum_spread=0.5,
    each_spread=0.4,
    model=(0.6, 0.4),
    learned=(0.4, 0.4),
    offset=1.0,
    feature=0.15,
)
# Variance of the noise, relative to that of the labels, and how many labels this
# expectation counts for.
_NOISE, _PRIOR_LABELS = 0.5, 2.0
_TRIED = np.geomspace(1e-4, 4.0, 61)


class ExpertRegressorSurrogate(BaseExpertSurrogate):
    """Belief about numeric labels from experts, such as judges, and from features.

    As :class:`ExpertClassifierSurrogate`, with linear regressions for stacks. Experts
    may use another scale than the labels: each is standardised.

    Parameters
    ----------
    estimator : regressor, "drop" or None, default=None
        Learns the labels from features. None means extremely randomised trees.
        ``"drop"`` learns nothing from features.
    n_components : int, default=8
        Greatest number of features in the second stack; with more columns their main
        directions. 0 leaves it out.

    Attributes
    ----------
    weights_ : ndarray of shape (n_experts,)
        Weight of each expert, the mean over the stacks. An expert that is worth 1 moves
        the prediction by a standard deviation of the labels where the expert moves by
        one of its own.
    shares_ : dict of str to float
        How much each stack counts.

    See Also
    --------
    ExpertClassifierSurrogate : The same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.surrogate import ExpertRegressorSurrogate
    >>> y = np.linspace(0, 10, 30)
    >>> surrogate = ExpertRegressorSurrogate("drop")
    >>> rows, _ = surrogate.prepare(np.zeros((30, 1)))
    >>> opposite = (y.mean() - y[:, None]) / y.std()
    >>> fitted = surrogate.fit(rows, y, n_acquired=30, experts=opposite)
    >>> bool(fitted.weights_[0] < -0.9)
    True
    """

    task = "regression"
    min_rows = 3
    _weights_before = _BEFORE_NUMBERS

    def __init__(
        self, estimator: Estimator | None = None, n_components: int = 8
    ) -> None:
        self.estimator = estimator
        self.n_components = n_components

    def left_out(self) -> tuple[np.ndarray, ...] | None:
        return self._left_out

    def _wrapped(self, estimator):
        return RegressorSurrogate(estimator, calibration=None)

    def _start(self, y):
        self._middle, self._scale = float(np.mean(y)), float(np.std(y))
        if not self._scale > 0:
            self._scale = max(abs(self._middle), 1.0)

    def _fit_stack(self, blocks, y):
        target = (np.asarray(y, dtype=float) - self._middle) / self._scale
        self._fitted, logs = [], []
        for kind in self._kinds(blocks):
            mean, precision = self._prior(kind, blocks)
            design = self._design(kind, blocks, len(target))
            fitted = _fit(design, target, mean, precision)
            self._fitted.append((kind, *fitted[:3]))
            logs.append(fitted[3:])
        centre, variance, density = (np.array(part) for part in zip(*logs, strict=True))
        kinds = [kind for kind, *_ in self._fitted]
        self._shares, without = self._shared_out(kinds, density)
        mean, variance = _mixture(without, centre, variance)
        self._left_out = self._in_units(mean, variance)
        n_experts = blocks.n_experts
        weights = [weights[:n_experts] for _, weights, *_ in self._fitted]
        self.weights_ = self._shares @ np.array(weights)

    def _weights(self):
        return {}  # A linear regression is solved at once.

    def _belief(self, blocks, loss, keep_member_loss):
        n_samples, centre, epistemic, noise = loss.n_samples, [], [], []
        for kind, weights, covariance, variance in self._fitted:
            design = self._design(kind, blocks, n_samples)
            centre.append(design @ weights)
            epistemic.append(np.einsum("nd,de,ne->n", design, covariance, design))
            noise.append(variance)
        mean, epistemic = _mixture(
            self._shares[:, None], np.array(centre), np.array(epistemic)
        )
        mean, epistemic = self._in_units(mean, epistemic)
        noise = np.full(n_samples, self._shares @ noise * self._scale**2)
        expected = loss.expected(mean, epistemic + noise)
        return GaussianBelief(
            mean=mean,
            epistemic=epistemic,
            noise=noise,
            member_risk=np.array([expected.mean()]),
            member_loss=expected[None] if keep_member_loss else None,
        )

    def _in_units(self, mean, variance):
        return self._middle + self._scale * mean, self._scale**2 * variance

    def _design(self, kind, blocks, n_rows):
        parts = []
        if blocks.experts is not None:
            parts.append(blocks.experts)
        parts.append(np.ones((n_rows, 1)))
        if blocks.model is not None:
            parts.append(self._in_labels(blocks.model))
        if kind == "learned":
            parts.append(self._in_labels(blocks.learned))
        if kind == "features":
            parts.append(blocks.linear)
        return np.concatenate(parts, axis=1)

    def _in_labels(self, values):
        return ((values - self._middle) / self._scale)[:, None]

    def _n_feature_weights(self, blocks):
        return blocks.linear.shape[1]


def _fit(design, target, mean, precision):
    """Linear regression with a normal prior and the most probable noise."""
    gap = target - design @ mean
    prior_covariance = np.linalg.inv(precision)
    square, basis = np.linalg.eigh(design @ prior_covariance @ design.T)
    part = (basis.T @ gap) ** 2
    total = np.maximum(square, 0.0) + _TRIED[:, None]
    cost = (np.log(total) + part / total).sum(axis=1)
    cost += _PRIOR_LABELS * (np.log(_TRIED) + _NOISE / _TRIED)
    noise = float(_TRIED[np.argmin(cost)])
    covariance = np.linalg.inv(design.T @ design / noise + precision)
    weights = mean + covariance @ (design.T @ gap) / noise
    lever = np.einsum("nd,de,ne->n", design, covariance, design) / noise
    residual = (target - design @ weights) / (1.0 - lever)
    variance = noise / (1.0 - lever)
    density = -0.5 * (np.log(variance) + residual**2 / variance)
    return weights, covariance, noise, target - residual, variance, density


def _mixture(shares, centre, variance):
    """Mean and variance of a mixture, over the first axis."""
    mean = (shares * centre).sum(axis=0)
    return mean, (shares * (variance + centre**2)).sum(axis=0) - mean**2
