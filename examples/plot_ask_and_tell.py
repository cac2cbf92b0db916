"""
Ask and tell: labels from people, interrupted and resumed
=========================================================

Twenty rows a day go to the annotators. On the second day the program stops in the
middle; the ledger knows where it was.
"""

# %%
# Day one.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator

X, y = load_digits(return_X_y=True)
X_train, y_train, X_pool, y_pool = X[:300], y[:300], X[300:], y[300:]
model = GaussianNB(var_smoothing=0.01).fit(X_train, y_train)
evaluator = ActiveRiskEstimator(FrozenEstimator(model), loss="zero_one", random_state=0)
rows = {"X_train": X_train, "y_train": y_train}
path = Path(tempfile.mkdtemp()) / "labels.jsonl"


def annotators(indices):
    """People who look at images and say what they see."""
    return y_pool[indices]


evaluation = evaluator.start(X_pool, journal=path, **rows)
query = evaluation.ask(20)
evaluation.tell(query, annotators(query.indices))
estimates = [evaluation.estimate()]

# %%
# Day two: eight answers come back, then the program stops.
query = evaluation.ask(20)
evaluation.tell(query.indices[:8], annotators(query.indices[:8]))
evaluation.close()

# %%
# Day three: everything is still there, also which rows are open.
evaluation = evaluator.start(X_pool, journal=path, **rows)
print(f"{len(evaluation.ledger)} labels, {len(evaluation.pending.indices)} open")
evaluation.tell(evaluation.pending, annotators(evaluation.pending.indices))
estimates.append(evaluation.estimate())
query = evaluation.ask(20)
evaluation.tell(query, annotators(query.indices))
evaluation.refit()
estimates.append(evaluation.estimate())

# %%
# The estimate at the end of each day. Below 25 labels there is no interval.
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
counts = [risk.n_labels for risk in estimates]
blue = "#0072B2"
ax.plot(counts, [float(risk) for risk in estimates], "o-", color=blue, label="estimate")
low, high = np.transpose([risk.interval(0.9) for risk in estimates[1:]])
ax.vlines(
    counts[1:], low, high, color=blue, linewidth=4, alpha=0.3, label="90 % interval"
)
truth = np.mean(model.predict(X_pool) != y_pool)
ax.axhline(truth, color="black", linestyle=":", label="truth")
ax.set(xlabel="labels", ylabel="error rate", xticks=counts, ylim=(0, 0.45))
ax.legend(frameon=False, ncols=3, loc="lower right")
plt.show()
