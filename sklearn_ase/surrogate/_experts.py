"""What surrogates share that learn from experts: features, and held-out predictions."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import clone

from sklearn_ase._data._rows import is_dataset, n_rows, take_rows
from sklearn_ase._utils._checks import check_integer, shown
from sklearn_ase._utils._typing import Floats, Rows
from sklearn_ase.belief._either import Belief
from sklearn_ase.losses._pool_loss import PoolLoss
from sklearn_ase.surrogate._base import BaseSurrogate
from sklearn_ase.surrogate._conditional_logit import exchangeable_precision
from sklearn_ase.surrogate._expert_blocks import Blocks
from sklearn_ase.surrogate._held_out import fit_held_out, mean_prediction
from sklearn_ase.surrogate._linear_features import LinearFeatures

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

    def _shared_out(self, kinds, densities):
        """How much each stack counts, and without each row in turn.

        Parameters
        ----------
        kinds : list of str
        densities : ndarray of shape (n_stacks, n_rows)
            Logarithm of the probability of each label, as if it had been held out.

        Returns
        -------
        shares : ndarray of shape (n_stacks,)
        without : ndarray of shape (n_stacks, n_rows)
        """
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
