"""How close are estimates of F1, AUC, R² and others, and do their intervals hold?

Each run draws training rows, pool and model afresh, buys 200 labels for one metric and
estimates several metrics at 25, 50, 100 and 200 labels. Beside each estimate stands the
error of the same metric on plain random samples of the same size, where it is defined.

    python benchmarks/questions/questions.py --data-dir DIR --out RUNS --runs 40
    python benchmarks/questions/questions.py --out RUNS --report

The report is markdown. It also says what a run costs, so a first call with `--runs 1`
tells how long all of them will take.

``--save FILE.csv`` writes a line for each figure of the guarded estimate. The tables of
the documentation are printed from such a file:

    python benchmarks/questions/questions.py --report \\
        --out benchmarks/results/questions.csv
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import binomtest
from sklearn.frozen import FrozenEstimator

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.risk import ASE, CorrectedASE, GuardedASE
from sklearn_ase.simulation._curve import metric_on_samples

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from question_tasks import GROUP_OF, GROUPS
from tables import add_arguments, is_table, save, slashed

SEED = 265358
COUNTS = (25, 50, 100, 200)
LEAST = 0.85
RISKS = {"ASE": ASE(), "corrected": CorrectedASE(), "guarded": GuardedASE()}
COLUMNS = [
    *("task", "bought_for", "seed", "n_labels", "metric", "risk", "truth", "value"),
    *("low", "high", "plain", "seconds"),
]


def run(data_dir, task, bought_for, seed, only=None):
    """Rows of one draw of the task: an evaluation for each metric that is bought for.

    Parameters
    ----------
    data_dir : str
    task : str
    bought_for : list of str
    seed : int
    only : list of str, default=None
        Metrics that are estimated; None means all.

    Returns
    -------
    rows : list of tuple
        The columns are `COLUMNS`.
    """
    warnings.simplefilter("ignore")
    group = GROUPS[GROUP_OF[task]]
    metrics = {
        name: metric
        for name, metric in group.metrics.items()
        if only is None or name in only
    }
    scenario = group.tasks[task](data_dir, seed)
    rows, plain = [], None
    for kind in bought_for:
        started = time.process_time()
        evaluator = ActiveRiskEstimator(
            FrozenEstimator(scenario.estimator), metric=kind, random_state=seed
        )
        evaluation = evaluator.start(
            scenario.X, X_train=scenario.X_train, y_train=scenario.y_train
        )
        if plain is None:
            plain = {
                name: metric_on_samples(
                    evaluation, scenario.y, COUNTS, np.random.default_rng(seed), metric
                )
                for name, metric in metrics.items()
            }
        found = []
        for count in COUNTS:
            evaluation.run(scenario.y, count)
            evaluation.refit()
            found += [(count, *row) for row in answers(evaluation, metrics)]
        seconds = time.process_time() - started
        for count, metric, *values in found:
            truth, _, variance = plain[metric]
            key = (task, kind, seed, count, metric, values[0])
            rows.append((*key, truth, *values[1:], variance[count], seconds))
    return rows


def answers(evaluation, metrics):
    """All estimates from the labels so far: metric, risk, value, ends."""
    for name, metric in metrics.items():
        for risk_name, risk in RISKS.items():
            answer = evaluation.estimate(risk, metric=metric)
            ends = (np.nan, np.nan) if answer.refusal else answer.interval(0.9)
            yield name, risk_name, float(answer), *ends


def simulate(args):
    """Run all that is missing."""
    for task in args.tasks:
        path = Path(args.out) / f"{task}.csv"
        done = set()
        if path.exists():
            old = pd.read_csv(path)
            done = set(zip(old["bought_for"], old["seed"], strict=True))
        jobs = []
        for seed in seeds_of(args):
            asked = args.bought_for or GROUPS[GROUP_OF[task]].bought_for
            missing = [each for each in asked if (each, seed) not in done]
            if missing:
                jobs.append(
                    delayed(run)(args.data_dir, task, missing, seed, args.metrics)
                )
        for rows in Parallel(n_jobs=args.jobs, return_as="generator")(jobs):
            frame = pd.DataFrame(rows, columns=COLUMNS)
            frame.to_csv(path, mode="a", header=not path.exists(), index=False)
        print(f"{task}: done", flush=True)


def seeds_of(args):
    """The seed of each run."""
    return np.random.RandomState(args.seed).randint(2**31 - 1, size=args.runs).tolist()


def read(args):
    """All runs, each estimate with its squared error and whether it was covered."""
    paths = [Path(args.out) / f"{task}.csv" for task in args.tasks]
    runs = pd.concat([pd.read_csv(path) for path in paths if path.exists()])
    runs = runs[runs["seed"].isin(seeds_of(args))].drop_duplicates(COLUMNS[:6])
    if args.known_only:
        runs = runs[runs[["task", "seed"]].apply(tuple, axis=1).isin(known(args))]
    runs["square"] = (runs["value"] - runs["truth"]) ** 2
    has = runs["low"].notna()
    inside = (runs["low"] <= runs["truth"] + 1e-9) & (
        runs["truth"] - 1e-9 <= runs["high"]
    )
    runs["covered"] = inside.where(has).astype(float)
    runs["width"] = runs["high"] - runs["low"]
    return runs


def known(args):
    """Draws in which training rows show every class of the pool: task and seed."""
    found = set()
    for task in args.tasks:
        sample = GROUPS[GROUP_OF[task]].tasks[task]
        for seed in seeds_of(args):
            scenario = sample(args.data_dir, seed)
            if set(np.unique(scenario.y)) <= set(np.unique(scenario.y_train)):
                found.add((task, seed))
    return found


KEYS = ["task", "bought_for", "metric", "risk", "n_labels"]


def cells_of(runs):
    """A line for each task, metric, estimate and number of labels."""
    cells = runs.groupby(KEYS, sort=False).agg(
        n_runs=("seed", "nunique"),
        seconds=("seconds", "mean"),
        square=("square", "mean"),
        plain=("plain", "mean"),
        covered=("covered", "mean"),
        given=("covered", lambda v: v.notna().mean()),
        n_given=("covered", "count"),
        width=("width", "median"),
    )
    cells.insert(2, "ratio", cells["square"] / cells["plain"])
    return cells.drop(columns=["square", "plain"]).reset_index()


def report(args):
    """Print the tables."""
    if is_table(args.out):
        cells = pd.read_csv(args.out)
        cells = cells[cells["task"].isin(args.tasks)]
    else:
        cells = cells_of(read(args))
    guarded = cells[cells["risk"] == "guarded"]
    if args.save:
        save(guarded, args.save)
    guarded = guarded.assign(group=guarded["task"].map(GROUP_OF))
    print_cost(guarded)
    guarded = guarded.set_index(["group", *KEYS])
    print_groups(guarded)
    print_tasks(guarded)
    print_low(guarded)
    if args.every:
        print(cells.round(3).to_string())


def print_cost(cells):
    """Print the number of runs of each task, and what one of them costs."""
    each = cells.drop_duplicates(["task", "bought_for"])
    each = each.groupby(["group", "task"], sort=False)
    draws = each["n_runs"].max()
    seconds = each["seconds"].sum()
    print("| group | task | runs | CPU seconds a run |\n|---|---|---|---|")
    for (group, task), spent in seconds.items():
        print(f"| {group} | {task} | {draws[group, task]} | {spent:.1f} |")
    print(f"\nAll tasks: {seconds.sum() / 60:.1f} CPU minutes a run.\n")


def print_groups(guarded):
    """Print the guarded error relative to a plain sample's, and the coverage."""
    names = ["group", "metric", "bought_for", "n_labels"]
    by_group = guarded.groupby(names, sort=False)
    log_ratio = np.log(guarded["ratio"].clip(lower=1e-12))
    ratio = np.exp(log_ratio.groupby(names, sort=False).mean())
    cover = by_group["covered"]
    columns = (ratio, cover.mean(), cover.min(), by_group["given"].mean())
    columns = pd.concat(columns, axis=1)
    print(f"At {' / '.join(map(str, COUNTS))} labels:\n")
    print("| group | metric | bought for | error | covers | least | given |")
    print("|---|---|---|---|---|---|---|")
    for key, part in columns.groupby(level=[0, 1, 2], sort=False):
        texts = [slashed(column) for column in part.to_numpy().T]
        print(f"| {' | '.join([*key, *texts])} |")


def print_tasks(guarded):
    """Print the coverage of each metric on each task, at all but the first count."""
    late = guarded.reset_index()
    late = late[late["n_labels"] > COUNTS[0]]
    print(f"\nCoverage at {' / '.join(map(str, COUNTS[1:]))} labels:\n")
    for _, part in late.groupby("group", sort=False):
        metrics = list(part["metric"].unique())
        print(f"\n| task | bought for | {' | '.join(metrics)} |")
        print("|---" * (len(metrics) + 2) + "|")
        for key, line in part.groupby(["task", "bought_for"], sort=False):
            by_metric = line.groupby("metric", sort=False)["covered"]
            texts = [slashed(by_metric.get_group(metric)) for metric in metrics]
            print(f"| {' | '.join([*key, *texts])} |")


def print_low(guarded):
    """Print how many coverages are below .85, and how many of them for certain."""
    late = guarded.reset_index()
    late = late[(late["n_labels"] > COUNTS[0]) & (late["n_given"] > 0)]
    low = late[late["covered"] < LEAST - 1e-9]
    chance = [
        binomtest(round(rate * n), n, LEAST, alternative="less").pvalue
        for rate, n in zip(low["covered"], low["n_given"].astype(int), strict=True)
    ]
    certain = int(np.sum(np.array(chance) < 0.01))
    print(f"\n{len(low)} of {len(late)} coverages are below {LEAST}, ", end="")
    print(f"{certain} of them for certain (binomial test at 1 %).")


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir")
    add_arguments(parser)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--groups", nargs="*", default=list(GROUPS), choices=GROUPS)
    parser.add_argument("--tasks", nargs="*", default=[""], help="parts of names")
    parser.add_argument("--bought-for", nargs="*", help="instead of the group's own")
    parser.add_argument("--metrics", nargs="*", help="estimate only these")
    parser.add_argument(
        "--known-only",
        action="store_true",
        help="report draws in which training rows show every class; needs --data-dir",
    )
    parser.add_argument("--every", action="store_true", help="every number, too")
    args = parser.parse_args(argv)
    args.tasks = [
        task
        for task, group in GROUP_OF.items()
        if group in args.groups and any(part in task for part in args.tasks)
    ]
    if not args.report:
        Path(args.out).mkdir(parents=True, exist_ok=True)
        simulate(args)
    report(args)


if __name__ == "__main__":
    main()
