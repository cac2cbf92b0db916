"""
A pool on a cluster
===================

A dask array or frame is evaluated where it lies. The workers of the cluster keep the
columns of their partitions; the driver draws a partition by its mass, and a worker one
of its rows. Labels, fits and estimates stay here.
"""

# %%
# A cluster of two threads on this machine. Any other cluster works in the same way:
# ``Client("tcp://scheduler:8786")``.
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_ase import ActiveRiskEstimator, RiskCurveDisplay

client = Client(n_workers=2, processes=False, dashboard_address=":0")

# %%
# The pool has 20,000 rows in four partitions, so the cluster is not needed here. The
# estimate does not depend on where the rows are.
X, y = make_classification(21_000, 8, n_informative=5, random_state=1)
model = LogisticRegression().fit(X[:500], y[:500])
pool, labels = da.from_array(X[1000:], chunks=(5000, -1)), y[1000:]
evaluator = ActiveRiskEstimator(
    FrozenEstimator(model),
    surrogate=ExtraTreesClassifier(20, bootstrap=True),
    loss="zero_one",
    n_labels=30,
    recalibrate=False,
    random_state=0,
)
evaluator.fit(pool, labels, X_train=X[:1000], y_train=y[:1000])
print(evaluator.estimate_)

# %%
# The same in memory:
in_memory = ActiveRiskEstimator(**evaluator.get_params(deep=False))
in_memory.fit(X[1000:], labels, X_train=X[:1000], y_train=y[:1000])
print(in_memory.estimate_)
print(np.abs(in_memory.history_["risk"] - evaluator.history_["risk"]).max())

# %%
# Nothing of it is lost if a worker fails. Its partitions are read again by another one,
# and the result is the same.
truth = np.mean(model.predict(X[1000:]) != labels)
RiskCurveDisplay.from_evaluation(evaluator.evaluation_, truth=truth)
client.close()
plt.show()
