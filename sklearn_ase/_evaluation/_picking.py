"""Pick rows, and record what is known of each before its label."""

import numpy as np

from sklearn_ase._data._arrays import read_numbers
from sklearn_ase._evaluation._drawing import BlockedPool
from sklearn_ase._evaluation._scoring import PoolScores
from sklearn_ase._inference import _kernels
from sklearn_ase._state import Picks, Query
from sklearn_ase._utils._checks import shown
from sklearn_ase.selection import Proportional


class Picker:
    """Picks free rows, and keeps what the next pick can use again."""

    def __init__(self):
        self._pool = None

    def pick(self, plan, state, learned, scores, n_queries, seed, embedding=None):
        """Pick free rows.

        Parameters
        ----------
        plan : Plan
        state : PoolState
        learned : Learned
        scores : PoolScores or None
            None before the first fit of the surrogate: a plain random sample.
        n_queries : int
        seed : int
        embedding : ndarray of shape (n_samples, n_dimensions), default=None
            Keep rows apart in that space, from each other and from open rows.

        Returns
        -------
        picks : Picks
        """
        selection = plan.selection
        if scores is None:
            selection = Proportional()
            scores = PoolScores(np.broadcast_to(0.0, state.n_samples), shift=1.0)
        expected = learned.expected_loss
        if expected is None:
            expected = np.broadcast_to(0.0, state.n_samples)
        # Each query has its own stream, so a replayed evaluation picks the same.
        rng = np.random.default_rng([seed, len(state.picks)])
        if type(selection) is Proportional and embedding is None:
            pool = self._blocks(scores.base, expected, learned.loss_variance)
            pool.take(state.picks.indices)
            given = scores.scale, scores.shift, selection.uniform_share
            rows, columns = pool.draw(*given, n_queries, rng)
            return Picks.unanswered(rows, *columns)
        candidates = np.flatnonzero(state.free)
        if embedding is not None:
            picks = state.picks
            open_rows = picks.indices[~(picks.answered | picks.skipped)]
            given = scores.values, candidates, n_queries, embedding
            query = pick_apart(*given, open_rows)
        else:
            query = selection.pick(scores.values, candidates, n_queries, rng)
            _check_query(query, candidates, n_queries, selection)
        moments = expected, learned.loss_variance
        return _with_prospects(query, candidates, *moments, selection, scores.values)

    def _blocks(self, base, expected, variance):
        if self._pool is None or not self._pool.belongs_to(base, expected):
            self._pool = BlockedPool(base, expected, variance)
        return self._pool


def _with_prospects(query, candidates, expected, variance, selection, scores):
    """The picks, each with what was known before its label."""
    picked = expected[query.indices]
    picked_before = np.cumsum(picked) - picked
    free_expected = expected[candidates].sum() - picked_before
    prospects = np.full((4, len(query)), np.nan)
    for place, index in enumerate(query.indices):
        if not selection.has_query_proba:
            break
        proba, of_free = (
            selection.distribution(scores[candidates]),
            expected[candidates],
        )
        prospects[2:, place] = _kernels.step_limits(proba, of_free)
        if variance is not None:
            moments = _kernels.step_moments(proba, of_free, variance[candidates])
            prospects[:2, place] = moments
        candidates = candidates[candidates != index]
    return Picks.unanswered(
        query.indices, query.proba, picked, free_expected, *prospects
    )


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


def check_embedding(embedding, problem, selection):
    """Check a space in which the rows of a batch are kept apart."""
    if selection.has_query_proba:
        raise ValueError(
            f"embedding= keeps rows apart by choice, but {type(selection).__name__}() "
            "draws them with probabilities that estimates rely on. Use "
            "selection=ArgMax(), or leave embedding out."
        )
    problem.order.check(embedding=embedding)
    embedding, n_samples = read_numbers(embedding, "embedding"), problem.n_samples
    if embedding.ndim != 2 or len(embedding) != n_samples:
        raise ValueError(
            f"embedding must be of shape ({n_samples}, n_dimensions), one row for each "
            f"of the pool, but has shape {embedding.shape}."
        )
    if not np.isfinite(embedding).all():
        raise ValueError("embedding must be finite, but has NaN or infinite entries.")
    return embedding


def _check_query(query, candidates, n_queries, selection):
    """Check the picks of a selection, which may be a user's."""
    name = f"{type(selection).__name__}.pick"
    rows, proba = (np.asarray(getattr(query, n, None)) for n in ("indices", "proba"))
    is_pick = rows.shape == proba.shape == (n_queries,)
    is_pick = is_pick and len({*rows.tolist()}) == n_queries
    if not is_pick or not np.isin(rows, candidates).all():
        raise ValueError(
            f"{name} must return a Query of {n_queries} different rows among the "
            f"candidates, each with a probability, but returned {shown(query)}."
        )
    if selection.has_query_proba and not ((proba > 0) & (proba <= 1)).all():
        raise ValueError(
            f"{name} must return probabilities > 0 and <= 1, but returned "
            f"{shown(proba)}. Set has_query_proba = False if there are none."
        )
