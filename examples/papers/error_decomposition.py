"""
Where the error of ASE comes from
=================================

Section 5 of the paper splits the error of ASE into the finite pool (I), what the
surrogate cannot express (IIA) and what it has not learned yet (IIB), and finds for
MNIST without sevens at one label that (I) and (IIA) make .00013 % and .031 % of it.
Here each part is squared and averaged over runs.

    python examples/papers/error_decomposition.py --out RUNS --data-dir DIR

Data, model and surrogate are those of ``missing_class.py``. The best surrogate of its
kind is taken to be the one that has seen every label of the pool. What is finished is
not done again.
"""

import csv
import sys
from dataclasses import asdict, fields
from itertools import product
from pathlib import Path

import pandas as pd
from common import Claims
from joblib import Parallel, delayed
from missing_class import draw, images, make_surrogate, run_script, split
from tqdm import tqdm

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import XWED
from sklearn_ase.selection import ArgMax
from sklearn_ase.simulation import ErrorDecomposition, error_decomposition

SEED = 20221209
COUNTS = (1, 10, 50, 200)
N_RUNS = {"cpu": 20, "paper": 20, "tiny": 2}
N_POPULATION = 20_000
PARTS = [field.name for field in fields(ErrorDecomposition)]


def path_of(args):
    return Path(args.out) / f"{args.preset} {args.surrogate} decomposition.csv"


def decompose(args, preset, seed, n_labels):
    """The parts of the error of one evaluation."""
    X, y = images(args)
    others = split(y, preset, seed)[2][:N_POPULATION]
    evaluator = ActiveRiskEstimator(
        surrogate=make_surrogate(args.surrogate, preset),
        acquisition=XWED(),
        selection=ArgMax(),
        refit=list(preset.refits),
        n_labels=n_labels,
        random_state=seed,
    )
    scenario = draw(args, preset, False, seed)
    return error_decomposition(evaluator, scenario, X[others], y[others])


def simulate(args, preset):
    """Run what is missing, one line a run and label count."""
    path = path_of(args)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text(",".join(["run", "n_labels", *PARTS]) + "\n")
    done = set(pd.read_csv(path)[["run", "n_labels"]].itertuples(index=False))
    counts = [count for count in COUNTS if count <= preset.refits[-1]]
    wanted = product(range(args.runs or N_RUNS[args.preset]), counts)
    missing = [each for each in wanted if each not in done]
    results = Parallel(n_jobs=args.jobs, return_as="generator")(
        delayed(decompose)(args, preset, SEED + run, count) for run, count in missing
    )
    pairs = zip(missing, results, strict=True)
    for place, parts in tqdm(pairs, total=len(missing), desc="evaluations"):
        with open(path, "a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow([*place, *asdict(parts).values()])


def report(args):
    """Print the mean squares of the parts and their shares; check the claim."""
    runs = pd.read_csv(path_of(args))
    squares = (runs[PARTS] ** 2).groupby(runs["n_labels"]).mean()
    print(f"{runs['run'].nunique()} runs, mean squares")
    print(squares.to_string(float_format="{:.2g}".format))
    shares = squares.div(squares["total"], axis=0)
    print("\nshare of the mean squared error (parts have signs, so they may exceed 1)")
    print((100 * shares).to_string(float_format="{:.3g} %".format))
    first = shares.loc[shares.index.min()]
    claims = Claims()
    claims.check(
        "section 5",
        "training dominates at the first label, pool and expressiveness do not matter",
        first["finite_pool"] < 0.05 and first["expressiveness"] < 0.05,
        f"{100 * first['finite_pool']:.2g} % and {100 * first['expressiveness']:.2g} %",
    )
    return claims.verdict()


def main(argv=None):
    return run_script(__doc__, simulate, report, argv)


if __name__ == "__main__":
    sys.exit(main())
