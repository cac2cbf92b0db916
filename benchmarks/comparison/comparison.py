"""Beside what else there is: Monte Carlo, LURE, PPI++ and CBPE on the same pools.

Zero-one loss, three tasks of ``tasks.py`` without a shift and three with one. Every run
draws training rows, pool and model afresh; the seed was used for nothing before.

* Monte Carlo: the mean over a plain random sample. Its mean squared error is known
  exactly and is the unit of the tables.
* LURE: sampling in proportion to the expected loss, with importance weights.
* PPI++ [1]: a plain random sample, and a prediction of the loss at every row that
  counts as far as it goes along with the labels. The prediction is what the model's own
  calibrated confidence says, or what the default surrogate expects before any label.
* CBPE, the idea of NannyML [2]: the model's calibrated confidence alone, no labels.
* ASE and guarded: this package with its defaults.

PPI++ and CBPE are written here from their formulas. ``--check`` compares them with the
packages ppi-python and nannyml, where these are installed.

    python benchmarks/comparison/comparison.py --data-dir DIR --out RUNS --runs 30
    python benchmarks/comparison/comparison.py --data-dir DIR --check

.. [1] Angelopoulos, Duchi and Zrnic, "PPI++: Efficient Prediction-Powered Inference",
   2023.
.. [2] "Confidence-based performance estimation", documentation of NannyML.
"""

import argparse
import os
import sys
from itertools import chain, product
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import stats
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import cross_val_predict

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import ExpectedLoss
from sklearn_ase.risk import LURE
from sklearn_ase.simulation import label_efficiency_curve

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from tasks import TASKS

SEED = 161803
CHECK_SEED = 496  # Of the pools that the packages are compared on.
NO_SHIFT = ("adult", "bank", "phoneme")
SHIFT = ("adult young", "bank telephone", "digits-7")
COUNTS = (50, 100)
LEVEL = 0.9
N_SAMPLES = 100  # Plain samples of each pool; they cost next to nothing here.
OURS = {
    ("LURE", "LURE"): "LURE",
    ("default", "ASE"): "ASE",
    ("default", "GuardedASE"): "guarded",
}
METHODS = [
    "Monte Carlo",
    "LURE",
    "PPI++, model's confidence",
    "PPI++, surrogate",
    "CBPE, no labels",
    "ASE",
    "guarded",
]


def plain(losses, n_pool):
    """Mean of a plain random sample, and the reach of its t interval."""
    n = len(losses)
    error = losses.std(ddof=1) * np.sqrt((1 - n / n_pool) / n)
    return losses.mean(), stats.t.ppf((1 + LEVEL) / 2, n - 1) * error


def ppi(losses, predicted, predicted_rest):
    """Power-tuned prediction-powered mean, and the reach of its interval."""
    n, n_rest = len(losses), len(predicted_rest)
    variance = np.append(predicted, predicted_rest).var(ddof=1) * (1 + n / n_rest)
    covariance = np.cov(losses, predicted, ddof=0)[0, 1]
    power = np.clip(covariance / variance, 0, 1) if variance > 0 else 0.0
    rest = losses - power * predicted
    value = power * predicted_rest.mean() + rest.mean()
    error = np.sqrt(rest.var() / n + power**2 * predicted_rest.var() / n_rest)
    return value, stats.norm.ppf((1 + LEVEL) / 2) * error


def out_of_fold(scenario):
    """What copies of the model say about training rows they have not seen."""
    return cross_val_predict(
        scenario.estimator,
        scenario.X_train,
        scenario.y_train,
        cv=5,
        method="predict_proba",
    )


def confidence_loss(scenario, reference):
    """Zero-one loss that the model's calibrated confidence expects at each pool row.

    Each class is calibrated against the rest by isotonic regression on the training
    rows, then rows are made to sum to 1.
    """
    model = scenario.estimator
    proba = model.predict_proba(scenario.X)
    calibrated = np.empty_like(proba)
    for column, label in enumerate(model.classes_):
        curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
        curve.fit(reference[:, column], scenario.y_train == label)
        calibrated[:, column] = curve.predict(proba[:, column])
    total = calibrated.sum(axis=1, keepdims=True)
    calibrated = np.divide(calibrated, total, out=proba.copy(), where=total > 0)
    return 1 - calibrated[np.arange(len(proba)), proba.argmax(axis=1)]


def surrogate_loss(scenario):
    """Loss that the default surrogate expects at each pool row before any label."""
    evaluator = ActiveRiskEstimator(scenario.estimator, loss="zero_one", random_state=0)
    rows = {"X_train": scenario.X_train, "y_train": scenario.y_train}
    return evaluator.start(scenario.X, **rows).state.expected_loss


def others(sample, data_dir, run, seed):
    """Rows of the methods that are not part of this package, for one pool."""
    scenario = sample(data_dir, seed)
    losses = (scenario.estimator.predict(scenario.X) != scenario.y).astype(float)
    confidence = confidence_loss(scenario, out_of_fold(scenario))
    predictions = {METHODS[2]: confidence, METHODS[3]: surrogate_loss(scenario)}
    rows = [(METHODS[4], run, n, confidence.mean(), np.nan, np.nan) for n in COUNTS]
    rng = np.random.default_rng([seed, 3])
    for _, n in product(range(N_SAMPLES), COUNTS):
        order = rng.permutation(len(losses))
        some, rest = order[:n], order[n:]
        found = {METHODS[0]: plain(losses[some], len(losses))}
        for name, predicted in predictions.items():
            found[name] = ppi(losses[some], predicted[some], predicted[rest])
        rows += [
            (name, run, n, value, value - reach, value + reach)
            for name, (value, reach) in found.items()
        ]
    return rows


def simulate(task, args):
    """All estimates of a task, one row each."""
    sample, loss = TASKS[f"{task} zero_one"]
    lure = ActiveRiskEstimator(loss=loss, acquisition=ExpectedLoss(), risk=LURE())
    result = label_efficiency_curve(
        {"default": ActiveRiskEstimator(loss=loss), "LURE": lure},
        lambda seed: sample(args.data_dir, seed),
        n_labels=COUNTS,
        n_runs=args.runs,
        level=LEVEL,
        random_state=SEED,
        n_jobs=args.jobs,
        path=Path(args.out) / f"{task}.csv",
    )
    frame = pd.DataFrame(result.columns)
    pools = frame.drop_duplicates(["run", "n_labels"]).set_index(["run", "n_labels"])
    seeds = pools.xs(COUNTS[0], level="n_labels")["seed"]
    names = ["method", "run", "n_labels", "value", "low", "high"]
    path = Path(args.out) / f"{task}, others, {args.runs} runs.csv"
    if not path.exists():
        jobs = (delayed(others)(sample, args.data_dir, *item) for item in seeds.items())
        rows = chain.from_iterable(Parallel(n_jobs=args.jobs)(jobs))
        pd.DataFrame(rows, columns=names).to_csv(path, index=False)
    pairs = zip(frame.evaluator, frame.risk, strict=True)
    frame["method"] = [OURS.get(pair) for pair in pairs]
    frame = pd.concat([frame.dropna(subset="method")[names], pd.read_csv(path)])
    known = pools[["truth", "mc_variance"]]
    return frame.join(known, on=["run", "n_labels"]).assign(task=task)


def figures(frame):
    """Error, its standard error over the pools, coverage and width of one method."""
    frame = frame.assign(
        square=(frame.value - frame.truth) ** 2,
        inside=(frame.low <= frame.truth) & (frame.truth <= frame.high),
        width=frame.high - frame.low,
    )
    pools = frame.groupby("run")[["square", "mc_variance", "inside", "width"]].mean()
    variance = pools.mc_variance.mean()
    ratio = pools.square.mean() / variance
    excess = pools.square - ratio * pools.mc_variance
    has_interval = np.isfinite(frame.width).any()
    return pd.Series(
        {
            "ratio": ratio,
            "error": excess.std() / len(pools) ** 0.5 / variance,
            "coverage": pools.inside.mean() if has_interval else np.nan,
            "width": frame.width.median() if has_interval else np.nan,
        }
    )


def report(frame, runs):
    """Print the tables in Markdown."""
    keys = ["method", "task", "n_labels"]
    table = frame.groupby(keys).apply(figures, include_groups=False)
    print(f"{runs} runs of each task, seed {SEED}; at {' / '.join(map(str, COUNTS))}")
    for name, title in {
        "ratio": "Mean squared error / Monte Carlo's",
        "error": "Its standard error over the pools",
        "coverage": f"Coverage of {LEVEL:.0%} intervals",
    }.items():
        print(f"\n{title}\n")
        print_table(table[name].unstack("n_labels"))
    widths = table["width"].unstack("n_labels")
    print("\nMedian width / Monte Carlo's\n")
    print_table(widths.div(widths.loc["Monte Carlo"], level="task"))


def print_table(values):
    """A row for each method, with medians over the tasks of each kind."""
    tasks = [*NO_SHIFT, *SHIFT]
    names = ["", *tasks, "median, no shift", "median, shift", "greatest"]
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}")
    for method in METHODS:
        part = values.loc[method]
        if part.isna().all(axis=None):
            continue
        cells = [part.loc[task] for task in tasks]
        cells += [part.loc[list(some)].median() for some in (NO_SHIFT, SHIFT)]
        cells.append(part.max())
        print(f"| {' | '.join([method, *map(slashed, cells)])} |")


def slashed(values):
    """Numbers with slashes between them, to two digits."""
    texts = (f"{value:.2f}" if value < 9.95 else f"{value:.0f}" for value in values)
    return " / ".join(text.removeprefix("0") for text in texts)


def check(args):
    """Print the formulas of this script beside the packages' own answers."""
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    for task in (*NO_SHIFT, *SHIFT):
        scenario = TASKS[f"{task} zero_one"][0](args.data_dir, CHECK_SEED)
        losses = (scenario.estimator.predict(scenario.X) != scenario.y).astype(float)
        reference = out_of_fold(scenario)
        predicted = confidence_loss(scenario, reference)
        parts = (losses[:50], predicted[:50], predicted[50:])
        value, reach = ppi(*parts)
        low, high = (float(end[0]) for end in ppi_mean_ci(*parts, alpha=1 - LEVEL))
        theirs = float(ppi_mean_pointestimate(*parts)[0])
        cbpe = nannyml_cbpe(scenario, reference)
        print(
            f"{task:15} PPI++ {value:.4f} +- {reach:.4f}, "
            f"ppi-python {theirs:.4f} +- {(high - low) / 2:.4f}; "
            f"CBPE {predicted.mean():.4f}, nannyml {cbpe:.4f}"
        )


def nannyml_cbpe(scenario, reference):
    """Error rate of the model on the pool, as nannyml estimates it."""
    os.environ["NML_DISABLE_USAGE_LOGGING"] = "1"  # It would call home.
    import nannyml

    model = scenario.estimator
    names = {label: f"proba {label}" for label in model.classes_}
    binary = len(names) == 2
    frames = []
    for proba in (reference, model.predict_proba(scenario.X)):
        frame = pd.DataFrame(proba, columns=list(names.values()))
        codes = proba.argmax(axis=1)
        frames.append(frame.assign(said=codes if binary else model.classes_[codes]))
    truth = scenario.y_train
    frames[0]["truth"] = (truth == model.classes_[1]).astype(int) if binary else truth
    cbpe = nannyml.CBPE(
        metrics=["accuracy"],
        y_true="truth",
        y_pred="said",
        y_pred_proba=names[model.classes_[1]] if binary else names,
        problem_type=f"classification_{'binary' if binary else 'multiclass'}",
        chunk_size=len(frames[1]),
    )
    found = cbpe.fit(frames[0]).estimate(frames[1]).filter(period="analysis")
    return 1 - found.to_df()[("accuracy", "value")].iloc[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--out", help="directory of the runs, continued")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="beside the packages")
    args = parser.parse_args()
    if args.check:
        return check(args)
    Path(args.out).mkdir(parents=True, exist_ok=True)
    frames = [simulate(task, args) for task in (*NO_SHIFT, *SHIFT)]
    report(pd.concat(frames), args.runs)


if __name__ == "__main__":
    main()
