"""A surrogate that believes in a weighted mean of the predictions of several models."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._data._rows import n_rows
from sklearn_ase._utils._typing import Floats, Rows
from sklearn_ase.belief._either import Belief
from sklearn_ase.surrogate._base import BaseSurrogate
from sklearn_ase.surrogate._stack_belief import PredictionBelief

if TYPE_CHECKING:
    from sklearn_ase.losses._pool_loss import PointLoss
    from sklearn_ase.surrogate._feature_expert import FeatureExpert

# Standard deviation of the weight of each model around an equal share, of the scale of
# their mean, and of the offset in units of the spread of that mean.
_WEIGHT, _SCALE, _OFFSET = 0.5, 0.2, 0.5
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
            _OFFSET * (spread + between) ** 0.5,
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
