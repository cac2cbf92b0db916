"""A surrogate that weighs what experts say about class labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax
from sklearn.utils import gen_batches

from sklearn_ase._utils._typing import Estimator
from sklearn_ase.belief import CategoricalBelief
from sklearn_ase.surrogate._classifier import ClassifierSurrogate
from sklearn_ase.surrogate._conditional_logit import fit_logit, left_out_proba
from sklearn_ase.surrogate._expert_base import BaseExpertSurrogate
from sklearn_ase.surrogate._expert_blocks import WeightsBefore

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
        """What each weight adds to the score of each class.

        Returns
        -------
        design : ndarray of shape (n_rows, n_classes, n_weights)
        """
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
