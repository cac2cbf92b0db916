"""The figure of the README: estimates with their intervals, and what labels buy.

Digits and a logistic regression that was trained without sevens (the task "digits-7" of
``tasks.py``, log loss), default settings, every run with training rows, pool and model
drawn afresh. Left the runs one by one, right their mean.

    python benchmarks/comparison/readme_figure.py --out RUNS --runs 30
"""

import argparse
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import ExpectedLoss
from sklearn_ase.risk import LURE
from sklearn_ase.simulation import label_efficiency_curve

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from tasks import TASKS

SEED = 33550336
COUNTS = (10, 25, 50, 100)
PICTURE = Path(__file__).parents[2] / "docs" / "_static" / "labels.png"
SAMPLE, LOSS = TASKS["digits-7 log_loss"]


def scenario(seed):
    """Training rows, pool and model of a run."""
    return SAMPLE(None, seed)


def draw_intervals(ax, result, n_labels=50):
    """Estimate and interval of every run, beside the truth."""
    data = result.columns
    part = (data["risk"] == "GuardedASE") & (data["n_labels"] == n_labels)
    part &= data["evaluator"] == "sklearn_ase"
    value, low, high = (data[name][part] for name in ("value", "low", "high"))
    truth, runs = data["truth"][part], data["run"][part] + 1
    covers = (low <= truth) & (truth <= high)
    parts = {"covers": (covers, "#0072B2"), "misses": (~covers, "#D55E00")}
    for name, (chosen, color) in parts.items():
        ends = (low - truth)[chosen], (high - truth)[chosen]
        ink = {"color": color, "linewidth": 3, "alpha": 0.35}
        ax.vlines(runs[chosen], *ends, label=f"90 % interval {name} the truth", **ink)
        ax.plot(runs[chosen], (value - truth)[chosen], "o", color=color, markersize=4)
    ax.axhline(0, color="black", linestyle=":")
    ax.set(xlabel="evaluation", ylabel="estimate − true log loss")
    ax.set_title(f"{n_labels} labels: {covers.sum()} of {len(covers)} intervals cover")
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.3 * (high - low))  # Room for the legend.
    ax.legend(frameon=False, fontsize="small", loc="upper left")


def draw_all(ax, result):
    """Root mean squared error of all runs."""
    figures = result.summary()
    columns = result.columns
    counts = columns["n_labels"]
    exact = [columns["mc_variance"][counts == n].mean() for n in COUNTS]
    lines = {
        "plain random sample": (exact, "#D55E00", "s:"),
        "LURE": (None, "#009E73", "^--"),
        "sklearn_ase": (None, "#0072B2", "o-"),
    }
    for name, (square, color, style) in lines.items():
        if square is None:
            risk = "LURE" if name == "LURE" else "GuardedASE"
            part = (figures["evaluator"] == name) & (figures["risk"] == risk)
            square = figures["mean_squared_error"][part]
        ax.plot(COUNTS, np.sqrt(square), style, color=color, label=name)
    ax.set(
        xscale="log", yscale="log", xlabel="labels", ylabel="root mean squared error"
    )
    ax.set_xticks(COUNTS, [str(count) for count in COUNTS])
    ax.minorticks_off()
    ticks = [0.05, 0.1, 0.2, 0.5, 1, 2]
    ax.set_yticks(ticks, [str(tick) for tick in ticks])
    ax.set_title(f"error of the estimate, {figures['n_runs'].max()} evaluations")
    ax.legend(frameon=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="directory of the runs, continued")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    Path(args.out).mkdir(parents=True, exist_ok=True)
    lure = ActiveRiskEstimator(loss=LOSS, acquisition=ExpectedLoss(), risk=LURE())
    result = label_efficiency_curve(
        {"sklearn_ase": ActiveRiskEstimator(loss=LOSS), "LURE": lure},
        scenario,
        n_labels=COUNTS,
        n_runs=args.runs,
        random_state=SEED,
        n_jobs=args.jobs,
        path=Path(args.out) / "readme_figure.csv",
    )
    fig, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    draw_intervals(axes[0], result)
    draw_all(axes[1], result)
    fig.savefig(PICTURE, dpi=150)
    print(f"wrote {PICTURE.name}, {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
