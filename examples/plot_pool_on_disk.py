"""
A pool that is not in memory
============================

A pool in a Parquet directory is evaluated without loading it. Its rows are read in
chunks, and 24 bytes of each row stay in memory, whatever the number of columns and
classes.
"""

# %%
# A pool of 40,000 rows in four files. It is small, so that this page is quick, and
# could as well be a thousand times as large.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from sklearn_ase import ActiveRiskEstimator, RiskCurveDisplay
from sklearn_ase.surrogate import FrameEncoder

X, y = make_classification(41_000, 8, n_informative=5, random_state=0)
frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
folder = Path(tempfile.mkdtemp())
for part in range(4):
    rows = frame[1000 + 10_000 * part : 1000 + 10_000 * (part + 1)]
    rows.to_parquet(folder / f"part{part}.parquet", row_group_size=5000)
labels = y[1000:]

# %%
# The path is the pool. Labels may come from anywhere; here they are an array. The
# surrogate is smaller than the default one, for the sake of this page.
model = LogisticRegression().fit(frame[:500], y[:500])
evaluator = ActiveRiskEstimator(
    FrozenEstimator(model),
    surrogate=make_pipeline(FrameEncoder(), ExtraTreesClassifier(20, bootstrap=True)),
    loss="zero_one",
    n_labels=30,
    recalibrate=False,
    random_state=0,
)
evaluator.fit(folder, labels, X_train=frame[:1000], y_train=y[:1000])
columns = evaluator.evaluation_.state.belief.columns
print(evaluator.estimate_)
for name, column in columns.items():
    print(f"{name}: {column.nbytes / len(labels):.0f} bytes for each row")

# %%
# With the rows in memory and tables of all predictions the picks are the same, and so
# is the estimate.
in_memory = ActiveRiskEstimator(**evaluator.get_params(deep=False))
in_memory.set_params(store="tables")
in_memory.fit(frame[1000:], labels, X_train=frame[:1000], y_train=y[:1000])
same = np.allclose(
    in_memory.history_["query_proba"], evaluator.history_["query_proba"], rtol=1e-12
)
print("the same probabilities of all picks:", same)

# %%
# What needs more than these columns, such as a comparison with other models, is asked
# from tables with the same labels: ``start(..., ledger=evaluator.ledger_)``.
truth = np.mean(model.predict(frame[1000:]) != labels)
RiskCurveDisplay.from_evaluation(evaluator.evaluation_, truth=truth)
plt.show()
