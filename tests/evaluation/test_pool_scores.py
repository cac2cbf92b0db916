"""Scores of the rows of a pool."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._evaluation._picker import score_pool
from sklearn_ase.acquisition import XWED, TrustWeighted

X, Y = load_iris(return_X_y=True)
MODEL = FrozenEstimator(GaussianNB().fit(X[::5], Y[::5]))


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


def test_costs_divide_the_scores_of_rows_and_the_uniform_part():
    surrogate = FrozenEstimator(RandomForestClassifier(9).fit(X[::5], Y[::5]))
    cost = np.linspace(1.0, 4.0, len(X))
    evaluation = start(surrogate, TrustWeighted(XWED()), cost=cost)
    buy(evaluation, 8)
    expected = TrustWeighted(XWED()).score_samples(evaluation.state) / cost**0.5
    scores = score_pool(evaluation.plan, evaluation.state, cost)
    assert_allclose(scores, expected, rtol=1e-12)
