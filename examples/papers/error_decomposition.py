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
import warnings
from io import StringIO
from itertools import product

import numpy as np
import pandas as pd
from claims import Claims, below, every, jackknife
from common import finished, result_path, write_csv
from joblib import Parallel, delayed
from missing_class import draw, images, run_script, split
from missing_class_models import make_surrogate
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from tqdm import tqdm

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import XWED
from sklearn_ase.exceptions import NewClassWarning
from sklearn_ase.risk import ASE
from sklearn_ase.selection import ArgMax

SEED = 20221209
COUNTS = {"trees": (1, 10, 50, 200), "ensemble": (1,), "radial": (1,)}
N_RUNS = 20
NEGLECTED = ("finite_pool", "expressiveness")
NEGLIGIBLE = 0.05  # Of the mean squared error.
N_POPULATION = 20_000
PARTS = ["finite_pool", "training", "expressiveness", "total"]


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
    return parts_of_error(evaluator, scenario, X[others], y[others])


def parts_of_error(evaluator, scenario, X_population, y_population):
    """Parts of the error of ASE; they have signs and add up to ``total``.

    finite_pool (I)       mean expected loss on the pool minus that on the population
    training (IIB)        the latter minus what the best surrogate of its kind expects
    expressiveness (IIA)  what the best surrogate expects minus the true risk
    """
    model, n_samples = scenario.estimator, len(scenario.y)
    evaluator = clone(evaluator).set_params(estimator=FrozenEstimator(model))
    best = clone(evaluator).set_params(
        n_labels=n_samples, batch_size=n_samples, refit=[n_samples]
    )
    training = {"X_train": scenario.X_train, "y_train": scenario.y_train}
    means = []
    for each in (evaluator, best):
        with warnings.catch_warnings(action="ignore", category=NewClassWarning):
            each.fit(scenario.X, scenario.y, **training)
        means.append(float(each.predict(X_population).mean()))
    pool = float(evaluator.evaluation_.estimate(ASE()))
    truth = float(true_losses(model, X_population, y_population).mean())
    return {
        "finite_pool": pool - means[0],
        "training": means[0] - means[1],
        "expressiveness": means[1] - truth,
        "total": pool - truth,
    }


def true_losses(model, X, y):
    """Log loss at each row, as the evaluator computes it: 15.9 at most."""
    proba = model.predict_proba(X).astype(float)
    own = (proba * (y[:, None] == model.classes_)).sum(axis=1)
    return -np.log(np.maximum(own, np.finfo(np.float32).eps))


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
        rows.append({"run": run, "n_labels": count, **parts})
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
