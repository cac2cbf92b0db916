"""When should the surrogate be refitted? Error and CPU time of several schedules.

Between refits the calibration learns from every label, so the trees need not be grown
anew each time. All schedules see the same tasks with the same seeds. The error is that
of the guarded estimate, divided by the mean squared error of a plain random sample of
the same size.

    python benchmarks/scale/schedules.py --data-dir DIR --out RUNS.csv --seed 1
    python benchmarks/scale/schedules.py --out RUNS.csv --seed 1 --report

The first command goes on where it was ended. Choose with one seed, report another one.
"""

import argparse
import csv
import os
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.frozen import FrozenEstimator

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._evaluation import _plan as _schedule
from sklearn_ase.simulation._scenario import ignore_new_classes

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from tasks import TASKS

# Least step as a share of the rows of the last fit, growth of the labels, and the part
# of such a step that is needed for a refit after the last label.
SCHEDULES = {
    "1 %, 1.5 times, always at the end": (0.01, 1.5, 0.0),
    "2 %, 1.5 times, half a step at the end": (0.02, 1.5, 0.5),
    "5 %, 1.5 times, half a step at the end": (0.05, 1.5, 0.5),
    "10 %, 1.5 times, half a step at the end": (0.10, 1.5, 0.5),
    "never": (1000.0, 1.5, 1.0),
}
CHOSEN = [
    "digits-7 log_loss",
    "mnist-7 zero_one",
    "pendigits-4 log_loss",
    "adult young log_loss",
    "phoneme noisy log_loss",
    "covertype zero_one",
    "bank telephone log_loss",
    "california coast",
    "bikeshare",
    "diabetes",
]
COUNTS = (25, 50, 100, 200)
COLUMNS = ["task", "seed", "schedule", "labels", "error", "chance", "fits", "cpu"]


def set_schedule(share, last_part):
    """Set the constants of the package's schedule, for this process."""
    _schedule._LEAST_SHARE, _schedule._LAST_PART = share, last_part


def run(task, seed, name, split, n_pool):
    """Errors of one evaluation, a row for each label count."""
    loss = TASKS[task][1]
    X, y = split.X[:n_pool], split.y[:n_pool]
    share, factor, last_part = SCHEDULES[name]
    set_schedule(share, last_part)
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(split.estimator),
        loss=loss,
        n_labels=max(COUNTS),
        refit=factor,
        random_state=seed,
    )
    begin = time.process_time()
    with ignore_new_classes():
        evaluator.fit(X, y, X_train=split.X_train, y_train=split.y_train)
    cpu = time.process_time() - begin
    evaluation, history = evaluator.evaluation_, evaluator.history_
    losses = evaluation.loss_.observed(np.arange(len(y)), y)
    fits = 1 + len(evaluation.ledger.refits)
    for count in COUNTS:
        chance = losses.var(ddof=1) / count * (1 - count / len(y))
        error = history["risk"][count - 1] - losses.mean()
        yield [task, seed, name, count, error, chance, fits, cpu]


def measure(args):
    """Run what is missing, and write it line by line."""
    done = set()
    path = Path(args.out)
    if path.exists():
        done = {(t, s, n) for t, s, n in pd.read_csv(path)[COLUMNS[:3]].to_numpy()}
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if not done:
            writer.writerow(COLUMNS)
        for number in range(args.runs):
            seed = args.seed * 1000 + number
            for task in args.tasks:
                split = None
                for name in args.schedules:
                    if (task, seed, name) in done:
                        continue
                    if split is None:
                        split = TASKS[task][0](args.data_dir, seed)
                    writer.writerows(run(task, seed, name, split, args.pool))
                    file.flush()


def report(args):
    """Print error and cost of each schedule, relative to the first one."""
    runs = pd.read_csv(args.out)
    runs = runs[runs["seed"] // 1000 == args.seed]
    keys = ["task", "seed", "labels"]
    runs = runs[runs["schedule"].isin(args.schedules)]
    n_schedules = runs.groupby(keys)["schedule"].nunique()
    whole = n_schedules[n_schedules == len(args.schedules)].index
    runs = runs.set_index(keys).loc[whole].reset_index()
    runs["square"] = runs["error"] ** 2 / runs["chance"]
    n_runs = runs[["task", "seed"]].drop_duplicates().groupby("task").size()
    print(f"{len(n_runs)} tasks, {n_runs.min()} to {n_runs.max()} runs of each")
    numbers = [f"({number})" for number, _ in enumerate(args.schedules, start=1)]
    print(*map(" ".join, zip(numbers, args.schedules, strict=True)), sep="\n")
    for labels, part in runs.groupby("labels"):
        square = part.pivot(index=["task", "seed"], columns="schedule", values="square")
        print(f"\n{labels} labels: mean squared error / that of a random sample")
        by_task = square.groupby("task").mean()[args.schedules]
        print(by_task.set_axis(numbers, axis=1).round(3).to_string())
        for name in args.schedules:
            ratio, low, high = compare(square, name, args.schedules[0])
            print(f"{name:42} / first {ratio:.3f} ({low:.3f} to {high:.3f})")
    cost = runs.groupby("schedule")[["fits", "cpu"]].mean().loc[args.schedules]
    print("\nMean number of fits and CPU seconds of an evaluation")
    print(cost.round(2).to_string())


def compare(square, name, first, n_draws=2000):
    """Geometric mean over the tasks of the ratio of errors, with a 95 % interval.

    Runs of a task are drawn again with replacement, for both schedules alike.
    """
    rng, logs = np.random.default_rng(0), 0.0
    for _, runs in square.groupby("task"):
        pair = runs[[name, first]].to_numpy()
        draws = rng.integers(len(pair), size=(n_draws, len(pair)))
        draws[0] = np.arange(len(pair))
        means = pair[draws].mean(axis=1)
        logs = logs + np.log(means[:, 0] / means[:, 1])
    ratios = np.exp(logs / square.index.get_level_values("task").nunique())
    return ratios[0], *np.quantile(ratios[1:], [0.025, 0.975])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", default=os.environ.get("SKLEARN_ASE_DATA", "."))
    parser.add_argument("--out", required=True)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pool", type=int, default=1000)
    parser.add_argument("--schedules", nargs="*", default=list(SCHEDULES))
    parser.add_argument("--tasks", nargs="*", default=CHOSEN)
    parser.add_argument("--report", action="store_true")
    args = parser.parse_args()
    report(args) if args.report else measure(args)
