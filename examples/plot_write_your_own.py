"""
An acquisition of your own
==========================

An acquisition is an object with one verb. This one asks for rows whose two
likeliest classes are close; a simulation puts it beside the default.
"""

# %%
# The verb scores every row of the pool. ``check_acquisition`` holds it to the contract.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator, LabelEfficiencyDisplay
from sklearn_ase.acquisition import BaseAcquisition
from sklearn_ase.simulation import Scenario, label_efficiency_curve
from sklearn_ase.testing import check_acquisition


class Hesitation(BaseAcquisition):
    """Rows whose two likeliest classes are close."""

    def score_samples(self, state):
        top = np.sort(state.belief.proba, axis=1)[:, -2:]
        return 1.0 - (top[:, 1] - top[:, 0])


check_acquisition(Hesitation(), tasks=["classification"])

# %%
# Sixteen simulated evaluations of each, against known labels.
X, y = load_digits(n_class=5, return_X_y=True)
model = GaussianNB(var_smoothing=0.1).fit(X[:100], y[:100])
settings = {"surrogate": RandomForestClassifier(25), "loss": "zero_one", "refit": 2.0}
result = label_efficiency_curve(
    {
        name: ActiveRiskEstimator(
            FrozenEstimator(model), acquisition=acquisition, **settings
        )
        for name, acquisition in [("default", None), ("hesitation", Hesitation())]
    },
    Scenario(X[100:], y[100:], X_train=X[:100], y_train=y[:100]),
    n_labels=[10, 20, 40],
    n_runs=16,
    random_state=0,
)

# %%
# A toy: one pool, one model, the surrogate of one kind. It shows how to compare, and
# proves nothing about which is better; that takes many tasks, as in the study of trust.
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
LabelEfficiencyDisplay.from_result(result, risks=["GuardedASE", "Monte Carlo"], ax=ax)
plt.show()
