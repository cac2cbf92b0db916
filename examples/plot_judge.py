"""
A judge that likes long answers
===============================

A language model has given 2,000 answers. An automatic judge has scored all of them,
and is too kind to long ones. People label a few answers. How many answers are correct?
"""

# %%
# The answers are made up. People accept 61 % of them. The judge often sees whether an
# answer is correct, and gives long answers a better score. Nobody told us so.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.metrics import LabelShare


def squash(values):
    """Numbers between 0 and 1."""
    return 1 / (1 + np.exp(-values))


rng = np.random.default_rng(1)
n_answers = 2000
length = rng.normal(size=n_answers)
is_correct = rng.random(n_answers) < squash(0.5 + rng.normal(size=n_answers))
noise = rng.normal(size=n_answers)
score = squash(1.6 + 3.0 * (is_correct - 0.5) + 1.4 * length + noise)
answers = pd.DataFrame({"words": np.exp(4.5 + 0.6 * length).round()})
y = np.where(is_correct, "correct", "wrong")
truth = is_correct.mean()
print(f"people accept {truth:.3f}, the judge's mean score is {score.mean():.3f}")

# %%
# There is no model to evaluate: the metric is the share of a label. The judge enters as
# an expert, and the number of words as a feature. Labels are bought one by one; we look
# at the estimate from time to time.
evaluator = ActiveRiskEstimator(metric=LabelShare("correct"), random_state=0)
evaluation = evaluator.start(answers, experts={"judge": score})
counts = [25, 50, 100, 200]
ours = []
for count in counts:
    evaluation.run(y, n_labels=count)
    estimate = evaluation.estimate()
    ours.append((estimate.value, *estimate.interval(0.9)))
ours = np.array(ours)
print(evaluation.diagnose())

# %%
# For comparison: a plain random sample of the same size, which does not know the judge,
# and prediction-powered inference (PPI++), which adds the judge's mean score and takes
# off its mean error in the sample.
sample = rng.permutation(n_answers)


def plain_sample(rows):
    """Mean of the labels, with an interval of 90 %."""
    labels = is_correct[rows].astype(float)
    error = np.sqrt(labels.var(ddof=1) / len(rows) * (1 - len(rows) / n_answers))
    return labels.mean() + 1.645 * error * np.array([0, -1, 1])


def ppi(rows):
    """PPI++ of a random sample, with an interval of 90 %."""
    labels, others = is_correct[rows].astype(float), np.delete(score, rows)
    factor = (1 + len(rows) / len(others)) * score.var(ddof=1)
    trust = np.clip(np.cov(labels, score[rows])[0, 1] / factor, 0, 1)
    rest = labels - trust * score[rows]
    error = np.sqrt(trust**2 * others.var() / len(others) + rest.var() / len(rows))
    return trust * others.mean() + rest.mean() + 1.645 * error * np.array([0, -1, 1])


plain = np.array([plain_sample(sample[:count]) for count in counts])
powered = np.array([ppi(sample[:count]) for count in counts])

# %%
# The judge's mean is wrong, however many answers the judge scores. The labels correct
# it. Of the three estimates the package's has the narrowest interval from 100 labels
# on: it learns that length misleads the judge, and asks where it is still unsure.
methods = [
    ("plain sample", "C7", plain),
    ("PPI++", "C1", powered),
    ("this package", "C0", ours),
]
for name, _, found in methods:
    print(name, *(f"{low:.2f} to {high:.2f}" for _, low, high in found), sep="\n    ")

# %%
# On the left, why: people do not care about length.

fig, axes = plt.subplots(
    1, 2, figsize=(10, 4), layout="constrained", width_ratios=[2, 3]
)
edges = np.quantile(length, np.linspace(0, 1, 9))
groups = np.digitize(length, edges[1:-1])
middles = answers.groupby(groups)["words"].median()
axes[0].plot(middles, pd.Series(score).groupby(groups).mean(), "C3o-", label="judge")
axes[0].plot(
    middles, pd.Series(is_correct).groupby(groups).mean(), "ko-", label="people"
)
axes[0].set(xlabel="words of the answer", ylabel="mean score", ylim=(0, 1))
axes[0].set_title("The judge likes long answers")
axes[0].legend()
axes[1].axhline(score.mean(), color="C3", label="judge's mean score")
axes[1].axhline(truth, color="k", linestyle=":", label="truth")
places = np.arange(len(counts))
for shift, (name, colour, found) in zip((-0.2, 0, 0.2), methods, strict=True):
    value, low, high = found.T
    ends, style = [value - low, high - value], {"color": colour, "label": name}
    axes[1].errorbar(places + shift, value, ends, fmt="o", capsize=4, **style)
axes[1].set_xticks(places, counts)
axes[1].set(xlabel="labels", ylabel="share of correct answers")
axes[1].set_title("Estimates with intervals of 90 %")
axes[1].legend(ncols=2, loc="lower right")
plt.show()
