"""Beliefs that remember the weights they come from."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import softmax

from sklearn_ase._data._predictions import align_columns
from sklearn_ase._data._rows import n_rows, stack_rows, take_rows
from sklearn_ase._utils._typing import Floats, Rows
from sklearn_ase.belief import Belief, CategoricalBelief, GaussianBelief
from sklearn_ase.surrogate._base import BaseSurrogate
from sklearn_ase.surrogate._logit import (
    exchangeable_precision,
    fit_held_out,
    fit_logit,
    mean_prediction,
)

if TYPE_CHECKING:
    from sklearn_ase.losses._base import LossTable, PointLoss


@dataclass(frozen=True, eq=False)
class VoteBelief(CategoricalBelief):
    """Belief from votes.

    Attributes
    ----------
    stack : VoteSurrogate
        As it was fitted.
    """

    stack: object = None


@dataclass(frozen=True, eq=False)
class PredictionBelief(GaussianBelief):
    """Belief from predicted values.

    Attributes
    ----------
    stack : PredictionSurrogate
        As it was fitted.
    """

    stack: object = None


# Predictions from features, as one more expert beside the models.


# Labels at the first fit, and the factor by which they grow until the next.
_FIRST, _GROWTH = 5, 1.5
# Every class keeps a probability of this order.
_LEAST = 0.02


class FeatureExpert:
    """An estimator that learns the labels from features, asked where it can be trusted.

    Rows that it has learned from are predicted by members, or copies, that have not.

    Parameters
    ----------
    estimator : classifier or regressor
        Unfitted.
    features : array, sparse matrix or list of shape (n_samples, ...)
        The pool.
    train_features : same kind as features, default=None
        Further rows that it learns from.
    y_train : ndarray, default=None
        Their labels.
    """

    def __init__(self, estimator, features, train_features=None, y_train=None):
        self.estimator = estimator
        self.features = features
        self.train_features = train_features
        self.y_train = y_train
        self._found = None, None

    def predict(
        self, rows: np.ndarray, y: np.ndarray, classes: np.ndarray | None, seed: int
    ) -> np.ndarray | None:
        """Predict the whole pool from some labels.

        The estimator is fitted to the first of them, at a few numbers of labels only.
        """
        n_used = _n_used(len(y))
        rows, y = rows[:n_used], y[:n_used]
        known = y if self.y_train is None else np.concatenate([self.y_train, y])
        if len(known) < _FIRST or (classes is not None and len(np.unique(known)) < 2):
            return None
        key = rows.tolist(), y.tolist(), None if classes is None else classes.tolist()
        if self._found[0] != key:
            self._found = key, self._predict(rows, y, classes, seed)
        return self._found[1]

    def _predict(self, rows, y, classes, seed):
        X, n_labels = take_rows(self.features, rows), len(rows)
        if self.y_train is not None:
            X = stack_rows(self.train_features, X) if n_labels else self.train_features
            y = np.concatenate([self.y_train, y])
        model, held_out = fit_held_out(self.estimator, X, y, classes, seed)
        if model is None:
            return None
        predictions = mean_prediction(model, self.features, classes)
        if n_labels:
            predictions[rows] = held_out[-n_labels:]
        return _spread_out(predictions, classes)


def _spread_out(predictions, classes):
    """Predictions that give every class a chance."""
    if classes is None:
        return predictions
    return (predictions + _LEAST) / (1.0 + _LEAST * len(classes))


def _n_used(n_labels):
    """Number of labels at the last fit."""
    count = _FIRST
    if n_labels < count:
        return 0
    while (following := int(np.ceil(count * _GROWTH))) <= n_labels:
        count = following
    return count


# A surrogate that believes what several models vote for.


# Prior of the weights of votes: mean and standard deviation of their sum, standard
# deviation of each from the mean; with an expert on features their sum has less.
_VOTES = 4.0, 2.0, 0.7
_VOTES_BESIDE_EXPERT = 2.0
# The same for logarithms of probabilities, which are experts by themselves.
_PROBA = 1.0, 0.5, 0.3
_OFFSET = 1.0
_EXPERT = 0.7, 0.5
_LEAST_PROBA = 1e-3


class VoteSurrogate(BaseSurrogate):
    """Belief about the labels from the votes of several models.

    The score of a class is the sum of the weights of the models that vote for it, plus
    an offset. Weights have a normal prior under which models are alike; labels move
    them. A model that is mostly wrong gets a negative weight, so a wrong majority is
    found out with a few labels.

    Parameters
    ----------
    votes : array-like of shape (n_samples, n_models)
        Label that each model predicts for each row of the pool.
    proba : list of (ndarray of shape (n_samples, n_columns), columns), default=None
        Probabilities of each model with the class of each column, in the place of the
        votes. Their logarithms are weighed.
    expert : FeatureExpert, default=None
        Predicts the labels from features, as one more expert.

    Attributes
    ----------
    weights_ : ndarray of shape (n_models + n_classes + n_experts,)
        Most probable weights: of models, classes, and the expert on features.
    covariance_ : ndarray of shape (n_weights, n_weights)
        Their uncertainty, as of a normal distribution (Laplace).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.surrogate import VoteSurrogate
    >>> votes = np.array([["cat", "cat", "dog"], ["dog", "dog", "cat"]] * 10)
    >>> surrogate = VoteSurrogate(votes)
    >>> rows, _ = surrogate.prepare(np.zeros((20, 1)))
    >>> y = np.array(["dog", "cat", "dog", "cat"])  # The majority is wrong.
    >>> surrogate.fit(rows[:4], y, classes=np.array(["cat", "dog"])).proba_[4].round(1)
    array([0.3, 0.7])
    """

    task = "classification"
    min_rows = 0

    def __init__(
        self,
        votes: ArrayLike | None = None,
        proba: Sequence[tuple[np.ndarray, np.ndarray]] | None = None,
        expert: FeatureExpert | None = None,
    ) -> None:
        self.votes = votes
        self.proba = proba
        self.expert = expert

    def prepare(self, X: Rows, X_train: Rows | None = None) -> tuple[Rows, Rows]:
        """Rows are known by their number, for the votes are looked up."""
        return np.arange(n_rows(X)), None

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
    ) -> Self:
        self._read_votes(classes)
        rows = np.asarray(X, dtype=int)
        self._log_expert = None
        if self.expert is not None:
            found = self.expert.predict(rows, np.asarray(y), classes, seed)
            self._log_expert = None if found is None else np.log(found)
        codes = (
            np.searchsorted(np.asarray(classes), y)
            if len(rows)
            else np.empty(0, dtype=int)
        )
        mean, precision = self._prior()
        self.weights_, self.covariance_ = fit_logit(
            self.design(rows), codes, mean, precision
        )
        self.proba_ = softmax(self._scores(), axis=1)
        return self

    def belief(
        self,
        X: Rows,
        loss: LossTable,
        expert: Floats | None = None,
        keep_member_loss: bool = False,
    ) -> Belief:
        proba = self.proba_[np.asarray(X, dtype=int)]
        found = VoteBelief.from_members(
            proba[None], loss, keep_member_loss=keep_member_loss
        )
        return replace(found, stack=copy(self))

    def design(self, rows: np.ndarray) -> Floats:
        """What each weight adds to the score of each class at some rows.

        Parameters
        ----------
        rows : ndarray of int of shape (n_rows,)

        Returns
        -------
        design : ndarray of shape (n_rows, n_classes, n_weights)
        """
        n_classes = len(self.classes_)
        if self._log_proba is None:
            votes = self._codes[rows][:, None] == np.arange(n_classes)[:, None]
        else:
            votes = self._log_proba[rows]
        offset = np.broadcast_to(np.eye(n_classes), (len(rows), n_classes, n_classes))
        parts = [votes, offset]
        if self._log_expert is not None:
            parts.append(self._log_expert[rows][:, :, None])
        return np.concatenate(parts, axis=2, dtype=float)

    def slopes(self, rows: np.ndarray, proba: Floats, values: np.ndarray) -> Floats:
        """How means of values depend on the weights.

        Parameters
        ----------
        rows : ndarray of int of shape (n_rows,)
        proba : ndarray of shape (n_rows, n_classes)
            As believed.
        values : ndarray of shape (n_rows, n_classes, n_values)
            Minus what is expected of them at the row.

        Returns
        -------
        slopes : ndarray of shape (n_values, n_weights)
            Derivatives of the sums over the rows.
        """
        n_values, design = values.shape[2], self.design(rows)
        weighted = (proba[:, :, None] * values).reshape(-1, n_values)
        return weighted.T @ design.reshape(-1, design.shape[2])

    def _read_votes(self, classes):
        """Put the votes in the order of the classes, if these are new."""
        if np.array_equal(classes, getattr(self, "classes_", None)):
            return
        self.classes_, self._log_proba = classes, None
        if self.proba is not None:
            aligned = [align_columns(*each, classes) for each in self.proba]
            clipped = np.maximum(np.stack(aligned, axis=2), _LEAST_PROBA)
            self._log_proba = np.log(clipped)
            return
        self._codes = np.searchsorted(classes, np.asarray(self.votes))
        n_samples, n_models = self._codes.shape
        # One row for each row of the pool and class: a product with the weights is
        # then as fast as there are votes.
        places = np.arange(n_samples)[:, None] * len(classes) + self._codes
        columns = np.broadcast_to(np.arange(n_models), places.shape)
        ones = np.ones(places.size)
        shape = (n_samples * len(classes), n_models)
        self._sparse = sparse.csr_array(
            (ones, (places.ravel(), columns.ravel())), shape
        )

    @property
    def n_models(self) -> int:
        """Number of models that vote."""
        return (
            np.asarray(self.votes).shape[1] if self.proba is None else len(self.proba)
        )

    def _scores(self):
        """Score of each class at each row of the pool."""
        n_models, n_classes = self.n_models, len(self.classes_)
        weights, rest = np.split(self.weights_, [n_models])
        if self._log_proba is None:
            scores = (self._sparse @ weights).reshape(-1, n_classes)
        else:
            scores = self._log_proba @ weights
        scores = scores + rest[:n_classes]
        if self._log_expert is not None:
            scores += rest[n_classes] * self._log_expert
        return scores

    def _prior(self):
        """Mean and precision of all weights."""
        n_models, n_classes = self.n_models, len(self.classes_)
        total, of_sum, of_each = _VOTES if self._log_proba is None else _PROBA
        has_expert = self._log_expert is not None
        if has_expert:
            total = min(total, _VOTES_BESIDE_EXPERT)
        mean = np.concatenate(
            [np.full(n_models, total / n_models), np.zeros(n_classes)]
        )
        scale = np.full(n_classes, 1.0 / _OFFSET**2)
        if has_expert:
            mean, scale = (
                np.append(mean, _EXPERT[0]),
                np.append(scale, _EXPERT[1] ** -2),
            )
        precision = np.zeros((len(mean), len(mean)))
        precision[:n_models, :n_models] = exchangeable_precision(
            n_models, of_sum, of_each
        )
        precision[n_models:, n_models:] = np.diag(scale)
        return mean, precision


# A surrogate that believes in a weighted mean of the predictions of several models.


# Standard deviation of the weight of each model around an equal share, of the scale of
# their mean, and of the offset in units of the spread of that mean.
_WEIGHT, _SCALE, _OFFSET_OF_MEAN = 0.5, 0.2, 0.5
# Number of labels that the noise expected before any label counts for.
_PRIOR_LABELS = 2.0
# Noise variances that are tried, relative to the expected one.
_TRIED = np.geomspace(1e-4, 1e4, 81)


class PredictionSurrogate(BaseSurrogate):
    """Belief about real labels from the predictions of several models.

    A linear combination with a normal prior around the mean of the models. The variance
    of the noise is the most probable one.

    Parameters
    ----------
    predictions : array-like of shape (n_samples, n_models)
        Value that each model predicts for each row of the pool.
    expert : FeatureExpert, default=None
        Predicts the labels from features, as one more model.

    Attributes
    ----------
    weights_ : ndarray of shape (n_models + 2,) or (n_models + 3,)
        How much each model counts beyond its equal share, the scale of the mean of the
        models, an offset, and the expert on features.
    covariance_ : ndarray of shape (n_weights, n_weights)
    noise_ : float
        Variance of a label.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.surrogate import PredictionSurrogate
    >>> truth = np.linspace(0, 1, 20)
    >>> surrogate = PredictionSurrogate(np.column_stack([truth, 1 - truth]))
    >>> rows, _ = surrogate.prepare(np.zeros((20, 1)))
    >>> surrogate.fit(rows[::3], truth[::3]).weights_[:2].round(1)
    array([ 0.5, -0.5])
    """

    task = "regression"
    min_rows = 0

    def __init__(
        self, predictions: ArrayLike | None = None, expert: FeatureExpert | None = None
    ) -> None:
        self.predictions = predictions
        self.expert = expert

    def prepare(self, X: Rows, X_train: Rows | None = None) -> tuple[Rows, Rows]:
        """Rows are known by their number, for the predictions are looked up."""
        return np.arange(n_rows(X)), None

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
    ) -> Self:
        rows, y = np.asarray(X, dtype=int), np.asarray(y, dtype=float)
        values = np.asarray(self.predictions, dtype=float)
        self._mean = values.mean(axis=1)
        spread = self._mean.var()
        # Models that agree are wrong all the same.
        between = values.var(axis=1).mean() + 0.05 * spread + np.finfo(float).tiny
        columns = [
            values - self._mean[:, None],
            (self._mean - self._mean.mean())[:, None],
        ]
        columns.append(np.ones((len(values), 1)))
        scale: Any = [
            *[_WEIGHT] * values.shape[1],
            _SCALE,
            _OFFSET_OF_MEAN * (spread + between) ** 0.5,
        ]
        found = None
        if self.expert is not None:
            found = self.expert.predict(rows, y, None, seed)
        if found is not None:
            columns.append((found - self._mean)[:, None])
            scale.append(_WEIGHT)
        self._design, scale = np.concatenate(columns, axis=1), np.array(scale)
        design, gap = self._design[rows] * scale, y - self._mean[rows]
        self.noise_ = _noise(design, gap, between)
        precision = design.T @ design / self.noise_ + np.eye(len(scale))
        covariance = np.linalg.inv(precision)
        self.weights_ = scale * (covariance @ (design.T @ gap) / self.noise_)
        self.covariance_ = scale[:, None] * covariance * scale
        return self

    def belief(
        self,
        X: Rows,
        loss: PointLoss,
        expert: Floats | None = None,
        keep_member_loss: bool = False,
    ) -> Belief:
        design = self._design[np.asarray(X, dtype=int)]
        mean = self._mean[np.asarray(X, dtype=int)] + design @ self.weights_
        epistemic = np.einsum("nd,de,ne->n", design, self.covariance_, design)
        noise = np.full(len(mean), self.noise_)
        expected = loss.expected(mean, epistemic + noise)
        return PredictionBelief(
            stack=copy(self),
            mean=mean,
            epistemic=epistemic,
            noise=noise,
            member_risk=np.array([expected.mean()]),
            member_loss=expected[None] if keep_member_loss else None,
        )

    def slopes(self, rows: np.ndarray, proba: Floats, values: np.ndarray) -> Floats:
        """How means of values depend on the weights.

        Parameters
        ----------
        rows : ndarray of int of shape (n_rows,)
        proba : ndarray of shape (n_rows, n_nodes)
            Derivative of the probability of each node with respect to the mean.
        values : ndarray of shape (n_rows, n_nodes, n_values)

        Returns
        -------
        slopes : ndarray of shape (n_values, n_weights)
            Derivatives of the sums over the rows.
        """
        return np.einsum("nq,nqk->kn", proba, values) @ self._design[rows]


def _noise(design, gap, expected):
    """Most probable variance of the noise, with a prior around what is expected."""
    square, basis = np.linalg.eigh(design @ design.T)
    part = (basis.T @ gap) ** 2
    tried = expected * _TRIED
    total = np.maximum(square, 0.0) + tried[:, None]
    fit = (np.log(total) + part / total).sum(axis=1)
    prior = _PRIOR_LABELS * (np.log(tried) + expected / tried)
    return float(tried[np.argmin(fit + prior)])
