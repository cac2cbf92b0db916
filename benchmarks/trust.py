"""Is the guarded estimate right, or does it say that it is not? The tables of trust.

Every task of ``tasks.py`` with a good surrogate (the default); each population also
with a mediocre one and with bad ones. Every run draws training rows, pool and model
afresh and evaluates it with the defaults of ``ActiveRiskEstimator``, the surrogate
apart. The seed was used for nothing before.

    python benchmarks/trust.py --data-dir DIR --out RUNS --runs 50
    python benchmarks/trust.py --out RUNS --report
    python benchmarks/trust.py --data-dir DIR --out RUNS --runs 30 --held-out

The runs that the documentation shows are in ``runs/trust.tar.xz``; unpacked into RUNS
they are printed, or gone on with, without being made again.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tasks import TASKS, UNSEEN

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.simulation import LabelEfficiency, label_efficiency_curve
from sklearn_ase.surrogate import ClassifierSurrogate, RegressorSurrogate

SEED = 271828
GOOD = "default"
ALL_TASKS = TASKS | UNSEEN
# Tasks that the rule was not chosen on, not even with other seeds.
HELD_OUT = ("phoneme noisy", "california coast", "diabetes", *UNSEEN)
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
        for task, (sample, loss) in ALL_TASKS.items():
            if not takes_part(task, args):
                continue
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


def takes_part(task, args):
    """Whether the task is asked for."""
    is_wanted = task.startswith(HELD_OUT) == args.held_out
    return is_wanted and any(part in task for part in args.tasks)


def read(args):
    """Figures of every task and surrogate, and the single estimates.

    Only the first runs count, so that all tasks have as many.
    """
    figures, runs = [], []
    for task in ALL_TASKS:
        path = Path(args.out) / f"{task}.csv"
        if path.exists() and takes_part(task, args):
            columns = LabelEfficiency.load(path).columns
            first = columns["run"] < args.runs
            result = LabelEfficiency({k: v[first] for k, v in columns.items()})
            figures.append(pd.DataFrame(result.summary()).assign(task=task))
            runs.append(pd.DataFrame(result.columns).assign(task=task))
    return pd.concat(figures), pd.concat(runs)


def report(args):
    """Print every table of the documentation."""
    figures, runs = read(args)
    figures["surrogate"] = figures.pop("evaluator")
    pd.options.display.width = 200
    count = figures.groupby("surrogate")["n_runs"].agg(["min", "max"])
    print("runs of each task\n", count.to_string())
    wide = figures.pivot_table(
        index=["surrogate", "task", "n_labels"], columns="risk", values="ratio"
    )
    heading("Mean squared error / Monte Carlo's: median over the tasks, then the worst")
    groups = wide.groupby(["surrogate", "n_labels"])
    print(both(groups.median(), groups.max()))
    guarded = figures[figures["risk"] == "GuardedASE"]
    worst = guarded.sort_values("ratio", ascending=False).head(15)
    heading("Where the guarded estimate does worst (ratio and its standard error)")
    print(worst[COLUMNS].round(2).to_string(index=False))
    sure = guarded[guarded["ratio"] - 2 * guarded["ratio_error"] > 1]
    print(f"more than two standard errors above 1: {len(sure)} of {len(guarded)}")
    print(sure[COLUMNS].round(2).to_string(index=False))
    heading("GuardedASE / the better of ASE and corrected ASE, median over the tasks")
    better = wide[["ASE", "CorrectedASE"]].min(axis=1)
    relative = (wide["GuardedASE"] / better).groupby(["surrogate", "n_labels"]).median()
    print(relative.unstack().round(2).to_string())
    for name, part in wide.groupby("surrogate"):
        if name == GOOD or args.every:
            heading(f"Every task, {name} surrogate: ratio at each label count")
            part = part.loc[name][["ASE", "CorrectedASE", "GuardedASE", "LURE"]]
            print(part.unstack().round(2).to_string())
    intervals(figures)
    diagnoses(runs)


COLUMNS = ["surrogate", "task", "n_labels", "ratio", "ratio_error", "n_runs"]


def intervals(figures):
    """Coverage and width of the 90 % intervals."""
    part = figures[(figures["surrogate"] == GOOD) & (figures["n_labels"] >= 50)]
    part = part[part["risk"] != "ASE"]
    if len(part):
        heading("Coverage of 90 % intervals, default surrogate, every task")
        table = part.pivot_table(
            index="task", columns=["risk", "n_labels"], values="coverage"
        )
        print(table.round(2).to_string())
        ours = part[part["risk"].isin(["CorrectedASE", "GuardedASE"])]
        error = (0.09 / ours["n_runs"]) ** 0.5
        low = ours["coverage"] < 0.87 - 2 * error
        high = ours["coverage"] > 0.95 + 2 * error
        print(f"outside 87 to 95 % by two standard errors, of {len(ours)} cells:")
        print(f"  {low.sum()} below, {high.sum()} above")
    heading("Coverage: mean over the tasks, and the least of them")
    some = figures[figures["risk"] != "ASE"]
    groups = some.groupby(["surrogate", "risk", "n_labels"])
    cover = groups["coverage"]
    print(both(cover.mean().unstack(1), cover.min().unstack(1), ("mean", "least")))
    heading("Width / Monte Carlo's t interval, median over the tasks")
    wide = some.pivot_table(
        index=["surrogate", "task", "n_labels"], columns="risk", values="width"
    )
    relative = wide.div(wide["Monte Carlo"], axis=0)
    print(relative.groupby(["surrogate", "n_labels"]).median().round(2).to_string())
    heading("Anytime intervals: share of runs covered at every count up to 200")
    last = figures.groupby("task")["n_labels"].transform("max") == figures["n_labels"]
    part = figures[last & figures["risk"].isin(["CorrectedASE", "GuardedASE", "LURE"])]
    groups = part.groupby(["surrogate", "risk"])["anytime_coverage"]
    print(groups.agg(["mean", "min"]).round(3).to_string())


def diagnoses(runs):
    """How often diagnose() warns."""
    heading("Runs that diagnose() flags; bad: ASE off by more than two MC errors")
    ase = runs[(runs["risk"] == "ASE")].copy()
    ase["off"] = (ase["value"] - ase["truth"]) ** 2 > 4 * ase["mc_variance"]
    ase["kind"] = np.where(ase["evaluator"] == GOOD, "good", "other")
    flagged = ase.groupby(["kind", "off", "n_labels"])["flagged"]
    print(flagged.agg(["mean", "size"]).unstack("n_labels").round(3).to_string())
    good = ase[ase["kind"] == "good"].groupby("n_labels")["flagged"]
    print("all runs with a good surrogate:", good.mean().round(3).to_dict())
    by_name = ase[ase["off"]].groupby(["evaluator", "n_labels"])["flagged"]
    print(by_name.agg(["mean", "size"]).unstack("n_labels").round(3).to_string())


def markdown(args):
    """Print the tables of the documentation's summary."""
    figures, _ = read(args)
    figures = figures.rename(columns={"evaluator": "surrogate"})
    wide = figures.pivot_table(
        index=["surrogate", "task", "n_labels"], columns="risk", values="ratio"
    )
    risks = ["ASE", "CorrectedASE", "GuardedASE", "LURE"]
    medians = wide[risks].groupby(["surrogate", "n_labels"]).median()
    print_table(
        ["surrogate", *risks],
        [
            [name, *(slashed(medians.loc[name, risk]) for risk in risks)]
            for name in surrogates("log_loss")
            if name in medians.index.get_level_values(0)
        ],
    )
    default = figures[figures["surrogate"] == GOOD].set_index(["task", "n_labels"])
    late = default[default.index.get_level_values("n_labels") >= 50]
    rows = []
    for task in sorted(set(default.index.get_level_values("task"))):
        row = [task]
        for risk in ("ASE", "CorrectedASE", "GuardedASE"):
            row.append(slashed(default[default["risk"] == risk].loc[task]["ratio"]))
        for risk in ("CorrectedASE", "GuardedASE"):
            row.append(slashed(late[late["risk"] == risk].loc[task]["coverage"]))
        rows.append(row)
    names = ["ASE", "corrected", "guarded", "corrected covers", "guarded covers"]
    print_table(["task", *names], rows)
    guarded = figures[figures["risk"] == "GuardedASE"].sort_values("n_labels")
    rows = []
    for (name, task), part in guarded.groupby(["surrogate", "task"]):
        late = part[part["n_labels"] >= 50]
        row = [name, task, slashed(part["ratio"]), slashed(part["ratio_error"])]
        anytime = slashed(late["anytime_coverage"][-1:])
        rows.append([*row, slashed(late["coverage"]), anytime])
    names = ["guarded", "standard error", "covers", "anytime"]
    print_table(["surrogate", "task", *names], rows)


def slashed(values):
    """Numbers with slashes between them, to two digits."""
    texts = (f"{value:.2f}" if value < 9.95 else f"{value:.0f}" for value in values)
    return " / ".join(text.removeprefix("0") for text in texts)


def print_table(names, rows):
    """Print a table in Markdown."""
    print(f"\n| {' | '.join(names)} |\n|{'---|' * len(names)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def both(first, second, names=("median", "worst")):
    """Two tables side by side, as text."""
    joined = pd.concat({names[0]: first, names[1]: second}, axis=1)
    return joined.round(2).to_string()


def heading(text):
    """Print a heading."""
    print(f"\n{text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir")
    parser.add_argument("--out", required=True, help="directory of the runs, continued")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tasks", nargs="*", default=[""], help="parts of names")
    parser.add_argument("--surrogates", nargs="*", default=list(surrogates("log_loss")))
    parser.add_argument(
        "--held-out", action="store_true", help="tasks that nothing was chosen on"
    )
    parser.add_argument("--report", action="store_true", help="only print the tables")
    parser.add_argument(
        "--every", action="store_true", help="every task with every surrogate"
    )
    parser.add_argument(
        "--markdown", action="store_true", help="as the pages have them"
    )
    args = parser.parse_args()
    if not (args.report or args.markdown):
        Path(args.out).mkdir(parents=True, exist_ok=True)
        simulate(args)
    markdown(args) if args.markdown else report(args)


if __name__ == "__main__":
    main()
