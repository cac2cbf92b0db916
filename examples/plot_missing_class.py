"""
A class that was missing from training
======================================

The model never saw a seven. Which labels are bought, and what do they do to the
estimate?
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

from sklearn_ase import ActiveRiskEstimator, RiskCurveDisplay

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
train, pool = order[:500], order[500:]
train = train[y[train] != 7]
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[train], y[train])

# %%
# Eighty labels with the default settings. Without ``classes`` a seven would be taken up
# when it is met, with a warning.
evaluator = ActiveRiskEstimator(
    FrozenEstimator(model), classes=range(10), n_labels=80, random_state=0
)
evaluator.fit(X[pool], y[pool], X_train=X[train], y_train=y[train])
print(evaluator.evaluation_.diagnose())

# %%
# Sevens are a tenth of the pool and a far larger share of the labels. One label, here a
# seven, says little; the first few of them teach the surrogate that the model is wrong
# on sevens, and the estimate comes near the truth. ``AcquisitionDisplay`` and
# ``LossCalibrationDisplay`` draw more of it.
proba = np.insert(model.predict_proba(X[pool]), 7, 0.0, axis=1)
proba = np.clip(proba, np.finfo(np.float32).eps, 1)
truth = -np.log(proba[np.arange(len(pool)), y[pool]]).mean()
history = evaluator.history_
is_seven = history["label"] == 7
print(
    f"sevens: {np.mean(y[pool] == 7):.0%} of the pool, {is_seven.mean():.0%} of labels"
)

fig, axes = plt.subplots(2, 1, figsize=(7, 5.5), sharex=True, layout="constrained")
for part, color, name in ((~is_seven, "silver", "others"), (is_seven, "#D55E00", "7")):
    places = history["n_labels"][part], history["label"][part]
    axes[0].scatter(*places, s=30, color=color, label=name)
axes[0].set(ylabel="digit that was labelled", yticks=range(10))
axes[0].legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
RiskCurveDisplay.from_estimator(evaluator, truth=truth, ax=axes[1])
axes[1].set(ylabel="estimated log loss", ylim=(0, 3.5))
plt.show()
