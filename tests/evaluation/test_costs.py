"""Costs of labels, and budgets."""

import numpy as np
import pytest
from helpers.iris_campaign import (
    TRAINING,
    X,
    Y,
    make_evaluator,
    scores_of,
    start_evaluation,
    tell,
)
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_ase.acquisition import LossSpread, Uniform
from sklearn_ase.risk import MonteCarlo
from sklearn_ase.selection import ArgMax, Proportional, UniformMixed

COST = 0.5 + 4.0 * np.random.default_rng(1).random(150)


@pytest.mark.parametrize("uniform_share", [0.0, 0.2, 1.0])
def test_draws_go_by_score_over_the_root_of_the_cost(uniform_share):
    selection = Proportional(uniform_share)
    evaluation = start_evaluation(
        cost=COST, acquisition=LossSpread(), selection=selection
    )
    free, scores = np.ones(150, dtype=bool), scores_of(evaluation) / np.sqrt(COST)
    query = evaluation.ask(5)
    for row, proba in zip(query.indices, query.proba, strict=True):
        share = (1 - uniform_share) * scores[row] / scores[free].sum()
        assert proba == pytest.approx(share + uniform_share / free.sum(), rel=1e-12)
        free[row] = False


def test_the_best_row_is_the_one_with_most_score_for_its_cost():
    evaluation = start_evaluation(
        cost=COST, acquisition=LossSpread(), selection=ArgMax()
    )
    expected = np.argsort(-scores_of(evaluation) / COST)[:6]
    assert_array_equal(evaluation.ask(6).indices, expected)


@pytest.mark.parametrize(
    ("selection", "power"),
    [(ArgMax(), 1.0), (Proportional(), 0.5), (UniformMixed(), 1.0)]
    + [(UniformMixed(Proportional()), 0.5)],
)
def test_an_audit_follows_the_selection_it_audits(selection, power):
    assert selection.cost_power == power
    evaluation = start_evaluation(
        cost=COST, acquisition=LossSpread(), selection=selection
    )
    scores = scores_of(evaluation) / COST**power
    query = evaluation.ask()
    if selection.has_query_proba:
        expected = selection.distribution(scores)[query.indices[0]]
        assert query.proba[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("training", [{}, TRAINING], ids=["unfitted", "fitted"])
def test_uniform_stays_uniform_whatever_rows_cost(training):
    evaluation = start_evaluation(
        cost=COST, acquisition=Uniform(), risk=MonteCarlo(), training=training
    )
    query = evaluation.ask(8)
    assert_allclose(query.proba, 1 / (150 - np.arange(8)))
    tell(evaluation, query.indices)
    assert evaluation.estimate().n_labels == 8


def test_equal_costs_change_nothing():
    plain, priced = start_evaluation(), start_evaluation(cost=np.full(150, 7.0))
    for _ in range(4):
        one, two = plain.ask(3), priced.ask(3)
        assert_array_equal(one.indices, two.indices)
        assert_allclose(one.proba, two.proba, rtol=1e-12)
        for evaluation in (plain, priced):
            tell(evaluation, one.indices)
    assert priced.spent == 7 * plain.spent == 84


@pytest.mark.parametrize(
    "cost",
    [
        np.ones(149),
        np.ones((150, 1)),
        np.zeros(150),
        np.append(np.ones(149), -1),
        np.append(np.ones(149), np.nan),
        np.append(np.ones(149), np.inf),
        3.0,
    ],
)
def test_costs_are_checked(cost):
    with pytest.raises(ValueError, match="cost must be one finite number > 0 for each"):
        start_evaluation(cost=cost)


def test_skipped_rows_were_paid_for():
    evaluation = start_evaluation(cost=COST)
    rows = evaluation.ask(4).indices
    assert evaluation.spent == 0
    tell(evaluation, rows[:2])
    evaluation.skip(rows[2:3])
    assert evaluation.spent == pytest.approx(COST[rows[:3]].sum())


@pytest.mark.parametrize("batch_size", [1, 3, 10])
@pytest.mark.parametrize("cost", [None, COST])
def test_the_label_that_reaches_the_budget_is_the_last(batch_size, cost):
    evaluator = make_evaluator(n_labels=100, batch_size=batch_size, budget=20.0)
    evaluator.fit(X, Y, cost=cost, **TRAINING)
    prices = np.ones(150) if cost is None else cost
    spent = np.cumsum(prices[list(evaluator.ledger_.labels)])
    assert spent[-1] >= 20.0 > spent[-2]
    assert evaluator.stop_reason_ == "The budget of 20 is spent."
    assert evaluator.evaluation_.spent == pytest.approx(spent[-1])


class Patience:
    """Sees to it that a run that buys nothing does not go on for ever."""

    n_batches = 0

    def begin(self):
        self.n_batches += 1
        assert self.n_batches < 200, "nothing is bought any more"

    def end(self):
        return ""


@pytest.mark.parametrize("price", [0.1, 0.3, 2.3])
def test_a_budget_missed_by_rounding_is_spent_by_the_next_label(price):
    """26 times 0.3 sum to less than 7.8, but not if another 0.3 comes and goes."""
    for n_labels in range(2, 40, 4):
        evaluation = start_evaluation(
            training={}, refit=[10**6], cost=np.full(150, price)
        )
        budget = round(n_labels * price, 1)
        evaluation.run(lambda rows: Y[rows], 100, budget=budget, watch=Patience())
        assert budget <= evaluation.spent < budget + 1.01 * price


@pytest.mark.parametrize("budget", [0, -1.0, np.nan, "20", [20]])
def test_a_budget_is_checked_at_the_start(budget):
    with pytest.raises((TypeError, ValueError), match="must be a number > 0, or None"):
        start_evaluation(budget=budget)


def test_open_rows_do_not_overspend_the_budget():
    evaluation = start_evaluation()
    evaluation.ask(30)
    evaluation.run(lambda rows: Y[rows], 100, budget=8.0)
    assert evaluation.spent == 8.0


@pytest.mark.parametrize("budget", [0, -1.0, np.nan])
def test_a_budget_must_be_positive(budget):
    with pytest.raises(ValueError, match="must be a number > 0, or None"):
        make_evaluator(budget=budget).fit(X, Y)
