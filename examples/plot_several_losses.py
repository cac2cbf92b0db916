"""
Accuracy, Brier score and log loss from the same labels
=======================================================

Labels were bought to estimate one loss. They serve for the others as well.
"""

# %%
# Sixty labels for the error rate, which is one minus the accuracy.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_ase import ActiveRiskEstimator

X, y = load_digits(return_X_y=True)
X_train, y_train, X_pool, y_pool = X[:300], y[:300], X[300:], y[300:]
model = LogisticRegression(max_iter=3000).fit(X_train, y_train)
rows = {"X_train": X_train, "y_train": y_train}
evaluator = ActiveRiskEstimator(
    FrozenEstimator(model), loss="zero_one", n_labels=60, random_state=0
)
ledger = evaluator.fit(X_pool, y_pool, **rows).ledger_

# %%
# Three losses from one ledger.
estimates = {}
for loss in ("zero_one", "brier", "log_loss"):
    other = ActiveRiskEstimator(FrozenEstimator(model), loss=loss, random_state=0)
    evaluation = other.start(X_pool, ledger=ledger, **rows)
    evaluation.refit()
    estimates[loss] = evaluation.estimate()

# %%
# Each beside its truth, which is known here because all labels are.
proba, hit = model.predict_proba(X_pool), np.eye(10)[y_pool]
truths = [
    np.mean(model.predict(X_pool) != y_pool),
    np.mean(((proba - hit) ** 2).sum(axis=1)),
    -np.log(np.clip(proba[hit == 1], np.finfo(np.float32).eps, 1)).mean(),
]
for (loss, risk), truth in zip(estimates.items(), truths, strict=True):
    print(f"{loss:9} estimated {risk:.3f}, true {truth:.3f}")

places, blue = np.arange(3), "#0072B2"
low, high = np.transpose([risk.interval(0.9) for risk in estimates.values()])
values = [risk.value for risk in estimates.values()]
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.hlines(places, low, high, color=blue, linewidth=4, alpha=0.3, label="90 % interval")
ax.plot(values, places, "o", color=blue, label="estimate")
ax.plot(truths, places, "kx", label="truth")
ax.set(yticks=places, yticklabels=["error rate", "Brier score", "log loss"])
ax.set(xlabel="risk", xlim=(0, None), ylim=(2.5, -0.5))
ax.legend(frameon=False)
plt.show()
