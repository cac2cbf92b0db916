"""Choices of a model, again and again."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_ase import ActiveModelSelector
from sklearn_ase.simulation import Scenario, selection_curve


@pytest.fixture
def pool():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=150)
    shares = {"good": 0.1, "fair": 0.2, "poor": 0.4}
    predictions = {
        name: np.where(rng.random(150) < share, 1 - y, y)
        for name, share in shares.items()
    }
    return Scenario(None, y), predictions


@pytest.mark.parametrize("metric", ["accuracy", "f1", "zero_one"])
def test_regret_falls(pool, metric):
    scenario, predictions = pool
    curve = selection_curve(
        ActiveModelSelector(metric=metric),
        scenario,
        predictions=predictions,
        n_labels=30,
        n_runs=4,
        random_state=0,
    )
    assert curve.regret.shape == curve.random.shape == (4, 30)
    assert (curve.regret >= 0).all()
    assert curve.regret[:, -1].max() == 0
    figures = curve.summary()
    assert figures["regret"] < figures["random"]
    assert figures["holds_best"] == 1


def test_finished_runs_are_not_repeated(pool, tmp_path):
    scenario, predictions = pool
    options = {"predictions": predictions, "n_labels": 5, "random_state": 1}
    path, selector = tmp_path / "runs.npz", ActiveModelSelector()
    first = selection_curve(selector, scenario, n_runs=2, path=path, **options)

    def asked(seed):
        asked.count += 1
        return scenario

    asked.count = 0
    both = selection_curve(selector, asked, n_runs=3, path=path, **options)
    assert asked.count == 1
    assert_array_equal(both.regret[:2], first.regret)
    with pytest.raises(ValueError, match="5 labels"):
        selection_curve(selector, scenario, path=path, **options | {"n_labels": 6})
    with pytest.raises(ValueError, match="random_state"):
        selection_curve(
            selector, scenario, path=path, **options | {"random_state": None}
        )


def test_only_selectors_are_simulated(pool):
    with pytest.raises(TypeError, match="ActiveModelSelector"):
        selection_curve("accuracy", pool[0])
