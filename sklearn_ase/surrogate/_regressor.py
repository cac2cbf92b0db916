"""Any regressor as a surrogate: a calibrated Gaussian belief about the labels."""

import numpy as np
from sklearn.base import clone

from sklearn_ase._data._rows import n_rows
from sklearn_ase.belief import GaussianBelief
from sklearn_ase.surrogate._base import BaseSurrogate
from sklearn_ase.surrogate._bootstrap import BootstrapRegressor
from sklearn_ase.surrogate._gaussian_stack import GaussianStack
from sklearn_ase.surrogate._members import (
    final_step,
    has_members,
    has_std,
    predict_members,
)

# Noise variance is at least this share of the epistemic one, so that BALD is finite.
_LEAST_SHARE = 1e-6


class RegressorSurrogate(BaseSurrogate):
    """A regressor made ready to serve as surrogate.

    Forests and bagging give their members; a regressor whose ``predict`` takes
    ``return_std=True`` (Gaussian processes, Bayesian ridge) gives mean and variance;
    an object with ``predict_members(X)`` of shape (n_members, n_samples) is used as
    it is; a ``FrozenEstimator`` is never refitted; any other regressor is wrapped in
    a :class:`BootstrapRegressor`.

    Parameters
    ----------
    estimator : regressor, default=None
        None means extremely randomised trees.
    n_members : int, default=20
        Members of the bootstrap ensemble around an estimator that has none.
    calibration : GaussianStack, None or False, default=None
        Fitted at every refit on held-out predictions. None means ``GaussianStack()``.
        False takes mean and members as they are and only the noise variance from
        the held-out residuals.
    pool_weight : float, default=1.0
        Weight of an acquired row against a training row when the estimator is fitted.
    rows_per_acquired : float, default=50
        In the calibration an acquired row weighs as much as
        ``n_training / rows_per_acquired`` training rows, at least as much as one.
    cv : int, default=5
        Folds of the cross-fitting.
    min_rows : int, default=5
        Labelled rows needed for a fit.
    n_jobs : int, default=None
        For the bootstrap ensemble.

    Attributes
    ----------
    estimator_ : fitted regressor
    calibration_ : fitted calibration or None
    noise_ : float
        Variance of a label around its member's mean, before calibration.
    held_out_ : tuple of two ndarrays of shape (n_rows,) or None
        Mean and variance of the labels at the rows of the fit, by members that did not
        learn from them; None with a calibration.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import BayesianRidge
    >>> from sklearn_ase.losses import SquaredError
    >>> from sklearn_ase.surrogate import RegressorSurrogate
    >>> X, y = load_diabetes(return_X_y=True)
    >>> surrogate = RegressorSurrogate(BayesianRidge()).fit(X, y)
    >>> belief = surrogate.belief(X, SquaredError().build(y))
    >>> belief.mean.shape
    (442,)
    """

    task = "regression"
    belief_type = GaussianBelief

    def __init__(
        self,
        estimator=None,
        *,
        n_members=20,
        calibration=None,
        pool_weight=1.0,
        rows_per_acquired=50,
        cv=5,
        min_rows=5,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.n_members = n_members
        self.calibration = calibration
        self.pool_weight = pool_weight
        self.rows_per_acquired = rows_per_acquired
        self.cv = cv
        self.min_rows = min_rows
        self.n_jobs = n_jobs

    @property
    def gives_members(self):
        if has_members(self.estimator):
            return True
        return not (self.is_constant or has_std(self.estimator))

    def _with_members(self, y):
        if has_members(self.estimator) or has_std(self.estimator):
            return self.estimator
        return BootstrapRegressor(
            self.estimator, n_members=self.n_members, n_jobs=self.n_jobs
        )

    def _calibrate(self, X, y, classes, expert, known, fit_weight, weight, seed):
        self.calibration_, self.noise_, self.held_out_ = None, 0.0, None
        members = has_members(self.estimator_)
        if has_std(self.estimator_) and not members and n_rows(X):
            # The least variance at rows it knows is what labels themselves vary by.
            self.noise_ = float(self._moments(self.estimator_, X)[1].min())
        held_out = self._known_moments(X, y, fit_weight, seed)
        if held_out is None:
            if members or not has_std(self.estimator_):
                name = type(final_step(self.estimator)).__name__
                raise ValueError(
                    f"{name} says nothing of the noise of the labels, and there are no "
                    "rows to tell it from. Give X_train and y_train that it has not "
                    "learned from."
                )
            return
        rows = np.isfinite(held_out[0])
        weight = np.ones(len(y)) if weight is None else weight
        mean, epistemic = (part[rows] for part in held_out)
        y, weight = y[rows], weight[rows]
        calibration = self._chosen_calibration()
        if calibration is not None:
            known = None if expert is None else expert[rows]
            self.calibration_ = calibration.fit(mean, epistemic, known, y, weight)
        elif members or not has_std(self.estimator_):
            excess = np.average((y - mean) ** 2 - epistemic, weights=weight)
            self.noise_ = max(excess, _LEAST_SHARE * y.var(), np.finfo(float).tiny)
        # Calibration favours labels of the pool and need not fit training rows.
        if not self.is_constant and self.calibration_ is None:
            centre, *variances = self._calibrated(*held_out, expert)
            self.held_out_ = centre, sum(variances)

    def held_out_loss(self, rows, loss):
        if self.held_out_ is None:
            return None
        return loss.expected(*(part[rows] for part in self.held_out_))

    def _chosen_calibration(self):
        if self.calibration is False or self.is_constant:
            return None
        return GaussianStack() if self.calibration is None else clone(self.calibration)

    def _known_moments(self, X, y, fit_weight, seed):
        if not self.is_constant:
            return self._held_out(X, y, fit_weight, seed, self._moments)
        return self._moments(self.estimator_, X) if n_rows(X) else None

    def _moments(self, model, X):
        """Mean and epistemic variance of the labels under the fitted model."""
        if has_members(model):
            members = predict_members(model, X)
            return members.mean(axis=0), members.var(axis=0)
        if not has_std(model):
            return np.ravel(model.predict(X)), np.zeros(n_rows(X))
        mean, deviation = model.predict(X, return_std=True)
        return np.ravel(mean), np.maximum(np.ravel(deviation) ** 2 - self.noise_, 0.0)

    def _calibrated(self, mean, epistemic, expert):
        """Mean of the labels and the two kinds of their variance."""
        noise = np.full(len(mean), self.noise_)
        if self.calibration_ is not None:
            mean, epistemic, noise = self.calibration_.predict(mean, epistemic, expert)
        least = _LEAST_SHARE * epistemic + np.finfo(float).tiny
        return mean, epistemic, np.maximum(noise, least)

    def _chunk_belief(self, X, loss, expert, keep_member_loss):
        members = None
        if has_members(self.estimator_):
            members = predict_members(self.estimator_, X)
            mean, raw = members.mean(axis=0), members.var(axis=0)
        else:
            mean, raw = self._moments(self.estimator_, X)
        centre, epistemic, noise = self._calibrated(mean, raw, expert)
        if members is None:
            return GaussianBelief(centre, epistemic, noise, member_risk=np.empty(0))
        # Members move with the mean and spread as the calibrated variance says.
        scale = np.sqrt(np.divide(epistemic, raw, out=np.ones_like(raw), where=raw > 0))
        members = centre + scale * (members - mean)
        return GaussianBelief.from_members(members, noise, loss, keep_member_loss)
