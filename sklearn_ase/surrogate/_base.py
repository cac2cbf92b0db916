"""What classifier and regressor surrogates share: fitting on weighted, seeded rows."""

from abc import ABCMeta, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import gen_batches
from sklearn.utils.validation import has_fit_parameter

from sklearn_ase._data._cross_fitting import cross_fitted
from sklearn_ase._data._rows import n_rows, take_rows
from sklearn_ase._utils._seeding import fit_seeded
from sklearn_ase.surrogate._members import has_members, out_of_bag, predict_members

# Numbers of one chunk of members: 8 MB, and about twice that while it is reduced.
_CHUNK_NUMBERS = 2**20


class BaseSurrogate(BaseEstimator, metaclass=ABCMeta):
    """Base class of the surrogates: ``fit`` on labelled rows, ``belief`` on a pool."""

    belief_type = None
    stratified = False

    @property
    def is_constant(self):
        """Whether the surrogate is frozen: never refitted, never recalibrated."""
        return isinstance(self.estimator, FrozenEstimator)

    @property
    def uses_estimator(self):
        """Whether the calibration blends the model under test in."""
        calibration = self._chosen_calibration()
        return calibration is not None and calibration.use_estimator

    @property
    def is_calibrated(self):
        """Whether its last fit was calibrated on held-out predictions."""
        return getattr(self, "calibration_", None) is not None

    @property
    def uses_out_of_fold(self):
        """Whether the model's word on rows it has not learned from is of use."""
        return not self.is_constant

    @property
    def gives_members(self):
        """Whether it has several members, of its own or by bootstrap."""
        return not self.is_constant or has_members(self.estimator)

    @property
    def frozen_classes(self):
        """Classes of a frozen classifier; None for anything else."""
        return getattr(self.estimator, "classes_", None) if self.is_constant else None

    def can_fit(self, n_labelled):
        """Whether that many labelled rows are enough for a fit."""
        return self.is_constant or n_labelled >= self.min_rows

    def fit(
        self,
        X,
        y,
        *,
        classes=None,
        expert=None,
        model_classes=None,
        n_acquired=0,
        seed=0,
    ):
        """Fit and calibrate the surrogate.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features)
            Training rows first, acquired rows last.
        y : ndarray of shape (n_rows,)
        classes : ndarray of shape (n_classes,), default=None
            All labels there may be, sorted (classification).
        expert : ndarray of shape (n_rows, n_classes) or (n_rows,), default=None
            Predictions of the model under test, honest ones: NaN for rows it
            learned from.
        model_classes : ndarray of shape (n_classes,), dtype bool, default=None
            Classes the model under test knows.
        n_acquired : int, default=0
            How many of the last rows were acquired from the pool.
        seed : int, default=0

        Returns
        -------
        self : object
        """
        fit_weight = self._tail_weight(n_rows(X), n_acquired, self.pool_weight)
        if self.is_constant:
            self.estimator_ = self.estimator
        else:
            self.estimator_ = self._fit_rows(X, y, fit_weight, seed)
        n_training = n_rows(X) - n_acquired
        # Acquired rows are few and from the right population: together they count
        # at least as much as this many rows out of the training set.
        emphasis = max(1.0, n_training / self.rows_per_acquired)
        weight = self._tail_weight(n_rows(X), n_acquired, emphasis)
        self._calibrate(X, y, classes, expert, model_classes, fit_weight, weight, seed)
        return self

    def belief(self, X, loss, expert=None, keep_member_loss=False):
        """What the surrogate believes about the labels of X.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
        loss : LossTable or PointLoss
        expert : ndarray of shape (n_samples, n_classes) or (n_samples,), default=None
            Predictions of the model under test.
        keep_member_loss : bool, default=False

        Returns
        -------
        belief : CategoricalBelief or GaussianBelief
        """
        n_samples = n_rows(X)
        numbers = predict_members(self.estimator_, take_rows(X, slice(0, 1))).size
        size = max(1, min(n_samples, _CHUNK_NUMBERS // numbers))
        chunks = (
            self._chunk_belief(
                take_rows(X, rows),
                loss.take(rows),
                None if expert is None else expert[rows],
                keep_member_loss,
            )
            for rows in gen_batches(n_samples, size)
        )
        return self.belief_type.concatenate(chunks, n_samples)

    def _fit_rows(self, X, y, weight, seed):
        """The estimator, with members, fitted on these rows."""
        model = self._with_members(y)
        if weight is None:
            return fit_seeded(model, seed, X, y)
        last = model[-1] if isinstance(model, Pipeline) else model
        if not has_fit_parameter(last, "sample_weight"):
            raise ValueError(
                f"pool_weight={self.pool_weight} weighs acquired rows against training "
                f"rows, but {type(last).__name__}.fit takes no sample_weight. Use "
                "pool_weight=1 or another surrogate."
            )
        step = f"{model.steps[-1][0]}__" if isinstance(model, Pipeline) else ""
        return fit_seeded(model, seed, X, y, **{f"{step}sample_weight": weight})

    def _held_out(self, X, y, fit_weight, seed, predict):
        """Predictions for each row by members that did not learn from it.

        Out-of-bag where the members are bootstrap samples, else cross-fitted;
        None where there are too few rows for either.
        """
        found = out_of_bag(self.estimator_, X)
        if found is not None:
            return found

        def fit(rows, seed):
            weight = None if fit_weight is None else fit_weight[rows]
            return self._fit_rows(take_rows(X, rows), y[rows], weight, seed)

        return cross_fitted(
            fit,
            predict,
            X,
            y,
            self.cv,
            seed,
            self.stratified,
        )

    @staticmethod
    def _tail_weight(n, n_tail, value):
        if value == 1.0 or n_tail == 0 or n_tail == n:
            return None
        return np.repeat([1.0, float(value)], [n - n_tail, n_tail])

    @abstractmethod
    def _with_members(self, y):
        """The estimator to fit on these labels, wrapped if it has no members."""

    @abstractmethod
    def _chosen_calibration(self):
        """A fresh calibration, or None for members as they are."""

    @abstractmethod
    def held_out_loss(self, rows, loss):
        """Loss expected at rows of the fit by members that did not learn from them.

        Parameters
        ----------
        rows : ndarray of int
        loss : LossTable or PointLoss
            Of these rows.

        Returns
        -------
        expected_loss : ndarray of shape (n_rows,) or None
            NaN for rows that every member learned from; None if nothing was held out.
        """

    @abstractmethod
    def _calibrate(self, X, y, classes, expert, known, fit_weight, weight, seed):
        """Learn from held-out predictions how to correct the members."""

    @abstractmethod
    def _chunk_belief(self, X, loss, expert, keep_member_loss):
        """Belief about a chunk of rows that is small enough for all members."""
