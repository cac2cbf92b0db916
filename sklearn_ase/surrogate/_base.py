"""The base class of the surrogates: fit on labelled rows, belief about a pool."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_ase._utils._typing import Floats, Rows, Task
from sklearn_ase.belief import Belief
from sklearn_ase.losses._base import BaseLoss, PoolLoss


class BaseSurrogate(BaseEstimator, metaclass=ABCMeta):
    """Base class of all surrogates.

    A surrogate learns from labelled rows and then says what it believes about the
    labels of a pool. A subclass sets the class attribute `task` and has two methods,
    :meth:`fit` and :meth:`belief`. The other attributes have defaults; override those
    that do not describe your surrogate, as class attributes, as properties, or in
    ``fit``.

    Attributes
    ----------
    task : {"classification", "regression"}
        What the labels are. There is no default.
    min_rows : int, default=5
        Number of labelled rows that are needed for a fit. Before, rows are picked
        uniformly.
    is_constant : bool, default=False
        Whether new labels never change the surrogate. It is then fitted once, at the
        start, on the training rows, of which there may be none. Its `classes_`, if it
        has them, are known from the start.
    uses_estimator : bool, default=False
        Whether the surrogate uses the predictions of the model under test, `expert`.
    uses_experts : bool, default=False
        Whether :meth:`fit`, :meth:`belief` and :meth:`update` take an argument
        `experts`: what others say about the labels.
    uses_out_of_fold : bool, default=False
        Whether out-of-fold predictions of the model on the training rows are worth
        their time. If False, `expert` is NaN for training rows.
    is_calibrated : bool, default=False
        Whether the last fit was calibrated on predictions for rows that had been held
        out. :class:`~sklearn_ase.risk.GuardedASE` trusts such a surrogate more.
    gives_members : bool, default=False
        Whether the belief has members, and ``member_loss`` on request.
        :class:`~sklearn_ase.acquisition.VarianceReduction` needs them.
    can_update : bool, default=False
        Whether :meth:`update` can be called after the last fit.

    See Also
    --------
    ClassifierSurrogate : Any classifier as a surrogate; no subclass is needed.
    RegressorSurrogate : Any regressor as a surrogate; no subclass is needed.

    Examples
    --------
    A surrogate that believes in the class frequencies of the labelled rows:

    >>> import numpy as np
    >>> from sklearn_ase.belief import CategoricalBelief
    >>> from sklearn_ase.losses import ZeroOne
    >>> from sklearn_ase.surrogate import BaseSurrogate
    >>> class ClassFrequencies(BaseSurrogate):
    ...     task = "classification"
    ...
    ...     def fit(self, X, y, *, classes=None, **other):
    ...         counts = (np.asarray(y)[:, None] == classes).sum(axis=0) + 1
    ...         self.proba_ = counts / counts.sum()
    ...         return self
    ...
    ...     def belief(self, X, loss, expert=None, keep_member_loss=False):
    ...         member = np.tile(self.proba_, (1, len(X), 1))
    ...         return CategoricalBelief.from_members(member, loss)
    >>> y = np.array(["cat", "cat", "cat", "dog", "dog"])
    >>> surrogate = ClassFrequencies().fit(np.zeros((5, 1)), y, classes=np.unique(y))
    >>> loss = ZeroOne().build(np.array(["cat", "dog"]), np.unique(y))
    >>> surrogate.belief(np.zeros((2, 1)), loss).expected_loss(loss).round(2)
    array([0.43, 0.57])
    """

    task: Task | None = None
    min_rows: int = 5
    is_constant: bool = False
    uses_estimator: bool = False
    uses_experts: bool = False
    uses_out_of_fold: bool = False
    is_calibrated: bool = False
    gives_members: bool = False
    can_update: bool = False

    def validate(self) -> None:
        """Check the parameters; called at the start, before a label is bought."""

    def prepare(self, X: Rows, X_train: Rows | None = None) -> tuple[Rows, Rows]:
        """Look at all rows before the first fit, and return them as you want them.

        It is called once for each evaluation. :meth:`fit` and :meth:`belief` then get
        the rows that it returned. The default returns the rows as they are. A subclass
        that changes them also has to override :meth:`prepare_other`.

        Parameters
        ----------
        X : array, sparse matrix, frame or list of shape (n_samples, n_features)
            The pool.
        X_train : same kind as X, default=None
            The training rows, without their labels.

        Returns
        -------
        features : array, sparse matrix, frame or list of shape (n_samples, ...)
        train_features : same kind as `features`, or None
        """
        return X, X_train

    def prepare_other(self, X: Rows) -> Rows:
        """Return rows of another pool as :meth:`prepare` returned those of the first.

        Parameters
        ----------
        X : array, sparse matrix, frame or list of shape (n_rows, n_features)

        Returns
        -------
        features : array, sparse matrix, frame or list of shape (n_rows, ...)
            The default returns X.
        """
        return X

    @abstractmethod
    def fit(
        self,
        X: Rows,
        y: np.ndarray,
        *,
        classes: np.ndarray | None = None,
        n_acquired: int = 0,
        seed: int = 0,
        **other: Any,
    ) -> Self:
        """Fit the surrogate to labelled rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features)
            Training rows first, acquired rows last.
        y : ndarray of shape (n_rows,)
            Some classes may have no row.
        classes : ndarray of shape (n_classes,), default=None
            All possible labels, sorted (classification).
        n_acquired : int, default=0
            How many of the last rows were acquired from the pool.
        seed : int, default=0
            Fixes all random numbers: the same seed must give the same belief.
        **other
            What the surrogate need not know; name what you use.

            * `expert`, ndarray of shape (n_rows, n_classes) or (n_rows,), or None:
              predictions of the model under test, out-of-fold for training rows. NaN
              for rows that the model has learned from.
            * `model_classes`, ndarray of shape (n_classes,), dtype bool, or None:
              classes that the model under test knows. None means all.
            * `experts`, ndarray of shape (n_rows, n_experts, n_classes) or (n_rows,
              n_experts): what others say about the labels, if `uses_experts`.
            * `labels_are_drawn`, bool: whether rows are labelled with known
              probabilities. If False, labels were chosen for what they teach, and say
              less about the rest of the pool.

        Returns
        -------
        self : object
        """

    @abstractmethod
    def belief(
        self,
        X: Rows,
        loss: PoolLoss,
        expert: Floats | None = None,
        keep_member_loss: bool = False,
    ) -> Belief:
        """Return what the surrogate believes about the labels of X.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
        loss : LossTable or PointLoss
            Loss of the model under test at these rows for each possible label.
        expert : ndarray of shape (n_samples, n_classes) or (n_samples,), default=None
            Predictions of the model under test.
        keep_member_loss : bool, default=False
            Whether the belief must have ``member_loss``.

        Returns
        -------
        belief : CategoricalBelief or GaussianBelief
            About the labels; for classification with a column for each of the
            `classes` of the fit, in that order.
        """

    def update(
        self,
        belief: Belief,
        loss: PoolLoss,
        rows: np.ndarray,
        y: np.ndarray,
        expert: Floats | None = None,
    ) -> Belief:
        """Learn from labels that came after the last fit, without a new fit.

        It is called after every label between two fits, if `can_update` is True.

        Parameters
        ----------
        belief : CategoricalBelief or GaussianBelief
            What :meth:`belief` returned about the pool after the last fit.
        loss : LossTable or PointLoss
            Loss at the rows of the pool.
        rows : ndarray of int of shape (n_rows,)
            Positions in the pool of all labels that came after the last fit.
        y : ndarray of shape (n_rows,)
            These labels.
        expert : ndarray of shape (n_samples, n_classes) or (n_samples,), default=None
            Predictions of the model under test for the pool.

        Returns
        -------
        belief : CategoricalBelief or GaussianBelief
            About the same pool. Its `member_risk` and `member_loss` may stay those of
            the last fit.
        """
        return belief

    def can_fit(self, n_labelled: int) -> bool:
        """Whether that many labelled rows are sufficient for a fit."""
        return self.is_constant or n_labelled >= self.min_rows

    def held_out_loss(self, rows: np.ndarray, loss: PoolLoss) -> Floats | None:
        """Return the expected loss at rows of the last fit, as if they were held out.

        It shows whether a surrogate without calibration expects too much or too little
        loss. The default is None: no row was held out.

        Parameters
        ----------
        rows : ndarray of int
            Positions of the rows in the last fit.
        loss : LossTable or PointLoss
            Loss at these rows.

        Returns
        -------
        expected_loss : ndarray of shape (n_rows,) or None
            NaN for rows that were not held out.
        """
        return None

    def left_out(self) -> tuple[np.ndarray, ...] | None:
        """Return predictions at the acquired rows, each as if it had no label.

        The guarded estimate of a metric is then corrected with these, which makes its
        interval narrower. The default is None: nothing is known.

        Returns
        -------
        columns : tuple of ndarray, or None
            Probabilities, of shape (n_rows, n_classes), or mean and variance of the
            label, each of shape (n_rows,). Rows are in the order in which they were
            learned.
        """
        return None

    def training_tail(self, loss: BaseLoss) -> float:
        """Return how heavy the tail of the loss is at training rows (regression).

        The losses are those of a model that predicts as the surrogate does, relative to
        what the surrogate expects. The default is NaN: nothing is known.

        Parameters
        ----------
        loss : BaseLoss for regression

        Returns
        -------
        shape : float
            Of a generalised Pareto distribution. From one half on the variance of the
            loss is infinite, from 1 on its mean.
        """
        return np.nan
