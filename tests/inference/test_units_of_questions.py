"""The same question in other units has the same interval."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.estimates import of_population
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._inference._bounds import Bets
from sklearn_ase.losses import CustomLoss
from sklearn_ase.metrics import LabelScore, MeanLoss
from sklearn_ase.risk import BoundedInterval, CorrectedASE, Estimate, GuardedASE
from sklearn_ase.risk._intervals import FunctionInterval

N = 500
RNG = np.random.default_rng(1)
X = RNG.normal(size=(N, 3))
RARE = np.where(RNG.random(N) < 0.03, "b", "a")
UNITS = [{"b": -1}, {"a": -1, "b": 1}, {"a": 1, "b": 2.2}, {"a": 1, "b": 5}, {"a": 1}]
KINDS = [
    {"method": "fixed"},
    {"method": "anytime"},
    {"method": "fixed", "target": "population"},
]


@pytest.fixture(scope="module")
def evaluation():
    evaluator = ActiveRiskEstimator(
        metric=LabelScore({"b": 1}), n_labels=40, classes=["a", "b"], random_state=0
    )
    return evaluator.fit(X, RARE).evaluation_


@pytest.fixture(scope="module")
def with_skips():
    evaluator = ActiveRiskEstimator(
        metric=LabelScore({"b": 1}), classes=["a", "b"], random_state=0
    )
    evaluation = evaluator.start(X)
    for step in range(50):
        query = evaluation.ask(1)
        if step % 5 == 4:
            evaluation.skip(query.indices)
        else:
            evaluation.tell(query, RARE[query.indices])
    return evaluation


def in_shares(estimate, scores, **kind):
    """The interval as one for the share of the label b."""
    start = scores.get("a", 0)
    ends = (np.array(estimate.interval(**kind)) - start) / (scores.get("b", 0) - start)
    return np.sort(ends)


@pytest.mark.parametrize("scores", UNITS, ids=str)
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("risk", [GuardedASE(), CorrectedASE()], ids=repr)
def test_every_scale_of_a_score_has_the_same_interval(evaluation, scores, kind, risk):
    for rows in ({}, {"where": np.arange(N) < 200}):
        asked = {"risk": risk, **rows}
        plain = evaluation.estimate(metric=LabelScore({"b": 1}), **asked)
        found = evaluation.estimate(metric=LabelScore(scores), **asked)
        wanted = plain.interval(**kind)
        assert in_shares(found, scores, **kind) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("scores", UNITS, ids=str)
def test_so_it_is_where_some_rows_could_not_be_labelled(with_skips, scores):
    for rows in ({}, {"sample_weight": np.linspace(1, 3, N)}):
        plain = with_skips.estimate(metric=LabelScore({"b": 1}), **rows)
        found = with_skips.estimate(metric=LabelScore(scores), **rows)
        wanted = plain.interval()
        assert in_shares(found, scores) == pytest.approx(wanted, abs=1e-9)


def costs(least, most):
    """A loss that a right prediction has, too."""
    return CustomLoss(
        lambda y, predicted: np.where(y == predicted, least, most),
        task="classification",
        max_loss=most,
    )


@pytest.fixture(scope="module")
def model():
    return FrozenEstimator(GaussianNB().fit(X, X[:, 0] > 0))


def test_the_mean_of_a_loss_with_a_least_value_has_the_interval_of_errors(model):
    evaluator = ActiveRiskEstimator(model, loss="zero_one", n_labels=40, random_state=0)
    y = (X[:, 0] > 0) ^ (RARE == "b")
    evaluation = evaluator.fit(X, y).evaluation_
    low, high = evaluation.estimate(metric=MeanLoss(costs(0, 1.0))).interval()
    found = evaluation.estimate(metric=MeanLoss(costs(1.0, 5.0))).interval()
    assert found == pytest.approx((1 + 4 * low, 1 + 4 * high))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_loss_with_a_least_value_has_no_lower_risk(model, kind):
    evaluator = ActiveRiskEstimator(
        model, loss=costs(1.0, 5.0), n_labels=40, random_state=0
    )
    y = (X[:, 0] > 0) ^ (RARE == "b")
    found = evaluator.fit(X, y).risk_
    low, high = found.interval(**kind)
    assert (found.uncertainty.min_loss, found.uncertainty.max_loss) == (1.0, 5.0)
    assert 1.0 <= low < 1 + 4 * np.mean(RARE == "b") < high < 5.0


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("is_wilson", [False, True])
def test_an_estimate_allows_for_unseen_losses_between_its_ends(kind, is_wilson):
    shape = {"n_labels": 50, "degrees_of_freedom": 49, "is_wilson": is_wilson}
    share = Estimate.of_mean(
        0.1,
        0.03,
        max_loss=1.0,
        unseen=0.02,
        sample=of_population(variance=1e-4),
        **shape,
    )
    found = Estimate.of_mean(
        1.4,
        0.12,
        min_loss=1.0,
        max_loss=5.0,
        unseen=0.02,
        sample=of_population(variance=16e-4),
        **shape,
    )
    low, high = share.interval(**kind)
    assert found.interval(**kind) == pytest.approx((1 + 4 * low, 1 + 4 * high))


# Twenty estimates of a mean between 0 and 1, each with its limits and a forecast.
BETS = Bets(np.array([[0.6] * 20, [0.1] * 20, [1.2] * 20, [0.5] * 20, [0.2] * 20]), 1.0)


def test_bets_on_a_mean_from_one_end_are_read_from_the_other_end():
    kind = {"n_labels": 20, "max_loss": 1.0}
    errors = BoundedInterval(0.4, 0.1, bets=BETS.along(1.0, -1.0), **kind)
    hits = BoundedInterval(0.6, 0.1, bets=BETS, **kind)
    found = Estimate(0.6, 0.1, 20, FunctionInterval(errors, start=1.0, slope=-1.0))
    bets = Estimate(0.6, 0.1, 20, FunctionInterval(hits))
    uncertainty = found.uncertainty.with_bets_of(bets.uncertainty)
    found = replace(found, uncertainty=uncertainty)
    low, high = found.interval(method="anytime")
    assert (low, high) == pytest.approx(bets.interval(method="anytime"))
