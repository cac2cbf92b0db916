"""Any classifier as a surrogate: members, calibrated, aligned to the classes."""

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from sklearn_ase._data._rows import plain_labels
from sklearn_ase.belief import CategoricalBelief, _kernels
from sklearn_ase.surrogate._base import BaseSurrogate
from sklearn_ase.surrogate._bootstrap import BootstrapClassifier
from sklearn_ase.surrogate._log_linear_stack import LogLinearStack
from sklearn_ase.surrogate._members import (
    final_step,
    has_members,
    is_bootstrapped,
    out_of_bag,
    predict_members,
)


class ClassifierSurrogate(BaseSurrogate):
    """A classifier made ready to serve as surrogate.

    Forests and bagging give their members; an object with
    ``predict_proba_members(X)`` of shape (n_members, n_samples, n_classes) is used as
    it is; a ``FrozenEstimator`` is used as it is and never refitted; any other
    classifier is wrapped in a :class:`BootstrapClassifier`.

    Parameters
    ----------
    estimator : classifier, default=None
        None means extremely randomised trees.
    n_members : int, default=20
        Members of the bootstrap ensemble around an estimator that has none.
    calibration : LogLinearStack, None or False, default=None
        Fitted at every refit on held-out predictions, out-of-bag ones where there
        are any and cross-fitted ones otherwise. None means ``LogLinearStack()``,
        but nothing for objects with ``predict_proba_members`` that are not fitted on
        bootstrap samples; False means nothing.
    pool_weight : float, default=1.0
        Weight of an acquired row against a training row when the estimator is fitted.
    rows_per_acquired : float, default=50
        In the calibration an acquired row weighs as much as
        ``n_training / rows_per_acquired`` training rows, at least as much as one.
    prior_mass : float, default=0.01
        A class that neither the surrogate nor the model has met gets the
        probability ``prior_mass / n_classes`` everywhere.
    cv : int, default=5
        Folds of the cross-fitting.
    min_rows : int, default=5
        Labelled rows needed for a fit.
    n_jobs : int, default=None
        For the bootstrap ensemble.

    Attributes
    ----------
    estimator_ : fitted classifier with members
    calibration_ : fitted calibration or None
    held_out_ : ndarray of shape (n_rows, n_classes) or None
        Probabilities at the rows of the fit by members that did not learn from them;
        None with a calibration.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn_ase.losses import LossTable
    >>> from sklearn_ase.surrogate import ClassifierSurrogate
    >>> X, y = load_iris(return_X_y=True)
    >>> surrogate = ClassifierSurrogate(RandomForestClassifier(20))
    >>> surrogate.fit(X, y, classes=[0, 1, 2]).predict_proba_members(X).shape
    (20, 150, 3)
    """

    task = "classification"
    belief_type = CategoricalBelief
    stratified = True

    def __init__(
        self,
        estimator=None,
        *,
        n_members=20,
        calibration=None,
        pool_weight=1.0,
        rows_per_acquired=50,
        prior_mass=0.01,
        cv=5,
        min_rows=5,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.n_members = n_members
        self.calibration = calibration
        self.pool_weight = pool_weight
        self.rows_per_acquired = rows_per_acquired
        self.prior_mass = prior_mass
        self.cv = cv
        self.min_rows = min_rows
        self.n_jobs = n_jobs

    @property
    def uses_out_of_fold(self):
        # Without calibration only members that did not learn from a row can be asked.
        held_out = is_bootstrapped(self.estimator) or not has_members(self.estimator)
        return self.uses_estimator or (held_out and not self.is_constant)

    def predict_proba(self, X, expert=None):
        """Calibrated probabilities, of shape (n_samples, n_classes)."""
        return self._calibrated(self._aligned_members(X).mean(axis=0), expert)

    def predict_proba_members(self, X, expert=None):
        """Probabilities by each member, tilted to average to the calibrated ones.

        Returns
        -------
        member_proba : ndarray of shape (n_members, n_samples, n_classes)
            Non-negative. The rows of a single member need not sum to 1; those of
            their mean do.
        """
        members = self._aligned_members(X)
        proba = self._calibrated(members.mean(axis=0), expert)
        return _kernels.tilted_members(members, proba)

    def _with_members(self, y):
        if len(np.unique(y)) == 1:  # Many classifiers refuse a single class.
            return BootstrapClassifier(DummyClassifier(), n_members=self.n_members)
        if has_members(self.estimator):
            return self.estimator
        return BootstrapClassifier(
            self.estimator, n_members=self.n_members, n_jobs=self.n_jobs
        )

    def _calibrate(self, X, y, classes, expert, known, fit_weight, weight, seed):
        if not 0 <= self.prior_mass < 1:
            raise ValueError(f"prior_mass={self.prior_mass} must be >= 0 and < 1.")
        self.classes_ = np.unique(y) if classes is None else np.asarray(classes)
        met = np.sort(plain_labels(self.estimator_.classes_))
        self.calibration_ = None
        calibration = self._chosen_calibration()
        if calibration is not None:
            held_out = self._held_out(X, y, fit_weight, seed, self._held_out_mean)
        else:
            held_out = None if self.is_constant else out_of_bag(self.estimator_, X)
        mean = None if held_out is None else self._align(held_out[0], met)
        if calibration is not None and mean is not None:
            rows = np.isfinite(mean).all(axis=1)
            self.calibration_ = calibration.fit(
                mean[rows],
                None if expert is None else expert[rows],
                np.searchsorted(self.classes_, y)[rows],
                None if weight is None else weight[rows],
                known,
            )
        if not self.is_constant:
            # A network has a column for classes that it has no row of.
            met = np.unique(y)
        met = np.isin(self.classes_, met)
        if self.calibration_ is not None and self.calibration_.blends_:
            met |= self.calibration_.known_
        self.met_ = met
        self.held_out_ = None
        # Calibration favours labels of the pool and need not fit training rows.
        if mean is not None and self.calibration_ is None:
            self.held_out_ = self._calibrated(mean, expert)

    def held_out_loss(self, rows, loss):
        if self.held_out_ is None:
            return None
        return _kernels.expected_loss(self.held_out_[rows], loss.values)

    def _chosen_calibration(self):
        if self.calibration is False or self.is_constant:
            return None
        if self.calibration is not None:
            return clone(self.calibration)
        last = final_step(self.estimator)
        if is_bootstrapped(last) or not hasattr(last, "predict_proba_members"):
            return LogLinearStack()
        return None

    def _held_out_mean(self, model, X):
        mean = predict_members(model, X).mean(axis=0)
        return (self._align(mean, model.classes_, np.sort(self.estimator_.classes_)),)

    def _align(self, proba, columns, classes=None):
        """Put the last axis in the order of `classes`, zero for the others."""
        classes = self.classes_ if classes is None else classes
        if np.array_equal(columns, classes):
            return np.asarray(proba, dtype=np.float64)
        aligned = np.zeros((*proba.shape[:-1], len(classes)))
        aligned[..., np.searchsorted(classes, columns)] = proba
        return aligned

    def _aligned_members(self, X):
        members = predict_members(self.estimator_, X)
        return self._align(members, self.estimator_.classes_)

    def _calibrated(self, mean, expert):
        proba = mean
        if self.calibration_ is not None:
            proba = self.calibration_.predict_proba(mean, expert)
        if self.met_.all():
            return proba
        prior = self.prior_mass / len(self.met_)
        proba = np.where(self.met_, proba, 0.0)
        rest = 1.0 - prior * np.sum(~self.met_)
        return np.where(
            self.met_, proba * (rest / proba.sum(axis=1, keepdims=True)), prior
        )

    def _chunk_belief(self, X, loss, expert, keep_member_loss):
        members = self._aligned_members(X)
        proba = self._calibrated(members.mean(axis=0), expert)
        return CategoricalBelief.from_members(members, loss, proba, keep_member_loss)
