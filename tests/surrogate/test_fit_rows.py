"""Rows of a fit and their weights."""

import numpy as np
import pytest
from helpers.flowers import FLOWERS, X
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ase.surrogate import ClassifierSurrogate
from sklearn_ase.surrogate._estimator import FitRows


def test_weights_of_acquired_rows_follow_from_the_rows():
    rows = FitRows(np.zeros((110, 1)), np.zeros(110), n_acquired=10)
    np.testing.assert_array_equal(rows.fit_weight(3.0), [1.0] * 100 + [3.0] * 10)
    # All training rows together weigh as much as 20 acquired rows, or as they are.
    for rows_per_acquired, are_drawn, expected in (
        (20, True, 0.2),
        (1000, True, 1.0),
        # Ten labels that were chosen, not drawn: 2 * 10 ** 2 / 20 acquired rows.
        (20, False, 0.1),
    ):
        weight = rows.weight(rows_per_acquired, are_drawn)
        np.testing.assert_array_equal(weight, [expected] * 100 + [1.0] * 10)


@pytest.mark.parametrize("n_acquired", [0, 10])
def test_rows_of_one_kind_have_no_weights(n_acquired):
    rows = FitRows(np.zeros((10, 1)), np.zeros(10), n_acquired=n_acquired)
    assert rows.fit_weight(3.0) is None


def test_weights_reach_the_last_step_of_nested_pipelines():
    points, labels = np.zeros((40, 1)), np.repeat([0, 1], [30, 10])
    forest = RandomForestClassifier(50, random_state=0)
    nested = make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), forest))
    for weight, expected in ((1.0, 0.25), (9.0, 0.75)):
        surrogate = ClassifierSurrogate(nested, calibration=None, pool_weight=weight)
        surrogate.fit(points, labels, n_acquired=10)
        found = surrogate.predict_proba(points)[0, 1]
        assert found == pytest.approx(expected, abs=0.05)


def test_a_frozen_step_takes_no_weights():
    frozen = FrozenEstimator(RandomForestClassifier(5).fit(X, FLOWERS))
    surrogate = ClassifierSurrogate(
        make_pipeline(StandardScaler(), frozen), pool_weight=2.0
    )
    with pytest.raises(
        ValueError, match=r"FrozenEstimator\.fit takes no sample_weight"
    ):
        surrogate.fit(X, FLOWERS, n_acquired=10)
