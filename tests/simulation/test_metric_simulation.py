"""Simulations of evaluators with a metric."""

import numpy as np
import pytest
from helpers.questions import MODEL, REGRESSOR, SURROGATE, TARGET, TRAINING, X, Y
from sklearn.metrics import f1_score, r2_score, roc_auc_score

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.risk import CorrectedASE, GuardedASE
from sklearn_ase.simulation import Scenario, label_efficiency_curve

SCENARIO = Scenario(X, Y, estimator=MODEL, **TRAINING)
TRUTH = {
    "f1": f1_score(Y, MODEL.predict(X)),
    "f1_macro": f1_score(Y, MODEL.predict(X), average="macro"),
    "roc_auc": roc_auc_score(Y, MODEL.predict_proba(X)[:, 1]),
}


def simulate(metric, scenario=SCENARIO, **options):
    evaluator = ActiveRiskEstimator(surrogate=SURROGATE, metric=metric, refit=[30])
    options = {"n_labels": [10, 30], "n_runs": 2, "random_state": 0} | options
    return label_efficiency_curve(evaluator, scenario, **options)


@pytest.mark.parametrize("metric", TRUTH)
def test_the_truth_is_the_metric_of_the_whole_pool(metric):
    columns = simulate(metric).columns
    assert columns["truth"] == pytest.approx(
        np.full(len(columns["truth"]), TRUTH[metric])
    )


@pytest.mark.parametrize("metric", TRUTH)
def test_all_labels_leave_no_error(metric):
    risks = {"corrected": CorrectedASE(), "guarded": GuardedASE()}
    summary = simulate(metric, n_labels=[60], n_runs=1, risks=risks).summary()
    ours = np.isin(summary["risk"], [*risks])
    assert ours.sum() == 2
    assert summary["mean_squared_error"][ours] == pytest.approx(0.0, abs=1e-20)
    assert summary["coverage"][ours] == pytest.approx(1.0)


def test_a_plain_sample_of_the_pool_is_compared_with():
    columns = simulate("f1", n_runs=1).columns
    plain = columns["risk"] == "Monte Carlo"
    assert plain.sum() == 2
    assert (columns["mc_variance"][plain] > 0).all()


def test_regressors_are_simulated_too():
    scenario = Scenario(
        X, TARGET, REGRESSOR, TRAINING["X_train"], TRAINING["X_train"][:, 0]
    )
    evaluator = ActiveRiskEstimator(metric="r2", refit=[30])
    result = label_efficiency_curve(
        evaluator, scenario, n_labels=[30], n_runs=1, random_state=0
    )
    assert result.columns["truth"][0] == pytest.approx(
        r2_score(TARGET, REGRESSOR.predict(X))
    )
