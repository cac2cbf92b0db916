"""CPU time of evaluations of large pools, as ratios within one run.

1. The whole evaluation with 50 labels, default settings, log loss and 1,000 training
   rows, against an older version of the package: with the schedule of refits that the
   older one had, and with that of today.
2. The same against plain numpy and scikit-learn.
3. Ask and tell with a frozen surrogate: at 100 and at 4,100 labels, their ratio (at
   most 1.5), ten million rows, and 100 rows at a time of 100,000.

    git worktree add OLDER 0e4b0c3
    python benchmarks/scale/scale.py --before OLDER

Each measurement is a process of its own. Those that are compared alternate, and the
median of the ratios is printed.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from plain_evaluation import evaluate
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator

from sklearn_ase import ActiveRiskEstimator

POOLS = ((10_000, 10), (100_000, 10), (10_000, 100))
N_LABELS, N_TRAIN = 50, 1000
# Refits of 50 labels before labels changed the calibration between refits.
ELEVEN_FITS = [1, 2, 3, 5, 8, 12, 18, 27, 41]


def task(n_pool, n_classes, seed):
    """Training rows, pool and model. The model is cheap: five copies are fitted."""
    X, y = make_classification(
        n_pool + N_TRAIN,
        20,
        n_informative=15,
        n_classes=n_classes,
        n_clusters_per_class=1,
        random_state=seed,
    )
    train, pool = slice(0, N_TRAIN), slice(N_TRAIN, None)
    model = LinearDiscriminantAnalysis().fit(X[train], y[train])
    return X[train], y[train], X[pool], y[pool], model


def whole(n_pool, n_classes, seed, refit):
    """An evaluation from start to end."""
    X_train, y_train, X, y, model = task(n_pool, n_classes, seed)
    options = {} if refit is None else {"refit": refit}
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(model), n_labels=N_LABELS, random_state=seed, **options
    )
    begin = time.process_time()
    evaluator.fit(X, y, X_train=X_train, y_train=y_train)
    cpu = time.process_time() - begin
    refits = evaluator.evaluation_.ledger.refits
    return {"cpu": cpu, "risk": float(evaluator.risk_), "refits": refits}


def plain(n_pool, n_classes, seed, refit):
    """The same by plain numpy and scikit-learn."""
    given = task(n_pool, n_classes, seed)
    begin = time.process_time()
    risk = evaluate(*given, refit, N_LABELS, seed)
    return {"cpu": time.process_time() - begin, "risk": risk}


class StoredMembers(ClassifierMixin, BaseEstimator):
    """Members whose probabilities for the pool are stored; X holds row numbers."""

    def __init__(self, member_proba=None):
        self.member_proba = member_proba

    def __sklearn_is_fitted__(self):
        return True

    @property
    def classes_(self):
        return np.arange(self.member_proba.shape[2])

    def predict_proba_members(self, X):
        return self.member_proba[:, int(X[0, 0]) : int(X[-1, 0]) + 1]


def frozen(n_samples, counts, seed, n_queries=1):
    """Median CPU time of ask and tell at some numbers of labels; zero-one loss."""
    rng = np.random.default_rng(seed)
    share = rng.beta(0.5, 0.5, (3, n_samples))
    members = np.stack([share, 1 - share], axis=2)
    predictions = rng.random(n_samples)
    predictions = np.column_stack([predictions, 1 - predictions])
    y = (rng.random(n_samples) > share.mean(axis=0)).astype(int)
    evaluation = ActiveRiskEstimator(
        surrogate=FrozenEstimator(StoredMembers(members)),
        classes=[0, 1],
        loss="zero_one",
        n_labels=N_LABELS,
        random_state=seed,
    ).start(np.arange(n_samples, dtype=float)[:, None], predictions=predictions)
    found = []
    for count in counts:
        while len(evaluation.ledger) < count:
            query = evaluation.ask(min(count - len(evaluation.ledger), 500))
            evaluation.tell(query, y[query.indices])
        seconds = []
        for _ in range(40):
            begin = time.process_time()
            query = evaluation.ask(n_queries)
            evaluation.tell(query, y[query.indices])
            seconds.append(time.process_time() - begin)
        found.append(float(np.median(seconds)))
    return {"cpu": found}


def measured(tree, name, *arguments):
    """What a function of this file returns in a process with the code of a tree."""
    call = [sys.executable, __file__, "--call", name, json.dumps(arguments)]
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment = os.environ | one | {"PYTHONPATH": str(tree)}
    done = subprocess.run(
        call, env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def against_before(before, here, repeats):
    """Print the ratios of point 1."""
    print("Whole evaluation, 50 labels: CPU seconds, and those of before / today's")
    print("pool x classes      before  same refits  today   ratios   fits   difference")
    for n_pool, n_classes in POOLS:
        rows, gaps = [], []
        for seed in range(repeats):
            pool = n_pool, n_classes, seed
            old = measured(before, "whole", *pool, None)
            same = measured(here, "whole", *pool, old["refits"])
            today = measured(here, "whole", *pool, None)
            rows.append([run["cpu"] for run in (old, same, today)])
            gaps.append(abs(same["risk"] / old["risk"] - 1.0))
            fits = f"{1 + len(old['refits'])} / {1 + len(today['refits'])}"
        old, same, today = np.median(rows, axis=0)
        rows = np.array(rows)
        ratios = np.median(rows[:, :1] / rows[:, 1:], axis=0)
        print(
            f"{n_pool:>8} x {n_classes:<4} {old:10.2f} {same:10.2f} {today:8.2f}   "
            f"{ratios[0]:.2f} {ratios[1]:.2f}   {fits}   {max(gaps):.1e}"
        )
    ratios = []
    for seed in range(repeats):
        pool = *POOLS[0], seed
        old = measured(before, "whole", *pool, ELEVEN_FITS)
        ratios.append(old["cpu"] / measured(here, "whole", *pool, None)["cpu"])
    print(f"with eleven fits before, {POOLS[0]}: {np.median(ratios):.2f}")


def against_plain(here, repeats):
    """Print the ratio of point 2."""
    ratios = []
    for seed in range(repeats):
        ours = measured(here, "whole", *POOLS[0], seed, None)
        theirs = measured(here, "plain", *POOLS[0], seed, ours["refits"])
        ratios.append(theirs["cpu"] / ours["cpu"])
    print(f"plain numpy and scikit-learn / ours: {np.median(ratios):.2f}")


def steps(here, repeats):
    """Print the figures of point 3."""
    few, many = np.median(
        [measured(here, "frozen", 20_000, [100, 4_100], seed)["cpu"]
         for seed in range(repeats)], axis=0
    )  # fmt: skip
    print(
        f"ask and tell, 20,000 rows: {1e3 * few:.2f} ms at 100 labels, "
        f"{1e3 * many:.2f} ms at 4,100: {many / few:.2f} times"
    )
    batch = measured(here, "frozen", 100_000, [100], 0, 100)["cpu"][0]
    print(f"ask(100) and tell, 100,000 rows: {1e3 * batch:.0f} ms")
    large = measured(here, "frozen", 10**7, [100], 0)["cpu"][0]
    print(f"ask and tell, 10,000,000 rows: {1e3 * large:.0f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", help="tree with the older version")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--call", nargs=2, metavar=("NAME", "ARGUMENTS"))
    args = parser.parse_args()
    if args.call:
        name, arguments = args.call
        print(json.dumps(globals()[name](*json.loads(arguments))))
    else:
        here = Path(__file__).parents[2]
        if args.before:
            against_before(args.before, here, args.repeats)
        against_plain(here, args.repeats)
        steps(here, args.repeats)
