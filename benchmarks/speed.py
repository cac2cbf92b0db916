"""Speed and memory of the loop, as ratios within one run.

1. Constant surrogate, N = 60,000, C = 10, E = 100: fifty acquisitions with XWED
   against computing the score from the member array at every step; peak memory.
2. A forest on a pool of 10,000 rows and 100 labels: CPU time of the whole evaluation
   against that of the surrogate in it (forest, calibration on held-out predictions,
   members over the pool), and against the same forest fitted and predicted by itself.

    python benchmarks/speed.py
"""

import argparse
import time
import tracemalloc

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import XWED
from sklearn_ase.selection import ArgMax
from sklearn_ase.surrogate import ClassifierSurrogate


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
        first, last = int(X[0, 0]), int(X[-1, 0])  # Chunks of a pool are contiguous.
        return self.member_proba[:, first : last + 1]


def xwed_from_members(member_proba, loss):
    """The score as a plain numpy program computes it, from all members at once."""
    mean = member_proba.mean(axis=0)
    members = member_proba * np.log(np.maximum(member_proba, 1e-300))
    return np.sum(loss * (members.mean(axis=0) - mean * np.log(mean)), axis=1)


def constant_surrogate(n_samples, n_classes, n_members, n_steps):
    rng = np.random.default_rng(0)
    members = rng.dirichlet(np.ones(n_classes), (n_members, n_samples))
    predictions = rng.dirichlet(np.ones(n_classes), n_samples)
    y = rng.integers(n_classes, size=n_samples)
    X = np.arange(n_samples, dtype=float)[:, None]
    evaluator = ActiveRiskEstimator(
        surrogate=FrozenEstimator(StoredMembers(members)),
        acquisition=XWED(),
        selection=ArgMax(),
        classes=np.arange(n_classes),
        n_labels=n_steps,
        random_state=0,
    )
    begin = time.perf_counter()
    evaluator.fit(X, y, predictions=predictions)
    ours = time.perf_counter() - begin

    loss = -np.log(predictions)
    begin = time.perf_counter()
    for _ in range(3):
        scores = xwed_from_members(members, loss)
    naive = (time.perf_counter() - begin) / 3
    state = evaluator.evaluation_.state
    assert np.allclose(XWED().score_samples(state), scores)

    begin = time.perf_counter()
    evaluation = evaluator.evaluation_
    for _ in range(n_steps):
        query = evaluation.ask()
        evaluation.tell(query, y[query.indices])
    steps = time.perf_counter() - begin

    tracemalloc.start()
    evaluator.fit(X, y, predictions=predictions)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    bound = 3 * n_samples * n_classes * 8 + 64e6
    print(f"constant surrogate, N={n_samples}, C={n_classes}, E={n_members}")
    print(f"  score from all members, once               {naive:8.3f} s")
    print(f"  {n_steps} acquisitions                            {steps:8.3f} s")
    print(f"  the same with the first pass over members  {ours:8.3f} s")
    print(
        f"  acquisitions / recomputed scores           1/{n_steps * naive / steps:.0f}"
    )
    print(
        f"  with the first pass                        1/{n_steps * naive / ours:.0f}"
    )
    print(
        f"  peak memory beyond the inputs {peak / 1e6:.0f} MB, "
        f"bound {bound / 1e6:.0f} MB"
    )


class TimedSurrogate(ClassifierSurrogate):
    """A surrogate that adds up the time of its fits and pool predictions."""

    seconds = 0.0

    def fit(self, X, y, **rows):
        return self._timed(super().fit, X, y, **rows)

    def belief(self, X, loss, expert=None, keep_member_loss=False):
        return self._timed(super().belief, X, loss, expert, keep_member_loss)

    @staticmethod
    def _timed(function, *args, **kwargs):
        begin = time.process_time()
        result = function(*args, **kwargs)
        TimedSurrogate.seconds += time.process_time() - begin
        return result


def forest_loop(n_pool, n_labels, n_repeats):
    X, y = make_classification(
        n_pool + 1000, 20, n_informative=10, n_classes=5, random_state=0
    )
    X_train, y_train, X_pool, y_pool = X[:1000], y[:1000], X[1000:], y[1000:]
    model = FrozenEstimator(LogisticRegression(max_iter=500).fit(X_train, y_train))
    forest = RandomForestClassifier(100, random_state=0)
    times = []
    for seed in range(n_repeats):
        evaluator = ActiveRiskEstimator(
            model,
            surrogate=TimedSurrogate(forest),
            n_labels=n_labels,
            random_state=seed,
        )
        TimedSurrogate.seconds = 0.0
        begin = time.process_time()
        evaluator.fit(X_pool, y_pool, X_train=X_train, y_train=y_train)
        whole = time.process_time() - begin
        history = evaluator.history_
        counts = [0, *history["n_labels"][history["refit"]]]
        begin = time.process_time()
        for count in counts:
            rows = history["index"][:count]
            fitted = clone(forest).fit(
                np.concatenate([X_train, X_pool[rows]]),
                np.concatenate([y_train, y_pool[rows]]),
            )
            fitted.predict_proba(X_pool)
        bare = time.process_time() - begin
        times.append((whole, TimedSurrogate.seconds, bare))
    whole, surrogate, bare = np.median(times, axis=0)
    print(
        f"forest of 100 trees, pool of {n_pool}, {n_labels} labels, {len(counts)} fits"
    )
    print(f"  whole evaluation                           {whole:8.2f} CPU-s")
    print(f"  calibrated surrogate, fit and predict      {surrogate:8.2f} CPU-s")
    print(f"  bare forest, fit and predict_proba         {bare:8.2f} CPU-s")
    print(f"  loop over calibrated surrogate             {whole / surrogate - 1:8.1%}")
    print(f"  whole evaluation over bare forest          {whole / bare - 1:8.1%}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    constant_surrogate(60_000, 10, 100, 50)
    forest_loop(10_000, 100, args.repeats)
