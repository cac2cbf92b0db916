"""How close are estimates for groups of rows, from labels bought for all rows?

Adult by age and bank by job, five groups each; adult by age with a model that was
trained on people below 30; and adult by occupation, with many small groups. Each run
draws training rows, pool and model afresh and buys labels for accuracy. Printed are, at
50, 100 and 200 labels: the mean squared error of the estimate of each group divided by
that of the labels which a plain random sample of the pool would have in the group; the
same for the group alone, without what the other groups tell; the coverage of the 90 %
interval where there is one; and how often the verdict was "too few labels".

    python benchmarks/questions/slices.py --data-dir DIR --out RUNS --runs 40
    python benchmarks/questions/slices.py --out RUNS --report

``--save FILE.csv`` writes a line for each figure. The tables of the documentation are
printed from such a file:

    python benchmarks/questions/slices.py --out benchmarks/results/slices.csv --report
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import f1_score

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.risk import ASE, GuardedASE

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from tables import add_arguments, is_table, save, slashed
from tasks import boosting, draw, linear, read_table

SEED = 577215
COUNTS = (50, 100, 200)
METRICS = ("accuracy", "f1")
KEYS = ["metric", "task", "group", "n_labels"]
N_TRAIN, N_POOL = 1000, 2000
# Number of plain samples from which the error of F1 is found.
N_SAMPLES = 200


def adult(data_dir):
    X, y = read_table(data_dir, "adult", "class")
    return X.drop(columns=["split"]), (y == np.unique(y)[1]).astype(int)


def bank(data_dir):
    X, y = read_table(data_dir, "bank_marketing_additional_full", "y")
    return X, (y == np.unique(y)[1]).astype(int)


def by_age(X):
    return np.digitize(X["age"], [25, 35, 45, 60])


def by_job(X):
    """The four most common jobs, and the rest."""
    common = X["job"].value_counts().index[:4]
    return np.select([X["job"] == job for job in common], range(4), 4)


def by_occupation(X):
    return X["occupation"].to_numpy().astype(int)


def young(X):
    return X["age"].to_numpy() < 30


# Rows, groups, model, and who may be trained on.
TASKS = {
    "adult by age": (adult, by_age, boosting, None),
    "bank by job": (bank, by_job, linear, None),
    "adult young by age": (adult, by_age, boosting, young),
    "adult by occupation": (adult, by_occupation, boosting, None),
}
COLUMNS = [
    *("task", "seed", "n_labels", "metric", "group", "truth", "value", "low", "high"),
    *("verdict", "n_in_group", "alone", "surrogate", "corrected", "error", "plain"),
]


def run(data_dir, task, seed):
    """Rows of one evaluation."""
    warnings.simplefilter("ignore")
    load, group_rows, make, keep = TASKS[task]
    X, y = load(data_dir)
    groups, allowed = group_rows(X), None if keep is None else keep(X)
    X, rng = X.to_numpy(), np.random.default_rng(seed)
    rows = np.arange(len(y))
    train, _, pool, _ = draw(rows, rows, rng, N_TRAIN, N_POOL, allowed)
    model = make().fit(X[train], y[train])
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(model), metric="accuracy", random_state=seed
    )
    evaluation = evaluator.start(X[pool], X_train=X[train], y_train=y[train])
    y, predicted, groups = y[pool], model.predict(X[pool]), groups[pool]
    found = []
    for count in COUNTS:
        evaluation.run(y, count)
        for metric in METRICS:
            table = evaluation.estimate_by(groups, metric=metric)
            for place, group in enumerate(table["group"]):
                rows = groups == group
                truth, plain = plain_sample(
                    metric, y[rows], predicted[rows], count * rows.mean(), rng
                )
                cells = [table[k][place] for k in ("estimate", "low", "high")]
                cells.append(table["verdict"][place])
                cells += alone(evaluation, metric, rows, table["n_labels"][place])
                found.append((task, seed, count, metric, group, truth, *cells, plain))
    return found


def alone(evaluation, metric, rows, n_labels):
    """What is known of a group that hears nothing of the other groups.

    Returns
    -------
    n_labels : int
    alone, surrogate, corrected, error : float
        Estimates, and the standard error of the corrected one.
    """
    found = evaluation.estimate(GuardedASE(), metric=metric, where=rows)
    surrogate = float(evaluation.estimate(ASE(), metric=metric, where=rows))
    value = surrogate if n_labels < 2 else float(found)
    return int(n_labels), value, surrogate, found.centre, found.standard_error


def plain_sample(metric, y, predicted, n_labels, rng):
    """The metric of a group, and the squared error of a plain sample of it."""
    n_rows = len(y)
    if metric == "accuracy":
        right = (y == predicted).astype(float)
        variance = right.var(ddof=1) * max(1 / n_labels - 1 / n_rows, 0.0)
        return right.mean(), variance
    truth = f1_score(y, predicted)
    size = min(max(round(n_labels), 1), n_rows)
    samples = [rng.choice(n_rows, size, replace=False) for _ in range(N_SAMPLES)]
    values = [
        f1_score(y[some], predicted[some])
        for some in samples
        if (y[some] | predicted[some]).any()
    ]
    return truth, np.mean((np.array(values) - truth) ** 2)


def simulate(args):
    """Run all that is missing."""
    seeds = np.random.RandomState(args.seed).randint(2**31 - 1, size=args.runs)
    for task in args.tasks:
        path = Path(args.out) / f"{task}.csv"
        done = set(pd.read_csv(path)["seed"]) if path.exists() else set()
        missing = [int(seed) for seed in seeds if int(seed) not in done]
        jobs = (delayed(run)(args.data_dir, task, seed) for seed in missing)
        for rows in Parallel(n_jobs=args.jobs, return_as="generator")(jobs):
            frame = pd.DataFrame(rows, columns=COLUMNS)
            frame.to_csv(path, mode="a", header=not path.exists(), index=False)
        print(f"{task}: done", flush=True)


def read(args):
    """All runs."""
    seeds = np.random.RandomState(args.seed).randint(2**31 - 1, size=args.runs)
    paths = [Path(args.out) / f"{task}.csv" for task in args.tasks]
    runs = pd.concat([pd.read_csv(path) for path in paths if path.exists()])
    return runs[runs["seed"].isin(seeds)].drop_duplicates(COLUMNS[:5])


def cells_of(runs):
    """A line for each task, metric, group and number of labels."""
    runs = runs.copy()
    runs["square"] = (runs["value"] - runs["truth"]) ** 2
    runs["square_alone"] = (runs["alone"] - runs["truth"]) ** 2
    has = runs["low"].notna()
    inside = (runs["low"] <= runs["truth"]) & (runs["truth"] <= runs["high"])
    runs["covered"] = inside.where(has).astype(float)
    runs["few"] = runs["verdict"].str.startswith("too few")
    cells = runs.groupby(KEYS).agg(
        n_runs=("seed", "nunique"),
        square=("square", "mean"),
        alone=("square_alone", "mean"),
        plain=("plain", "mean"),
        covers=("covered", "mean"),
        given=("covered", lambda v: v.notna().mean()),
        few=("few", "mean"),
    )
    plain = cells["plain"].where(cells["plain"] > 0)  # 0 if the metric is known.
    cells.insert(1, "ratio", cells["square"] / plain)
    cells["alone"] /= plain
    return cells.drop(columns=["square", "plain"]).reset_index()


def report(args):
    """Print a line for each group, and the medians."""
    cells = pd.read_csv(args.out) if is_table(args.out) else cells_of(read(args))
    if args.save:
        save(cells, args.save)
    print("runs of each:", cells.groupby("task")["n_runs"].max().to_dict(), "\n")
    cells = cells.set_index(KEYS)
    print(f"At {' / '.join(map(str, COUNTS))} labels:\n")
    print("| metric | task | group | error | alone | covers | given | few |")
    print("|---|---|---|---|---|---|---|---|")
    for key, part in cells.groupby(level=[0, 1, 2]):
        names = ("ratio", "alone", "covers", "given", "few")
        texts = [slashed(part[name]) for name in names]
        print(f"| {' | '.join([*map(str, key), *texts])} |")
    print("\n| metric | task | error, median | alone | covers | least |")
    print("|---|---|---|---|---|---|")
    for key, part in cells.groupby(level=[0, 1]):
        by_count = part.groupby("n_labels")
        medians = by_count[["ratio", "alone"]].median()
        covers = by_count["covers"]
        columns = (medians["ratio"], medians["alone"], covers.mean(), covers.min())
        print(f"| {' | '.join([*key, *map(slashed, columns)])} |")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir")
    add_arguments(parser)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=TASKS)
    args = parser.parse_args(argv)
    if not args.report:
        Path(args.out).mkdir(parents=True, exist_ok=True)
        simulate(args)
    report(args)


if __name__ == "__main__":
    main()
