"""
A pool that is not in memory
============================

A pool of Parquet files is sampled with known probabilities: uniformly, and by a score
that finds more of the model's errors. Estimates and intervals are about all rows of the
files.
"""

# %%
# A pool of 40,000 rows in four files. It is small, so that this page is quick, and
# could as well be a thousand times as large. The model is seldom wrong.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_ase import ActiveRiskEstimator, sample_pool

X, y = make_classification(
    41_000, 8, n_clusters_per_class=1, class_sep=1.0, flip_y=0.03, random_state=0
)
frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
folder = Path(tempfile.mkdtemp())
for part in range(4):
    rows = frame[1000 + 10_000 * part : 1000 + 10_000 * (part + 1)]
    rows.to_parquet(folder / f"part{part}.parquet", row_group_size=5000)
labels = y[1000:]
model = LogisticRegression().fit(frame[:500], y[:500])
truth = np.mean(model.predict(frame[1000:]) != labels)


# %%
# The score of a row is the doubt of the model, and a small number more: no row may have
# the probability 0. Both samples have 2,000 rows. That by the score holds more errors.
def doubt(rows):
    return 1.05 - model.predict_proba(rows).max(axis=1)


samples = {
    "uniform": sample_pool(folder, 2000, random_state=0),
    "by doubt": sample_pool(folder, 2000, by=doubt, random_state=0),
}
for name, sample in samples.items():
    errors = np.sum(model.predict(sample.X) != labels[sample.indices])
    print(f"{name}: {errors} errors among {sample}")

# %%
# The rows are named by their numbers in the files, so the labels of all of them are
# given. They could also be a function that asks people.
evaluations = {}
for name, sample in samples.items():
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(model),
        surrogate=ExtraTreesClassifier(20, bootstrap=True, random_state=0),
        loss="zero_one",
        n_labels=60,
        random_state=0,
    ).fit(sample, labels, X_train=frame[:1000], y_train=y[:1000])
    evaluations[name] = evaluator.evaluation_
    low, high = evaluator.estimate_.interval(0.9)
    print(f"{name}: {float(evaluator.estimate_):.3f}, from {low:.3f} to {high:.3f}")

# %%
# One pass over the files says what the surrogate expects over all rows. It has no
# interval, because its error is that of the surrogate.
expected = evaluations["uniform"].expected_on(folder)
print(f"expected over all rows: {expected:.3f}, true error rate: {truth:.3f}")

fig, ax = plt.subplots(figsize=(6, 2.2), layout="constrained")
for place, evaluation in enumerate(evaluations.values()):
    estimate = evaluation.estimate()
    ax.plot(estimate.interval(0.9), [place, place], color=f"C{place}", linewidth=3)
    ax.plot(float(estimate), place, "o", color=f"C{place}")
ax.axvline(truth, color="black", linestyle=":", label="true error rate")
ax.set(yticks=range(2), yticklabels=list(evaluations), xlabel="error rate")
ax.set_ylim(-0.6, 1.6)
ax.legend()
plt.show()
