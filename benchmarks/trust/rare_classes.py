"""How many of a rare class does the surrogate believe in, and what does it cost?

The tasks of ``held_out_tasks.py`` in which one class against the rest is 1 or 3 % of
all rows, log loss, default settings. Printed are

* believed / true: the sum of the believed probabilities of the rare class over the
  pool / the number of its rows, both summed over the runs; beside it what the share
  among the training rows would say ("training").
* bias / truth: mean error of each estimate / mean true risk.
* error / MC: mean squared error / Monte Carlo's, which is known exactly, with its
  standard error.

Runs with the same numbers have the same rows, model and random states, so a change can
be judged by few of them.

    python benchmarks/trust/rare_classes.py --data-dir DIR --runs 6
    python benchmarks/trust/rare_classes.py --data-dir DIR --runs 6 --markdown
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.frozen import FrozenEstimator

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.risk import ASE, CorrectedASE, GuardedASE

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from held_out_tasks import RARE_TASKS
from tables import print_table, slashed

FIRST_SEED = 161803
COUNTS = (0, 50, 100, 200)
LOSS = "log_loss"
POSITIVE = 1
RISKS = {"ASE": ASE(), "guarded": GuardedASE(), "corrected": CorrectedASE()}


def run(task, number, data_dir, counts=COUNTS):
    """What is believed and estimated in one evaluation, a row for each label count."""
    seed = FIRST_SEED + number
    sample, loss = RARE_TASKS[task]
    scenario = sample(data_dir, seed)
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(scenario.estimator), loss=loss, random_state=seed
    )
    evaluation = evaluator.start(
        scenario.X, X_train=scenario.X_train, y_train=scenario.y_train
    )
    losses = true_losses(evaluation, scenario.y)
    rows = []
    for count in counts:
        if count:
            evaluation.run(lambda indices: scenario.y[indices], count)
        proba = evaluation.state.belief.proba
        column = list(evaluation.classes_).index(POSITIVE)
        found = {
            "task": task.removesuffix(f" {LOSS}"),
            "n_labels": count,
            "believed": proba[:, column].sum(),
            "training": np.mean(scenario.y_train == POSITIVE) * len(losses),
            "true": np.sum(scenario.y == POSITIVE),
            "truth": losses.mean(),
            "variance": np.nan,
        }
        if count:
            rest = 1 - count / len(losses)
            found["variance"] = losses.var(ddof=1) / count * rest
            for name, risk in RISKS.items():
                found[name] = float(evaluation.estimate(risk))
        rows.append(found)
    return rows


def true_losses(evaluation, y):
    """Loss of the model at each row of the pool."""
    problem = evaluation.problem
    loss = problem.loss_for(problem.classes_with(y))
    return loss.observed(np.arange(len(y)), y)


def figures(part):
    """The figures of one task and label count."""
    line = {
        "positives": part["true"].mean(),
        "training": part["training"].sum() / part["true"].sum(),
        "believed": part["believed"].sum() / part["true"].sum(),
    }
    variance = part["variance"].mean()
    for name in RISKS:
        error = part[name] - part["truth"]
        line[f"{name} bias"] = error.mean() / part["truth"].mean()
        ratio = (error**2).mean() / variance
        excess = error**2 - ratio * part["variance"]
        line[f"{name} error"] = ratio
        line[f"{name} ±"] = excess.std() / len(part) ** 0.5 / variance
    return line


def summary(frame):
    """The figures of each task and label count."""
    keys = ["task", "n_labels"]
    groups = frame.groupby(keys, sort=False)
    table = pd.DataFrame({key: figures(part) for key, part in groups}).T
    return table.rename_axis(index=keys)


def report(frame, runs):
    """Print the figures of each task, then their means over the tasks."""
    table = summary(frame)
    print(f"{runs} runs of each task, seeds {FIRST_SEED} to {FIRST_SEED + runs - 1}")
    believed = table[["positives", "training", "believed"]].unstack("n_labels")
    shown = pd.concat(
        [
            believed["positives"].iloc[:, :1].set_axis(["positives"], axis=1),
            believed["training"].iloc[:, :1].set_axis(["training / true"], axis=1),
            believed["believed"].add_prefix("believed at "),
        ],
        axis=1,
    )
    print("\nRows of the rare class: mean true number, then believed / true")
    print(shown.round(2).to_string())
    print("mean over the tasks:", shown.iloc[:, 1:].mean().round(2).to_dict())
    late = table.drop(index=0, level="n_labels")
    print("\nbias / truth")
    names = [f"{name} bias" for name in RISKS]
    print(late[names].unstack("n_labels").round(2).to_string())
    print("\nerror / MC, with its standard error (±)")
    names = [f"{name} {kind}" for name in RISKS for kind in ("error", "±")]
    print(late[names].round(2).to_string())
    print("\ngeometric mean of error / MC over the tasks")
    names = [f"{name} error" for name in RISKS]
    means = np.exp(np.log(late[names]).groupby("n_labels").mean())
    print(means.round(2).to_string())


def markdown(frame):
    """Print the two tables of the documentation."""
    table = summary(frame)
    believed, errors = [], []
    for task in frame["task"].unique():
        part = table.loc[task]
        first = [part["positives"].iloc[0], part["training"].iloc[0]]
        believed.append([task, *map(slashed, [first[:1], first[1:], part["believed"]])])
        late = part.drop(index=0)
        names = [f"{name} {kind}" for kind in ("error", "bias") for name in RISKS]
        errors.append([task, *(slashed(late[name]) for name in names)])
    counts = " / ".join(map(str, table.index.unique("n_labels")))
    print_table(["task", "positives", "training", f"believed at {counts}"], believed)
    print_table(["task", *RISKS, *(f"bias, {name}" for name in RISKS)], errors)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tasks", nargs="*", default=[""], help="parts of names")
    parser.add_argument(
        "--markdown", action="store_true", help="as the pages have them"
    )
    args = parser.parse_args(argv)
    jobs = [
        delayed(run)(task, number, args.data_dir)
        for task in RARE_TASKS
        if task.endswith(LOSS) and any(part in task for part in args.tasks)
        for number in range(args.runs)
    ]
    found = Parallel(n_jobs=args.jobs)(jobs)
    frame = pd.DataFrame([row for rows in found for row in rows])
    markdown(frame) if args.markdown else report(frame, args.runs)


if __name__ == "__main__":
    main()
