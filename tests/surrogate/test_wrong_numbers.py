"""Training rows of a regression whose labels are wrong, a share of them."""

import numpy as np
import pytest

from sklearn_ase.surrogate import GaussianStack
from sklearn_ase.surrogate._power_prior import PRIOR

N_TRAINING = 1000
NOISE = 0.5


def skew_world(wrong):
    """Skew labels with heavy tails; a share of them belong to other rows."""
    rng = np.random.default_rng(0)
    mean = rng.exponential(size=N_TRAINING)
    y = mean + NOISE * rng.standard_t(6, size=N_TRAINING) * (4 / 6) ** 0.5
    is_wrong = rng.random(N_TRAINING) < wrong
    y[is_wrong] = rng.permutation(y[is_wrong])
    return mean, np.zeros(N_TRAINING), None, y, np.zeros(N_TRAINING, dtype=bool)


def test_wrong_labels_are_found_where_labels_are_skew():
    """About 600 of 1,000 labels are right; most of the others have a small value."""
    rng = np.random.default_rng(0)
    mean = rng.exponential(size=N_TRAINING)
    y = mean * (1.0 + NOISE * rng.normal(size=N_TRAINING))
    right = np.mean((y - mean) ** 2)
    is_wrong = rng.random(N_TRAINING) < 0.4
    y[is_wrong] = rng.permutation(y[is_wrong])
    given = mean, mean**2, None
    stack = GaussianStack().fit(*given, y, np.zeros(N_TRAINING, dtype=bool))
    whole, cleaned = stack.predict_each(*given)[1].mean(axis=1)[[0, -1]]
    assert 550 < stack.worths_[-1] < 700
    assert whole > 2.0 * right
    assert cleaned == pytest.approx(right, rel=0.2)


def test_the_tail_of_right_labels_does_not_look_wrong():
    stack = GaussianStack().fit(*skew_world(wrong=0.0))
    whole, cleaned = stack.parameters_[[0, -1], 1]
    assert stack.worths_[-1] > 0.975 * N_TRAINING
    assert cleaned > 0.9 * whole


def test_rows_that_look_right_may_be_worth_less_too():
    stack = GaussianStack().fit(*skew_world(wrong=0.4))
    few, many = sum(PRIOR[:3]), PRIOR[3:]
    assert stack.shares_[:5] == pytest.approx(0.8 * np.array(PRIOR))
    assert stack.shares_[5:] == pytest.approx(0.2 * np.array([few, *many]))
    assert stack.worths_[:5].tolist() == [2.0, 10.0, 50.0, 250.0, N_TRAINING]
    assert stack.worths_[5:7].tolist() == [50.0, 250.0]
    assert 250.0 < stack.worths_[7] < N_TRAINING
    # They all say the same, with more or less weight.
    assert np.ptp(stack.parameters_[5:], axis=0) == pytest.approx(0.0, abs=1e-4)
