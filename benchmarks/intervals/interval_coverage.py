"""Do the intervals hold for rare errors, heavy tails and a missing class?

Every task of ``interval_tasks.py`` with the default surrogate and with a poor one. Each
run draws pool and training rows afresh. Printed are the coverage of the 90 % interval
of the guarded estimate, the share of runs that have one, the share of all runs that
have one that misses the truth, its width beside that of a plain random sample (Wilson's
interval for error rates, Student's t otherwise), and the share of runs in which the
anytime interval, looked at after every label, held at all label counts.

    python benchmarks/intervals/interval_coverage.py --out RUNS --runs 200
    python benchmarks/intervals/interval_coverage.py --out RUNS --runs 200 --report

``--save FILE.csv`` writes a line for each figure. The table of the documentation is
printed from such a file, ``--report --out benchmarks/results/intervals.csv``.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.risk import GuardedASE
from sklearn_ase.simulation import LabelEfficiency, label_efficiency_curve

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from interval_tasks import INTERVAL_TASKS
from tables import add_arguments, is_table, save, slashed

SEED = 299792
COUNTS = (10, 25, 50, 100, 200)
LEVEL = 0.9


def simulate(args):
    """Run all that is missing."""
    for name, (loss, sample, poor) in INTERVAL_TASKS.items():
        if not any(part in name for part in args.tasks):
            continue
        label_efficiency_curve(
            {
                "default": ActiveRiskEstimator(loss=loss),
                "poor": ActiveRiskEstimator(loss=loss, surrogate=poor),
            },
            sample,
            risks={"GuardedASE": GuardedASE()},
            n_labels=COUNTS,
            n_runs=args.runs,
            level=LEVEL,
            random_state=SEED,
            n_jobs=args.jobs,
            path=_path(args, name),
        )
        print(f"{name}: done", flush=True)


def cells_of(args):
    """A line for each task, surrogate and number of labels."""
    parts = []
    for name, (loss, *_) in INTERVAL_TASKS.items():
        path = _path(args, name)
        if not path.exists():
            continue
        runs = pd.DataFrame(LabelEfficiency.load(path).columns)
        runs = runs[runs["run"] < args.runs]
        for surrogate, part in runs.groupby("evaluator"):
            keys = {"task": name, "surrogate": surrogate, "n_labels": COUNTS}
            found = figures(part, loss)
            held = found.pop("held")
            cells = pd.DataFrame({**keys, "n_runs": part["run"].nunique(), **found})
            cells.loc[cells.index[-1], "held"] = held[0]
            parts.append(cells)
    return pd.concat(parts)


def report(args):
    """Print a line for each task and surrogate."""
    cells = pd.read_csv(args.out) if is_table(args.out) else cells_of(args)
    if args.save:
        save(cells, args.save)
    n_runs = cells["n_runs"].max()
    print(f"{n_runs} runs of each task, seed {SEED}; at", *COUNTS, "labels\n")
    names = ["task", "surrogate", "covers", "has an interval", "wrong, of all runs"]
    names += ["width / plain", "held"]
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}")
    for key, part in cells.groupby(["task", "surrogate"], sort=False):
        texts = [slashed(part[c]) for c in ("covers", "interval", "wrong", "width")]
        print(f"| {' | '.join([*key, *texts, slashed(part['held'][-1:])])} |")
    is_rate = cells["task"].str.contains(" errors|error ")
    if is_rate.any():
        least = cells.loc[is_rate, "covers"].min()
        print(f"\nerror rates: {least:.3f} is the least coverage")


def figures(runs, loss):
    """Columns of the table for one task and one surrogate."""
    ours = runs[runs["risk"] == "GuardedASE"]
    plain = runs[runs["risk"] == "Monte Carlo"]
    found = {"covers": [], "interval": [], "wrong": [], "width": []}
    for count in COUNTS:
        part = ours[ours["n_labels"] == count]
        has = np.isfinite(part["high"])
        inside = (part["low"] <= part["truth"]) & (part["truth"] <= part["high"])
        found["covers"].append(inside[has].mean() if has.any() else np.nan)
        found["interval"].append(has.mean())
        found["wrong"].append((has & ~inside).mean())
        beside = plain[plain["n_labels"] == count]
        if loss == "zero_one":
            widths = [wilson_width(v, count) for v in beside["value"]]
        else:
            widths = beside["high"] - beside["low"]
        width = (part["high"] - part["low"])[has].median() if has.any() else np.nan
        found["width"].append(width / np.median(widths))
    last = ours[ours["n_labels"] == COUNTS[-1]]
    return {**found, "held": [last["anytime"].mean()]}


def wilson_width(share, n_labels):
    """Width of Wilson's interval for a share of errors, without the pool's size."""
    errors = round(share * n_labels)
    test = stats.binomtest(errors, n_labels)
    ends = test.proportion_ci(LEVEL, method="wilson")
    return ends.high - ends.low


def _path(args, name):
    return Path(args.out) / f"{name}.csv"


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tasks", nargs="*", default=[""], help="parts of names")
    args = parser.parse_args(argv)
    if not args.report:
        Path(args.out).mkdir(parents=True, exist_ok=True)
        simulate(args)
    report(args)


if __name__ == "__main__":
    main()
