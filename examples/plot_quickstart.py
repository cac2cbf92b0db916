"""
Quick start: the risk of a model on a pool that has changed
===========================================================

A classifier of handwritten digits was trained without a single seven. In use, sevens
come. How bad is it, and how many labels does it take to find out?

We buy 50 labels of a pool of more than a thousand images and compare three estimates
of the mean log loss with the truth, which is known here because all labels are.
"""

# %%
# The model under test, trained without sevens, and the pool, with sevens.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ase import ActiveRiskEstimator, RiskCurveDisplay
from sklearn_ase.acquisition import ExpectedLoss, Uniform
from sklearn_ase.risk import LURE, MonteCarlo

X, y = load_digits(return_X_y=True)
X_train, X_pool, y_train, y_pool = train_test_split(
    X, y, train_size=500, random_state=0
)
X_train, y_train = X_train[y_train != 7], y_train[y_train != 7]
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)

# %%
# Three ways to spend 50 labels: a plain random sample; sampling in proportion to the
# expected loss with importance weights (LURE); and the guarded active surrogate
# estimate, which is the default. The labels are an array here, of which only those
# asked for are read; a function of indices works as well.
evaluators = {
    "Monte Carlo": ActiveRiskEstimator(acquisition=Uniform(), risk=MonteCarlo()),
    "LURE": ActiveRiskEstimator(acquisition=ExpectedLoss(), risk=LURE()),
    "guarded ASE": ActiveRiskEstimator(),
}
for evaluator in evaluators.values():
    evaluator.set_params(estimator=FrozenEstimator(model), loss="log_loss", n_labels=50)
    evaluator.set_params(classes=range(10), random_state=0)  # There may be sevens.
    evaluator.fit(X_pool, y_pool, X_train=X_train, y_train=y_train)

# %%
# The truth: the pool's mean log loss, probabilities clipped as in the loss above.
proba = np.insert(model.predict_proba(X_pool), 7, 0.0, axis=1)
proba = np.clip(proba, np.finfo(np.float32).eps, 1)
truth = -np.log(proba[np.arange(len(y_pool)), y_pool]).mean()

print(f"{'truth':12} {truth:.3f}   (all {len(y_pool)} labels)")
for name, evaluator in evaluators.items():
    risk = evaluator.risk_
    low, high = risk.interval(0.9)
    print(f"{name:12} {risk.value:.3f}   90 % between {low:.3f} and {high:.3f}")

# %%
# How the estimates settle as labels come in, with the 90 % interval of the guarded
# one. This is one run of each, and any of them may be closest by luck. The figure of
# the start page has thirty runs.
fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
guarded = evaluators.pop("guarded ASE")
styles = [(":", "#D55E00"), ("--", "#009E73")]
for (name, evaluator), (line, color) in zip(evaluators.items(), styles, strict=True):
    history = evaluator.history_
    ax.plot(history["n_labels"], history["risk"], line, color=color, label=name)
RiskCurveDisplay.from_evaluation(
    guarded.evaluation_, truth=truth, name="guarded ASE", ax=ax
)
ax.set(xlabel="labels bought", ylabel="estimated log loss", ylim=(0, 2.5 * truth))
fig.savefig("quickstart.png", dpi=150)
plt.show()
