"""
A metric of your own: which threshold costs least?
==================================================

A missed tumour costs ten times as much as a false alarm. Which threshold of the
model costs least on a pool of new patients? The metric is our own, and one set of 80
labels answers the question for every threshold, with intervals.
"""

# %%
# The metric. ``row_values`` gives the numbers of each row that are averaged over the
# pool, here its cost. ``value`` says what is made of the means. ``check_metric`` tests
# the class as the metrics of the package are tested.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.metrics import BaseMetric
from sklearn_ase.testing import check_metric


class CostPerPatient(BaseMetric):
    """Mean cost if patients with a probability above the threshold are called back."""

    task = "classification"
    response_method = "predict_proba"
    bounds = (0.0, 10.0)
    greater_is_better = False

    def __init__(self, threshold=0.5):
        self.threshold = threshold

    def row_values(self, y_true, y_pred):
        is_called = y_pred[:, 1] > self.threshold
        missed, false_alarm = (y_true == 1) & ~is_called, (y_true == 0) & is_called
        return (10.0 * missed + 1.0 * false_alarm)[:, None]

    def value(self, means):
        return means[0]


check_metric(CostPerPatient())

# %%
# The model was trained on 80 patients and looks at two measurements only. Class 1 is
# a malignant tumour.
X, y = load_breast_cancer(return_X_y=True)
X, y = X[:, :10], 1 - y
X_train, y_train, X_pool, y_pool = X[:80], y[:80], X[80:], y[80:]
model = make_pipeline(StandardScaler(), LogisticRegression())
model.fit(X_train[:, 1:5:3], y_train)


def predict(rows):
    """Probabilities of the model, from two of the ten measurements."""
    return model.predict_proba(rows[:, 1:5:3])


# %%
# Eighty labels, bought for the cost at the usual threshold.
evaluator = ActiveRiskEstimator(
    predict, metric=CostPerPatient(0.5), classes=[0, 1], n_labels=80, random_state=0
)
evaluator.fit(X_pool, y_pool, X_train=X_train, y_train=y_train)
low, high = evaluator.estimate_.interval(0.9)
print(f"cost at 0.5: {evaluator.estimate_:.2f}, between {low:.2f} and {high:.2f}")

# %%
# The same labels answer the question for every other threshold.
thresholds = np.linspace(0.02, 0.9, 23)
proba = predict(X_pool)
rows = []
for threshold in thresholds:
    metric = CostPerPatient(threshold)
    found = evaluator.evaluation_.estimate(metric=metric)
    rows.append([float(found), *found.interval(0.9), metric(y_pool, proba)])
value, low, high, truth = np.array(rows).T
best = thresholds[np.argmin(value)]
true_best = thresholds[np.argmin(truth)]
print(f"least cost at a threshold of {best:.2f}, truly at {true_best:.2f}")

# %%
# The picture. The truth is known here because all labels are.
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.fill_between(thresholds, low, high, color="#0072B2", alpha=0.2, linewidth=0)
ax.plot(thresholds, value, color="#0072B2", label="estimate and 90 % interval")
ax.plot(thresholds, truth, "k:", label="truth (489 labels)")
ax.axvline(0.5, color="0.6", linewidth=0.8)
ax.annotate("usual\nthreshold", (0.51, 2.1), color="0.4")
ax.axvline(best, color="#D55E00", linewidth=1)
ax.annotate("estimated best", (best + 0.01, 2.2), color="#D55E00")
ax.set(xlabel="threshold of the model", ylabel="cost per patient", ylim=(0, 3))
fig.legend(loc="outside upper center", ncols=2, frameon=False)
plt.show()
