"""Any classifier as a surrogate: calibrated probabilities by several members."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.utils import gen_batches

from sklearn_ase._data._predictions import align_columns, check_class_columns
from sklearn_ase._data._rows import plain_labels
from sklearn_ase._utils._checks import check_number
from sklearn_ase._utils._estimators import last_step
from sklearn_ase._utils._typing import Estimator, Floats, Rows
from sklearn_ase.belief import CategoricalBelief, TrainingWorth, _kernels
from sklearn_ase.surrogate._estimator import EstimatorSurrogate, take_columns
from sklearn_ase.surrogate._log_linear_stack import LogLinearStack
from sklearn_ase.surrogate._members import (
    BootstrapClassifier,
    ForestLeaves,
    has_members,
    is_bootstrapped,
    mean_and_belief,
    out_of_bag,
    predict_members,
)

if TYPE_CHECKING:
    from sklearn_ase.losses._base import LossTable

# Probabilities that are calibrated at a time: few enough for the cache.
_BLOCK_NUMBERS = 2**14


class ClassifierSurrogate(EstimatorSurrogate):
    """Surrogate made of any classifier.

    Forests and bagging have members already. An object with
    ``predict_proba_members(X)`` of shape (n_members, n_samples, n_classes) is used as
    it is. A ``FrozenEstimator`` is used as it is and never refitted. Any other
    classifier is wrapped in a :class:`BootstrapClassifier`.

    Parameters
    ----------
    estimator : classifier, default=None
        None means extremely randomised trees.
    n_members : int, default=20
        Number of members of the bootstrap ensemble for an estimator without members.
    calibration : "auto", None or LogLinearStack, default="auto"
        Corrects the probabilities. It is fitted at every refit, on predictions for
        rows that were held out: out-of-bag if the members learn from bootstrap
        samples, cross-fitted otherwise. ``"auto"`` is ``LogLinearStack()``, but no
        calibration for an object with ``predict_proba_members`` whose members do not
        learn from bootstrap samples. None means no calibration.
    pool_weight : float, default=1.0
        Weight of an acquired row in the fit of the estimator; a training row has
        weight 1.
    rows_per_acquired : float, default=50
        For the total probability of classes that the model under test does not know,
        all training rows together weigh no more than this number of acquired rows:
        training rows lack these classes.
    prior_mass : float, default=0.01
        A class that neither the surrogate nor the model under test has seen gets the
        probability ``prior_mass / n_classes`` everywhere.
    cv : int, default=5
        Number of folds of the cross-fitting.
    min_rows : int, default=5
        Number of labelled rows that are needed for a fit.
    n_jobs : int, default=None
        Number of jobs of the bootstrap ensemble, and of threads that go through the
        pool. None means 1, or what ``joblib.parallel_config`` says.

    Attributes
    ----------
    estimator_ : fitted classifier
        With members if possible.
    calibration_ : fitted calibration or None
    classes_ : ndarray of shape (n_classes,)
        All possible labels, sorted.
    seen_classes_ : ndarray of shape (n_classes,), dtype bool
        Classes with a labelled row, or that the model under test knows if the
        calibration uses it.
    held_out_ : ndarray of shape (n_rows, n_classes) or None
        Probabilities at the rows of the fit, by members that did not learn from them.
        None with a calibration.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn_ase.surrogate import ClassifierSurrogate
    >>> X, y = load_iris(return_X_y=True)
    >>> surrogate = ClassifierSurrogate(RandomForestClassifier(20))
    >>> surrogate.fit(X, y, classes=[0, 1, 2]).predict_proba_members(X).shape
    (20, 150, 3)
    """

    task = "classification"
    _belief_type = CategoricalBelief
    _stratified = True

    def __init__(
        self,
        estimator: Estimator | None = None,
        *,
        n_members: int = 20,
        calibration: LogLinearStack | Literal["auto"] | None = "auto",
        pool_weight: float = 1.0,
        rows_per_acquired: float = 50,
        prior_mass: float = 0.01,
        cv: int = 5,
        min_rows: int = 5,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            estimator,
            n_members=n_members,
            calibration=calibration,
            pool_weight=pool_weight,
            rows_per_acquired=rows_per_acquired,
            cv=cv,
            min_rows=min_rows,
            n_jobs=n_jobs,
        )
        self.prior_mass = prior_mass

    def validate(self) -> None:
        super().validate()
        check_number(self.prior_mass, "prior_mass", 0, 1, ends="[)")

    @property
    def uses_out_of_fold(self) -> bool:
        # Without calibration they are compared with out-of-bag predictions, if any.
        held_out = is_bootstrapped(self.estimator) or not has_members(self.estimator)
        return self.uses_estimator or (held_out and not self.is_constant)

    def predict_proba(self, X: Rows, expert: Floats | None = None) -> Floats:
        """Return calibrated probabilities, of shape (n_samples, n_classes)."""
        mean = self._aligned_members(X).mean(axis=0)
        return self._calibrated(mean, expert, self._shift_at(X))

    def predict_proba_members(self, X: Rows, expert: Floats | None = None) -> Floats:
        """Return probabilities by each member; their mean is calibrated.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
        expert : ndarray of shape (n_samples, n_classes), default=None
            Probabilities of the model under test.

        Returns
        -------
        member_proba : ndarray of shape (n_members, n_samples, n_classes)
            Non-negative. The rows of their mean sum to 1; those of a single member
            need not.
        """
        members = self._aligned_members(X)
        proba = self._calibrated(members.mean(axis=0), expert, self._shift_at(X))
        return _kernels.tilted_members(members, proba)

    def held_out_loss(self, rows: np.ndarray, loss: LossTable) -> Floats | None:
        if self.held_out_ is None:
            return None
        return _kernels.expected_loss(self.held_out_[rows], loss.values)

    def _with_members(self, y):
        if len(np.unique(y)) == 1:  # Many classifiers refuse a single class.
            return BootstrapClassifier(DummyClassifier(), n_members=self.n_members)
        if has_members(self.estimator):
            return self.estimator
        return BootstrapClassifier(
            self.estimator, n_members=self.n_members, n_jobs=self.n_jobs
        )

    def _auto_calibration(self):
        last = last_step(self.estimator)
        if is_bootstrapped(last) or not hasattr(last, "predict_proba_members"):
            return LogLinearStack()
        return None  # Cross-fitting such an ensemble would take `cv` more fits of it.

    def _calibrate(self, rows, calibration, seed):
        classes = np.unique(rows.y) if rows.classes is None else rows.classes
        self.classes_ = np.asarray(classes)
        check_class_columns(self.estimator_.classes_, self.classes_)
        self._leaves = ForestLeaves.of(self.estimator_, self.classes_)
        self.calibration_ = self.held_out_ = None
        mean = self._held_out_proba(rows, seed, calibration)
        if mean is not None and calibration is not None:
            self.calibration_ = self._fit_calibration(calibration, mean, rows)
        self.seen_classes_ = self._seen_classes(rows.y)
        # Not with a calibration: it favours rows of the pool and need not fit others.
        if mean is not None and self.calibration_ is None:
            self.held_out_ = self._with_prior(mean)

    def _held_out_proba(self, rows, seed, calibration):
        """Return probabilities of shape (n_rows, n_classes), or None."""
        if self.is_constant:
            return None
        mean = None if self._leaves is None else self._leaves.out_of_bag(rows.X)
        if mean is not None:
            return mean
        if calibration is None:  # Cross-fitting is worth its time for calibration only.
            held_out = out_of_bag(self.estimator_, rows.X)
        else:
            held_out = self._held_out(rows, seed, self._mean_proba)
        if held_out is None:
            return None
        return align_columns(held_out[0], self.estimator_.classes_, self.classes_)

    def _mean_proba(self, model, X):
        # A fold may lack a class that the whole has.
        mean = predict_members(model, X).mean(axis=0)
        return (align_columns(mean, model.classes_, self.estimator_.classes_),)

    def _fit_calibration(self, calibration, mean, rows):
        columns = {
            "proba": mean,
            "expert": rows.expert,
            "codes": np.searchsorted(self.classes_, rows.y),
            "weight": rows.weight(self.rows_per_acquired, rows.labels_are_drawn),
            "shift": self._shift_at(rows.X),
        }
        held_out = np.isfinite(mean).all(axis=1)
        self._keep_acquired(columns, held_out, rows)
        return calibration.fit(
            **take_columns(columns, held_out),
            model_classes=rows.model_classes,
            is_acquired=rows.is_acquired[held_out],
            by_evidence=rows.labels_are_drawn,
        )

    def _columns_at(self, belief, rows, y, expert):
        codes = np.searchsorted(self.classes_, y)
        pool = {"proba": belief.uncalibrated, "expert": expert, "shift": belief.shift}
        new = {"codes": codes, "weight": np.ones(len(codes))}
        return take_columns(pool, rows) | new

    def _recalibrated(self, belief, loss, expert):
        proba, worth = self._with_worth(
            belief.uncalibrated, loss, expert=expert, shift=belief.shift
        )
        return belief.recalibrated(proba, worth)

    def _seen_classes(self, y):
        # Labels, not columns: a network may have a column for a class without a row.
        labels = self.estimator_.classes_ if self.is_constant else y
        seen = np.isin(self.classes_, plain_labels(labels))
        if self.calibration_ is not None and self.calibration_.uses_model_:
            seen |= self.calibration_.model_classes_
        return seen

    def _aligned_members(self, X):
        members = predict_members(self.estimator_, X)
        return align_columns(members, self.estimator_.classes_, self.classes_)

    def _calibrated(self, mean, expert, shift):
        """Return the calibrated mean, with the prior mass for unseen classes."""
        if self.calibration_ is not None:
            mean = self.calibration_.predict_proba(mean, expert, shift)
        return self._with_prior(mean)

    def _with_prior(self, proba):
        seen = self.seen_classes_
        if seen.all():
            return proba
        prior = self.prior_mass / len(seen)
        proba = np.where(seen, proba, 0.0)
        rest = 1.0 - prior * np.sum(~seen)
        return np.where(seen, proba * (rest / proba.sum(axis=-1, keepdims=True)), prior)

    def _numbers_per_row(self, X):
        if self._leaves is None:
            return super()._numbers_per_row(X)
        return self._leaves.n_trees + 3 * self._leaves.n_classes

    def _members_at(self, X):
        """Members as the belief is made of them: an array, a tensor, or leaves."""
        return self._aligned_members(X) if self._leaves is None else self._leaves.at(X)

    def _chunk_belief(self, X, loss, *, expert, shift, keep_member_loss):
        mean, reduce = mean_and_belief(self._members_at(X))
        if self.calibration_ is None:
            return reduce(loss, self._with_prior(mean), keep_member_loss)
        proba, worth = self._with_worth(mean, loss, expert=expert, shift=shift)
        belief = reduce(loss, proba, keep_member_loss)
        return replace(belief, training_worth=worth, uncalibrated=mean, shift=shift)

    def _with_worth(self, mean, loss, *, expert, shift):
        """Calibrated mean, and the risk for each hypothesis about training rows."""
        calibration, (n_samples, n_classes) = self.calibration_, mean.shape
        columns = {"proba": mean, "expert": expert, "shift": shift}
        proba, risk = np.empty((n_samples, n_classes)), 0.0
        for rows in gen_batches(n_samples, max(1, _BLOCK_NUMBERS // n_classes)):
            by_hypothesis = self._with_prior(
                calibration.predict_proba_each(**take_columns(columns, rows))
            )
            flat = by_hypothesis.swapaxes(1, 2).reshape(len(by_hypothesis), -1)
            proba[rows] = (calibration.shares_ @ flat).reshape(n_classes, -1).T
            risk = risk + flat @ loss.values[rows].T.ravel()
        worth = TrainingWorth(
            calibration.worths_, calibration.shares_, risk / n_samples
        )
        return proba, worth
