"""
Tuning the surrogate with GridSearchCV
======================================

Which surrogate estimates best? On data whose labels are known an evaluator can be tuned
like any other estimator: ``score(X, y)`` is minus the absolute error of its estimate.
"""

# %%
# A model that was trained without sevens, and a part of the pool that is labelled
# already. One surrogate is far too simple, one a little, two are not.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from sklearn_ase import ActiveRiskEstimator, TrainingRows
from sklearn_ase.exceptions import SurrogateWarning

X, y = load_digits(return_X_y=True)
train = np.flatnonzero(y[:300] != 7)
model = GaussianNB(var_smoothing=0.01).fit(X[train], y[train])
evaluator = ActiveRiskEstimator(
    FrozenEstimator(model),
    loss="zero_one",
    classes=range(10),
    n_labels=40,
    refit=[20],
    random_state=0,
)
surrogates = {
    "trees of depth 1": ExtraTreesClassifier(25, max_depth=1, bootstrap=True),
    "trees of depth 4": ExtraTreesClassifier(25, max_depth=4, bootstrap=True),
    "full trees": ExtraTreesClassifier(25, bootstrap=True),
    "five neighbours": KNeighborsClassifier(5),
}

# %%
# Each of ten splits buys 40 labels in one half and estimates the error in the other.
# Training rows are wrapped, so that splitting does not cut them. Poor surrogates give a
# warning. It is expected here and not shown.
warnings.simplefilter("ignore", SurrogateWarning)
splits = ShuffleSplit(n_splits=10, test_size=0.5, random_state=0)
search = GridSearchCV(
    evaluator, {"surrogate": list(surrogates.values())}, cv=splits, error_score="raise"
)
search.fit(X[300:], y[300:], X_train=TrainingRows(X[train], y[train]))

# %%
# Depth matters, and the five neighbours do best on this data. The splits share rows, so
# the standard errors are on the small side: close calls need more data than these.
errors = -np.array([search.cv_results_[f"split{k}_test_score"] for k in range(10)])
means, spread = errors.mean(axis=0), errors.std(axis=0, ddof=1) / 10**0.5
for name, mean, error in zip(surrogates, means, spread, strict=True):
    print(f"{name:17} {mean:.3f} +- {error:.3f}")

fig, ax = plt.subplots(figsize=(6.4, 3), layout="constrained")
places = np.arange(len(surrogates))
ax.plot(errors.T, places, "o", color="silver", fillstyle="none")
ax.errorbar(means, places, xerr=2 * spread, fmt="s", color="#0072B2", capsize=3)
ax.set(yticks=places, yticklabels=surrogates, xlim=(0, None), ylim=(3.5, -0.5))
ax.set_xlabel("absolute error of the estimate: splits, mean with two standard errors")
plt.show()
