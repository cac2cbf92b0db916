"""A surrogate that weighs what experts say about class labels."""

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax
from sklearn.utils import gen_batches

from sklearn_ase._data._class_columns import align_columns
from sklearn_ase.belief import CategoricalBelief
from sklearn_ase.surrogate._classifier import ClassifierSurrogate
from sklearn_ase.surrogate._conditional_logit import (
    exchangeable_precision,
    fit_logit,
    left_out_proba,
)
from sklearn_ase.surrogate._expert_base import BaseExpertSurrogate

# Weights of experts before labels are seen: mean and standard deviation of their sum,
# standard deviation of each from the mean.
_ONE_EXPERT, _EXPERTS, _OF_SUM, _OF_EACH = 1.5, 2.0, 1.0, 0.7
# Mean and standard deviation of the exponents of the model under test and of the
# estimator on features.
_MODEL, _LEARNED = (0.6, 0.3), (0.5, 0.5)
# Standard deviation of the offset of a class, and of the weights of features.
_OFFSET, _FEATURE = 1.0, 0.3
# Prior probability of each stack; those that cannot be made are left out.
_PRIOR = {"experts": 0.5, "features": 0.25, "learned": 0.25}
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

    def __init__(self, estimator=None, n_components=8):
        self.estimator = estimator
        self.n_components = n_components

    def left_out(self):
        return (self._left_out,)

    def _wrapped(self, estimator):
        return ClassifierSurrogate(estimator, calibration=None)

    def _start(self, classes, y):
        self.classes_ = np.asarray(classes)

    def _aligned(self, values, model):
        return np.array(align_columns(values, model.classes_, self.classes_))

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
        prior = np.log([[_PRIOR[each.kind]] for each in self._fitted])
        total = logs.sum(axis=1, keepdims=True) + prior
        shares = softmax(total, axis=0)[:, 0]
        # Without its own label a row has other shares, too.
        without = softmax(total - logs, axis=0)
        left_out = np.array([each.left_out for each in self._fitted])
        self._left_out = np.einsum("kn,knc->nc", without, left_out)
        self._shares = shares
        self.shares_ = {
            each.kind: float(share)
            for each, share in zip(self._fitted, shares, strict=True)
        }
        n_experts = 0 if blocks.experts is None else blocks.experts.shape[1]
        weights = [each.weights[:n_experts] for each in self._fitted]
        self.weights_ = shares @ np.array(weights)

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

    def _kinds(self, blocks):
        kinds = ["experts"]
        kinds += ["features"] if blocks.linear is not None else []
        kinds += ["learned"] if blocks.learned is not None else []
        return kinds

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

    def _prior(self, kind, blocks):
        """Mean and precision of the weights."""
        n_classes = len(self.classes_)
        n_experts = 0 if blocks.experts is None else blocks.experts.shape[1]
        total = _ONE_EXPERT if n_experts == 1 else _EXPERTS
        mean = [total / max(n_experts, 1)] * n_experts + [0.0] * n_classes
        scale = [_OFFSET] * n_classes
        if blocks.model is not None:
            mean, scale = mean + [_MODEL[0]], scale + [_MODEL[1]]
        if kind == "learned":
            mean, scale = mean + [_LEARNED[0]], scale + [_LEARNED[1]]
        if kind == "features":
            n_linear = blocks.linear.shape[1]
            n_more = n_linear * (n_classes + (n_experts > 0))
            mean, scale = mean + [0.0] * n_more, scale + [_FEATURE] * n_more
        precision = np.zeros((len(mean), len(mean)))
        if n_experts:
            precision[:n_experts, :n_experts] = exchangeable_precision(
                n_experts, _OF_SUM, _OF_EACH
            )
        place = np.arange(n_experts, len(mean))
        precision[place, place] = np.array(scale) ** -2.0
        return np.array(mean), precision


def _logs(proba, kind):
    """Logarithms of smoothed probabilities, of shape (n_rows, n_classes, 1)."""
    least = _LEAST_PROBA[kind]
    n_classes = proba.shape[1]
    return np.log((proba + least) / (1.0 + least * n_classes))[:, :, None]
