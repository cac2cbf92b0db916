"""The picker: it scores the pool, draws rows, and keeps what was known of each pick."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._inference._steps import step_limits, step_moments
from sklearn_ase._state import Picks
from sklearn_ase._utils._checks import shown
from sklearn_ase._utils._typing import Floats
from sklearn_ase.acquisition._base import checked_scores

if TYPE_CHECKING:
    from sklearn_ase._evaluation._plan import Plan
    from sklearn_ase._state import PoolState, Query
    from sklearn_ase.selection import BaseSelection

# Arrays of this file, with N rows in the pool and M of them picked at a time:
#
# scores, expected, variance : (N,), of all rows; the last two are mean and variance of
#     the loss that the surrogate believes in
# candidates : numbers of the rows that are free, in increasing order
# proba : as long as `candidates`, the probability of each to be the next pick
# prospects : (4, M), two moments and two limits of what each pick can show


def score_pool(plan: Plan, state: PoolState, cost: Floats | None) -> Floats:
    """Score every row of the pool; cheap rows score more."""
    scores = checked_scores(plan.acquisition, state)
    if cost is None or plan.acquisition.is_uniform:
        return scores
    return scores / cost**plan.selection.cost_power


def next_proba(selection: BaseSelection, scores: Floats, state: PoolState) -> Floats:
    """Probability of each row of the pool to be the next pick."""
    proba, free = np.zeros(len(scores)), state.free
    proba[free] = selection.checked_distribution(scores[free])
    return proba


def pick_rows(
    selection: BaseSelection,
    scores: Floats,
    state: PoolState,
    *,
    variance: Floats | None,
    n_queries: int,
    seed: int,
) -> Picks:
    """Pick free rows, one after the other."""
    candidates = np.flatnonzero(state.free)
    # Each query has its own stream, so a replayed evaluation picks the same.
    rng = np.random.default_rng([seed, len(state.picks)])
    query = selection.pick(scores, candidates, n_queries, rng)
    _check_query(query, candidates, n_queries, selection)
    expected = state.expected_loss
    if expected is None:
        expected = np.broadcast_to(0.0, state.n_samples)
    picked = expected[query.indices]
    free_expected = expected[candidates].sum() - (np.cumsum(picked) - picked)
    prospects = np.full((4, n_queries), np.nan)
    if selection.has_query_proba:
        for place, row in enumerate(query.indices):
            proba = selection.distribution(scores[candidates])
            of_free = expected[candidates]
            if variance is not None:
                prospects[:2, place] = step_moments(
                    proba, of_free, variance[candidates]
                )
            prospects[2:, place] = step_limits(proba, of_free)
            candidates = candidates[candidates != row]
    return Picks.unanswered(
        query.indices, query.proba, picked, free_expected, *prospects
    )


def _check_query(
    query: Query, candidates: np.ndarray, n_queries: int, selection: BaseSelection
) -> None:
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
