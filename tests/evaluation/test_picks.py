"""Rows are picked one after the other, each with what was known before its label."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_ase._evaluation._picker import pick_rows
from sklearn_ase._inference._steps import step_limits, step_moments
from sklearn_ase._state import Picks, PoolState
from sklearn_ase.losses import LossTable
from sklearn_ase.selection import Proportional

N = 500
RNG = np.random.default_rng(0)
EXPECTED, VARIANCE = RNG.exponential(size=N), RNG.exponential(size=N)
SCORES = {
    "skew": RNG.exponential(size=N) ** 3,
    "some zeros": np.where(RNG.random(N) < 0.3, 0.0, RNG.random(N)),
    "all zero": np.zeros(N),
    "huge": 1e306 * RNG.random(N),
    "tiny": 1e-305 * RNG.random(N),
}
COLUMNS = ("query_proba", "expected_loss", "free_expected_loss")
PROSPECTS = ("residual_moment", "loss_moment", "max_inverse_proba")
PROSPECTS += ("max_expected_ratio",)


def state_after(*taken, n_samples=N, expected=EXPECTED):
    """State of a pool of which some rows were asked for."""
    loss = LossTable(np.zeros((n_samples, 2)), np.array([0, 1]))
    picks = Picks.unanswered(taken, *np.zeros((5, len(taken))))
    return PoolState(loss, None, expected, picks, np.empty(0))


def pick(scores, share=0.3, n_queries=1, state=None, variance=VARIANCE):
    state = state_after() if state is None else state
    return pick_rows(
        Proportional(share),
        scores,
        state,
        variance=variance,
        n_queries=n_queries,
        seed=1,
    )


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("name", SCORES)
def test_each_pick_of_a_batch_knows_the_rows_that_were_free_before_it(name, share):
    scores = SCORES[name]
    picks, candidates = pick(scores, share, 60), np.arange(N)
    for place, row in enumerate(picks.indices):
        proba = Proportional(share).distribution(scores[candidates])
        free, at = EXPECTED[candidates], np.searchsorted(candidates, row)
        known = [proba[at], free[at], free.sum()]
        found = [getattr(picks, column)[place] for column in COLUMNS]
        assert_allclose(found, known, rtol=1e-12)
        known = (
            *step_moments(proba, free, VARIANCE[candidates]),
            *step_limits(proba, free),
        )
        found = [getattr(picks, column)[place] for column in PROSPECTS]
        assert_allclose(found, known, rtol=1e-12)
        candidates = np.delete(candidates, at)


def test_all_rows_can_be_picked_once():
    picks = pick(SCORES["some zeros"], n_queries=N)
    assert sorted(picks.indices.tolist()) == list(range(N))
    assert picks.query_proba[-1] == pytest.approx(1.0)
    assert np.isfinite(picks.max_expected_ratio).all()


def test_rows_that_were_asked_for_are_not_picked_again():
    state = state_after(*range(0, N, 2))
    picks = pick(SCORES["skew"], n_queries=100, state=state, variance=None)
    assert (picks.indices % 2 == 1).all()
    assert np.isnan(picks.residual_moment).all()  # Before the first fit.


def test_probabilities_do_not_drift_over_thousands_of_picks():
    size = 4000
    scores, free = RNG.exponential(size=size) ** 4, np.ones(size, dtype=bool)
    state = state_after(n_samples=size, expected=np.ones(size))
    picks = pick(scores, n_queries=3800, state=state, variance=None)
    known = zip(picks.indices, picks.query_proba, picks.free_expected_loss, strict=True)
    for row, proba, total in known:
        assert total == free.sum()
        share = scores[row] / scores[free].sum()
        assert proba == pytest.approx(0.7 * share + 0.3 / free.sum(), rel=1e-12)
        free[row] = False
