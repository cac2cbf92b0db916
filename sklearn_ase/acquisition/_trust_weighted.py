"""Trust-weighted: follow another acquisition as far as the labels support it."""

import numpy as np

from sklearn_ase._inference._evidence import has_evidence, weigh_evidence
from sklearn_ase.acquisition._base import BaseAcquisition, check_part
from sklearn_ase.acquisition._mixture import Mixture


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

    def __init__(self, acquisition=None):
        self.acquisition = acquisition

    def validate(self):
        self.part.validate()

    @property
    def is_uniform(self):
        """As the other acquisition."""
        return self.part.is_uniform

    @property
    def needs_member_loss(self):
        """As the other acquisition."""
        return self.part.needs_member_loss

    def score_samples(self, state):
        scores = np.asarray(self.part.score_samples(state), dtype=float)
        scale, shift = trust_weights(state, scores.sum())
        return scale * scores + shift

    @property
    def part(self):
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
