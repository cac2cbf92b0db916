"""
Anatomy: where the acquisitions look
====================================

Every place of a plane is a row of the pool. The model was trained on the lower half,
where the label goes along with the first feature. In the upper half it goes the other
way, and next to nothing is known there. Expected loss, BALD and XWED rate every place;
labels are bought where XWED is high.
"""

# %%
# Left and right the model is sure of itself, in the middle it is not.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import BALD, XWED, ExpectedLoss
from sklearn_ase.risk import ASE
from sklearn_ase.selection import ArgMax

rng = np.random.default_rng(0)


def draw_labels(X):
    """Labels that go along with the first feature, or against it."""
    slope = np.where(X[:, 1] < 0, 2.0, -2.0)
    return (rng.random(len(X)) < 1 / (1 + np.exp(-slope * X[:, 0]))).astype(int)


lower = rng.uniform([-3, -1], [3, 0], size=(300, 2))
upper = rng.uniform([-3, 0], [3, 1], size=(10, 2))
X_train = np.vstack([lower, upper])
side = np.linspace(-1, 1, 25)
X_pool = np.stack(np.meshgrid(3 * side, side), axis=-1).reshape(-1, 2)
y_train, y_pool = draw_labels(X_train), draw_labels(X_pool)
model = LogisticRegression().fit(lower, y_train[:300])

# %%
# Thirty labels by XWED, with the plain surrogate estimate of the log loss.
evaluator = ActiveRiskEstimator(
    FrozenEstimator(model),
    acquisition=XWED(),
    selection=ArgMax(),
    risk=ASE(),
    random_state=0,
)
evaluation = evaluator.start(X_pool, X_train=X_train, y_train=y_train)
before, first_estimate = evaluation.state, evaluation.estimate()
evaluation.run(lambda indices: y_pool[indices], n_labels=30)
proba = model.predict_proba(X_pool)[np.arange(len(y_pool)), y_pool]
print(f"before the first label {first_estimate:.2f}")
print(f"after thirty labels    {evaluation.estimate():.2f}")
print(f"truth                  {-np.log(proba).mean():.2f}")

# %%
# What each acquisition says before the first label. Expected loss is high where the
# surrogate believes the model to be wrong: so far only at the upper left, where a few
# training rows have shown it. BALD is high wherever its members disagree, nearly all of
# the upper half and also the middle, where an answer changes little: the model says
# half and half there. XWED is high where they disagree and the model is sure, so that
# being wrong would cost much: at both ends of the upper half. That is where its labels
# are, many of them along the border to the lower half.
panels = {
    "expected loss": ExpectedLoss(),
    "BALD": BALD(),
    "XWED, and the labels it bought": XWED(),
}
fig, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True, layout="constrained")
for ax, (title, acquisition) in zip(axes, panels.items(), strict=True):
    scores = acquisition.score_samples(before).reshape(25, 25)
    image = ax.imshow(
        scores / scores.max(),
        cmap="cividis",
        origin="lower",
        extent=(-3, 3, -1, 1),
        aspect="auto",
    )
    ax.set(title=title, xlabel="first feature")
axes[0].scatter(*X_train.T, s=5, color="white", label="training rows")
axes[2].scatter(*X_pool[evaluation.state.indices].T, s=45, color="white", ec="black")
axes[0].legend(facecolor="black", labelcolor="white", framealpha=0.7, markerscale=2)
axes[0].set_ylabel("second feature")
fig.colorbar(image, ax=axes, label="score / highest", ticks=[0, 0.5, 1])
plt.show()
