"""
An acquisition of your own
==========================

An acquisition is an object with one verb. This one asks for rows whose two
likeliest classes are close; a simulation shows what it is worth beside the default.
"""

# %%
# The verb scores every row of the pool. ``check_acquisition`` holds it to the contract.
import numpy as np
from sklearn.datasets import load_digits
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
# Four simulated evaluations of each, against known labels.
X, y = load_digits(n_class=5, return_X_y=True)
model = GaussianNB(var_smoothing=0.1).fit(X[:100], y[:100])
default = ActiveRiskEstimator(FrozenEstimator(model), loss="zero_one", refit=2.0)
own = ActiveRiskEstimator(
    FrozenEstimator(model), loss="zero_one", refit=2.0, acquisition=Hesitation()
)
result = label_efficiency_curve(
    {"default": default, "hesitation": own},
    Scenario(X[100:], y[100:], X_train=X[:100], y_train=y[:100]),
    n_labels=[10, 20, 40],
    n_runs=4,
    random_state=0,
)
display = LabelEfficiencyDisplay.from_result(result, risks=["Guarded", "Monte Carlo"])
display.figure_.show()
