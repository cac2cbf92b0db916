"""The believed variance of means of several answers."""

from dataclasses import replace

import numpy as np

from sklearn_ase._inference._steps import with_several_answers
from sklearn_ase.testing import make_state

N, M = 400, 200
NAMES = ("residual_moment", "loss_moment")


def _picks():
    """Uniform picks of values with variance 1 at each row."""
    picks = make_state(n_samples=N, n_labels=M).picks
    left = N - np.arange(M)
    return replace(
        picks,
        query_proba=1.0 / left,
        residual_moment=1.0 * left**2,
        loss_moment=2.0 * left**2,
    )


def _ratio(counts, within):
    """What is left of the variance that was believed, for each pick."""
    picks = _picks()
    found = with_several_answers(picks, (counts, within))
    less = [getattr(picks, name) - getattr(found, name) for name in NAMES]
    np.testing.assert_allclose(*less)  # Both lose the same.
    return found.residual_moment / picks.residual_moment


def test_pure_noise_is_divided_by_the_number_of_answers():
    within = np.random.default_rng(0).chisquare(3, M) / 3
    ratio = _ratio(np.full(M, 4.0), within)
    assert abs(ratio[-1] - 0.25) < 0.08
    assert ratio[0] == 1.0  # Nothing was known before.


def test_half_noise_leaves_the_other_half():
    ratio = _ratio(np.full(M, 2.0), np.full(M, 0.5))
    np.testing.assert_allclose(ratio[-1], 0.5 + 0.5 / 2, atol=0.01)


def test_answers_that_agree_change_nothing():
    np.testing.assert_array_equal(_ratio(np.full(M, 3.0), np.zeros(M)), 1.0)


def test_rows_with_one_answer_keep_their_variance():
    counts = np.where(np.arange(M) % 2, 3.0, 1.0)
    ratio = _ratio(counts, np.where(counts > 1, 1.0, 0.0))
    np.testing.assert_array_equal(ratio[counts == 1], 1.0)
    np.testing.assert_allclose(ratio[-1], 1 / 3, atol=0.05)


def test_it_is_known_before_the_answers_of_the_pick():
    within = np.random.default_rng(1).chisquare(2, M) / 4
    changed = np.where(np.arange(M) < 120, within, 0.0)
    counts = np.full(M, 3.0)
    ratio, other = _ratio(counts, within), _ratio(counts, changed)
    np.testing.assert_array_equal(ratio[:121], other[:121])
    assert ratio[-1] < other[-1]


def test_the_variance_never_becomes_negative():
    assert (_ratio(np.full(M, 50.0), np.full(M, 30.0)) > 0).all()


def test_one_answer_for_each_row_returns_the_same_picks():
    picks = _picks()
    assert with_several_answers(picks, None) is picks
