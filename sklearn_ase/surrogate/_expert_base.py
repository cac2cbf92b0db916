"""What surrogates share that learn from experts: features, and held-out predictions."""

from abc import abstractmethod
from dataclasses import dataclass, fields

import numpy as np
from sklearn.base import clone

from sklearn_ase._data._cross_fitting import cross_fitted
from sklearn_ase._data._rows import is_dataset, n_rows, take_rows
from sklearn_ase._utils._checks import check_integer, shown
from sklearn_ase._utils._seeding import fit_seeded
from sklearn_ase.surrogate._base import BaseSurrogate
from sklearn_ase.surrogate._linear_features import LinearFeatures
from sklearn_ase.surrogate._members import out_of_bag, predict_members

_FOLDS = 5
# Labels that an estimator on features needs.
_LEAST_LABELS = 10


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
    def parts(self):
        """The parts, in order."""
        return [getattr(self, field.name) for field in fields(self)]


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
    _pool = None, None  # The rows of the pool, and what is known about them.
    estimator_ = None

    def validate(self):
        check_integer(self.n_components, "n_components", 0)
        if isinstance(self.estimator, str) and self.estimator != "drop":
            raise ValueError(
                f"estimator={shown(self.estimator)} must be an estimator, None for the "
                "default, or 'drop' to learn nothing from the features."
            )

    @property
    def has_features(self):
        """Whether anything is learned from features."""
        return not isinstance(self.estimator, str)

    def prepare(self, X, X_train=None):
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

    def prepare_other(self, X):
        return X if self._wrapper is None else self._wrapper.prepare_other(X)

    def fit(
        self,
        X,
        y,
        *,
        classes=None,
        expert=None,
        model_classes=None,
        n_acquired=0,
        seed=0,
        experts=None,
    ):
        y = np.asarray(y)
        self._start(classes, y)
        held_out = self._fit_estimator(X, y, n_acquired, seed)
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

    def belief(self, X, loss, expert=None, keep_member_loss=False, experts=None):
        blocks = Blocks(
            experts=experts,
            model=expert,
            linear=self._described(X, n_rows(X)),
            learned=self._predicted(X),
        )
        if X is self._pool[0]:  # Not another pool.
            self._pool = X, blocks
        return self._belief(blocks, loss, keep_member_loss)

    def update(self, belief, loss, rows, y, expert=None, experts=None):
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

    def _fit_estimator(self, X, y, n_acquired, seed):
        """Fit the estimator on features; returns held-out predictions, or None."""
        self.estimator_ = None
        if self._wrapper is None or not self._can_learn(y):
            return None
        estimator = self._wrapper.estimator
        self.estimator_ = fit_seeded(estimator, seed, X, y)
        found = out_of_bag(self.estimator_, X)
        has_bags = found is not None
        if not has_bags:

            def fit(chosen, seed):
                return fit_seeded(estimator, seed, take_rows(X, chosen), y[chosen])

            found = cross_fitted(
                fit, self._mean_of, X, y, _FOLDS, seed, self.task == "classification"
            )
        if found is None:
            self.estimator_ = None
            return None
        values = found[0]
        if has_bags:
            values = self._aligned(values, self.estimator_)
        # A row that every member has learned from is predicted as an average row.
        missing = ~np.isfinite(values.reshape(len(values), -1)).all(axis=1)
        values[missing] = values[~missing].mean(axis=0)
        return values

    def _can_learn(self, y):
        return len(y) >= _LEAST_LABELS and len(np.unique(y)) > 1

    def _mean_of(self, model, X):
        return (self._aligned(predict_members(model, X).mean(axis=0), model),)

    def _predicted(self, X):
        """What the estimator on features predicts, or None."""
        if self.estimator_ is None:
            return None
        return self._mean_of(self.estimator_, X)[0]

    @abstractmethod
    def _wrapped(self, estimator):
        """A surrogate of this estimator alone, which encodes frames."""

    @abstractmethod
    def _start(self, classes, y):
        """Keep the classes, or the scale of the labels."""

    @abstractmethod
    def _aligned(self, values, model):
        """Predictions of an estimator on features, with a column for each class."""

    @abstractmethod
    def _weights(self):
        """Weights of each stack, by its kind."""

    @abstractmethod
    def _fit_stack(self, blocks, y):
        """Fit the weights to acquired rows."""

    @abstractmethod
    def _belief(self, blocks, loss, keep_member_loss):
        """The belief about rows."""
