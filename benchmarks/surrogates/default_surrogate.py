"""Which surrogate is a good default? Error of ASE on real tasks, one table.

Each number is the mean squared error of an estimate divided by that of Monte Carlo
with as many labels (known exactly: S²/M (1 - M/N) for the losses of the pool). The
surrogate is refitted at each label count that is reported.

    python benchmarks/surrogates/default_surrogate.py --data-dir DIR --out runs.csv
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import XWED, LossSpread
from sklearn_ase.risk import ASE, LURE, CorrectedASE
from sklearn_ase.selection import ArgMax, Proportional
from sklearn_ase.surrogate import (
    ClassifierSurrogate,
    GaussianStack,
    LogLinearStack,
    RegressorSurrogate,
)

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from tasks import TASKS

COUNTS = (10, 25, 50, 100)
COLUMNS = ["task", "name", "seed", "risk", "M", "error", "chance", "signed"]
RISKS = {"ASE": ASE(), "LURE": LURE(), "corrected": CorrectedASE()}


def candidates(loss):
    """What is compared, by name: parameters of ActiveRiskEstimator."""
    if loss == "squared_error":
        shell, stack = RegressorSurrogate, GaussianStack
        extra, forest = ExtraTreesRegressor, RandomForestRegressor
    else:
        shell, stack = ClassifierSurrogate, LogLinearStack
        extra, forest = ExtraTreesClassifier, RandomForestClassifier
    trees = extra(n_estimators=100, bootstrap=True, max_features=0.3)
    leaves = clone(trees).set_params(min_samples_leaf=3)
    surrogates = {
        "default": None,
        "f on pool labels only": None,
        "without f": shell(trees, calibration=stack(use_estimator=False)),
        "not calibrated": shell(trees, calibration=None),
        "random forest": forest(n_estimators=100),
        "leaves of 3": leaves,
        "pool_weight=5": shell(trees, pool_weight=5),
    }
    if loss != "squared_error":
        surrogates["smoothing=0.001"] = shell(
            trees, calibration=LogLinearStack(smoothing=0.001)
        )
    named = {name: {"surrogate": value} for name, value in surrogates.items()}
    named["XWED, ArgMax"] = {"acquisition": XWED(), "selection": ArgMax()}
    named["LossSpread, Proportional"] = {"acquisition": LossSpread()}
    return named


def run(task, name, seed, data_dir):
    """Errors of one evaluation, a row for each risk and label count."""
    sample, loss = TASKS[task]
    split = sample(data_dir, seed)
    model, classes = FrozenEstimator(split.estimator), None
    if name == "f on pool labels only":  # A function cannot be fitted again.
        model, classes = _as_function(split, loss)
    settings = {"acquisition": XWED(), "selection": Proportional(0.2), "risk": ASE()}
    evaluator = ActiveRiskEstimator(
        model,
        classes=classes,
        loss=loss,
        n_labels=max(COUNTS),
        refit=[],
        random_state=seed,
        **settings | candidates(loss)[name],
    )
    evaluation = evaluator.start(split.X, X_train=split.X_train, y_train=split.y_train)
    losses = _losses(evaluation, split.y)
    rows = []
    for count in COUNTS:
        evaluation.run(lambda indices: split.y[indices], count)
        chance = losses.var(ddof=1) / count * (1 - count / len(losses))
        for risk_name, risk in RISKS.items():
            if risk.needs_query_proba and name == "XWED, ArgMax":
                continue
            error = float(evaluation.estimate(risk)) - losses.mean()
            rows.append((task, name, seed, risk_name, count, error**2, chance, error))
    return rows


def _as_function(split, loss):
    if loss == "squared_error":
        return split.estimator.predict, None
    classes = np.unique(np.concatenate([split.y, split.y_train]))
    places = np.searchsorted(classes, split.estimator.classes_)

    def proba(X):
        spread = np.zeros((len(X), len(classes)))
        spread[:, places] = split.estimator.predict_proba(X)
        return spread

    return proba, classes


def _losses(evaluation, y):
    """True losses of the pool, for the yardstick only."""
    classes = evaluation.problem.classes_with(y)
    return evaluation.problem.loss_for(classes).observed(np.arange(len(y)), y)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tasks", default="", help="only tasks whose name contains it")
    parser.add_argument("--names", nargs="*", help="only these candidates")
    parser.add_argument("--out", required=True, help="CSV file of all runs, continued")
    args = parser.parse_args()
    names = args.names or list(candidates("log_loss"))
    seeds = range(args.first_seed, args.first_seed + args.runs)
    out = Path(args.out)
    done = pd.read_csv(out) if out.exists() else pd.DataFrame(columns=COLUMNS)
    finished = set(zip(done["task"], done["name"], done["seed"], strict=True))
    jobs = [
        delayed(run)(task, name, seed, args.data_dir)
        for seed in seeds
        for task in TASKS
        if args.tasks in task
        for name in names
        if name in candidates(TASKS[task][1]) and (task, name, seed) not in finished
    ]
    # A generator, so that a run that is cut short has kept what it finished.
    for rows in Parallel(n_jobs=args.jobs, return_as="generator_unordered")(jobs):
        frame = pd.DataFrame(rows, columns=COLUMNS)
        frame.to_csv(out, mode="a", header=not out.exists(), index=False)
    report(pd.read_csv(out))


def report(table):
    """Print the ratios, a line for each task, then their geometric mean and worst."""
    keys = ["risk", "name", "task", "M"]
    mean = table.groupby(keys, sort=False)[["error", "chance"]].mean()
    ratio = (mean["error"] / mean["chance"]).unstack("M")
    n_runs = table.groupby(["name", "task"])["seed"].nunique()
    print(f"mean squared error / Monte Carlo's, {n_runs.min()} to {n_runs.max()} runs")
    groups = ratio.groupby(level=["risk", "name"], sort=False)
    for (risk, name), part in groups:
        print(f"\n{risk}, {name}")
        print(part.droplevel(["risk", "name"]).round(3).to_string())
    print("\ngeometric mean over the tasks")
    print(np.exp(np.log(ratio).groupby(level=[0, 1]).mean()).round(2).to_string())
    print("\nworst task")
    print(groups.max().round(2).to_string())


if __name__ == "__main__":
    main()
