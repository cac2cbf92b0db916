"""Score the rows of the pool."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sklearn_ase._pool._scores import check_scores
from sklearn_ase.acquisition._trust_weighted import TrustWeighted, trust_weights


@dataclass(frozen=True, eq=False)
class PoolScores:
    """Scores of all rows, ``scale * base + shift``.

    Attributes
    ----------
    base : ndarray of shape (n_samples,)
        Finite and non-negative.
    scale, shift : float, default=1 and 0
    made_of : tuple
        Belief and loss that `base` depends on; empty if it depends on labels, too.
    """

    base: np.ndarray
    scale: float = 1.0
    shift: float = 0.0
    made_of: tuple = ()

    @cached_property
    def values(self):
        """The scores, of shape (n_samples,)."""
        is_plain = self.scale == 1.0 and self.shift == 0.0
        return self.base if is_plain else self.scale * self.base + self.shift

    def is_made_of(self, belief, loss):
        """Whether `base` depends on this belief and this loss alone."""
        return (
            len(self.made_of) and self.made_of[0] is belief and self.made_of[1] is loss
        )


def score_pool(plan, state, cost, before=None):
    """Score every row of the pool.

    Parameters
    ----------
    plan : Plan
    state : PoolState
        With a belief.
    cost : ndarray of shape (n_samples,) or None
    before : PoolScores, default=None
        Scores of the same plan, of which those that depend on the belief are kept.

    Returns
    -------
    scores : PoolScores
    """
    acquisition, made_of = plan.acquisition, (state.belief, state.loss)
    # Trust follows the labels, but what it weighs need not.
    is_weighted = type(acquisition) is TrustWeighted
    part = acquisition.part if is_weighted else acquisition
    if before is not None and before.is_made_of(*made_of):
        base = before.base
    else:
        base = check_scores(part.score_samples(state), state.n_samples, part)
    made_of = () if part.follows_labels else made_of
    weights = trust_weights(state, base.sum()) if is_weighted else (1.0, 0.0)
    scores = PoolScores(base, *weights, made_of)
    if cost is not None and not acquisition.is_uniform:
        return PoolScores(scores.values / cost**plan.selection.cost_power)
    return scores
