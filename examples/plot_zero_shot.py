"""
An estimate without a single label
==================================

Where the pool is like the training data the surrogate knows the model's risk before
any label is bought. With a shift it does not know what it does not know: then labels
have to be bought.
"""

# %%
# The surrogate learns from the training rows of the model, and is calibrated on them.
# One that was fitted elsewhere would come as ``surrogate=FrozenEstimator(better)``.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.risk import ASE

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(y))
train, pool = order[:500], order[500:]


def zero_shot(known):
    """Estimated and true error rate of a model that knows some classes only."""
    rows = train[np.isin(y[train], known)]
    model = GaussianNB(var_smoothing=0.01).fit(X[rows], y[rows])
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(model), loss="zero_one", risk=ASE(), random_state=0
    )
    evaluation = evaluator.start(X[pool], X_train=X[rows], y_train=y[rows])
    return float(evaluation.estimate()), np.mean(model.predict(X[pool]) != y[pool])


results = {
    "all classes known": zero_shot(np.arange(10)),
    "sevens unknown": zero_shot(np.delete(np.arange(10), 7)),
    "half unknown": zero_shot(np.arange(5)),
}

# %%
# Estimated without labels, and true.
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
places = np.arange(len(results))
estimated, true = np.array(list(results.values())).T
ax.bar(places - 0.2, estimated, 0.4, label="estimated without labels", color="#0072B2")
ax.bar(places + 0.2, true, 0.4, label="true", color="darkgrey")
ax.set(xticks=places, xticklabels=results, ylabel="error rate")
ax.legend(frameon=False)
plt.show()
