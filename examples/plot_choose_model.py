"""
Choosing between models with one set of labels
==============================================

Three models, money for sixty labels. Labels are bought for one of them, and the others
are estimated from the same ledger: with which probability a row was picked does not
depend on the model.
"""

# %%
# Three models that were trained on the same digits.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_ase import ActiveRiskEstimator

X, y = load_digits(return_X_y=True)
X_train, y_train, X_pool, y_pool = X[:400], y[:400], X[400:], y[400:]
models = {
    "linear": LogisticRegression(max_iter=3000),
    "naive Bayes": GaussianNB(var_smoothing=0.01),
    "tree": DecisionTreeClassifier(random_state=0),
}
for model in models.values():
    model.fit(X_train, y_train)
rows = {"X_train": X_train, "y_train": y_train}

# %%
# Labels are bought for the second one.
settings = {"loss": "zero_one", "random_state": 0}
first = ActiveRiskEstimator(
    FrozenEstimator(models["naive Bayes"]), n_labels=60, **settings
)
ledger = first.fit(X_pool, y_pool, **rows).ledger_

# %%
# The others from the same labels.
estimates, errors = {}, {}
for name, model in models.items():
    evaluator = ActiveRiskEstimator(FrozenEstimator(model), **settings)
    evaluation = evaluator.start(X_pool, ledger=ledger, **rows)
    evaluation.refit()
    estimates[name] = evaluation.estimate()
    errors[name] = np.mean(model.predict(X_pool) != y_pool)

# %%
# Estimates with their intervals, and the truth.
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
places, blue = np.arange(len(estimates)), "#0072B2"
low, high = np.transpose([risk.interval(0.9) for risk in estimates.values()])
values = [risk.value for risk in estimates.values()]
ax.hlines(places, low, high, color=blue, linewidth=4, alpha=0.3, label="90 % interval")
ax.plot(values, places, "o", color=blue, label="estimate")
ax.plot(list(errors.values()), places, "kx", label="truth")
ax.set(yticks=places, yticklabels=estimates, xlabel="error rate", ylim=(-0.5, 2.5))
ax.legend(frameon=False)
plt.show()
