"""
A network that never saw a seven, evaluated by a deep ensemble
==============================================================

The paper's shifted MNIST at a size that a CPU can take: a small CNN is trained on 1,500
images without sevens, the pool has them. Fifty labels are bought; a deep ensemble of a
smaller CNN is the surrogate.

    python examples/mnist_deep_ensemble.py                   # downloads MNIST
    python examples/mnist_deep_ensemble.py --data-dir DIR    # or reads DIR/mnist.npz
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import fetch_openml
from sklearn.frozen import FrozenEstimator
from skorch import NeuralNetClassifier
from torch import nn

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.neural import DeepEnsembleClassifier, SmallCNN
from sklearn_ase.risk import ASE, LURE

parser = argparse.ArgumentParser()
parser.add_argument("--data-dir", help="directory of mnist.npz")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

# %%
# Images of shape (1, 28, 28) in [0, 1]; 1,500 without sevens to train on, 3,000 as
# pool.
if args.data_dir is None:
    X, y = fetch_openml("mnist_784", return_X_y=True, as_frame=False)
else:
    with np.load(Path(args.data_dir) / "mnist.npz") as data:
        X, y = data["X_train"], data["y_train"]
X = (X.reshape(-1, 1, 28, 28) / 255).astype(np.float32)
y = y.astype(np.int64)
order = np.random.default_rng(args.seed).permutation(len(y))
pool, rest = order[:3000], order[3000:]
train = rest[y[rest] != 7][:1500]

# %%
# The model under test is a plain skorch net. `classes` tells it that there are sevens.
torch.manual_seed(args.seed)
model = NeuralNetClassifier(
    SmallCNN,
    criterion=nn.CrossEntropyLoss,
    optimizer=torch.optim.Adam,
    max_epochs=10,
    lr=0.001,
    batch_size=64,
    iterator_train__shuffle=True,
    train_split=None,
    classes=list(range(10)),
    verbose=0,
).fit(X[train], y[train])

# %%
# The surrogate learns from the training images and from the labels that are bought. It
# is fitted again at few label counts only, because networks take longer than trees. On
# bootstrap samples its members are calibrated on rows they did not learn from.
ensemble = DeepEnsembleClassifier(
    SmallCNN,
    module__width=8,
    n_members=5,
    bootstrap=True,
    classes=range(10),
    max_epochs=15,
    patience=3,
)
evaluator = ActiveRiskEstimator(
    FrozenEstimator(model),
    surrogate=ensemble,
    n_labels=50,
    refit=[15, 30],
    random_state=args.seed,
)
evaluator.fit(X[pool], y[pool], X_train=X[train], y_train=y[train])

# %%
# The truth is known here, because all labels are.
proba = np.clip(model.predict_proba(X[pool]), np.finfo(np.float32).eps, 1)
truth = -np.log(proba[np.arange(len(pool)), y[pool]])
print(f"truth         {truth.mean():.3f}  ({len(pool)} labels)")
error = truth.std() / np.sqrt(50)
print(f"Monte Carlo   standard error {error:.3f} with 50 labels")
for name, risk in {"guarded": None, "ASE": ASE(), "LURE": LURE()}.items():
    found = evaluator.evaluation_.estimate(risk)
    print(f"{name:13} {found.value:.3f}  off by {abs(found.value - truth.mean()):.3f}")
low, high = evaluator.risk_.interval(0.9)
print(f"90 % interval {low:.3f} to {high:.3f}")
print(evaluator.evaluation_.diagnose())
