"""Any regressor as a surrogate: a calibrated Gaussian belief about the labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sklearn_ase._data._rows import n_rows
from sklearn_ase._inference._tails import tail_shape
from sklearn_ase._utils._estimators import last_step
from sklearn_ase._utils._typing import Floats
from sklearn_ase.belief import GaussianBelief, TrainingWorth
from sklearn_ase.losses import PointLoss
from sklearn_ase.losses._base import BaseLoss
from sklearn_ase.surrogate._estimator import EstimatorSurrogate, take_columns
from sklearn_ase.surrogate._gaussian_stack import GaussianStack
from sklearn_ase.surrogate._members import (
    BootstrapRegressor,
    has_members,
    has_std,
    predict_members,
)

# The noise variance is at least this share of the variance between the members:
# without noise a label would tell infinitely much about the members.
_LEAST_SHARE = 1e-6


class RegressorSurrogate(EstimatorSurrogate):
    """Surrogate made of any regressor.

    Forests and bagging have members already. A regressor whose ``predict`` takes
    ``return_std=True`` (Gaussian processes, Bayesian ridge) gives mean and variance.
    An object with ``predict_members(X)`` of shape (n_members, n_samples) is used as it
    is. A ``FrozenEstimator`` is never refitted. Any other regressor is wrapped in a
    :class:`BootstrapRegressor`.

    Parameters
    ----------
    estimator : regressor, default=None
        None means extremely randomised trees.
    n_members : int, default=20
        Number of members of the bootstrap ensemble for an estimator without members.
    calibration : "auto", None or GaussianStack, default="auto"
        Corrects mean and variance. It is fitted at every refit, on predictions for
        rows that were held out: out-of-bag if the members learn from bootstrap
        samples, cross-fitted otherwise. ``"auto"`` is ``GaussianStack()``. None is no
        calibration; only the noise variance is then learned from held-out residuals.
    pool_weight : float, default=1.0
        Weight of an acquired row in the fit of the estimator; a training row has
        weight 1.
    rows_per_acquired : float, default=50
        Without a calibration, all training rows together weigh no more than this
        number of acquired rows for the noise variance.
    cv : int, default=5
        Number of folds of the cross-fitting.
    min_rows : int, default=5
        Number of labelled rows that are needed for a fit.
    n_jobs : int, default=None
        Number of jobs of the bootstrap ensemble, and of threads that go through the
        pool. None means 1, or what ``joblib.parallel_config`` says.

    Attributes
    ----------
    estimator_ : fitted regressor
    calibration_ : fitted calibration or None
    noise_ : float
        Variance of a label around the mean of its member, before calibration.
    held_out_ : tuple of two ndarrays of shape (n_rows,) or None
        Mean and variance of the labels at the rows of the fit, by members that did not
        learn from them. None if no row was held out.

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
    _belief_type = GaussianBelief

    @property
    def gives_members(self) -> bool:
        if has_members(self.estimator):
            return True
        return not (self.is_constant or has_std(self.estimator))

    def held_out_loss(self, rows: np.ndarray, loss: PointLoss) -> Floats | None:
        if self.held_out_ is None:
            return None
        return loss.expected(*(part[rows] for part in self.held_out_))

    def training_tail(self, loss: BaseLoss) -> float:
        if self.held_out_ is None:
            return np.nan
        rows = self._is_training
        mean, variance = (part[rows] for part in self.held_out_)
        at_mean = PointLoss(loss, mean)
        observed = at_mean.observed(np.arange(len(mean)), self._y[rows])
        return tail_shape(observed / at_mean.expected(mean, variance))

    def _with_members(self, y):
        if has_members(self.estimator) or has_std(self.estimator):
            return self.estimator
        return BootstrapRegressor(
            self.estimator, n_members=self.n_members, n_jobs=self.n_jobs
        )

    def _auto_calibration(self):
        return GaussianStack()

    def _calibrate(self, rows, calibration, seed):
        self.calibration_, self.noise_, self.held_out_ = None, 0.0, None
        knows_noise = has_std(self.estimator_) and not has_members(self.estimator_)
        if knows_noise and rows.n_rows:
            # Near its training rows the regressor is sure of the mean: the variance
            # that is left there is the noise of the labels.
            self.noise_ = float(self._moments(self.estimator_, rows.X)[1].min())
        held_out = self._held_out_moments(rows, seed)
        if held_out is not None:
            self._fit_calibration(calibration, held_out, rows, knows_noise)
        elif not knows_noise:
            name = type(last_step(self.estimator)).__name__
            raise ValueError(
                f"{name} does not predict the noise of the labels, and there are no "
                "rows to learn it from. Give X_train and y_train that it has not "
                "learned from."
            )

    def _fit_calibration(self, calibration, held_out, rows, knows_noise):
        """Fit the calibration; without one, learn the noise variance."""
        mean, epistemic = held_out
        used = np.isfinite(mean)
        if calibration is not None:
            columns = {
                "mean": mean,
                "variance": epistemic,
                "expert": rows.expert,
                "y": rows.y,
                "shift": self._shift_at(rows.X),
            }
            self._keep_acquired(columns, used, rows)
            self.calibration_ = calibration.fit(
                **take_columns(columns, used),
                is_acquired=rows.is_acquired[used],
                by_evidence=rows.labels_are_drawn,
            )
        elif not knows_noise:
            # What the residuals vary more than the members do is noise.
            excess = np.average(
                ((rows.y - mean) ** 2 - epistemic)[used],
                weights=rows.weight(self.rows_per_acquired, True)[used],
            )
            least = _LEAST_SHARE * rows.y[used].var()
            self.noise_ = max(excess, least, np.finfo(float).tiny)
        if not self.is_constant:
            expert = rows.expert
            if expert is not None:  # Without a prediction the surrogate stands alone.
                expert = np.where(np.isfinite(expert), expert, mean)
            centre, *variances = self._calibrated(
                mean, epistemic, expert=expert, shift=None
            )
            self.held_out_ = centre, sum(variances)
            self._is_training, self._y = used & ~rows.is_acquired, rows.y

    def _held_out_moments(self, rows, seed):
        if not self.is_constant:
            return self._held_out(rows, seed, self._moments)
        # A frozen regressor is taken not to have learned from these rows.
        return self._moments(self.estimator_, rows.X) if rows.n_rows else None

    def _moments(self, model, X):
        """Return mean and epistemic variance of the labels, each (n_samples,)."""
        if has_members(model):
            members = predict_members(model, X)
            return members.mean(axis=0), members.var(axis=0)
        if not has_std(model):
            return np.ravel(model.predict(X)), np.zeros(n_rows(X))
        mean, deviation = model.predict(X, return_std=True)
        return np.ravel(mean), np.maximum(np.ravel(deviation) ** 2 - self.noise_, 0.0)

    def _columns_at(self, belief, rows, y, expert):
        mean, variance = belief.uncalibrated.T
        pool = {"mean": mean, "variance": variance, "expert": expert}
        pool["shift"] = belief.shift
        return take_columns(pool, rows) | {"y": np.asarray(y, dtype=float)}

    def _recalibrated(self, belief, loss, expert):
        raw_mean, variance = belief.uncalibrated.T
        about = {"expert": expert, "shift": belief.shift}
        mean, epistemic, noise = self._calibrated(raw_mean, variance, **about)
        belief = replace(belief, mean=mean, epistemic=epistemic, noise=noise)
        return self._with_risks(belief, loss, raw_mean, variance, **about)

    def _calibrated(self, mean, epistemic, *, expert, shift):
        """Return mean, epistemic variance and noise variance, each (n_samples,)."""
        noise = np.full(len(mean), self.noise_)
        if self.calibration_ is not None:
            mean, epistemic, noise = self.calibration_.predict(
                mean, epistemic, expert, shift
            )
        least = _LEAST_SHARE * epistemic + np.finfo(float).tiny
        return mean, epistemic, np.maximum(noise, least)

    def _chunk_belief(self, X, loss, *, expert, shift, keep_member_loss):
        about = {"expert": expert, "shift": shift}
        if not has_members(self.estimator_):
            mean, raw = self._moments(self.estimator_, X)
            centre, epistemic, noise = self._calibrated(mean, raw, **about)
            belief = GaussianBelief(centre, epistemic, noise, member_risk=np.empty(0))
            return self._with_risks(belief, loss, mean, raw, **about)
        members = predict_members(self.estimator_, X)
        mean, raw = members.mean(axis=0), members.var(axis=0)
        centre, epistemic, noise = self._calibrated(mean, raw, **about)
        # Members move with the mean and spread as the calibrated variance says.
        scale = np.sqrt(np.divide(epistemic, raw, out=np.ones_like(raw), where=raw > 0))
        members = centre + scale * (members - mean)
        belief = GaussianBelief.from_members(members, noise, loss, keep_member_loss)
        return self._with_risks(belief, loss, mean, raw, **about)

    def _with_risks(self, belief, loss, mean, variance, *, expert, shift):
        """The belief with the risk for each hypothesis about the training rows."""
        if self.calibration_ is None:
            return belief
        calibration = self.calibration_
        means, variances = calibration.predict_each(mean, variance, expert, shift)
        pairs = zip(means, variances, strict=True)
        risks = [loss.expected(*moments).mean() for moments in pairs]
        worth = TrainingWorth(calibration.worths_, calibration.shares_, np.array(risks))
        return replace(
            belief,
            training_worth=worth,
            uncalibrated=np.column_stack([mean, variance]),
            shift=shift,
        )
