"""Batches depend on ``random_state`` alone, not on numpy's global state."""

import numpy as np
import pytest
from helpers.iris_campaign import MODEL, TRAINING, X, Y, make_evaluator
from numpy.testing import assert_array_equal
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveModelSelector, ActiveRiskEstimator
from sklearn_ase.metrics import LabelShare

OTHER = FrozenEstimator(GaussianNB(var_smoothing=0.5).fit(*TRAINING.values()))
COLUMNS = ("indices", "query_proba", "expected_loss", "free_expected_loss")
COLUMNS += ("residual_moment", "loss_moment")


def by_hand(evaluator):
    evaluation = evaluator.start(X, **TRAINING)
    for _ in range(2):
        query = evaluation.ask(30)
        evaluation.tell(query, Y[query.indices])
    return evaluation


def by_run(evaluator):
    evaluation = evaluator.start(X, **TRAINING)
    evaluation.run(Y, 60, batch_size=30)
    return evaluation


def by_fit(evaluator):
    evaluator.set_params(n_labels=60, batch_size=30).fit(X, Y, **TRAINING)
    is_selector = isinstance(evaluator, ActiveModelSelector)
    return evaluator.selection_ if is_selector else evaluator.evaluation_


def make_selector():
    return ActiveModelSelector([("first", MODEL), ("other", OTHER)], random_state=0)


def global_state():
    name, keys, *place = np.random.get_state()  # noqa: NPY002
    return [name, keys.tolist(), *place]


@pytest.mark.parametrize("campaign", [by_hand, by_run, by_fit])
@pytest.mark.parametrize("make", [make_evaluator, make_selector])
def test_batches_depend_on_the_random_state_alone(make, campaign):
    ledgers = []
    for seed in (1, 2):
        np.random.seed(seed)  # noqa: NPY002
        before = global_state()
        ledgers.append(campaign(make()).ledger)
        assert global_state() == before
    first, second = ledgers
    assert len(first) == 60
    assert (first.labels, first.refits) == (second.labels, second.refits)
    for name in COLUMNS:
        assert_array_equal(getattr(first.picks, name), getattr(second.picks, name))


@pytest.mark.parametrize("n_samples", [400, 700, 1000, 1300, 1600, 2000])
def test_a_plain_judge_gives_batches_of_any_size(n_samples):
    # Its scores are equal but for rounding.
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_samples)
    judge = np.where(rng.random(n_samples) < 0.8, y, 1 - y)
    evaluator = ActiveRiskEstimator(
        metric=LabelShare(1), classes=[0, 1], random_state=0
    )
    evaluation = evaluator.start(None, experts={"judge": judge})
    for _ in range(2):
        query = evaluation.ask(50)
        evaluation.tell(query, y[query.indices])
    assert np.isfinite(evaluation.ledger.picks.residual_moment).all()
    assert len(set(evaluation.ledger.indices)) == 100
