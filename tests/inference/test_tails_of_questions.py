"""Heavy tails where another question is asked than the mean loss of all rows."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._inference._tails import loss_tail

N = 400
ASKED = {
    "all rows": {"where": np.ones(N, dtype=bool)},
    "half of the rows": {"where": np.arange(N) < N // 2},
    "weights": {"sample_weight": np.linspace(1.0, 2.0, N)},
    "root": {"metric": "neg_root_mean_squared_error"},
    "root of some rows": {
        "metric": "neg_root_mean_squared_error",
        "where": np.arange(N) < N // 2,
    },
}


def evaluated(noise, seed=0, loss="squared_error", **parameters):
    """An evaluation of a model whose labels have some noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * N, 3))
    y = X @ [2.0, 1.0, 0.0] + noise.rvs(size=len(X), random_state=rng)
    training = {"X_train": X[N:], "y_train": y[N:]}
    model = FrozenEstimator(Ridge().fit(X[N:], y[N:]))
    parameters = {"loss": loss, "n_labels": 50, "random_state": seed} | parameters
    return ActiveRiskEstimator(model, **parameters).fit(X[:N], y[:N], **training)


@pytest.fixture(scope="module")
def missed():
    """Labels that have missed the large losses, which training rows show."""
    for seed in range(20):
        found = evaluated(stats.t(2.1), seed).evaluation_
        alone = loss_tail(replace(found.state, training_tail=np.nan))
        if alone < 0.55 and "heavy tail" in found.estimate().refusal:
            return found
    raise AssertionError("no pool like that")


@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.SurrogateWarning")
@pytest.mark.parametrize("name", ASKED)
def test_a_tail_that_training_rows_show_counts_for_every_question(missed, name):
    assert "heavy tail" in missed.estimate().refusal
    assert "heavy tail" in missed.estimate(**ASKED[name]).refusal


@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.SurrogateWarning")
def test_the_tail_of_one_loss_is_not_that_of_another(missed):
    assert not missed.estimate(metric="absolute_error").refusal
