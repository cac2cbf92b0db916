"""Groups without labels report what the surrogate says, as their verdict tells."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.risk import ASE


def test_a_group_without_labels_has_the_estimate_of_the_surrogate():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=600) > 0).astype(int)
    model = LogisticRegression().fit(X[:200], y[:200])
    evaluator = ActiveRiskEstimator(model, metric="accuracy", n_labels=30)
    evaluator.set_params(random_state=0)
    evaluator.fit(X[200:], y[200:], X_train=X[:200], y_train=y[:200])
    evaluation = evaluator.evaluation_
    free = np.setdiff1d(np.arange(400), evaluation.state.indices)
    is_rare = np.isin(np.arange(400), free[:5])
    table = evaluation.estimate_by(np.where(is_rare, "rare", "usual"))
    assert table["n_labels"].tolist() == [0, 30]
    expected = float(evaluation.estimate(ASE(), where=is_rare))
    assert table["estimate"][0] == pytest.approx(expected)
    assert "only from the surrogate" in table["verdict"][0]
    assert np.isnan(table["low"][0])
