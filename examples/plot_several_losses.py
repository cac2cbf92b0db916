"""
Accuracy, Brier score and log loss from the same labels
=======================================================

Labels were bought to estimate one loss. They serve for the others as well.
"""

# %%
# Fifty labels for the log loss.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_ase import ActiveRiskEstimator

X, y = load_digits(return_X_y=True)
X_train, y_train, X_pool, y_pool = X[:150], y[:150], X[150:], y[150:]
model = LogisticRegression(max_iter=3000).fit(X_train, y_train)
rows = {"X_train": X_train, "y_train": y_train}
evaluator = ActiveRiskEstimator(FrozenEstimator(model), n_labels=50, random_state=0)
ledger = evaluator.fit(X_pool, y_pool, **rows).ledger_

# %%
# Three losses from one ledger, each beside its truth.
proba = model.predict_proba(X_pool)
hit = np.eye(10)[y_pool]
truths = {
    "zero_one": np.mean(model.predict(X_pool) != y_pool),
    "brier": np.mean(((proba - hit) ** 2).sum(axis=1)),
    "log_loss": -np.log(np.clip(proba[hit == 1], np.finfo(np.float32).eps, 1)).mean(),
}
fig, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
for ax, (loss, truth) in zip(axes, truths.items(), strict=True):
    other = ActiveRiskEstimator(FrozenEstimator(model), loss=loss, random_state=0)
    evaluation = other.start(X_pool, ledger=ledger, **rows)
    evaluation.refit()
    risk = evaluation.estimate()
    low, high = risk.interval(0.9)
    ax.errorbar(
        [0], [risk.value], [[risk.value - low], [high - risk.value]], fmt="o", capsize=4
    )
    ax.axhline(truth, color="black", linestyle=":")
    ax.set(title=loss, xticks=[], ylim=(0, None))
    print(f"{loss:9} estimated {risk:.3f}, true {truth:.3f}")
plt.show()
