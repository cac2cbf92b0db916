"""
Tuning the surrogate with GridSearchCV
======================================

Which surrogate estimates best? On data whose labels are known an evaluator can be tuned
like any other estimator: ``score(X, y)`` is minus the absolute error of its estimate.
"""

# %%
# A model, and a part of the pool that is labelled already.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from sklearn_ase import ActiveRiskEstimator, TrainingRows

X, y = load_digits(return_X_y=True)
model = GaussianNB(var_smoothing=0.01).fit(X[:300], y[:300])
evaluator = ActiveRiskEstimator(
    FrozenEstimator(model), loss="zero_one", n_labels=25, refit=[12], random_state=0
)
surrogates = {
    "extra trees": ExtraTreesClassifier(50, bootstrap=True),
    "forest": RandomForestClassifier(50),
    "neighbours": KNeighborsClassifier(5),
    "the model's kind": GaussianNB(var_smoothing=0.01),
}

# %%
# Training rows are wrapped, so that cross-validation does not cut them.
search = GridSearchCV(
    evaluator, {"surrogate": list(surrogates.values())}, cv=4, error_score="raise"
)
search.fit(X[300:], y[300:], X_train=TrainingRows(X[:300], y[:300]))

# %%
# The error of the estimate, on parts that it was not told the labels of. Four folds are
# few: more data, or ``RepeatedKFold``, would tell close ones apart.
errors = -np.array([search.cv_results_[f"split{k}_test_score"] for k in range(4)])
fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
places = np.arange(len(surrogates))
ax.plot(errors.T, places, "o", color="#0072B2", fillstyle="none")
ax.plot(errors.mean(axis=0), places, "|", color="black", markersize=25)
ax.set(yticks=places, yticklabels=surrogates, xlim=(0, None), ylim=(-0.5, 3.5))
ax.set_xlabel("absolute error of the estimated error rate: folds and their mean")
plt.show()
