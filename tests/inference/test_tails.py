"""Heavy tails: how heavy they are, and what follows for an interval."""

import numpy as np
import pytest
from scipy import stats

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._inference._tails import tail_shape
from sklearn_ase.exceptions import IntervalWarning


@pytest.mark.parametrize("shape", [0.2, 0.6, 1.0])
def test_the_shape_of_a_pareto_tail_is_found(shape):
    """The upper half of a generalised Pareto distribution is one of the same shape."""
    found = [
        tail_shape(stats.genpareto.rvs(shape, size=400, random_state=seed))
        for seed in range(20)
    ]
    assert np.mean(found) == pytest.approx(shape, abs=0.08)


def test_scale_and_location_do_not_matter():
    values = stats.genpareto.rvs(0.5, size=100, random_state=0)
    assert tail_shape(7.0 + 3.0 * values) == pytest.approx(tail_shape(values))


@pytest.mark.parametrize("values", [[], [1.0], np.ones(50), np.arange(8.0)])
def test_few_or_equal_values_say_nothing(values):
    assert np.isnan(tail_shape(np.asarray(values)))


def fitted(noise, seed, n_labels=60):
    """Risk of a model that predicts the mean of labels with some noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 2))
    y = X[:, 0] + noise.rvs(size=400, random_state=rng)
    evaluator = ActiveRiskEstimator(
        lambda X: X[:, 0], loss="squared_error", n_labels=n_labels, random_state=seed
    )
    return evaluator.fit(X, y, X_train=X[:50], y_train=y[:50]).risk_


@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.SurrogateWarning")
def test_squared_errors_with_infinite_variance_get_no_interval_most_of_the_time():
    risks = [fitted(stats.t(2.1), seed) for seed in range(6)]
    refused = [risk for risk in risks if "heavy tail" in risk.refusal]
    assert len(refused) >= 3
    with pytest.warns(IntervalWarning, match="absolute_error"):
        assert refused[0].interval() == (-np.inf, np.inf)


@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.SurrogateWarning")
def test_squared_errors_of_normal_noise_have_an_interval():
    risks = [fitted(stats.norm(), seed) for seed in range(6)]
    assert sum(bool(risk.refusal) for risk in risks) <= 1
