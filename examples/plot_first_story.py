"""
A model in another clinic: from no labels to a result
=====================================================

A model that recognises malignant tumours was trained in a clinic that sees small
tumours. It is wrong in 2 of 100 cases there. Another clinic sees larger tumours and
wants to use the model. Its pathologist has time to look at 60 of 400 cases again. How
often is the model wrong in the second clinic?
"""

# %%
# **The model and the pool.** The data are real measurements of cells (Wisconsin breast
# cancer). Cells with a mean radius below 12 are the first clinic, the others the
# second. Class 1 is malignant.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.risk import ASE

data = load_breast_cancer(as_frame=True)
X, y = data.data.filter(like="mean"), 1 - data.target
is_first = X["mean radius"] < 12
X_train, y_train, X_pool = X[is_first], y[is_first], X[~is_first]
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
at_home = 1 - model.score(X_train, y_train)
print(f"error in the first clinic {at_home:.3f}, new cases {len(X_pool)}")


def pathologist(positions):
    """The person who looks at cases: here the labels are known."""
    return y[~is_first].to_numpy()[positions]


# %%
# **Before any label** there is only what a second model, the surrogate, expects. It has
# seen small tumours only, so this number is a guess without an interval.
evaluator = ActiveRiskEstimator(FrozenEstimator(model), loss="zero_one", random_state=0)
evaluation = evaluator.start(X_pool, X_train=X_train, y_train=y_train)
print(f"without labels {evaluation.estimate(ASE()):.3f}")

# %%
# **Four afternoons.** Each time the evaluation chooses 15 cases, and the pathologist
# looks at them. The interval is the one that may be looked at every day.
afternoons = []
for day in range(1, 5):
    query = evaluation.ask(15)
    evaluation.tell(query, pathologist(query.indices))
    estimate = evaluation.estimate()
    low, high = estimate.interval(0.9, method="anytime")
    afternoons.append([len(evaluation.ledger), float(estimate), low, high])
    print(f"afternoon {day}: {estimate:.3f}, between {low:.3f} and {high:.3f}")

# %%
# **Can it be trusted?** The diagnosis compares what the surrogate expected with what
# the labels showed.
diagnosis = evaluation.diagnose()
print(diagnosis)

# %%
# **Another question, the same labels.** How many of the malignant tumours does the
# model find?
recall = evaluation.estimate(metric="recall")
print("recall {:.2f}, between {:.2f} and {:.2f}".format(recall, *recall.interval(0.9)))

# %%
# **The result.** The clinic fixed the number of labels beforehand, so it can report the
# narrower interval for one look.
low, high = evaluation.estimate().interval(0.9)
percent = [100 * number for number in (evaluation.estimate().value, low, high)]
print(
    "In the second clinic the model is wrong in {:.0f} of 100 cases (90 % interval "
    "{:.0f} to {:.0f}).".format(*percent)
)
print(
    f"{len(evaluation.ledger)} of {len(X_pool)} cases were labelled, as good as "
    f"{diagnosis.effective_labels:.0f} cases chosen at random."
)

# %%
# The picture. The truth is known here, because all labels are.
truth = np.mean(model.predict(X_pool) != y[~is_first])
counts, values, lows, highs = np.array(afternoons).T
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.errorbar(
    counts,
    values,
    [values - lows, highs - values],
    fmt="o",
    color="#0072B2",
    capsize=4,
    label="estimate, 90 % at any time",
)
ax.errorbar(
    counts[-1] + 2,
    values[-1],
    [[values[-1] - low], [high - values[-1]]],
    fmt="s",
    color="#D55E00",
    capsize=4,
    label="result, 90 % for one look",
)
ax.axhline(truth, color="black", linestyle=":", label="truth in the second clinic")
ax.axhline(at_home, color="0.6", linewidth=0.8, label="first clinic")
ax.set(xlabel="labels", ylabel="error rate", xticks=counts, ylim=(0, None))
fig.legend(loc="outside upper center", ncols=2, frameon=False)
plt.show()
