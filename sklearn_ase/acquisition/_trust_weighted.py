"""Trust-weighted: follow another acquisition as far as the labels support it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._inference._evidence import has_evidence, weigh_evidence
from sklearn_ase._utils._typing import Floats
from sklearn_ase.acquisition._base import BaseAcquisition, check_part
from sklearn_ase.acquisition._mixture import Mixture

if TYPE_CHECKING:
    from sklearn_ase._state import PoolState


class TrustWeighted(BaseAcquisition):
    """Another acquisition, mixed with uniform scores as trust in the surrogate falls.

    The trust is the probability that the surrogate's estimate of the risk is off by
    less than a standard error of the corrected one. If the surrogate has lost all
    trust, :class:`~sklearn_ase.selection.Proportional` picks a plain random sample. If
    picks have no probabilities, or once a row could not be labelled, there is no
    evidence, and the scores are those of the other acquisition.

    Parameters
    ----------
    acquisition : acquisition, default=None
        None means :class:`Mixture`.

    Examples
    --------
    >>> from sklearn_ase.acquisition import XWED, TrustWeighted
    >>> TrustWeighted(XWED())
    TrustWeighted(acquisition=XWED())
    """

    follows_labels = True

    def __init__(self, acquisition: BaseAcquisition | None = None) -> None:
        self.acquisition = acquisition

    def validate(self) -> None:
        self.part.validate()

    @property
    def is_uniform(self) -> bool:
        """As the other acquisition."""
        return self.part.is_uniform

    @property
    def needs_member_loss(self) -> bool:
        """As the other acquisition."""
        return self.part.needs_member_loss

    def score_samples(self, state: PoolState) -> Floats:
        scores = np.asarray(self.part.score_samples(state), dtype=float)
        scale, shift = trust_weights(state, scores.sum())
        return scale * scores + shift

    def local_parts(self) -> list[BaseAcquisition] | None:
        return self.part.local_parts()

    def blend(self, state: PoolState, totals: np.ndarray) -> tuple[np.ndarray, float]:
        """Weights of the other acquisition, mixed with a constant."""
        weights, constant = self.part.blend(state, totals)
        total = weights @ totals + constant * state.n_samples
        scale, shift = trust_weights(state, total)
        return scale * weights, scale * constant + shift

    @property
    def part(self) -> BaseAcquisition:
        """The other acquisition."""
        if self.acquisition is None:
            return Mixture()
        return check_part(self.acquisition, self)


def trust_weights(state, total):
    """How the scores of the other acquisition are scaled and shifted.

    Parameters
    ----------
    state : PoolState
    total : float
        Sum of these scores over the pool.

    Returns
    -------
    scale, shift : float
    """
    if not total > 0 or not has_evidence(state):
        return 1.0, 0.0
    trust = weigh_evidence(state).trust
    return trust / total, (1.0 - trust) / state.n_samples
