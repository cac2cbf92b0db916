"""A surrogate that weighs what experts say about numeric labels."""

from __future__ import annotations

import numpy as np

from sklearn_ase._utils._typing import Estimator
from sklearn_ase.belief import GaussianBelief
from sklearn_ase.surrogate._expert_base import BaseExpertSurrogate
from sklearn_ase.surrogate._expert_blocks import WeightsBefore
from sklearn_ase.surrogate._regressor import RegressorSurrogate

# All in units of the spread of the labels.
_BEFORE = WeightsBefore(
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
    _weights_before = _BEFORE

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
    """Linear regression with a normal prior and the most probable noise.

    Returns
    -------
    weights, covariance, noise
        Of the fit.
    centre, variance, density : ndarray of shape (n_rows,)
        Mean, variance and log-density of each label as if it had not been in the fit.
    """
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
