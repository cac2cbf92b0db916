"""Where the error of ASE comes from."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.simulation import Scenario, error_decomposition

X, Y = load_iris(return_X_y=True)
X_TRAIN, Y_TRAIN = X[::5], Y[::5]


def test_the_parts_of_the_error_add_up_and_vanish_where_they_must():
    scenario = Scenario(
        X[1::2], Y[1::2], GaussianNB().fit(X_TRAIN, Y_TRAIN), X_TRAIN, Y_TRAIN
    )
    evaluator = ActiveRiskEstimator(surrogate=GaussianNB(), n_labels=10, random_state=0)
    parts = error_decomposition(evaluator, scenario, X[1::2], Y[1::2])
    assert parts.finite_pool == pytest.approx(0.0, abs=1e-12)  # The pool itself.
    total = parts.finite_pool + parts.training + parts.expressiveness
    assert total == pytest.approx(parts.total, abs=1e-12)
    full = ActiveRiskEstimator(
        surrogate=GaussianNB(),
        n_labels=75,
        batch_size=75,
        refit=[75],
        random_state=0,
    )
    parts = error_decomposition(full, scenario, X[::2], Y[::2])
    assert parts.training == pytest.approx(0.0, abs=1e-12)  # Nothing left to learn.


def test_the_best_surrogate_has_seen_every_label_whatever_the_budget():
    scenario = Scenario(
        X[1::2], Y[1::2], GaussianNB().fit(X_TRAIN, Y_TRAIN), X_TRAIN, Y_TRAIN
    )
    evaluator = ActiveRiskEstimator(surrogate=GaussianNB(), n_labels=10, random_state=0)
    parts = error_decomposition(evaluator, scenario, X[::2], Y[::2])
    evaluator.set_params(n_labels=75, budget=10)
    assert error_decomposition(evaluator, scenario, X[::2], Y[::2]) == parts


def test_where_the_error_comes_from_needs_labels_and_no_distribution():
    scenario = Scenario(X, np.arange(3), label_proba=np.full((len(X), 3), 1 / 3))
    with pytest.raises(ValueError, match="label_proba leaves them to be drawn"):
        error_decomposition(ActiveRiskEstimator(), scenario, X, Y)
