"""How close are F1, recall, precision and AUC, from labels bought for one of them?

Each run draws training rows, pool and model afresh, buys 200 labels for one metric and
estimates all of them at 25, 50, 100 and 200 labels. Beside each estimate stands the
error of the same metric on plain random samples of the same size, where it is defined.

    python benchmarks/questions.py --data-dir DIR --out RUNS --runs 40
    python benchmarks/questions.py --out RUNS --report
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from question_tasks import QUESTION_TASKS, group_of
from sklearn.frozen import FrozenEstimator
from texts import slashed

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.risk import ASE, CorrectedASE, GuardedASE
from sklearn_ase.simulation._metric_samples import metric_on_samples

SEED = 314159
COUNTS = (25, 50, 100, 200)
METRICS = (
    "accuracy",
    "precision",
    "recall",
    "f1",
    "balanced_accuracy",
    "matthews_corrcoef",
    "roc_auc",
    "average_precision",
)
BOUGHT_FOR = ("accuracy", "f1", "roc_auc")
RISKS = {"ASE": ASE(), "corrected": CorrectedASE(), "guarded": GuardedASE()}


def run(data_dir, task, bought_for, seed):
    """Rows of one evaluation."""
    warnings.simplefilter("ignore")
    scenario = QUESTION_TASKS[task](data_dir, seed)
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(scenario.estimator), metric=bought_for, random_state=seed
    )
    rows = {"X_train": scenario.X_train, "y_train": scenario.y_train}
    evaluation = evaluator.start(scenario.X, **rows)
    plain = {
        metric: metric_on_samples(
            evaluation, scenario.y, COUNTS, np.random.default_rng(seed), metric
        )
        for metric in METRICS
    }
    found = []
    for count in range(1, COUNTS[-1] + 1):
        query = evaluation.ask()
        evaluation.tell(query, scenario.y[query.indices])
        if count not in COUNTS:
            continue
        evaluation.refit()
        for metric in METRICS:
            truth, _, variance = plain[metric]
            for name, risk in RISKS.items():
                answer = evaluation.estimate(risk, metric=metric)
                ends = (np.nan, np.nan) if answer.refusal else answer.interval(0.9)
                found.append(
                    (task, bought_for, seed, count, metric, name, truth, float(answer))
                    + (*ends, variance[count])
                )
    return found


COLUMNS = [
    *("task", "bought_for", "seed", "n_labels", "metric", "risk", "truth", "value"),
    *("low", "high", "plain"),
]


def simulate(args):
    """Run all that is missing."""
    seeds = np.random.RandomState(args.seed).randint(2**31 - 1, size=args.runs)
    for task in QUESTION_TASKS:
        if not any(part in task for part in args.tasks):
            continue
        path = Path(args.out) / f"{task}.csv"
        done = set()
        if path.exists():
            old = pd.read_csv(path)
            done = set(zip(old["bought_for"], old["seed"], strict=True))
        missing = [
            (bought_for, int(seed))
            for seed in seeds
            for bought_for in args.bought_for
            if (bought_for, int(seed)) not in done
        ]
        jobs = (delayed(run)(args.data_dir, task, *each) for each in missing)
        for rows in Parallel(n_jobs=args.jobs, return_as="generator")(jobs):
            frame = pd.DataFrame(rows, columns=COLUMNS)
            frame.to_csv(path, mode="a", header=not path.exists(), index=False)
        print(f"{task}: done", flush=True)


def read(args):
    """All runs, each estimate with its squared error and whether it was covered."""
    seeds = np.random.RandomState(args.seed).randint(2**31 - 1, size=args.runs)
    paths = [Path(args.out) / f"{task}.csv" for task in QUESTION_TASKS]
    runs = pd.concat([pd.read_csv(path) for path in paths if path.exists()])
    runs = runs[runs["seed"].isin(seeds)].drop_duplicates(COLUMNS[:6])
    runs["group"] = runs["task"].map(group_of)
    runs["square"] = (runs["value"] - runs["truth"]) ** 2
    has = runs["low"].notna()
    inside = (runs["low"] <= runs["truth"] + 1e-9) & (
        runs["truth"] - 1e-9 <= runs["high"]
    )
    runs["covered"] = inside.where(has).astype(float)
    runs["width"] = runs["high"] - runs["low"]
    return runs


def report(args):
    """Print the tables."""
    runs = read(args)
    counts = runs.groupby(["task", "bought_for"])["seed"].nunique()
    print("runs of each task:", counts.min(), "to", counts.max(), "\n")
    keys = ["group", "task", "bought_for", "metric", "risk", "n_labels"]
    cells = runs.groupby(keys).agg(
        square=("square", "mean"),
        plain=("plain", "mean"),
        covered=("covered", "mean"),
        given=("covered", lambda v: v.notna().mean()),
        width=("width", "median"),
    )
    cells["ratio"] = cells["square"] / cells["plain"]
    guarded = cells.xs("guarded", level="risk")
    names = ["bought_for", "group", "metric", "n_labels"]
    by_group = guarded.groupby(names)
    table = np.exp(np.log(guarded["ratio"]).groupby(names).mean())
    cover = by_group["covered"]
    print(
        "guarded, mean squared error / plain sample's (geometric mean); covers; least"
    )
    print(f"at {' / '.join(map(str, COUNTS))} labels\n")
    print("| bought for | group | metric | error | covers | least | given |")
    print("|---|---|---|---|---|---|---|")
    for key, part in table.groupby(level=[0, 1, 2]):
        texts = [
            slashed(part),
            slashed(cover.mean().loc[key]),
            slashed(cover.min().loc[key]),
            slashed(by_group["given"].mean().loc[key]),
        ]
        print(f"| {' | '.join([*key, *texts])} |")
    if args.every:
        print(cells.round(3).to_string())


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir")
    parser.add_argument("--out", required=True, help="directory of the runs, continued")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--tasks", nargs="*", default=[""], help="parts of names")
    parser.add_argument("--bought-for", nargs="*", default=list(BOUGHT_FOR))
    parser.add_argument("--report", action="store_true", help="only print the tables")
    parser.add_argument("--every", action="store_true", help="every task")
    args = parser.parse_args(argv)
    if not args.report:
        Path(args.out).mkdir(parents=True, exist_ok=True)
        simulate(args)
    report(args)


if __name__ == "__main__":
    main()
