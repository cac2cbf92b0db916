"""Belief about class labels: probabilities and how the members disagree on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sklearn_ase._utils._typing import Floats
from sklearn_ase.belief import _kernels
from sklearn_ase.belief._kernels import TrainingWorth, as_floats, join_chunks, to_numpy

if TYPE_CHECKING:
    from sklearn_ase.losses._base import LossTable


@dataclass(frozen=True, eq=False)
class CategoricalBelief:
    """Probabilities of the classes at each sample.

    Members are reduced chunk by chunk when the belief is made, so it holds
    O(n_samples · n_classes) numbers however many members there are.

    Attributes
    ----------
    proba : ndarray of shape (n_samples, n_classes)
        Calibrated mean of the members.
    class_disagreement : ndarray of shape (n_samples, n_classes)
        Contribution of each class to the members' disagreement, >= 0.
    member_risk : ndarray of shape (n_members,)
        Pool risk expected by each member, for the loss the belief was made with.
    member_loss : ndarray of shape (n_members, n_samples) or None
        Loss expected by each member, kept on request only.
    training_worth : TrainingWorth or None
        How much the training rows count; None without a calibration.
    uncalibrated : ndarray of shape (n_samples, n_classes) or None
        Mean of the members before the calibration; None without one.
    shift : ndarray of shape (n_samples,) or None
        How much more common such rows are in the pool than among the training rows, as
        the logarithm of a ratio; None if that is unknown.
    stack : object or None
        Weights of models that the belief follows from, and their covariance.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.belief import CategoricalBelief
    >>> from sklearn_ase.losses import LossTable
    >>> members = np.array([[[0.9, 0.1]], [[0.5, 0.5]]])
    >>> loss = LossTable(np.array([[0.0, 1.0]]), np.array(["cat", "dog"]))
    >>> belief = CategoricalBelief.from_members(members, loss)
    >>> belief.proba
    array([[0.7, 0.3]])
    >>> belief.expected_loss(loss)
    array([0.3])
    """

    proba: np.ndarray
    class_disagreement: np.ndarray
    member_risk: np.ndarray
    member_loss: np.ndarray | None = None
    training_worth: TrainingWorth | None = None
    uncalibrated: np.ndarray | None = None
    shift: np.ndarray | None = None
    stack: Any = None

    is_gaussian = False

    @classmethod
    def from_members(
        cls,
        member_proba: Any,
        loss: LossTable,
        proba: np.ndarray | None = None,
        keep_member_loss: bool = True,
    ) -> Self:
        """Reduce the members' probabilities to a belief.

        Parameters
        ----------
        member_proba : ndarray or tensor of shape (n_members, n_samples, n_classes)
            A torch tensor is reduced on its device and in its precision.
        loss : LossTable
        proba : ndarray of shape (n_samples, n_classes), default=None
            Calibrated mean; the members are tilted to average to it. None takes
            the members as they are.
        keep_member_loss : bool, default=True

        Returns
        -------
        belief : CategoricalBelief
        """
        members = as_floats(member_proba)
        mean = members.mean(axis=0)
        # The belief keeps `proba` in double precision; formulas take it as the members.
        proba = to_numpy(mean) if proba is None else proba
        near = as_floats(proba, like=members)
        loss_values = as_floats(loss.values, like=members)
        member_loss = _kernels.member_expected_loss(members, mean, near, loss_values)
        disagreement = _kernels.tilt(mean, near) * _kernels.disagreement(members)
        return cls(
            proba=proba,
            class_disagreement=to_numpy(disagreement),
            member_risk=to_numpy(member_loss.mean(axis=1)),
            member_loss=to_numpy(member_loss) if keep_member_loss else None,
        )

    @classmethod
    def concatenate(cls, chunks: Iterable[CategoricalBelief], n_samples: int) -> Self:
        """Join beliefs about consecutive chunks of one pool of `n_samples`."""
        return cls(**join_chunks(chunks, n_samples))

    def recalibrated(
        self, proba: np.ndarray, training_worth: TrainingWorth
    ) -> CategoricalBelief:
        """Return the belief with other probabilities by the same members.

        Parameters
        ----------
        proba : ndarray of shape (n_samples, n_classes)
        training_worth : TrainingWorth

        Returns
        -------
        belief : CategoricalBelief
            Its `member_risk` and `member_loss` are those of this belief.
        """
        # Members are tilted to average to `proba`, and their disagreement with them.
        disagreement = self.class_disagreement * _kernels.tilt(self.proba, proba)
        return replace(
            self,
            proba=proba,
            class_disagreement=disagreement,
            training_worth=training_worth,
        )

    @property
    def n_samples(self) -> int:
        """Number of samples the belief is about."""
        return len(self.proba)

    def proba_of(self, target: Any) -> Floats:
        """Probability of one class for each sample, of shape (n_samples,).

        Parameters
        ----------
        target : ndarray of int of shape (n_samples,)
            Place of the class.
        """
        return self.proba[np.arange(self.n_samples), target]

    def proba_at(self, rows: Any) -> Floats:
        """Probabilities of all classes at some samples."""
        return self.proba[rows]

    def expected_loss(self, loss: LossTable) -> Floats:
        """``g(x)``, of shape (n_samples,)."""
        return _kernels.expected_loss(self.proba, loss.values)

    def loss_variance(self, loss: LossTable) -> Floats:
        """Variance of the loss over the belief, of shape (n_samples,)."""
        return _kernels.loss_variance(self.proba, loss.values)

    def risk_by_class(self, loss: LossTable) -> Floats:
        """Sum of the expected loss that comes from each class, (n_classes,)."""
        return np.einsum("nc,nc->c", self.proba, loss.values)

    def disagreement(self) -> Floats:
        """BALD: what a label is expected to tell about the member, (n_samples,)."""
        return self.class_disagreement.sum(axis=1)

    def weighted_disagreement(self, loss: LossTable) -> Floats:
        """XWED: the disagreement on each class weighed by its loss, (n_samples,)."""
        return np.einsum("nc,nc->n", self.class_disagreement, loss.values)
