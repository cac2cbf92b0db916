"""How well is the difference of two models known, from labels bought for it?

Six models of scikit-learn make 15 pairs. Each of five tables takes three of them, so
that every pair stands once, with zero-one and with log loss. Each run draws training
rows, a pool of 1,000 rows and the two models afresh, and buys labels for the difference
with ``ActiveModelSelector``. Printed are, at 50, 100 and 200 labels: the mean squared
error of the estimated difference divided by that of the paired difference from a plain
random sample; the width of the 90 % interval divided by that of the sample's paired t
interval; and how often each of the two intervals covers the true difference.

    python benchmarks/models/model_differences.py --data-dir DIR --out RUNS
    python benchmarks/models/model_differences.py --out RUNS --report
"""

import argparse
import sys
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ase import ActiveModelSelector

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from tables import slashed
from tasks import boosting, draw, linear, table, tree

SEED = 141421
COUNTS = (50, 100, 200)
LOSSES = ("zero_one", "log_loss")
N_TRAIN, N_POOL = 300, 1000
# A probability of 0 counts as this one, as in the package.
LEAST_PROBA = np.finfo(np.float32).eps
MODELS = {
    "linear": linear,
    "tree": tree,
    "boosting": boosting,
    "bayes": lambda: make_pipeline(StandardScaler(), GaussianNB()),
    "neighbours": lambda: make_pipeline(StandardScaler(), KNeighborsClassifier(15)),
    "forest": lambda: RandomForestClassifier(50, min_samples_leaf=3, random_state=0),
}
TABLES = {
    "adult": table("adult", "class", ["split"]),
    "bank": table("bank_marketing_additional_full", "y"),
    "covertype": table("covertype_sample", "Cover_Type"),
    "pendigits": table("pendigits", "class"),
    "phoneme": table("phoneme", "class"),
}
CELLS = [
    (list(TABLES)[place % len(TABLES)], *pair, loss)
    for place, pair in enumerate(combinations(MODELS, 2))
    for loss in LOSSES
]
KEYS = ["table", "first", "second", "loss"]
COLUMNS = [
    *(*KEYS, "seed", "n_labels", "truth", "value", "centre", "low", "high"),
    *("variance", "plain_low", "plain_high"),
]


def run(data_dir, cell, seed):
    """Rows of one run, one for each number of labels."""
    warnings.simplefilter("ignore")
    name, first, second, loss = cell
    rng = np.random.default_rng(seed)
    X, y = TABLES[name](data_dir)
    X_train, y_train, X, y = draw(X.to_numpy(), y, rng, N_TRAIN, N_POOL)
    models = [(each, MODELS[each]().fit(X_train, y_train)) for each in (first, second)]
    gap = np.subtract(*(losses(model, X, y, loss) for _, model in models[::-1]))
    selector = ActiveModelSelector(
        [(each, FrozenEstimator(model)) for each, model in models],
        metric=loss,
        random_state=seed,
    )
    choice = selector.start(X, X_train=X_train, y_train=y_train)
    order, found = rng.permutation(len(y)), []
    for count in COUNTS:
        choice.run(y, count)
        better = choice.compare().difference(first, second)
        sample = gap[order[:count]]
        error = sample.std(ddof=1) * np.sqrt(1 / count - 1 / len(y))
        half = stats.t.ppf(0.95, count - 1) * error
        values = (float(better), better.centre, *better.interval(0.9))
        variance = gap.var(ddof=1) * (1 / count - 1 / len(y))
        plain = (variance, sample.mean() - half, sample.mean() + half)
        found.append((*cell, seed, count, gap.mean(), *values, *plain))
    return found


def losses(model, X, y, loss):
    """Loss of a model at each row."""
    if loss == "zero_one":
        return (model.predict(X) != y).astype(float)
    proba = np.maximum(model.predict_proba(X), LEAST_PROBA)
    found = np.full(len(y), -np.log(LEAST_PROBA))
    for column, label in enumerate(model.classes_):
        found[y == label] = -np.log(proba[y == label, column])
    return found


def seeds_of(args):
    return np.random.RandomState(args.seed).randint(2**31 - 1, size=args.runs)


def simulate(args):
    """Run all that is missing, one seed of every pair before the next."""
    path = args.out / "model_differences.csv"
    done = set()
    if path.exists():
        kept = pd.read_csv(path)[[*KEYS, "seed"]]
        done = set(kept.itertuples(index=False, name=None))
    missing = [
        (cell, int(seed))
        for seed in seeds_of(args)
        for cell in CELLS
        if (*cell, int(seed)) not in done
    ]
    jobs = (delayed(run)(args.data_dir, *each) for each in missing)
    for rows in Parallel(n_jobs=args.jobs, return_as="generator")(jobs):
        frame = pd.DataFrame(rows, columns=COLUMNS)
        frame.to_csv(path, mode="a", header=not path.exists(), index=False)


def report(args):
    """Print a line for each pair, and the medians."""
    runs = pd.read_csv(args.out / "model_differences.csv")
    runs = runs[runs["seed"].isin(seeds_of(args))]
    runs = runs.drop_duplicates([*KEYS, "seed", "n_labels"])
    truth = runs["truth"]
    runs["square"] = (runs["value"] - truth) ** 2
    runs["unbiased"] = (runs["centre"] - truth) ** 2
    runs["covered"] = (runs["low"] <= truth + 1e-12) & (truth <= runs["high"] + 1e-12)
    runs["plain_covered"] = runs["plain_low"].le(truth) & truth.le(runs["plain_high"])
    runs["width"] = runs["high"] - runs["low"]
    runs["plain_width"] = runs["plain_high"] - runs["plain_low"]
    names = ["square", "unbiased", "variance", "covered", "plain_covered"]
    names += ["width", "plain_width"]
    cells = runs.groupby([*KEYS, "n_labels"])[names].mean()
    cells["error"] = cells["square"] / cells["variance"]
    cells["unbiased"] /= cells["variance"]
    cells["width"] /= cells["plain_width"]
    shown = ["error", "unbiased", "width", "covered", "plain_covered"]
    print("runs of each pair:", runs.groupby(KEYS)["seed"].nunique().min(), "at least")
    print(f"at {COUNTS} labels, each divided by a plain sample's where it is a ratio\n")
    print(f"| {' | '.join([*KEYS, *shown])} |")
    print("|" + "---|" * (len(KEYS) + len(shown)))
    for key, part in cells.groupby(level=KEYS, sort=False):
        texts = [slashed(part[name]) for name in shown]
        print(f"| {' | '.join([*map(str, key), *texts])} |")
    for loss, part in cells.groupby(level="loss"):
        groups = part[shown].groupby("n_labels")
        middle, mean, least = groups.median(), groups.mean(), groups.min()
        print(f"\n{loss}, median pair:", end="")
        for name in ("error", "unbiased", "width"):
            print(f" {name} {slashed(middle[name])}", end=";")
        print(f" coverage {slashed(mean['covered'])} on average,", end="")
        print(f" {slashed(least['covered'])} in the worst pair,", end="")
        print(f" plain {slashed(mean['plain_covered'])}")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--report", action="store_true")
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    if not args.report:
        simulate(args)
    report(args)


if __name__ == "__main__":
    main()
