"""Is the guarded estimate right, or does it say that it is not? The tables of trust.

Every task of ``tasks.py`` with a good surrogate (the default); each population also
with a mediocre one and with bad ones. Every run draws training rows, pool and model
afresh and evaluates it with the defaults of ``ActiveRiskEstimator``, the surrogate
apart. The seed was used for nothing before.

    python benchmarks/trust/trust.py --data-dir DIR --out RUNS --runs 50
    python benchmarks/trust/trust.py --out RUNS --report
    python benchmarks/trust/trust.py --data-dir DIR --out RUNS --runs 30 --held-out

``--save FILE.csv`` writes a line for each figure. The tables of the documentation are
printed from such a file, which is also what a new rule is held against
(``--baseline``):

    python benchmarks/trust/trust.py --out benchmarks/results/trust.csv --report
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.simulation import label_efficiency_curve
from sklearn_ase.surrogate import ClassifierSurrogate, RegressorSurrogate

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from held_out_tasks import HELD_OUT
from tables import add_arguments
from tasks import TASKS
from trust_report import GOOD, markdown, report

SEED = 173205
# Each population once, with one of its losses, for the surrogates that take no part in
# the default.
SOME_TASKS = (
    "digits-7 zero_one",
    "mnist-7 log_loss",
    "pendigits-4 zero_one",
    "adult log_loss",
    "adult young zero_one",
    "phoneme log_loss",
    "covertype zero_one",
    "bank log_loss",
    "bank telephone zero_one",
    "california",
    "bikeshare",
)


def surrogates(loss):
    """A good surrogate, a mediocre one, and three that are bad on purpose."""
    regression = loss == "squared_error"
    shell = RegressorSurrogate if regression else ClassifierSurrogate
    tree = DecisionTreeRegressor if regression else DecisionTreeClassifier
    trees = ExtraTreesRegressor if regression else ExtraTreesClassifier
    forest = RandomForestRegressor if regression else RandomForestClassifier
    few = make_pipeline(
        FunctionTransformer(first_columns), trees(n_estimators=30, bootstrap=True)
    )
    return {
        GOOD: None,
        "stump": tree(max_depth=1),
        "wrong features": few,
        "uncalibrated forest": shell(forest(n_estimators=30), calibration=None),
        "uncalibrated stump": shell(tree(max_depth=1), calibration=None),
    }


def first_columns(X):
    """An eighth of the features: most of what matters is not there."""
    return np.asarray(X)[:, : max(1, X.shape[1] // 8)]


def simulate(args):
    """Run all that is missing, ten runs of every task at a time."""
    rounds = [*range(10, args.runs, 10), args.runs]
    for n_runs in rounds:
        for task, (sample, loss) in chosen_tasks(args).items():
            chosen = {
                name: ActiveRiskEstimator(surrogate=surrogate, loss=loss)
                for name, surrogate in surrogates(loss).items()
                if name in args.surrogates and (name == GOOD or task in SOME_TASKS)
            }
            label_efficiency_curve(
                chosen,
                lambda seed, sample=sample: sample(args.data_dir, seed),
                n_runs=n_runs,
                random_state=SEED,
                n_jobs=args.jobs,
                path=Path(args.out) / f"{task}.csv",
            )
        print(f"{n_runs} runs of each are done", flush=True)


def chosen_tasks(args):
    """Tasks that are asked for: those that are held out, or all others."""
    return {
        name: task
        for name, task in (TASKS | HELD_OUT).items()
        if (name in HELD_OUT) == args.held_out
        and any(part in name for part in args.tasks)
    }


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir")
    add_arguments(parser)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tasks", nargs="*", default=[""], help="parts of names")
    parser.add_argument("--surrogates", nargs="*", default=list(surrogates("log_loss")))
    parser.add_argument(
        "--held-out", action="store_true", help="tasks that nothing was chosen on"
    )
    parser.add_argument(
        "--baseline", help="other runs or results, whose means are printed beside"
    )
    parser.add_argument(
        "--every", action="store_true", help="every task with every surrogate"
    )
    parser.add_argument(
        "--markdown", action="store_true", help="as the pages have them"
    )
    args = parser.parse_args(argv)
    if not (args.report or args.markdown):
        Path(args.out).mkdir(parents=True, exist_ok=True)
        simulate(args)
    show = markdown if args.markdown else report
    show(args, list(chosen_tasks(args)))


if __name__ == "__main__":
    main()
