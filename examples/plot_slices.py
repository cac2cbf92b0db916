"""
Accuracy by region, from one set of labels
==========================================

Labels were bought to estimate the accuracy on the whole pool. They also tell how good
the model is in each region, and where they tell too little.
"""

# %%
# Six regions of different size. In the south the classes follow another rule, which the
# model has not learned.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_ase import ActiveRiskEstimator, SliceDisplay

rng = np.random.default_rng(0)
names = np.array(["abroad", "centre", "east", "north", "south", "west"])
region = rng.choice(names, 5000, p=[0.003, 0.3, 0.2, 0.22, 0.2, 0.077])
X = rng.normal(size=(5000, 4))
slope = np.where(region == "south", -0.5, 2.0)
y = (X[:, 0] + slope * X[:, 1] + rng.normal(0, 0.7, 5000) > 0).astype(int)
X = np.column_stack([X, region[:, None] == names])
X_train, y_train, X_pool, y_pool = X[:1000], y[:1000], X[1000:], y[1000:]
region = region[1000:]
model = LogisticRegression().fit(X_train, y_train)

# %%
# One hundred and fifty labels for the accuracy on the pool.
evaluator = ActiveRiskEstimator(
    FrozenEstimator(model),
    metric="accuracy",
    n_labels=150,
    batch_size=5,
    random_state=2,
)
evaluator.fit(X_pool, y_pool, X_train=X_train, y_train=y_train)
evaluation = evaluator.evaluation_
print(f"all rows: {evaluator.estimate_:.3f}, true {model.score(X_pool, y_pool):.3f}")

# %%
# The same question for each region. The intervals hold for all regions at once, because
# we look for the worst one. The verdict says how much of an estimate comes from labels.
table = evaluation.estimate_by(region, simultaneous=True)
print(table)

# %%
# A picture of the table, with the truth, which is known here because all labels are.
is_hit = model.predict(X_pool) == y_pool
truths = [is_hit[region == name].mean() for name in table["group"]]
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
display = SliceDisplay(table, overall=float(evaluator.estimate_)).plot(ax=ax)
ax.plot(truths, np.arange(len(truths)), "kx", label="truth")
ax.set(xlabel="accuracy", xlim=(None, 1.01))
ax.get_legend().remove()
handles, labels = ax.get_legend_handles_labels()
fig.legend(handles[::-1], labels[::-1], loc="outside upper center", ncols=2)
plt.show()
