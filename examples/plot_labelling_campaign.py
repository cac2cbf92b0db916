"""
A labelling campaign: three days, a crash, a mistake, and a stop at the target
===============================================================================

Thirty rows a day go to the annotators, and every answer to a journal. On the second day
the machine dies in the middle of writing a line; on the third a mistake is found. The
campaign ends when the interval is narrow enough.
"""

# %%
# The model, the pool, and a place for the journal.
import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.stopping import TargetWidth

X, y = load_digits(return_X_y=True)
X_train, y_train, X_pool, y_pool = X[:300], y[:300], X[300:], y[300:]
model = GaussianNB(var_smoothing=0.01).fit(X_train, y_train)
evaluator = ActiveRiskEstimator(FrozenEstimator(model), loss="zero_one", random_state=0)
rows = {"X_train": X_train, "y_train": y_train}
journal = Path(tempfile.mkdtemp()) / "labels.jsonl"
days = []

# %%
# **Day one.** Thirty rows, five of which nobody gets to. One of the answers is wrong.
evaluation = evaluator.start(X_pool, journal=journal, **rows)
query = evaluation.ask(30)
done = query.indices[:25]
answers = y_pool[done].copy()
wrong = int(done[3])
answers[3] = (answers[3] + 1) % 10
evaluation.tell(done, answers)
evaluation.close()
days.append(len(evaluation.ledger))

# %%
# **Day two.** The journal says which rows are open. Then the machine dies while it
# writes the last answer: half a line is on disk.
evaluation = evaluator.start(X_pool, journal=journal, **rows)
print(f"{len(evaluation.ledger)} labels, open rows {evaluation.pending.indices}")
evaluation.tell(evaluation.pending, y_pool[evaluation.pending.indices])
query = evaluation.ask(30)
evaluation.tell(query.indices[:20], y_pool[query.indices[:20]])
evaluation.close()
with open(journal, "ab") as file:
    file.write(b'["tell", [')
days.append(len(evaluation.ledger))

# %%
# **Day three.** Nothing that was acknowledged is lost. Somebody looks at the rows again
# and corrects the label of day one; one image nobody can read.
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    evaluation = evaluator.start(X_pool, journal=journal, **rows)
print(caught[0].message)
before = float(evaluation.estimate())
evaluation.correct(wrong, y_pool[wrong])
print(f"estimate {before:.3f}, with the corrected label {evaluation.estimate():.3f}")
evaluation.skip(evaluation.pending.indices[:1])
print(evaluation.labels_needed(0.12, method="anytime"))

# %%
# Labels are bought until the 90 % interval, which may be looked at after every label,
# is .12 wide.
reason = evaluation.run(
    lambda indices: y_pool[indices], n_labels=400, stop=TargetWidth(0.12)
)
days.append(len(evaluation.ledger))
print(reason)
print(evaluation.diagnose())

# %%
# The whole campaign. Lines mark the ends of the days.
n_labels = evaluation.history["n_labels"]
low, high = evaluation.intervals(0.9, method="anytime")
known = np.isfinite(low)
fig, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
ax.fill_between(
    n_labels[known],
    low[known],
    high[known],
    color="#0072B2",
    alpha=0.25,
    linewidth=0,
    label="90 %, anytime",
)
ax.plot(n_labels, evaluation.history["risk"], color="#0072B2", label="estimate")
truth = np.mean(model.predict(X_pool) != y_pool)
ax.axhline(truth, color="black", linestyle=":", label="truth")
for number, day in enumerate(days, start=1):
    ax.axvline(day, color="0.6", linewidth=0.8)
    ax.annotate(f"day {number} ", (day, 0.01), ha="right", color="0.4")
ax.set(xlabel="labels", ylabel="error rate", ylim=(0, 0.6))
ax.legend(frameon=False)
evaluation.close()
plt.show()
