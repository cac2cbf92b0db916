"""Belief about real-valued labels: a Gaussian at each sample."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sklearn_ase._utils._typing import Floats
from sklearn_ase.belief import _kernels
from sklearn_ase.belief._kernels import TrainingWorth, join_chunks

if TYPE_CHECKING:
    from sklearn_ase.losses._base import PointLoss


@dataclass(frozen=True, eq=False)
class GaussianBelief:
    """Mean of the label at each sample, and its two kinds of variance.

    The mixture over members is taken as the Gaussian of the same mean and variance.

    Attributes
    ----------
    mean : ndarray of shape (n_samples,)
    epistemic : ndarray of shape (n_samples,)
        Variance of the members' means, ``s²``.
    noise : ndarray of shape (n_samples,)
        Variance of a label around its member's mean, ``σ² > 0``.
    member_risk : ndarray of shape (n_members,)
        Pool risk expected by each member; empty where the surrogate has none.
    member_loss : ndarray of shape (n_members, n_samples) or None
        Loss expected by each member, kept on request only.
    training_worth : TrainingWorth or None
        How much the training rows count; None without a calibration.
    uncalibrated : ndarray of shape (n_samples, 2) or None
        Mean and variance of the members before the calibration; None without one.
    shift : ndarray of shape (n_samples,) or None
        How much more common such rows are in the pool than among the training rows, as
        the logarithm of a ratio; None if that is unknown.
    stack : object or None
        Weights of models that the belief follows from, and their covariance.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.belief import GaussianBelief
    >>> from sklearn_ase.losses import SquaredError
    >>> loss = SquaredError().build(np.array([0.0]))
    >>> belief = GaussianBelief.from_members(np.array([[1.0], [3.0]]), 0.5, loss)
    >>> belief.mean, belief.epistemic
    (array([2.]), array([1.]))
    >>> belief.expected_loss(loss)
    array([5.5])
    """

    mean: np.ndarray
    epistemic: np.ndarray
    noise: np.ndarray
    member_risk: np.ndarray
    member_loss: np.ndarray | None = None
    training_worth: TrainingWorth | None = None
    uncalibrated: np.ndarray | None = None
    shift: np.ndarray | None = None
    stack: Any = None

    is_gaussian = True

    @classmethod
    def from_members(
        cls,
        member_mean: np.ndarray,
        noise: float | np.ndarray,
        loss: PointLoss,
        keep_member_loss: bool = True,
    ) -> Self:
        """Reduce the members' means to a belief.

        Parameters
        ----------
        member_mean : ndarray of shape (n_members, n_samples)
        noise : float or ndarray of shape (n_samples,)
        loss : PointLoss
        keep_member_loss : bool, default=True

        Returns
        -------
        belief : GaussianBelief
        """
        members = np.asarray(member_mean, dtype=np.float64)
        noise = np.broadcast_to(np.asarray(noise, dtype=np.float64), members.shape[1:])
        member_loss = loss.expected(members, noise)
        return cls(
            mean=members.mean(axis=0),
            epistemic=members.var(axis=0),
            noise=noise,
            member_risk=member_loss.mean(axis=1),
            member_loss=member_loss if keep_member_loss else None,
        )

    @classmethod
    def concatenate(cls, chunks: Iterable[GaussianBelief], n_samples: int) -> Self:
        """Join beliefs about consecutive chunks of one pool of `n_samples`."""
        return cls(**join_chunks(chunks, n_samples))

    @property
    def variance(self) -> Floats:
        """Variance of the label, ``v = s² + σ²``."""
        return self.epistemic + self.noise

    @property
    def n_samples(self) -> int:
        """Number of samples the belief is about."""
        return len(self.mean)

    def expected_loss(self, loss: PointLoss) -> Floats:
        """``g(x)``, of shape (n_samples,)."""
        return loss.expected(self.mean, self.variance)

    def loss_variance(self, loss: PointLoss) -> Floats:
        """Variance of the loss over the belief, of shape (n_samples,)."""
        return loss.variance(self.mean, self.variance)

    def disagreement(self) -> Floats:
        """BALD: information a label carries about the member, (n_samples,)."""
        return _kernels.gaussian_disagreement(self.epistemic, self.noise)

    def weighted_disagreement(self, loss: PointLoss) -> Floats:
        """XWED, of shape (n_samples,)."""
        # Integrating out the member leaves E_y[L(y) ½(log(v/σ²) + s²/v (z² - 1))]
        # with z the standardised label; the weight of L is >= 0 for every z.
        share = self.epistemic / self.variance
        curvature = loss.curvature(self.mean, self.variance)
        return self.expected_loss(loss) * self.disagreement() + 0.5 * share * curvature
