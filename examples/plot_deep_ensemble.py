"""
A deep ensemble as the surrogate
================================

Small networks, trained together, evaluate a network that never saw a seven. Needs torch
and skorch: ``pip install 'sklearn-ase[neural]'``.
"""

# %%
# The model under test is a plain skorch net.
import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from skorch import NeuralNetClassifier
from torch import nn

from sklearn_ase import ActiveRiskEstimator, RiskCurveDisplay
from sklearn_ase.neural import MLP, DeepEnsembleClassifier

X, y = load_digits(return_X_y=True)
X = (X / 16).astype(np.float32)
order = np.random.default_rng(0).permutation(len(y))
train, pool = order[:500], order[500:]
train = train[y[train] != 7]
torch.manual_seed(0)
model = NeuralNetClassifier(
    MLP,
    module__n_features=64,
    module__n_classes=10,
    criterion=nn.CrossEntropyLoss,
    optimizer=torch.optim.Adam,
    lr=0.01,
    max_epochs=20,
    train_split=None,
    classes=list(range(10)),
    verbose=0,
).fit(X[train], y[train])

# %%
# Ten members on bootstrap samples, fitted again after 15, 30 and 45 labels.
ensemble = DeepEnsembleClassifier(
    bootstrap=True, classes=range(10), lr=0.01, max_epochs=40, module__width=32
)
evaluator = ActiveRiskEstimator(
    FrozenEstimator(model),
    surrogate=ensemble,
    n_labels=60,
    refit=[15, 30, 45],
    random_state=0,
)
evaluator.fit(X[pool], y[pool], X_train=X[train], y_train=y[train])

# %%
# The estimate as labels come in; ticks mark the refits.
proba = np.clip(model.predict_proba(X[pool]), np.finfo(np.float32).eps, 1)
truth = -np.log(proba[np.arange(len(pool)), y[pool]]).mean()
RiskCurveDisplay.from_estimator(evaluator, truth=truth)
plt.show()
