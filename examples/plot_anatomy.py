"""
Anatomy: where the acquisitions look
====================================

Two moons and a model that has seen them; in the pool there is a third group that the
model has never met. Expected loss, BALD and XWED rate every place of the plane; labels
are bought where XWED is high.
"""

# %%
# The third group belongs to class 0, but lies where the model says 1.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import BALD, XWED, ExpectedLoss
from sklearn_ase.risk import ASE
from sklearn_ase.selection import ArgMax

rng = np.random.default_rng(0)
X_train, y_train = make_moons(100, noise=0.2, random_state=0)
X_pool, y_pool = make_moons(400, noise=0.2, random_state=1)
X_pool = np.vstack([X_pool, rng.normal([1.8, -1.2], 0.15, size=(60, 2))])
y_pool = np.append(y_pool, np.zeros(60, dtype=int))
model = LogisticRegression().fit(X_train, y_train)

# %%
# Thirty labels by XWED, with the plain surrogate estimate.
evaluator = ActiveRiskEstimator(
    FrozenEstimator(model),
    surrogate=RandomForestClassifier(min_samples_leaf=2),
    acquisition=XWED(),
    selection=ArgMax(),
    risk=ASE(),
    n_labels=30,
    random_state=0,
)
evaluation = evaluator.start(X_pool, X_train=X_train, y_train=y_train)
before = evaluation.state
evaluation.run(lambda indices: y_pool[indices], n_labels=30)

# %%
# What each acquisition says before the first label, and where labels were bought.
acquisitions = [ExpectedLoss(), BALD(), XWED()]
fig, axes = plt.subplots(1, 3, figsize=(12, 3.8), sharey=True, layout="constrained")
for ax, acquisition in zip(axes, acquisitions, strict=True):
    scores = acquisition.score_samples(before)
    ax.scatter(*X_pool.T, c=scores, cmap="viridis", s=14)
    ax.set_title(type(acquisition).__name__)
picked = X_pool[evaluation.state.indices]
axes[-1].scatter(*picked.T, facecolors="none", edgecolors="red", s=60, label="labelled")
axes[-1].legend(frameon=False, loc="upper left")
plt.show()
