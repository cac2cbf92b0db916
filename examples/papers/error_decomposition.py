"""
Where the error of ASE comes from
=================================

Section 5 of the paper splits the error of ASE into the finite pool (I), what the
surrogate cannot express (IIA) and what it has not learned yet (IIB), and finds for
MNIST without sevens at one label that (I) and (IIA) make .00013 % and .031 % of it.
Here each part is squared and averaged over runs.

    python examples/papers/error_decomposition.py --out RUNS --data-dir DIR
    python examples/papers/error_decomposition.py --out RUNS --surrogate radial

Data, model and surrogate are those of ``missing_class.py``. The best surrogate of its
kind is taken to be the one that has seen every label of the pool. What is finished is
not done again.
"""

import sys
from dataclasses import asdict, fields
from io import StringIO
from itertools import product

import pandas as pd
from claims import Claims, below, every, jackknife
from common import finished, result_path, write_csv
from joblib import Parallel, delayed
from missing_class import draw, images, run_script, split
from missing_class_models import make_surrogate
from tqdm import tqdm

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import XWED
from sklearn_ase.selection import ArgMax
from sklearn_ase.simulation import ErrorDecomposition, error_decomposition

SEED = 20221209
COUNTS = {"trees": (1, 10, 50, 200), "ensemble": (1,), "radial": (1,)}
N_RUNS = 20
NEGLECTED = ("finite_pool", "expressiveness")
NEGLIGIBLE = 0.05  # Of the mean squared error.
N_POPULATION = 20_000
PARTS = [field.name for field in fields(ErrorDecomposition)]


def path_of(args):
    return result_path(args, args.surrogate, "decomposition.csv")


def read(path):
    """What is finished; a last line that a kill has torn is left out."""
    whole = path.read_text(encoding="utf-8").rpartition("\n")[0]
    kinds = {"run": int, "n_labels": int, **dict.fromkeys(PARTS, float)}
    return pd.read_csv(StringIO(whole), dtype=str).astype(kinds)  # To the last digit.


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
    rows = read(path).to_dict("records") if path.exists() else []
    done = {(row["run"], row["n_labels"]) for row in rows}
    counts = [count for count in COUNTS[args.surrogate] if count <= preset.refits[-1]]
    wanted = product(range(args.runs or (1 if args.tiny else N_RUNS)), counts)
    missing = [each for each in wanted if each not in done]
    results = Parallel(n_jobs=args.jobs, return_as="generator")(
        delayed(decompose)(args, preset, SEED + run, count) for run, count in missing
    )
    pairs = zip(missing, results, strict=True)
    for (run, count), parts in tqdm(pairs, total=len(missing), desc="evaluations"):
        rows.append({"run": run, "n_labels": count, **asdict(parts)})
        write_csv(pd.DataFrame(rows), path)


def shares_of(squares):
    """Parts of the mean squared error."""
    return squares.mean() / squares["total"].mean()


def report(args, preset):
    """Print means and mean squares of the parts and their shares; check the claim."""
    runs = read(finished(path_of(args)))
    parts = runs.set_index(["n_labels", "run"])[PARTS]
    squares = parts**2
    print(f"{runs['run'].nunique()} runs, means")
    print(parts.groupby("n_labels").mean().to_string(float_format="{:.2g}".format))
    print("\nmean squares")
    print(squares.groupby("n_labels").mean().to_string(float_format="{:.2g}".format))
    shares = squares.groupby("n_labels").apply(shares_of)
    print("\nshare of the mean squared error (parts have signs, so they may exceed 1)")
    print((100 * shares).to_string(float_format="{:.3g} %".format))
    claims = Claims()
    check(claims, squares.loc[runs["n_labels"].min()])
    return claims.verdict()


def check(claims, squares):
    """Section 5: at the first label it is training that matters."""
    share, error = jackknife(squares, shares_of)
    error = pd.Series(error, share.index)
    small = [below(share[k], error[k], NEGLIGIBLE) for k in NEGLECTED]
    training = below(-share["training"], error["training"], -0.5)
    claims.check(
        "section 5",
        f"pool and expressiveness are each less than {NEGLIGIBLE:.0%} of the error at "
        "the first label, training is most of it",
        every([*small, training]),
        ", ".join(f"{k} {share[k]:.2g} ± {error[k]:.2g}" for k in share.index[:-1]),
    )


def main(argv=None):
    return run_script(__doc__, simulate, report, argv)


if __name__ == "__main__":
    sys.exit(main())
