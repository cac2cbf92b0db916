"""A surrogate that believes what several models vote for."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import softmax

from sklearn_ase._data._class_columns import align_columns
from sklearn_ase._data._rows import n_rows
from sklearn_ase._utils._typing import Floats, Rows
from sklearn_ase.belief._either import Belief
from sklearn_ase.surrogate._base import BaseSurrogate
from sklearn_ase.surrogate._conditional_logit import exchangeable_precision, fit_logit
from sklearn_ase.surrogate._stack_belief import VoteBelief

if TYPE_CHECKING:
    from sklearn_ase.losses._pool_loss import LossTable
    from sklearn_ase.surrogate._feature_expert import FeatureExpert

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
