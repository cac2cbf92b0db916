"""Score the pool, pick rows, and record what is known of each before its label."""

import numpy as np

from sklearn_ase._data._arrays import read_numbers
from sklearn_ase._inference import _kernels
from sklearn_ase._state import Picks, Query
from sklearn_ase._utils._checks import shown
from sklearn_ase.selection import Proportional


def score_pool(plan, state, cost):
    """Score every row of the pool.

    Parameters
    ----------
    plan : Plan
    state : PoolState
        With a belief.
    cost : ndarray of shape (n_samples,) or None

    Returns
    -------
    scores : ndarray of shape (n_samples,)
    """
    scores = plan.acquisition.score_samples(state)
    scores = _check_scores(scores, state.n_samples, plan.acquisition)
    if cost is not None and not plan.acquisition.is_uniform:
        scores = scores / cost**plan.selection.cost_power
    return scores


def pick_rows(plan, state, learned, scores, n_queries, seed, embedding=None):
    """Pick free rows.

    Parameters
    ----------
    plan : Plan
    state : PoolState
    learned : Learned
    scores : ndarray of shape (n_samples,) or None
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
        selection, scores = Proportional(), np.ones(state.n_samples)
    candidates = np.flatnonzero(state.free)
    if embedding is not None:
        picks = state.picks
        open_rows = picks.indices[~(picks.answered | picks.skipped)]
        query = pick_apart(scores, candidates, n_queries, embedding, open_rows)
    else:
        # Each query has its own stream, so a replayed evaluation picks the same.
        n_asked = state.n_samples - len(candidates)
        rng = np.random.default_rng([seed, n_asked])
        query = selection.pick(scores, candidates, n_queries, rng)
        _check_query(query, candidates, n_queries, selection)
    return _with_prospects(query, candidates, learned, selection, scores)


def _with_prospects(query, candidates, learned, selection, scores):
    """The picks, each with what was known before its label."""
    expected = learned.expected_loss
    if expected is None:
        expected = np.zeros(len(scores))
    picked = expected[query.indices]
    picked_before = np.cumsum(picked) - picked
    free_expected = expected[candidates].sum() - picked_before
    prospects = _prospects_of_picks(
        query, candidates, expected, learned, selection, scores
    )
    return Picks.unanswered(
        query.indices, query.proba, picked, free_expected, *prospects
    )


def _prospects_of_picks(query, candidates, expected, learned, selection, scores):
    """What each pick and its label can show, of shape (4, n_queries).

    Two moments that are expected, and the greatest 1 / q and g / q of any free row.
    """
    prospects = np.full((4, len(query)), np.nan)
    if not selection.has_query_proba:
        return prospects
    for place, index in enumerate(query.indices):
        proba = selection.distribution(scores[candidates])
        of_free = expected[candidates]
        prospects[2:, place] = _kernels.step_limits(proba, of_free)
        if learned.belief is not None:
            variance = learned.loss_variance[candidates]
            prospects[:2, place] = _kernels.step_moments(proba, of_free, variance)
        candidates = candidates[candidates != index]
    return prospects


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


def check_embedding(embedding, n_samples, selection):
    """Check a space in which the rows of a batch are kept apart."""
    if selection.has_query_proba:
        raise ValueError(
            f"embedding= keeps rows apart by choice, but {type(selection).__name__}() "
            "draws them with probabilities that estimates rely on. Use "
            "selection=ArgMax(), or leave embedding out."
        )
    embedding = read_numbers(embedding, "embedding")
    if embedding.ndim != 2 or len(embedding) != n_samples:
        raise ValueError(
            f"embedding must be of shape ({n_samples}, n_dimensions), one row for each "
            f"of the pool, but has shape {embedding.shape}."
        )
    if not np.isfinite(embedding).all():
        raise ValueError("embedding must be finite, but has NaN or infinite entries.")
    return embedding


def _check_query(query, candidates, n_queries, selection):
    """Check what a selection, perhaps somebody else's, picked."""
    name = f"{type(selection).__name__}.pick"
    rows, proba = (np.asarray(getattr(query, n, None)) for n in ("indices", "proba"))
    is_pick = rows.shape == proba.shape == (n_queries,)
    if not is_pick or len(np.intersect1d(rows, candidates)) != n_queries:
        raise ValueError(
            f"{name} must return a Query of {n_queries} different rows among the "
            f"candidates, each with a probability, but returned {shown(query)}."
        )
    if selection.has_query_proba and not ((proba > 0) & (proba <= 1)).all():
        raise ValueError(
            f"{name} must return probabilities > 0 and <= 1, but returned "
            f"{shown(proba)}. Set has_query_proba = False if there are none."
        )


def _check_scores(scores, n_samples, acquisition):
    """Check what an acquisition, perhaps somebody else's, returned."""
    scores, name = np.asarray(scores), type(acquisition).__name__
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
