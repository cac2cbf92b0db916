"""
Regression with a Gaussian process
==================================

A straight line was fitted to the left half of a curve. How large is its squared error
on the whole? A Gaussian process is the surrogate; it knows where it does not know.
"""

# %%
# The model has seen inputs below 5 only.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LinearRegression

from sklearn_ase import ActiveRiskEstimator

rng = np.random.default_rng(0)
X_pool = np.sort(rng.uniform(0, 10, size=(300, 1)), axis=0)
y_pool = np.sin(X_pool[:, 0]) + 0.3 * X_pool[:, 0] + rng.normal(0, 0.1, size=300)
X_train = rng.uniform(0, 5, size=(30, 1))
y_train = np.sin(X_train[:, 0]) + 0.3 * X_train[:, 0] + rng.normal(0, 0.1, size=30)
model = LinearRegression().fit(X_train, y_train)

# %%
# Twenty labels.
process = GaussianProcessRegressor(RBF(1.0) + WhiteKernel(0.01), normalize_y=True)
evaluator = ActiveRiskEstimator(
    FrozenEstimator(model),
    surrogate=process,
    loss="squared_error",
    n_labels=20,
    random_state=0,
)
evaluator.fit(X_pool, y_pool, X_train=X_train, y_train=y_train)
truth = np.mean((model.predict(X_pool) - y_pool) ** 2)
print(f"estimated {evaluator.risk_:.3f}, true {truth:.3f}")

# %%
# Where the labels lie, and the loss that is expected along the way.
fig, (top, bottom) = plt.subplots(
    2, 1, figsize=(7, 5.5), sharex=True, layout="constrained"
)
indices = evaluator.history_["index"]
top.plot(X_pool, y_pool, ".", color="darkgrey", label="pool")
top.plot(X_pool, model.predict(X_pool), "k-", label="model")
top.plot(X_pool[indices], y_pool[indices], "o", color="#D55E00", label="labelled")
top.set_ylabel("y")
top.legend(frameon=False)
bottom.plot(X_pool, evaluator.predict(X_pool), color="#0072B2", label="expected loss")
losses = (model.predict(X_pool) - y_pool) ** 2
bottom.plot(X_pool, losses, ".", color="darkgrey", zorder=0, label="true loss")
bottom.set(xlabel="x", ylabel="squared error")
bottom.legend(frameon=False)
plt.show()
