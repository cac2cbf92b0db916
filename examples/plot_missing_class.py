"""
A class that was missing from training
======================================

The model never saw a seven. Which labels are bought, and what do they say? Shares of
the classes among the labels, the estimate as labels come in, and what the surrogate
expected of each label.
"""

# %%
# Digits without sevens to train on, digits with sevens as pool.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ase import (
    AcquisitionDisplay,
    ActiveRiskEstimator,
    LossCalibrationDisplay,
    RiskCurveDisplay,
)

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
train, pool = order[:500], order[500:]
train = train[y[train] != 7]
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[train], y[train])

# %%
# Eighty labels with the default settings.
evaluator = ActiveRiskEstimator(FrozenEstimator(model), n_labels=80, random_state=0)
evaluator.fit(X[pool], y[pool], X_train=X[train], y_train=y[train])
print(evaluator.evaluation_.diagnose())

# %%
# Sevens are a tenth of the pool and a larger share of the labels.
proba = np.insert(model.predict_proba(X[pool]), 7, 0.0, axis=1)
proba = np.clip(proba, np.finfo(np.float32).eps, 1)
truth = -np.log(proba[np.arange(len(pool)), y[pool]]).mean()
fig, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
AcquisitionDisplay.from_estimator(evaluator, ax=axes[0])
RiskCurveDisplay.from_estimator(evaluator, truth=truth, ax=axes[1])
LossCalibrationDisplay.from_estimator(evaluator, ax=axes[2])
plt.show()
