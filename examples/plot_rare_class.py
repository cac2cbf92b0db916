"""
F1, recall and precision of a rare class
========================================

Three percent of the rows are fraud. How good is a model at finding it, if only 200
labels can be bought? A plain random sample of 200 rows has about six frauds. Rows that
are picked for F1 have more of them, and the surrogate fills in the rest.
"""

# %%
# A pool of 3000 rows, of which 93 are fraud (class 1), and a model.
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import binomtest
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, precision_score, recall_score

from sklearn_ase import ActiveRiskEstimator

X, y = make_classification(
    5000, n_features=10, n_informative=5, weights=[0.97], flip_y=0, random_state=0
)
X_train, y_train, X_pool, y_pool = X[:2000], y[:2000], X[2000:], y[2000:]
model = LogisticRegression(class_weight={0: 1, 1: 3}).fit(X_train, y_train)
scores = {"f1": f1_score, "recall": recall_score, "precision": precision_score}
predicted = model.predict(X_pool)
truths = {name: score(y_pool, predicted) for name, score in scores.items()}

# %%
# Rows are picked for F1. After 25, 50, 100 and 200 labels we ask for three metrics.
counts = [25, 50, 100, 200]
evaluator = ActiveRiskEstimator(FrozenEstimator(model), metric="f1", random_state=1)
evaluation = evaluator.start(X_pool, X_train=X_train, y_train=y_train)
picked = {}
for count in counts:
    evaluation.run(y_pool, count, batch_size=5)
    for name in scores:
        found = evaluation.estimate(metric=name)
        picked[name, count] = (found.value, *found.interval(0.9))
print(f"picked: {np.sum(evaluation.ledger.answers())} of 200 labels are fraud")

# %%
# A plain random sample, for comparison. Of the rows that a metric looks at, k of n are
# right, so Wilson's interval applies. F1 follows from the share k / n of the hits among
# all rows that are fraud or are predicted as fraud.
sample = np.random.default_rng(2).permutation(len(y_pool))[: counts[-1]]
print(f"plain sample: {y_pool[sample].sum()} of 200 labels are fraud")
plain = {}
for count in counts:
    label, guess = y_pool[sample[:count]], predicted[sample[:count]]
    hits = int(np.sum(label & guess))
    looked_at = {"f1": label | guess, "recall": label, "precision": guess}
    for name, rows in looked_at.items():
        if not rows.any():
            plain[name, count] = np.nan, 0.0, 1.0
            continue
        test = binomtest(hits, int(rows.sum()))
        ends = test.proportion_ci(0.9, method="wilson")
        shares = np.array([test.statistic, ends.low, ends.high])
        plain[name, count] = 2 * shares / (1 + shares) if name == "f1" else shares

# %%
# Estimates and 90 % intervals beside the truth, which is known here because all labels
# are.
fig, axes = plt.subplots(1, 3, figsize=(8.4, 3.8), sharey=True, layout="constrained")
ways = [("picked for F1", picked, "o", "#0072B2", -0.12)]
ways += [("plain sample", plain, "s", "#D55E00", 0.12)]
for ax, name in zip(axes, scores, strict=True):
    for way, answers, marker, colour, shift in ways:
        value, low, high = np.transpose([answers[name, count] for count in counts])
        places = np.arange(len(counts)) + shift
        ax.vlines(places, low, high, color=colour, linewidth=5, alpha=0.3)
        ax.plot(places, value, marker, color=colour, label=way)
    ax.axhline(truths[name], color="black", linewidth=0.8, label="truth")
    ax.set(title={"f1": "F1"}.get(name, name), xlabel="labels", ylim=(0, 1.03))
    ax.set_xticks(np.arange(len(counts)), counts)
axes[0].set_ylabel("estimate and 90 % interval")
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
plt.show()
