"""Which rows to ask for next, and what is known of each before its label is seen."""

import numpy as np

from sklearn_ase._evaluation._plan import check_scores
from sklearn_ase._state import Query
from sklearn_ase.selection import Proportional


class Picker:
    """Scores free rows and picks some of them.

    Parameters
    ----------
    acquisition : acquisition
    selection : selection
    learner : Learner
    cost : ndarray of shape (n_samples,) or None
    seed : int
    """

    def __init__(self, acquisition, selection, learner, cost, seed):
        self.acquisition = acquisition
        self.selection = selection
        self.learner = learner
        self.cost = cost
        self.seed = seed
        self.forget()

    def forget(self):
        """Score the pool again: something changed that the scores depend on."""
        self._scores = None

    def pick(self, state, n_queries, embedding=None, taken=()):
        """Pick free rows.

        Parameters
        ----------
        state : PoolState
        n_queries : int
        embedding : ndarray of shape (n_samples, n_dimensions), default=None
            Keep rows apart in that space.
        taken : sequence of int, default=()
            Rows to keep apart from, too.

        Returns
        -------
        query : Query
        prospects : tuple of ndarrays of shape (n_queries,)
            What the ledger keeps beside the probability of each pick.
        """
        candidates = np.flatnonzero(state.free)
        selection, scores = self._plan(state)
        if embedding is not None:
            query = pick_apart(scores, candidates, n_queries, embedding, taken)
        else:
            # Each query has its own stream, so a replayed evaluation picks the same.
            n_asked = state.n_samples - len(candidates)
            rng = np.random.default_rng([self.seed, n_asked])
            query = selection.pick(scores, candidates, n_queries, rng)
        return query, self._prospects(state, query.indices, candidates)

    def _plan(self, state):
        """Selection and scores for the next picks."""
        if state.belief is None:  # Before the first fit: a plain random sample.
            return Proportional(), np.ones(state.n_samples)
        if self._scores is None:
            scores = self.acquisition.score_samples(state)
            scores = check_scores(scores, state.n_samples, self.acquisition)
            if self.cost is not None and not self.acquisition.is_uniform:
                scores = scores / self.cost ** getattr(
                    self.selection, "cost_power", 0.5
                )
            self._scores = scores
        return self.selection, self._scores

    def _prospects(self, state, indices, candidates):
        expected = state.expected_loss
        if expected is None:
            expected = np.zeros(state.n_samples)
        picked = expected[indices]
        picked_before = np.cumsum(picked) - picked
        free_expected = expected[candidates].sum() - picked_before
        moments = self.learner.believed_moments(indices, candidates, *self._plan(state))
        return picked, free_expected, *moments


def pick_apart(scores, candidates, n_queries, embedding, taken=()):
    """Pick rows that score high and lie far from each other.

    Each has the greatest product of score and distance to the nearest row that was
    taken before it, so that copies are never taken as long as there is anything else.
    The first of all has the greatest score. Ties go to the first row.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
    candidates : ndarray of shape (n_candidates,)
    n_queries : int
    embedding : ndarray of shape (n_samples, n_dimensions)
    taken : sequence of int, default=()
        Rows that are open already.

    Returns
    -------
    query : Query
        Without probabilities.
    """
    # Where all score 0, near and far still differ.
    worth = scores[candidates] + np.finfo(float).tiny
    indices, left = [], np.ones(len(candidates), dtype=bool)
    nearest = np.full(len(candidates), np.inf)

    def keep_away(row):
        distance = np.linalg.norm(embedding[candidates] - embedding[row], axis=1)
        np.minimum(nearest, distance, out=nearest)

    for row in taken:
        keep_away(row)
    for _ in range(n_queries):
        product = worth * nearest if np.isfinite(nearest).any() else worth
        best = int(np.argmax(np.where(left, product, -1.0)))
        indices.append(candidates[best])
        left[best] = False
        keep_away(candidates[best])
    return Query(np.array(indices, dtype=int), np.full(n_queries, np.nan))
