"""Rows are drawn block by block, with the probabilities of a look at all rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_ase._evaluation import _picker as _drawing
from sklearn_ase._evaluation._picker import BlockedPool
from sklearn_ase._inference import _steps as _kernels
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


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Many blocks, the last of them shorter."""
    monkeypatch.setattr(_drawing, "_BLOCK", 64)


def picked_slowly(scores, share, n_queries, rng):
    """Rows and columns of picks, by a look at all free rows before each of them."""
    selection, candidates = Proportional(share), np.arange(len(scores))
    rows, columns = [], []
    for _ in range(n_queries):
        proba = selection.distribution(scores[candidates])
        cumulated = np.cumsum(proba)
        place = np.searchsorted(cumulated, rng.random() * cumulated[-1], side="right")
        free = EXPECTED[candidates]
        rows.append(candidates[place])
        columns.append(
            [
                proba[place],
                free[place],
                free.sum(),
                *_kernels.step_moments(proba, free, VARIANCE[candidates]),
                *_kernels.step_limits(proba, free),
            ]
        )
        candidates = np.delete(candidates, place)
    return np.array(rows), np.array(columns).T


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("name", SCORES)
def test_picks_are_those_of_a_look_at_all_rows(name, share):
    scores = SCORES[name]
    pool = BlockedPool(scores, EXPECTED, VARIANCE)
    slow, fast = np.random.default_rng(1), np.random.default_rng(1)
    rows, columns = picked_slowly(scores, share, 60, slow)
    found = [pool.draw(1.0, 0.0, share, 1, fast) for _ in range(60)]
    assert [int(row[0]) for row, _ in found] == rows.tolist()
    assert_allclose(np.hstack([values for _, values in found]), columns, rtol=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("name", SCORES)
def test_a_batch_is_picked_as_one_by_one(name, share):
    scores = SCORES[name]
    pool = BlockedPool(scores, EXPECTED, VARIANCE)
    rows, columns = picked_slowly(scores, share, 200, np.random.default_rng(1))
    found, values = pool.draw(1.0, 0.0, share, 200, np.random.default_rng(1))
    assert found.tolist() == rows.tolist()
    assert_allclose(values, columns, rtol=1e-11)


def test_a_batch_costs_few_passes_over_the_pool(monkeypatch):
    pool = BlockedPool(SCORES["skew"], EXPECTED, VARIANCE)
    passes, one = [], pool._pass
    monkeypatch.setattr(pool, "_pass", lambda *line: passes.append(line) or one(*line))
    pool.draw(1.0, 0.0, 0.3, 100, np.random.default_rng(0))
    assert len(passes) < 25


def test_all_rows_can_be_drawn():
    pool = BlockedPool(SCORES["some zeros"], EXPECTED, VARIANCE)
    rows, columns = pool.draw(1.0, 0.0, 0.3, N, np.random.default_rng(0))
    assert sorted(rows.tolist()) == list(range(N))
    assert_allclose(columns[0, -1], 1.0)
    assert np.isfinite(columns).all()


def test_rows_that_were_taken_are_not_drawn():
    pool, taken = BlockedPool(SCORES["skew"], EXPECTED, None), np.arange(0, N, 2)
    pool.take(taken)
    rows, columns = pool.draw(1.0, 0.0, 0.3, 100, np.random.default_rng(0))
    assert (rows % 2 == 1).all()
    assert np.isnan(columns[3:5]).all()  # No moments before the first fit.


def test_probabilities_do_not_drift_over_thousands_of_picks():
    rng = np.random.default_rng(0)
    scores = rng.exponential(size=4000) ** 4
    pool = BlockedPool(scores, np.ones(4000), None)
    free = np.ones(4000, dtype=bool)
    for _ in range(38):
        rows, columns = pool.draw(1.0, 0.0, 0.3, 100, rng)
        for row, proba, total in zip(rows, columns[0], columns[2], strict=True):
            assert total == free.sum()
            share = scores[row] / scores[free].sum()
            assert proba == pytest.approx(0.7 * share + 0.3 / free.sum(), rel=1e-12)
            free[row] = False


def test_scale_and_shift_are_those_of_the_scores():
    scores = SCORES["skew"]
    shifted = BlockedPool(3.0 * scores + 0.5, EXPECTED, VARIANCE)
    pool = BlockedPool(scores, EXPECTED, VARIANCE)
    expected = shifted.draw(1.0, 0.0, 0.2, 9, np.random.default_rng(5))
    found = pool.draw(3.0, 0.5, 0.2, 9, np.random.default_rng(5))
    assert found[0].tolist() == expected[0].tolist()
    assert_allclose(found[1], expected[1], rtol=1e-12)
