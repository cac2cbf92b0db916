"""Time to open a journal, by its number of labels.

Rows are asked for one by one, a tenth of them is skipped first, one in a hundred has a
second answer, and one in a thousand is corrected. There is an estimate after each
label. The surrogate is naive Bayes, so that the time is that of the journal.

    python benchmarks/house/journal_opening.py
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator, Picks
from sklearn_ase.risk import LURE
from sklearn_ase.surrogate import ClassifierSurrogate


def start(n_samples, path):
    """Start or resume an evaluation of a pool of random rows."""
    X = np.random.default_rng(0).normal(size=(n_samples, 3))
    surrogate = ClassifierSurrogate(GaussianNB(), n_members=3, calibration=None)
    evaluator = ActiveRiskEstimator(
        surrogate=surrogate, risk=LURE(), classes=[0, 1], random_state=0
    )
    proba = 1 / (1 + np.exp(-X[:, :1]))
    return evaluator.start(X, predictions=np.hstack([1 - proba, proba]), journal=path)


def fill(ledger, n_labels):
    """Record so many labels."""
    estimate = {"value": 0.1, "standard_error": 0.01, "n_labels": 9, "refusal": ""}
    for row in range(n_labels):
        picks = Picks.unanswered([row], [1 / (2 * n_labels - row)], *[[0.5]] * 4)
        ledger.ask(picks)
        if row % 10 == 0:
            ledger.skip([row])
        ledger.tell([row], [row % 2], [[1]] if row % 100 == 0 else ())
        if row % 1000 == 0:
            ledger.correct(row, 1 - row % 2)
        ledger.note([row], estimate, False)


def seconds_to_open(n_labels):
    """Write a journal with so many labels, and open it.

    Returns
    -------
    seconds : float
    n_bytes : int
        Size of the file.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.jsonl"
        with start(2 * n_labels, path) as new, new.ledger.held_back():
            fill(new.ledger, n_labels)
        began = time.perf_counter()
        with start(2 * n_labels, path) as evaluation:
            assert len(evaluation.ledger) == n_labels
        return time.perf_counter() - began, path.stat().st_size


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, nargs="+", default=[12500, 25000, 100000])
    for n_labels in parser.parse_args().labels:
        seconds, n_bytes = seconds_to_open(n_labels)
        print(f"{n_labels:7} labels, {n_bytes / 1e6:5.1f} MB: {seconds:6.2f} s")
