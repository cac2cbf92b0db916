"""Samples of large pools: time, memory, and how often intervals hold the truth.

Four commands, each a process of its own, so that the memory it needs can be read:

- disk: a directory of Parquet files is made, sampled, and a model is evaluated on the
  sample, uniform or by a score. Peak memory is that of the draw and the evaluation,
  less what the process had before.
- expected: one pass of model and surrogate over all rows of such a directory.
- dask: the sample of an array on a local cluster, beside that of the same rows in
  memory.
- coverage: many draws of rows and labels from a pool of which all labels are known,
  with a model that errs at 5 % or .1 % of the rows.

    python benchmarks/scale/large_pools.py disk --scratch DIR --rows 10_000_000
    python benchmarks/scale/large_pools.py disk --scratch DIR --rows 10_000_000 --score
    python benchmarks/scale/large_pools.py expected --scratch DIR --rows 10_000_000
    python benchmarks/scale/large_pools.py dask --rows 5_000_000
    python benchmarks/scale/large_pools.py coverage --runs 200
"""

import argparse
import platform
import resource
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_ase import ActiveRiskEstimator, sample_pool

SEED = 20261118
N_COLUMNS, N_TRAINING = 20, 1000
ROWS_OF_A_FILE, ROWS_OF_A_GROUP = 1_000_000, 50_000
COLUMNS = [f"x{j}" for j in range(N_COLUMNS)]
# Of the study of intervals.
LEVEL, N_SOURCE, N_DRAWN, N_LABELS = 0.9, 20_000, 500, 200


def rows_of(block, n_rows):
    """Rows of one block of the pool; the same whenever they are made."""
    return np.random.default_rng([SEED, block]).normal(size=(n_rows, N_COLUMNS))


def labels_of(X, n_classes=2):
    """Labels: the greatest of some noisy sums of the columns, by the rows alone."""
    weights = np.random.default_rng(SEED).normal(size=(N_COLUMNS, n_classes))
    # Noise that needs no memory: the last digits of a column.
    noise = np.sin(1e4 * X[:, :1] * np.arange(1, n_classes + 1))
    return np.argmax(X @ weights + 4.0 * noise, axis=1)


def ten_columns(X):
    """The columns that the model reads, of arrays and frames."""
    return np.asarray(X)[:, :10]


def training():
    """Training rows, which are no rows of the pool, and a model fitted on half."""
    X = rows_of(10**6, N_TRAINING)
    y = labels_of(X)
    half, reader = N_TRAINING // 2, FunctionTransformer(ten_columns)
    model = make_pipeline(reader, LogisticRegression(C=0.01))
    return X, y, model.fit(X[:half], y[:half])


def write_pool(folder, n_rows):
    """Write the Parquet files of a pool, if they are not there."""
    folder.mkdir(parents=True, exist_ok=True)
    for block in range(-(-n_rows // ROWS_OF_A_FILE)):
        path = folder / f"part{block:04d}.parquet"
        if not path.exists():
            size = min(ROWS_OF_A_FILE, n_rows - block * ROWS_OF_A_FILE)
            frame = pd.DataFrame(rows_of(block, size), columns=COLUMNS)
            frame.to_parquet(path, row_group_size=ROWS_OF_A_GROUP)


def megabytes():
    """Memory of this process now, and the most it ever had."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * resource.getpagesize() / 2**20, peak


def evaluator_of(model, arguments):
    """The evaluator, and an encoder of frames as arrays in its surrogate."""
    trees = ExtraTreesClassifier(arguments.trees, bootstrap=True, max_features=0.3)
    return ActiveRiskEstimator(
        FrozenEstimator(model),
        surrogate=make_pipeline(FunctionTransformer(np.asarray), trees),
        n_labels=arguments.labels,
        refit=[arguments.labels // 2],
        cv=0,
        recalibrate=False,
        random_state=0,
    )


def start(arguments):
    """Make the pool if needed; returns its folder, training rows and model."""
    folder = Path(arguments.scratch, f"pool_{arguments.rows}")
    write_pool(folder, arguments.rows)
    X_train, y_train, model = training()
    return folder, pd.DataFrame(X_train, columns=COLUMNS), y_train, model


def disk(arguments):
    """Evaluate a model on a sample of Parquet files; returns times and memory."""
    folder, X_train, y_train, model = start(arguments)

    def doubt(frame):
        return 1.05 - model.predict_proba(frame).max(axis=1)

    before, clock, cpu = megabytes()[0], time.perf_counter(), time.process_time()
    by = doubt if arguments.score else None
    sample = sample_pool(folder, arguments.drawn, by=by, random_state=0)
    drawn, drawn_cpu = time.perf_counter() - clock, time.process_time() - cpu
    frame = sample.X

    def oracle(rows):
        return labels_of(frame.loc[rows].to_numpy())

    evaluator = evaluator_of(model, arguments)
    evaluator.fit(sample, oracle, X_train=X_train, y_train=y_train)
    estimate = evaluator.estimate_
    return {
        "sample": repr(sample),
        "trees": arguments.trees,
        "labels": arguments.labels,
        "seconds of the draw": drawn,
        "CPU seconds of the draw": drawn_cpu,
        "seconds": time.perf_counter() - clock,
        "CPU seconds": time.process_time() - cpu,
        "MB before": before,
        "peak MB beyond it": megabytes()[1] - before,
        "estimate": str(estimate),
    }


def expected(arguments):
    """One pass of model and surrogate over all rows."""
    folder, X_train, y_train, model = start(arguments)
    sample = sample_pool(folder, 20_000, random_state=0)
    frame = sample.X

    def oracle(rows):
        return labels_of(frame.loc[rows].to_numpy())

    evaluator = evaluator_of(model, arguments)
    evaluator.fit(sample, oracle, X_train=X_train, y_train=y_train)
    before, clock, cpu = megabytes()[0], time.perf_counter(), time.process_time()
    value = evaluator.evaluation_.expected_on(folder)
    return {
        "rows": arguments.rows,
        "trees": arguments.trees,
        "seconds": time.perf_counter() - clock,
        "CPU seconds": time.process_time() - cpu,
        "peak MB beyond those before": megabytes()[1] - before,
        "expected": value,
    }


def on_dask(arguments):
    """Draw on a cluster; returns whether it has the rows of the same pool in memory."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster

    size = arguments.rows // arguments.parts

    def pool():
        blocks = [dask.delayed(rows_of)(k, size) for k in range(arguments.parts)]
        blocks = [da.from_delayed(b, (size, N_COLUMNS), dtype=float) for b in blocks]
        return da.concatenate(blocks)

    def score(rows):
        return np.exp(rows[:, 0])

    found = {"rows": arguments.rows, "drawn": arguments.drawn}
    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        draws = {}
        for name, by in (("uniform", None), ("by a score", score)):
            clock = time.perf_counter()
            draws[name] = sample_pool(pool(), arguments.drawn, by=by, random_state=0)
            found[f"seconds, {name}"] = time.perf_counter() - clock
    found["peak MB of the driver"] = megabytes()[1]
    here = np.concatenate([rows_of(block, size) for block in range(arguments.parts)])
    for name, by in (("uniform", None), ("by a score", score)):
        sample = sample_pool(here, arguments.drawn, by=by, random_state=0)
        same = np.array_equal(sample.indices, draws[name].indices)
        same &= np.array_equal(sample.X, draws[name].X)
        found[f"same rows as in memory, {name}"] = same
    return found


# Coverage of intervals over the draw of rows and labels.


def doubtful_pool(error_rate, seed):
    """Rows, labels, doubt and predictions of a model with that many errors."""
    rng = np.random.default_rng([SEED, seed])
    X = rng.normal(size=(N_SOURCE + 500, 4))
    doubt = np.exp(-3.0 * np.abs(X[:, 0]))
    # Exactly so many rows of the pool are wrong, most of them doubtful ones.
    n_wrong = round(error_rate * N_SOURCE)
    wrong = np.zeros(len(X), dtype=bool)
    chance = (doubt + 0.02)[:N_SOURCE]
    chance = chance / chance.sum()
    wrong[rng.choice(N_SOURCE, n_wrong, replace=False, p=chance)] = True
    wrong[N_SOURCE:] = rng.random(500) < error_rate
    predicted = (X[:, 0] > 0).astype(int)
    return X, np.where(wrong, 1 - predicted, predicted), n_wrong / N_SOURCE


def proba_of(X):
    """Probabilities that the model gives; it is never wrong where it is certain."""
    doubt = 0.5 * np.exp(-3.0 * np.abs(X[:, 0]))
    second = np.where(X[:, 0] > 0, 1 - doubt, doubt)
    return np.column_stack([1 - second, second])


def one_interval(design, X, y, seed):
    """Estimate and interval of one draw of rows and labels."""
    pool, train = X[:N_SOURCE], slice(N_SOURCE, None)
    by = None if design == "uniform" else lambda X: proba_of(X).min(axis=1) + 0.02
    sample = sample_pool(pool, N_DRAWN, by=by, random_state=seed)
    evaluator = ActiveRiskEstimator(
        proba_of,
        surrogate=ExtraTreesClassifier(10, bootstrap=True, min_samples_leaf=5),
        loss="zero_one",
        classes=[0, 1],
        n_labels=N_LABELS,
        batch_size=N_LABELS // 4,
        refit=[N_LABELS // 2],
        recalibrate=False,
        cv=0,
        random_state=seed,
    )
    evaluator.fit(sample, y[:N_SOURCE], X_train=X[train], y_train=y[train])
    found = evaluator.estimate_
    return float(found), *found.interval(LEVEL)


def coverage(arguments):
    """Share of intervals that hold the error rate of the source, with its error."""
    import warnings

    warnings.simplefilter("ignore")
    lines = {}
    for error_rate in arguments.errors:
        for design in ("uniform", "by a score"):
            runs = []
            for seed in range(arguments.runs):
                X, y, truth = doubtful_pool(error_rate, seed)
                runs.append((*one_interval(design, X, y, seed), truth))
            value, low, high, truth = np.array(runs).T
            holds = (low <= truth) & (truth <= high)
            share = holds.mean()
            lines[f"{100 * error_rate:g} % errors, {design}"] = (
                f"holds {100 * share:.1f} % "
                f"(± {100 * (share * (1 - share) / len(runs)) ** 0.5:.1f}), "
                f"width {np.mean(high - low):.4f}, "
                f"error {np.mean((value - truth) ** 2) ** 0.5:.4f}, "
                f"bias {np.mean(value - truth):+.5f}"
            )
            print(list(lines.items())[-1], flush=True)
    about = (
        f"{N_DRAWN:,} of {N_SOURCE:,} rows, {N_LABELS} labels, {arguments.runs} runs"
    )
    return {"draws": about, "level": LEVEL, **lines}


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = {
        "disk": disk,
        "expected": expected,
        "dask": on_dask,
        "coverage": coverage,
    }
    parser.add_argument("command", choices=commands)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--drawn", type=int, default=1_000_000)
    parser.add_argument("--parts", type=int, default=20)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--labels", type=int, default=10)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--errors", type=float, nargs="+", default=[0.05, 0.001])
    parser.add_argument("--score", action="store_true")
    parser.add_argument("--scratch", default="scratch")
    arguments = parser.parse_args(argv)
    found = commands[arguments.command](arguments)
    print(f"{arguments.command} on {platform.processor() or platform.machine()}")
    width = max(map(len, found))
    for name, value in found.items():
        text = f"{value:,.4g}" if isinstance(value, float) else value
        print(f"  {name:<{width}}  {text}")


if __name__ == "__main__":
    main()
