"""GuardedASE follows a good surrogate, leaves a bad one, and says which it is.

The tables for real data, with many more runs: ``benchmarks/trust/trust.py``.
"""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.simulation import Scenario, label_efficiency_curve
from sklearn_ase.surrogate import ClassifierSurrogate

pytestmark = pytest.mark.slow
N_RUNS = 16


def _scenario(seed):
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    train, pool = order[:300], order[300:1100]
    model = GaussianNB(var_smoothing=0.01).fit(X[train], y[train])
    return Scenario(X[pool], y[pool], model, X[train], y[train])


@pytest.fixture(scope="module")
def figures():
    """Figures by surrogate and risk, after 50 labels."""
    stump = DecisionTreeClassifier(max_depth=1)
    surrogates = {
        "good": RandomForestClassifier(30),
        "bad": ClassifierSurrogate(stump, n_members=5, calibration=None),
    }
    evaluators = {
        name: ActiveRiskEstimator(surrogate=surrogate, loss="zero_one", refit=2.0)
        for name, surrogate in surrogates.items()
    }
    result = label_efficiency_curve(
        evaluators, _scenario, n_labels=[50], n_runs=N_RUNS, random_state=0
    )
    summary = result.summary()
    keys = zip(summary["evaluator"], summary["risk"], strict=True)
    return {
        key: {name: column[place] for name, column in summary.items()}
        for place, key in enumerate(keys)
    }


def test_a_good_surrogate_saves_labels(figures):
    assert figures["good", "GuardedASE"]["ratio"] < 0.6
    assert figures["good", "GuardedASE"]["flagged"] < 0.2
    assert (
        figures["good", "GuardedASE"]["width"] < figures["good", "Monte Carlo"]["width"]
    )


def test_a_bad_surrogate_ruins_ase_but_not_the_guarded_estimate(figures):
    assert figures["bad", "ASE"]["ratio"] > 10
    assert figures["bad", "GuardedASE"]["ratio"] < 2
    assert figures["bad", "GuardedASE"]["flagged"] > 0.8


@pytest.mark.parametrize("surrogate", ["good", "bad"])
def test_intervals_hold_whatever_the_surrogate(figures, surrogate):
    for risk in ("GuardedASE", "CorrectedASE", "LURE"):
        # 12 of 16 or fewer happen in 7 % of cases if each covers with 90 %.
        assert figures[surrogate, risk]["coverage"] >= 12 / N_RUNS
        assert figures[surrogate, risk]["anytime_coverage"] >= 13 / N_RUNS
