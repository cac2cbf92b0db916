"""The base class of the acquisitions, and a check of what they return."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_ase._utils._checks import check_strategy, shown
from sklearn_ase._utils._typing import Floats

if TYPE_CHECKING:
    from typing import Any

    from sklearn_ase._state import PoolState


class BaseAcquisition(BaseEstimator, metaclass=ABCMeta):
    """Base class of the acquisitions. One method is needed, :meth:`score_samples`.

    :func:`sklearn_ase.testing.check_acquisition` checks whether an acquisition works.

    Attributes
    ----------
    is_uniform : bool
        Whether all samples always have the same score. Monte Carlo needs that.
    needs_member_loss : bool
        Whether it reads ``state.belief.member_loss``, an array of shape (n_members,
        n_samples) that is otherwise not kept.
    flags : tuple of str
        Names of the class attributes that the package reads.

    Examples
    --------
    >>> from sklearn_ase.acquisition import BaseAcquisition
    >>> class Doubt(BaseAcquisition):
    ...     def score_samples(self, state):
    ...         return 1.0 - state.belief.proba.max(axis=1)
    """

    flags: tuple[str, ...] = ("is_uniform", "needs_member_loss")
    is_uniform: bool = False
    needs_member_loss: bool = False

    def validate(self) -> None:
        """Check the parameters; called at the start, before a label is bought."""

    @abstractmethod
    def score_samples(self, state: PoolState) -> Floats:
        """Score every sample of the pool.

        Parameters
        ----------
        state : PoolState
            Always with a belief: before the first fit of the surrogate, rows are picked
            uniformly and this method is not called.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Finite and non-negative. A greater score means that a label of the sample
            is worth more.
        """


def check_part(
    part: Any, owner: BaseAcquisition, argument: str = "acquisition"
) -> BaseAcquisition:
    """Refuse what cannot be part of another acquisition; returns the part."""
    name = f"{argument} of {type(owner).__name__}"
    return check_strategy(part, BaseAcquisition, ("score_samples",), name)


def checked_scores(acquisition: BaseAcquisition, state: PoolState) -> Floats:
    """Scores of an acquisition, which may be a user's, for all rows."""
    scores = np.asarray(acquisition.score_samples(state))
    name, n_samples = type(acquisition).__name__, state.n_samples
    if scores.dtype.kind not in "biuf":
        raise ValueError(
            f"{name}.score_samples must return numbers, but returned {shown(scores)}."
        )
    scores = scores.astype(float)
    if scores.shape != (n_samples,):
        raise ValueError(
            f"{name}.score_samples must return one score per row, shape ({n_samples},),"
            f" but returned shape {scores.shape}."
        )
    if not np.isfinite(scores).all() or scores.min() < 0:
        raise ValueError(
            f"{name}.score_samples must return finite scores >= 0, but they go from "
            f"{scores.min()} to {scores.max()}."
        )
    return scores
