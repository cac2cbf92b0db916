"""Large pools: memory and time of a pool on disk, and of one on a cluster of dask.

Three commands, each a process of its own, so that the memory it needs can be read:

- disk: a Parquet directory is made, then a model is evaluated on it. Peak memory is
  that of the evaluation, less what the process had before it began.
- dask: the same on a local cluster with two workers, whose rows are made where they are
  used. A part of the pool, which fits into memory, is evaluated with tables, too. Then
  the whole pool is evaluated twice, and in the second run a worker is killed half-way.
- forecast: CPU time of one pass and of one label, for a table of what larger pools
  take.

    python benchmarks/large_pools.py disk --scratch DIR --rows 10_000_000 --classes 2
    python benchmarks/large_pools.py dask --rows 5_000_000
    python benchmarks/large_pools.py forecast --scratch DIR
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

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.surrogate import FrameEncoder

SEED = 20261118
N_COLUMNS, N_TRAINING = 20, 1000
ROWS_OF_A_FILE, ROWS_OF_A_GROUP = 1_000_000, 50_000
COLUMNS = [f"x{j}" for j in range(N_COLUMNS)]


def rows_of(block, n_rows):
    """Rows of one block of the pool; the same whenever they are made."""
    return np.random.default_rng([SEED, block]).normal(size=(n_rows, N_COLUMNS))


def labels_of(X, n_classes):
    """Labels: the greatest of some noisy sums of the columns, by the rows alone."""
    weights = np.random.default_rng(SEED).normal(size=(N_COLUMNS, n_classes))
    # Noise that needs no memory: the last digits of a column.
    noise = np.sin(1e4 * X[:, :1] * np.arange(1, n_classes + 1))
    return np.argmax(X @ weights + 4.0 * noise, axis=1)


def training(n_classes):
    """Training rows, which are no rows of the pool, and a model fitted on half."""
    X = rows_of(10**6, N_TRAINING)
    y = labels_of(X, n_classes)
    half, reader = N_TRAINING // 2, FunctionTransformer(ten_columns)
    model = make_pipeline(reader, LogisticRegression(C=0.01))
    return X, y, model.fit(X[:half], y[:half])


def ten_columns(X):
    """The columns that the model reads, of arrays and frames."""
    return np.asarray(X)[:, :10]


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


def evaluator_of(model, arguments, is_frame):
    trees = ExtraTreesClassifier(
        arguments.trees, bootstrap=True, max_features=0.3, n_jobs=arguments.jobs
    )
    return ActiveRiskEstimator(
        FrozenEstimator(model),
        surrogate=make_pipeline(FrameEncoder(), trees) if is_frame else trees,
        n_labels=arguments.labels,
        refit=[arguments.labels // 2],
        cv=0,
        recalibrate=False,
        random_state=0,
        verbose=arguments.verbose,
    )


def disk(arguments):
    """Evaluate a model on a Parquet directory; returns times and memory."""
    folder = Path(arguments.scratch, f"pool_{arguments.rows}")
    write_pool(folder, arguments.rows)
    X_train, y_train, model = training(arguments.classes)
    X_train = pd.DataFrame(X_train, columns=COLUMNS)
    evaluator = evaluator_of(model, arguments, is_frame=True)
    before, start, cpu = megabytes()[0], time.perf_counter(), time.process_time()
    evaluation = evaluator.start(str(folder), X_train=X_train, y_train=y_train)
    started, step = time.perf_counter() - start, []

    def oracle(rows):
        frame = evaluation.problem.X.take(rows)
        return labels_of(frame.to_numpy(), arguments.classes)

    for _ in range(max(1, arguments.labels // 2 - 1)):
        clock = time.process_time()
        query = evaluation.ask()
        step.append(time.process_time() - clock)
        evaluation.tell(query, oracle(query.indices))
    evaluation.run(oracle, arguments.labels)
    return {
        "rows": arguments.rows,
        "classes": arguments.classes,
        "trees": arguments.trees,
        "labels": arguments.labels,
        "passes": 3,
        "seconds": time.perf_counter() - start,
        "CPU seconds": time.process_time() - cpu,
        "seconds to the start": started,
        "CPU seconds of an ask": float(np.median(step)),
        "MB before": before,
        "peak MB beyond it": megabytes()[1] - before,
        "estimate": str(evaluation.estimate()),
    }


def on_dask(arguments):
    """Evaluate a model on a cluster, twice; returns what was equal."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster

    size = arguments.rows // arguments.parts
    X_train, y_train, model = training(arguments.classes)
    evaluator = evaluator_of(model, arguments, is_frame=False)

    def pool(n_parts):
        blocks = [dask.delayed(rows_of)(block, size) for block in range(n_parts)]
        blocks = [da.from_delayed(b, (size, N_COLUMNS), dtype=float) for b in blocks]
        return da.concatenate(blocks)

    def row(index):
        return rows_of(index // size, size)[index % size]

    def oracle(rows):
        return labels_of(np.array([row(index) for index in rows]), arguments.classes)

    def run(X, cluster=None):
        evaluation = evaluator.start(X, X_train=X_train, y_train=y_train)
        evaluation.run(oracle, arguments.labels // 2)
        if cluster is not None:  # The worker's own guard kills and replaces it.
            cluster.sync(next(iter(cluster.workers.values())).kill)
        evaluation.run(oracle, arguments.labels)
        return evaluation

    def difference(first, second):
        """Greatest relative difference of any q, and of the estimates."""
        assert first.ledger.indices == second.ledger.indices
        of_q = np.array(first.ledger.query_proba) / second.ledger.query_proba - 1
        of_estimate = float(first.estimate()) / float(second.estimate()) - 1
        return float(max(np.abs(of_q).max(), abs(of_estimate)))

    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        few = min(2, arguments.parts)
        part = run(pool(few))
        start = time.perf_counter()
        whole = run(pool(arguments.parts))
        seconds = time.perf_counter() - start
        killed = run(pool(arguments.parts), cluster)
        found = {
            "rows": arguments.rows,
            "parts": arguments.parts,
            "classes": arguments.classes,
            "trees": arguments.trees,
            "labels": arguments.labels,
            "seconds of a run": seconds,
            "difference after a worker was killed": difference(killed, whole),
            "peak MB of the driver": megabytes()[1],
            "estimate": str(whole.estimate()),
        }
    here = np.concatenate([rows_of(block, size) for block in range(few)])
    name = f"difference from tables, {few * size:,} rows"
    return found | {name: difference(part, run(here))}


def forecast(arguments):
    """Print what larger pools take, from one pass over a small one."""
    arguments.rows = min(arguments.rows, 1_000_000)
    print(f"{'rows':>14} {'classes':>8} {'kept':>8} {'one pass':>10} {'one ask':>9}")
    for arguments.classes in (2, 10):
        found = disk(arguments)
        of_pass = found["CPU seconds"] / found["passes"] / found["rows"]
        of_ask = found["CPU seconds of an ask"] / found["rows"]
        for rows in (10**6, 10**7, 10**8, 10**9):
            kept, pass_, ask = 24 * rows / 2**20, of_pass * rows, of_ask * rows
            sizes = f"{kept:>5,.0f} MB {pass_:>8,.0f} s {ask:>7,.2f} s"
            print(f"{rows:>14,} {arguments.classes:>8} {sizes}")
    return {"trees": arguments.trees, "measured at rows": arguments.rows}


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["disk", "dask", "forecast"])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--parts", type=int, default=20)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--labels", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--verbose", type=int, default=0)
    parser.add_argument("--scratch", default="scratch")
    arguments = parser.parse_args(argv)
    commands = {"disk": disk, "dask": on_dask, "forecast": forecast}
    found = commands[arguments.command](arguments)
    print(f"{arguments.command} on {platform.processor() or platform.machine()}")
    width = max(map(len, found))
    for name, value in found.items():
        text = f"{value:,.4g}" if isinstance(value, float) else value
        print(f"  {name:<{width}}  {text}")


if __name__ == "__main__":
    main()
