"""Heavy tails where another question is asked than the mean loss of all rows."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.estimates import with_interval
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
    found = evaluated(stats.t(2.1), 7).evaluation_
    assert loss_tail(replace(found.state, training_tail=np.nan)) < 0.55
    return found


@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.SurrogateWarning")
@pytest.mark.parametrize("name", ASKED)
def test_a_tail_that_training_rows_show_counts_for_every_question(missed, name):
    assert "heavy tail" in missed.estimate().refusal
    assert "heavy tail" in missed.estimate(**ASKED[name]).refusal


@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.SurrogateWarning")
@pytest.mark.parametrize("metric", ["r2", "explained_variance"])
def test_what_is_made_of_squared_errors_with_a_heavy_tail_is_refused(missed, metric):
    assert "heavy tail" in missed.estimate(metric=metric).refusal


@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.SurrogateWarning")
def test_the_tail_of_one_loss_is_not_that_of_another(missed):
    assert not missed.estimate(metric="absolute_error").refusal


@pytest.fixture(scope="module")
def skewed():
    """Squared errors with a tail that is heavy, but not so heavy that none is told."""
    found = evaluated(stats.t(5), 0).evaluation_
    assert found.estimate().uncertainty.beyond > 0.05 * float(found.estimate())
    return found


SOME = {"where": np.arange(N) < 3 * N // 4}


@pytest.mark.parametrize("rows", [{}, SOME], ids=["all rows", "some rows"])
@pytest.mark.parametrize("kind", [{}, {"target": "population"}], ids=str)
def test_the_interval_of_the_root_is_the_root_of_the_interval(skewed, rows, kind):
    ends = skewed.estimate(metric="squared_error", **rows).interval(**kind)
    root = skewed.estimate(metric="neg_root_mean_squared_error", **rows)
    assert np.square(root.interval(**kind)) == pytest.approx(ends[::-1])
    assert root.uncertainty.mean.beyond > 0


def test_so_it_is_for_groups_of_a_population(skewed):
    groups = {"groups": np.arange(N) // 4}
    ends = skewed.estimate(metric="squared_error", **groups).interval(
        target="population"
    )
    root = skewed.estimate(metric="neg_root_mean_squared_error", **groups)
    found = np.square(root.interval(target="population"))
    assert found == pytest.approx(ends[::-1], rel=1e-2)


def test_a_root_that_rows_were_picked_for_is_the_root_of_the_mean(skewed):
    metric = "neg_root_mean_squared_error"
    found = evaluated(stats.t(5), 0, loss=None, metric=metric).evaluation_
    mean, root = found.estimate(metric="squared_error"), found.estimate()
    assert float(root) == pytest.approx(-(float(mean) ** 0.5))
    assert np.square(root.interval()) == pytest.approx(mean.interval()[::-1])
    assert root.standard_error == pytest.approx(
        0.5 * mean.standard_error / float(mean) ** 0.5
    )


def test_a_root_is_read_again_from_a_file(skewed):
    found = skewed.estimate(metric="neg_root_mean_squared_error")
    again = type(found).from_dict(found.to_dict())
    assert again.interval() == found.interval()


@pytest.mark.parametrize("metric", ["squared_error", "neg_root_mean_squared_error"])
def test_more_labels_leave_less_beyond_the_largest_loss(skewed, metric):
    found = skewed.estimate(metric=metric)
    later = found.with_labels(2 * found.n_labels, N)
    assert later.uncertainty.mean.beyond == pytest.approx(
        0.5 * found.uncertainty.mean.beyond
    )
    assert later.uncertainty.mean.tail_degrees >= found.uncertainty.mean.tail_degrees


SHARES = ["r2", "explained_variance"]


@pytest.mark.parametrize("rows", [{}, SOME], ids=["all rows", "some rows"])
@pytest.mark.parametrize("method", ["fixed", "anytime"])
@pytest.mark.parametrize("metric", SHARES)
def test_shares_of_variance_allow_for_errors_beyond_the_largest_one(
    skewed, metric, method, rows
):
    found = skewed.estimate(metric=metric, **rows)
    mean = skewed.estimate(metric="squared_error", **rows).uncertainty.mean
    variance = mean.value / (1.0 - float(skewed.estimate(metric="r2", **rows)))
    assert -found.uncertainty.beyond == pytest.approx(mean.beyond / variance, rel=0.2)
    low, high = found.interval(method=method)
    plain = with_interval(found, beyond=0.0).interval(method=method)
    missed = -found.uncertainty.beyond * (1.0 - 50 / N)
    assert found.bounds[1] > high
    assert (low + missed, high) == pytest.approx(plain)


@pytest.mark.parametrize("metric", SHARES)
def test_the_allowance_of_shares_of_variance_is_not_cut_for_a_population(
    skewed, metric
):
    found = skewed.estimate(metric=metric)
    low = found.interval(target="population")[0]
    plain = with_interval(found, beyond=0.0).interval(target="population")[0]
    assert plain - low == pytest.approx(-found.uncertainty.beyond)


@pytest.mark.parametrize("metric", SHARES)
def test_more_labels_leave_shares_of_variance_less_beyond_the_largest_error(
    skewed, metric
):
    found = skewed.estimate(metric=metric)
    later = found.with_labels(2 * found.n_labels, N)
    assert later.uncertainty.beyond == pytest.approx(0.5 * found.uncertainty.beyond)
    assert later.uncertainty.sample.free_share == pytest.approx(1.0 - 100 / N)


def test_a_share_of_variance_is_read_again_from_a_file(skewed):
    found = skewed.estimate(metric="r2")
    again = type(found).from_dict(found.to_dict())
    assert again.interval() == found.interval()
    assert again.interval() != with_interval(found, beyond=0.0).interval()
