"""Which surrogate is a good default? Error of ASE on real tasks, one table.

Each number is the mean squared error of an estimate divided by that of Monte Carlo
with as many labels (known exactly: S²/M (1 - M/N) for the losses of the pool). The
surrogate is refitted at each label count that is reported.

    python benchmarks/default_surrogate.py --data-dir DIR --runs 20 --jobs 2
"""

import argparse
import itertools

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from tasks import TASKS

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.risk import ASE, LURE, CorrectedASE
from sklearn_ase.surrogate import (
    ClassifierSurrogate,
    GaussianStack,
    LogLinearStack,
    RegressorSurrogate,
)

COUNTS = (10, 25, 50, 100)
RISKS = {"ASE": ASE(), "LURE": LURE(), "corrected": CorrectedASE()}


def candidates(loss):
    """Surrogates to compare, by name."""
    if loss == "squared_error":
        shell, stack = RegressorSurrogate, GaussianStack
        extra, forest = ExtraTreesRegressor, RandomForestRegressor
    else:
        shell, stack = ClassifierSurrogate, LogLinearStack
        extra, forest = ExtraTreesClassifier, RandomForestClassifier
    trees = {"n_estimators": 100, "bootstrap": True, "max_features": 0.3}
    return {
        "default": None,
        "f on pool labels only": None,
        "not calibrated": shell(extra(**trees), calibration=False),
        "without f": shell(extra(**trees), calibration=stack(use_estimator=False)),
        "random forest": shell(forest(n_estimators=100)),
        "leaves of 3": shell(extra(**trees, min_samples_leaf=3)),
        "pool_weight=5": shell(extra(**trees), pool_weight=5),
    }


def run(task, name, seed, data_dir):
    """Errors of one evaluation, a row for each risk and label count."""
    sample, loss = TASKS[task]
    split = sample(data_dir, seed, loss)
    model, classes = FrozenEstimator(split.model), None
    if name == "f on pool labels only":  # A function cannot be fitted again.
        model, classes = _as_function(split)
    evaluator = ActiveRiskEstimator(
        model,
        classes=classes,
        surrogate=candidates(loss)[name],
        loss=loss,
        n_labels=max(COUNTS),
        refit=[],
        random_state=seed,
    )
    evaluation = evaluator.start(split.X, X_train=split.X_train, y_train=split.y_train)
    losses = _losses(evaluation, split.y)
    rows = []
    for count in COUNTS:
        evaluation.run(lambda indices: split.y[indices], count)
        chance = losses.var(ddof=1) / count * (1 - count / len(losses))
        for risk_name, risk in RISKS.items():
            error = float(evaluation.estimate(risk)) - losses.mean()
            rows.append((task, name, seed, risk_name, count, error**2, chance, error))
    return rows


def _as_function(split):
    if split.loss == "squared_error":
        return split.model.predict, None
    classes = np.unique(np.concatenate([split.y, split.y_train]))
    places = np.searchsorted(classes, split.model.classes_)

    def proba(X):
        spread = np.zeros((len(X), len(classes)))
        spread[:, places] = split.model.predict_proba(X)
        return spread

    return proba, classes


def _losses(evaluation, y):
    """True losses of the pool, for the yardstick only."""
    classes = evaluation.task.classes_with(y)
    return evaluation.task.loss_for(classes).observed(np.arange(len(y)), y)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tasks", default="", help="only tasks whose name contains it")
    parser.add_argument("--surrogates", nargs="*", help="only these")
    parser.add_argument("--out", help="write every run to this CSV file")
    args = parser.parse_args()
    names = args.surrogates or list(candidates("log_loss"))
    seeds = range(args.first_seed, args.first_seed + args.runs)
    jobs = [
        delayed(run)(task, name, seed, args.data_dir)
        for task in TASKS
        if args.tasks in task
        for name in names
        for seed in seeds
    ]
    found = Parallel(n_jobs=args.jobs, verbose=1)(jobs)
    columns = ["task", "surrogate", "seed", "risk", "M", "error", "chance", "signed"]
    table = pd.DataFrame(itertools.chain(*found), columns=columns)
    if args.out:
        table.to_csv(args.out, index=False)
    report(table)


def report(table):
    """Print the ratios, a line for each task, then their geometric mean and worst."""
    keys = ["task", "surrogate", "risk", "M"]
    mean = table.groupby(keys, sort=False)[["error", "chance"]].mean()
    ratio = (mean["error"] / mean["chance"]).unstack("M")
    for risk, part in ratio.groupby("risk", sort=False):
        part = part.droplevel("risk").unstack("surrogate")
        part = part.reindex(columns=part.columns.sortlevel(1)[0])
        summary = pd.DataFrame({"geometric mean": np.exp(np.log(part).mean())})
        summary["worst"] = part.max()
        print(f"\n{risk}: mean squared error / Monte Carlo's")
        print(part.round(2).to_string())
        print(summary.unstack("M").round(2).to_string())


if __name__ == "__main__":
    main()
