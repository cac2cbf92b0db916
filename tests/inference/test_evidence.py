"""What the distance between the two estimates says about training rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_ase._inference._evidence import _without_echo

SHARES = np.array([0.2, 0.5, 0.3])


def test_the_probability_that_the_surrogate_is_accurate_stays():
    weight = np.array([0.4, 0.1, 0.2, 0.2, 0.1])
    for is_apart in ([False] * 3, [True] * 3, [False, True, True]):
        found = _without_echo(weight, SHARES, np.array(is_apart))
        assert found[:3].sum() == pytest.approx(0.7)
        assert_allclose(found[3:], [0.2, 0.1])


def test_hypotheses_that_follow_the_labels_keep_their_share():
    weight = np.array([0.69, 0.0, 0.01, 0.2, 0.1])
    found = _without_echo(weight, SHARES, np.array([False, True, True]))
    assert found[0] == pytest.approx(0.7 * 0.2)
    # The others share the rest as the gap says.
    assert_allclose(found[1:3], [0.0, 0.7 * 0.8])


def test_without_a_hypothesis_apart_all_keep_their_shares():
    weight = np.array([0.69, 0.0, 0.01, 0.2, 0.1])
    found = _without_echo(weight, SHARES, np.zeros(3, dtype=bool))
    assert_allclose(found[:3], 0.7 * SHARES)


def test_hypotheses_that_the_gap_excludes_leave_the_shares_as_they_are():
    weight = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    found = _without_echo(weight, SHARES, np.array([False, True, True]))
    assert_allclose(found[:3], SHARES)
