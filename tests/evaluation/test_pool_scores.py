"""Scores that depend on the belief alone are kept as long as it stays."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import XWED, TrustWeighted

X, Y = load_iris(return_X_y=True)
MODEL = FrozenEstimator(GaussianNB().fit(X[::5], Y[::5]))


class Counted(XWED):
    """XWED that counts how often it is asked."""

    calls = 0

    def score_samples(self, state):
        type(self).calls += 1
        return super().score_samples(state)


def buy(evaluation, n_labels):
    """Answer queries one by one."""
    for _ in range(n_labels):
        query = evaluation.ask()
        evaluation.tell(query, Y[query.indices])


def start(surrogate, acquisition, **options):
    """An evaluation of the whole iris data."""
    evaluator = ActiveRiskEstimator(
        MODEL, surrogate=surrogate, acquisition=acquisition, random_state=0
    )
    return evaluator.start(X, **options)


def test_a_constant_surrogate_is_scored_once():
    surrogate = FrozenEstimator(RandomForestClassifier(9).fit(X[::5], Y[::5]))
    evaluation = start(surrogate, TrustWeighted(Counted()))
    Counted.calls = 0
    buy(evaluation, 12)
    assert Counted.calls == 1
    expected = TrustWeighted(XWED()).score_samples(evaluation.state)
    evaluation.ask()
    assert_allclose(evaluation._scores.values, expected, rtol=1e-12)


def test_a_belief_that_changes_is_scored_again():
    surrogate = RandomForestClassifier(9)
    training = {"X_train": X[::5], "y_train": Y[::5]}
    evaluation = start(surrogate, TrustWeighted(Counted()), **training)
    Counted.calls = 0
    buy(evaluation, 6)
    assert Counted.calls == 6


def test_costs_divide_the_scores_of_rows_and_the_uniform_part():
    surrogate = FrozenEstimator(RandomForestClassifier(9).fit(X[::5], Y[::5]))
    cost = np.linspace(1.0, 4.0, len(X))
    evaluation = start(surrogate, TrustWeighted(XWED()), cost=cost)
    buy(evaluation, 8)
    expected = TrustWeighted(XWED()).score_samples(evaluation.state) / cost**0.5
    evaluation.ask()
    assert_allclose(evaluation._scores.values, expected, rtol=1e-12)
