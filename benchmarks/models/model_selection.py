"""How soon is the best of many models found, and what is said about it?

Predictions of real models for six public tasks; each run buys 100 labels and notes, at
each of them, how much worse the chosen model is than the best (regret). Beside it
stands the choice by plain counts of random labels. ``-clones`` adds 36 noisy clones of
a poor model to 14 others.

    python benchmarks/models/model_selection.py --data-dir DIR --out RUNS --runs 20
    python benchmarks/models/model_selection.py --out RUNS --report
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import stats

from sklearn_ase import ActiveModelSelector

SEED = 271828
COUNTS = (25, 50, 100)
TASKS = {
    "glue_rte": 100,
    "glue_sst2": 100,
    "glue_cola": 100,
    "domain_drift": 100,
    "emotion_detection": 100,
    "glue_wnli": 60,
    "glue_sst2-clones": 100,
    "glue_cola-clones": 100,
}


def load(data_dir, task, seed):
    """Predictions, one column per model, and labels."""
    name, _, change = task.partition("-")
    with np.load(Path(data_dir) / "evals" / "model_selection.npz") as file:
        table, y = file[f"{name}_predictions"], file[f"{name}_labels"]
    if not change:
        return table, y
    rng = np.random.default_rng([seed, 1])
    accuracy = (table == y[:, None]).mean(axis=0)
    poor = table[:, np.argsort(accuracy)[len(accuracy) // 10]]
    others = table[:, rng.choice(table.shape[1], 14, replace=False)]
    clones = np.repeat(poor[:, None], 36, axis=1)
    flipped = rng.random(clones.shape) < 0.03
    clones = np.where(flipped, rng.choice(np.unique(y), clones.shape), clones)
    return np.column_stack([others, clones]), y


def run(data_dir, task, seed, **params):
    """One row of results."""
    warnings.simplefilter("ignore")
    table, y = load(data_dir, task, seed)
    n_labels, n_models = min(TASKS[task], len(y)), table.shape[1]
    accuracy = (table == y[:, None]).mean(axis=0)
    first, second = np.argsort(-accuracy, kind="stable")[:2]
    truth = accuracy[first] - accuracy[second]
    is_best = accuracy == accuracy.max()
    predictions = {f"m{place}": table[:, place] for place in range(n_models)}
    start = time.perf_counter()
    choice = ActiveModelSelector(random_state=seed).start(None, predictions=predictions)
    choice.plan.acquisition.set_params(**params)
    found = {"task": task, "seed": seed, "regret": 0.0, "random": 0.0}
    order = np.random.default_rng([seed, 2]).permutation(len(y))
    for count in range(1, n_labels + 1):
        query = choice.ask()
        choice.tell(query, y[query.indices])
        found["regret"] += 100 * (accuracy.max() - accuracy[choice.best_index])
        plain = order[:count]
        right = (table[plain] == y[plain, None]).mean(axis=0)
        by_count = np.flatnonzero(right == right.max())
        found["random"] += 100 * (accuracy.max() - accuracy[by_count].mean())
        if count not in COUNTS:
            continue
        pause = time.perf_counter()
        comparison = choice.compare()
        low, high = comparison.difference(f"m{first}", f"m{second}").interval(0.9)
        found[f"covers {count}"] = low - 1e-9 <= truth <= high + 1e-9
        found[f"width {count}"] = high - low
        found[f"plain {count}"] = plain_width(
            table[plain][:, [first, second]], y[plain]
        )
        may_be_best = np.isin(choice.names, comparison.candidates())
        found[f"holds {count}"] = bool((may_be_best & is_best).any())
        found[f"candidates {count}"] = int(may_be_best.sum())
        anytime = np.isin(choice.names, comparison.candidates(method="anytime"))
        found[f"anytime {count}"] = int(anytime.sum())
        start += time.perf_counter() - pause
    found["ms"] = 1000 * (time.perf_counter() - start) / n_labels
    return found


def plain_width(table, y):
    """Width of the paired t interval of a difference, from random labels."""
    gap = np.subtract(*(table == y[:, None]).T.astype(float))
    error = gap.std(ddof=1) / len(gap) ** 0.5
    return 2 * stats.t.ppf(0.95, len(gap) - 1) * error


def report(frame):
    """Means over the runs of each task."""
    frame = frame.drop(columns="seed")
    by_task = frame.groupby("task", sort=False)
    table = by_task.mean(numeric_only=False).astype(float)
    table.insert(1, "error", by_task["regret"].sem())
    table.insert(2, "worst", by_task["regret"].max())
    table.insert(4, "random worst", by_task["random"].max())
    table["runs"] = by_task.size()
    return table


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--tasks", nargs="*", default=list(TASKS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--gain-share", type=float)
    parser.add_argument("--late-gain-share", type=float)
    parser.add_argument("--level-share", type=float)
    parser.add_argument("--report", action="store_true")
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    names = ("gain_share", "late_gain_share", "level_share")
    params = {name: getattr(args, name) for name in names}
    params = {name: value for name, value in params.items() if value is not None}
    for task in [] if args.report else args.tasks:
        jobs = (
            delayed(run)(args.data_dir, task, args.seed + place, **params)
            for place in range(args.runs)
        )
        rows = Parallel(n_jobs=args.jobs)(jobs)
        pd.DataFrame(rows).to_csv(args.out / f"{task}.csv", index=False)
    files = [args.out / f"{task}.csv" for task in args.tasks]
    frames = [pd.read_csv(file) for file in files if file.exists()]
    with pd.option_context("display.width", 200, "display.max_columns", 40):
        print(report(pd.concat(frames)).T.round(3).to_string())


if __name__ == "__main__":
    main()
