"""What does `metric=` cost, relative to an evaluation with a loss?

Pools of 2,000 rows, 1,000 training rows, 100 labels, default settings. Each repetition
runs all evaluations of a pool after each other, and takes the seconds of one processor
core of each, relative to that with the loss. Printed are the medians. Below them stands
the time of the AUC of a large pool with all labels known, and of its slopes, which an
estimate needs.

    python benchmarks/scale/metric_costs.py --runs 5
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.metrics import RocAuc

N_TRAIN, N_POOL, N_LABELS = 1000, 2000, 100
OF_TWO = ("accuracy", "precision", "f1", "matthews_corrcoef", "roc_auc")
OF_MANY = ("accuracy", "f1_macro", "balanced_accuracy", "cohen_kappa")
OF_NUMBERS = ("neg_mean_squared_error", "neg_root_mean_squared_error", "r2")


def classes(n_classes, weights=None):
    """A pool of some classes, with a model."""

    def make(seed):
        X, y = make_classification(
            N_TRAIN + N_POOL,
            n_informative=8,
            n_classes=n_classes,
            weights=weights,
            random_state=seed,
        )
        model = HistGradientBoostingClassifier(max_iter=50, random_state=0)
        return X, y, model

    return make


def numbers(seed):
    """A pool of numbers, with a model."""
    X, y = make_regression(N_TRAIN + N_POOL, 10, noise=30.0, random_state=seed)
    return X, y + 0.3 * y * np.abs(X[:, 0]), Ridge()


POOLS = {
    "two classes, 5 % positives": (classes(2, [0.95]), "zero_one", OF_TWO),
    "three classes": (classes(3), "zero_one", OF_MANY),
    "ten classes": (classes(10), "zero_one", OF_MANY),
    "numbers": (numbers, "squared_error", OF_NUMBERS),
}


def seconds(make, seed, **asked):
    """Seconds of one processor core of an evaluation."""
    X, y, model = make(seed)
    training = {"X_train": X[:N_TRAIN], "y_train": y[:N_TRAIN]}
    model = FrozenEstimator(model.fit(*training.values()))
    evaluator = ActiveRiskEstimator(
        model, n_labels=N_LABELS, random_state=seed, **asked
    )
    start = time.process_time()
    evaluator.fit(X[N_TRAIN:], y[N_TRAIN:], **training)
    evaluator.risk_.interval()
    return time.process_time() - start


def compare(runs):
    """Print the cost of each metric, relative to that of the loss."""
    print("| pool | metric | cost / with a loss | seconds with a loss |")
    print("|---|---|---|---|")
    for pool, (make, loss, metrics) in POOLS.items():
        base, ratios = [], {name: [] for name in metrics}
        for seed in range(runs):
            base.append(seconds(make, seed, loss=loss))
            for name in metrics:
                ratios[name].append(seconds(make, seed, metric=name) / base[-1])
        for name, found in ratios.items():
            print(f"| {pool} | {name} | {np.median(found):.2f} ", end="")
            print(f"| {np.median(base):.1f} |", flush=True)


def large_ranking(n_rows):
    """Print the time of the AUC of a large pool."""
    rng = np.random.default_rng(0)
    y = (rng.random(n_rows) < 0.1).astype(int)
    score = rng.normal(size=n_rows) + y
    proba = np.stack([1.0 - y, y], axis=1).astype(float)
    start = time.process_time()
    metric = RocAuc().on_pool(score, np.array([0, 1])).at(proba)
    means = np.array(
        [part.observed(np.arange(n_rows), y).mean() for part in metric.parts]
    )
    value, _ = metric.value(means), metric.linearised(means)
    spent = time.process_time() - start
    print(f"\nAUC of {n_rows:,} rows: {value:.4f}, {spent:.2f} s")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1_000_000)
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    compare(args.runs)
    large_ranking(args.rows)


if __name__ == "__main__":
    main()
