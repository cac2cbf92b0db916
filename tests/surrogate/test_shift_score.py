"""Rows of the pool that training rows do not cover are recognised without labels."""

import numpy as np
import pytest
from scipy import sparse

from sklearn_ase.surrogate import ClassifierSurrogate, LogLinearStack
from sklearn_ase.surrogate._power_prior import ShiftScore, can_compare

RNG = np.random.default_rng(0)
TRAIN = RNG.normal(size=(300, 4))
SAME = RNG.normal(size=(600, 4))
MOVED = SAME + np.array([2.0, 0.0, 0.0, 0.0])


def test_without_a_shift_the_score_is_close_to_zero():
    score = ShiftScore(SAME, TRAIN)
    assert np.abs(score.score(SAME)).mean() < 0.3
    assert score.score(TRAIN).mean() == pytest.approx(0.0, abs=1e-9)


def test_rows_that_training_rows_do_not_cover_score_high():
    score = ShiftScore(MOVED, TRAIN).score(MOVED)
    outside = MOVED[:, 0] > 2.5
    assert score[outside].mean() > score[~outside].mean() + 0.1


def test_the_score_is_the_same_every_time_and_for_sparse_rows():
    first = ShiftScore(MOVED, TRAIN).score(MOVED[:50])
    again = ShiftScore(MOVED, TRAIN).score(MOVED[:50])
    np.testing.assert_array_equal(first, again)
    matrices = sparse.csr_matrix(MOVED), sparse.csr_matrix(TRAIN)
    thin = ShiftScore(*matrices).score(matrices[0][:50])
    assert np.corrcoef(first, thin)[0, 1] > 0.9


@pytest.mark.parametrize(
    ("X", "X_train", "can"),
    [
        (SAME, TRAIN, True),
        (SAME, None, False),
        (SAME, TRAIN[:5], False),
        (["a text"] * 50, ["another"] * 50, False),
        (np.zeros((50, 4, 4)), np.zeros((50, 4, 4)), False),
        (SAME.astype(str), TRAIN.astype(str), False),
    ],
)
def test_only_tables_of_numbers_with_sufficient_rows_are_compared(X, X_train, can):
    assert can_compare(X, X_train) == can


def test_large_pools_are_compared_by_some_of_their_rows():
    pool = np.tile(SAME, (20, 1))
    assert np.abs(ShiftScore(pool, TRAIN).score(SAME)).mean() < 0.3


def test_labels_from_where_training_rows_end_correct_the_belief_there():
    """Confidence that is right near the training rows and wrong beyond them."""
    rng = np.random.default_rng(0)
    n_rows = 1200
    is_acquired = np.arange(n_rows) >= 1000
    shift = np.where(is_acquired, rng.choice([0.0, 2.0], n_rows), 0.0)
    proba = np.full((n_rows, 2), 0.1)
    proba[:, 0] = 0.9
    right = np.where(shift > 0, 0.6, 0.9)
    codes = (rng.random(n_rows) > right).astype(int)
    stack = LogLinearStack().fit(
        proba, None, codes, is_acquired=is_acquired, shift=shift
    )
    near, far = stack.predict_proba(proba[:2], shift=np.array([0.0, 2.0]))[:, 0]
    assert near == pytest.approx(0.9, abs=0.03)
    assert far < 0.75


def test_a_surrogate_without_a_calibration_compares_nothing():
    surrogate = ClassifierSurrogate(calibration=None)
    surrogate.prepare(SAME, TRAIN)
    assert surrogate._shift is None


def test_values_beyond_single_precision_do_not_stop_it():
    huge = SAME.copy()
    huge[0, 2] = 1e300
    assert np.isfinite(ShiftScore(huge, TRAIN).score(huge)).all()
    assert huge[0, 2] == 1e300
