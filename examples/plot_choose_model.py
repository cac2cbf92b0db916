"""
Choosing the best of several models
===================================

Five models were trained on the same digits. Which one is the best on a pool of 1,397
new digits? We can pay for 80 labels.

:class:`~sklearn_ase.ActiveModelSelector` buys labels where models that may be the best
predict different digits. Rows on which all models agree say nothing about which of them
is better.
"""

# %%
# The models are fitted. ``FrozenEstimator`` says that they stay as they are.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from sklearn_ase import ActiveModelSelector, ComparisonDisplay

X, y = load_digits(return_X_y=True)
X_train, y_train, X_pool, y_pool = X[:400], y[:400], X[400:], y[400:]
models = {
    "linear": LogisticRegression(max_iter=3000),
    "naive Bayes": GaussianNB(var_smoothing=0.01),
    "neighbours": KNeighborsClassifier(),
    "forest": RandomForestClassifier(50, random_state=0),
    "support vectors": SVC(),
}
estimators = [
    (name, FrozenEstimator(model.fit(X_train, y_train)))
    for name, model in models.items()
]

# %%
# ``fit`` buys the labels. Here they are known; in practice ``y`` is a function that
# asks a person, or ``selector.start`` gives a run with ``ask`` and ``tell``.
selector = ActiveModelSelector(estimators, n_labels=80, random_state=0)
selector.fit(X_pool, y_pool, X_train=X_train, y_train=y_train)
print("best:", selector.best_name_)

# %%
# The comparison has the accuracy of each model, how far each is behind the best one,
# and which models may be the best.
comparison = selector.selection_.compare()
print(comparison)

# %%
# The crosses are the true values, which nobody knows in practice.
display = ComparisonDisplay(comparison).plot()
accuracy = np.array([model.score(X_pool, y_pool) for model in models.values()])
behind = accuracy[comparison.best_index] - accuracy
for ax, truth in zip(display.axes_, (accuracy, behind), strict=True):
    ax.plot(truth, np.arange(len(truth)), "kx", label="truth", zorder=3)
display.axes_[1].legend(frameon=False)
plt.show()

# %%
# Differences are known better than levels: the labels were bought for them. "Is the
# forest better than the linear model?" has its own answer.
difference = comparison.difference("forest", "linear")
low, high = difference.interval(0.9)
print(f"forest minus linear: {difference:.3f}, {low:.3f} to {high:.3f}")
