"""The tables of ``trust.py``, from the runs that it made."""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from sklearn_ase.simulation import LabelEfficiency

GOOD = "default"
RISKS = ["ASE", "CorrectedASE", "GuardedASE", "LURE"]
OURS = ["CorrectedASE", "GuardedASE"]
FEWEST = 25  # Labels below which there are no intervals.
TOO_HIGH, TOO_LOW = 1.3, 0.85  # Ratio and coverage that no task should be beyond.
COLUMNS = ["surrogate", "task", "n_labels", "ratio", "ratio_error", "n_runs"]


def read(folder, tasks, n_runs):
    """Figures of every task and surrogate, and the single estimates.

    Only the first runs count, so that all tasks have as many.
    """
    figures, runs = [], []
    for task in tasks:
        path = Path(folder) / f"{task}.csv"
        if path.exists():
            columns = LabelEfficiency.load(path).columns
            first = columns["run"] < n_runs
            result = LabelEfficiency({k: v[first] for k, v in columns.items()})
            figures.append(pd.DataFrame(result.summary()).assign(task=task))
            runs.append(pd.DataFrame(result.columns).assign(task=task))
    if not figures:
        raise FileNotFoundError(f"{folder} holds no runs of these tasks.")
    figures = pd.concat(figures).rename(columns={"evaluator": "surrogate"})
    return figures, pd.concat(runs)


def ratios(figures):
    """Mean squared error / Monte Carlo's, a column for each risk."""
    keys = ["surrogate", "task", "n_labels"]
    return figures.pivot_table(index=keys, columns="risk", values="ratio")


def geometric_means(wide):
    """Geometric mean over the tasks, for each surrogate and label count."""
    wide = wide[RISKS]  # A few plain samples may be right to the last digit.
    return np.exp(np.log(wide).groupby(["surrogate", "n_labels"]).mean())


def report(args, tasks):
    """Print every table of the documentation."""
    figures, runs = read(args.out, tasks, args.runs)
    pd.options.display.width = 200
    count = figures.groupby("surrogate")["n_runs"].agg(["min", "max"])
    print("runs of each task\n", count.to_string())
    wide = ratios(figures)
    heading("Mean squared error / Monte Carlo's: median over the tasks, then the worst")
    groups = wide.groupby(["surrogate", "n_labels"])
    print(both(groups.median(), groups.max()))
    heading(f"Geometric mean over the tasks ({n_tasks(wide)}) at each label count")
    print(geometric_means(wide).round(3).to_string())
    if args.baseline:
        heading("Geometric means beside those of the baseline")
        print(beside(wide, args, tasks).round(3).to_string())
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
            print(part.loc[name][RISKS].unstack().round(2).to_string())
    heading("GuardedASE, default surrogate: ratio and its standard error")
    print(with_errors(guarded[guarded["surrogate"] == GOOD]).to_string())
    heading("What no task should be beyond, default surrogate")
    print("\n".join(limits(figures[figures["surrogate"] == GOOD])))
    intervals(figures)
    diagnoses(runs)


def n_tasks(wide):
    """How many tasks there are with each surrogate, as text."""
    names = wide.reset_index().groupby("surrogate")["task"].nunique()
    return ", ".join(f"{name}: {count}" for name, count in names.items())


def beside(wide, args, tasks):
    """Geometric means here and in the baseline, over the tasks that both have."""
    figures, _ = read(args.baseline, tasks, args.runs)
    n_runs, old = figures["n_runs"], ratios(figures)
    shared = wide.index.intersection(old.index)
    now, old = (geometric_means(part.loc[shared, RISKS]) for part in (wide, old))
    print(f"\ntasks that both have: {n_tasks(wide.loc[shared])}")
    print(f"runs of each in the baseline: {n_runs.min()} to {n_runs.max()}")
    return pd.concat({"now": now, "baseline": old, "now / baseline": now / old}, axis=1)


def with_errors(figures):
    """A line for each task: ratios with their standard errors in brackets."""
    texts = [
        f"{ratio:.2f} ({error:.2f})"
        for ratio, error in zip(figures["ratio"], figures["ratio_error"], strict=True)
    ]
    return figures.assign(text=texts).pivot(
        index="task", columns="n_labels", values="text"
    )


def limits(figures):
    """Lines that say which cells are beyond the limits, and which are for certain."""
    guarded = figures[figures["risk"] == "GuardedASE"]
    least = guarded["ratio"] - 2 * guarded["ratio_error"]
    lines = [
        f"guarded above {TOO_HIGH} of Monte Carlo's error: "
        f"{(guarded['ratio'] > TOO_HIGH).sum()} of {len(guarded)} cells, "
        f"for certain (by two standard errors) {(least > TOO_HIGH).sum()}"
    ]
    for cell in guarded[least > TOO_HIGH].itertuples():
        lines.append(
            f"  {cell.task} at {cell.n_labels}: "
            f"{cell.ratio:.2f}, standard error {cell.ratio_error:.2f}"
        )
    for risk in OURS:
        part = figures[(figures["risk"] == risk) & (figures["n_labels"] >= FEWEST)]
        # As improbable as two standard errors, if it covered just as often.
        count = (part["n_runs"] * part["interval_rate"]).round()
        inside = (part["coverage"].fillna(0) * count).round()
        is_sure = stats.binom.cdf(inside, count, TOO_LOW) < stats.norm.cdf(-2)
        is_low = part["coverage"] < TOO_LOW
        lines.append(
            f"{risk}'s 90 % interval covers less than {TOO_LOW}: {is_low.sum()} of "
            f"{len(part)} cells, for certain {is_sure.sum()}"
        )
        for cell, sure in zip(part[is_low].itertuples(), is_sure[is_low], strict=True):
            lines.append(
                f"  {cell.task} at {cell.n_labels}: {cell.coverage:.2f}"
                f"{', for certain' if sure else ''}"
            )
    return lines


def intervals(figures):
    """Coverage and width of the 90 % intervals."""
    part = figures[(figures["surrogate"] == GOOD) & (figures["n_labels"] >= FEWEST)]
    part = part[part["risk"] != "ASE"]
    if len(part):
        heading("Coverage of 90 % intervals, default surrogate, every task")
        table = part.pivot_table(
            index="task", columns=["risk", "n_labels"], values="coverage"
        )
        print(table.round(2).to_string())
        ours = part[part["risk"].isin(OURS)]
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
    part = figures[last & figures["risk"].isin([*OURS, "LURE"])]
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


def markdown(args, tasks):
    """Print the tables of the documentation's summary."""
    figures, _ = read(args.out, tasks, args.runs)
    wide = ratios(figures)
    names = list(dict.fromkeys(figures["surrogate"]))
    medians = wide[RISKS].groupby(["surrogate", "n_labels"]).median()
    summaries = {"median": medians, "geometric mean": geometric_means(wide[RISKS])}
    if args.baseline:
        compared = beside(wide, args, tasks)
        for name in ("baseline", "now / baseline"):
            summaries[f"geometric mean, {name}"] = compared[name]
    for title, table in summaries.items():
        rows = [
            [name, *(slashed(table.loc[name, risk]) for risk in RISKS)]
            for name in names
            if name in table.index.get_level_values("surrogate")
        ]
        print_table([f"surrogate ({title})", *RISKS], rows)
    default = figures[figures["surrogate"] == GOOD].set_index(["task", "n_labels"])
    late = default[default.index.get_level_values("n_labels") >= FEWEST]
    rows = []
    for task in sorted(set(default.index.get_level_values("task"))):
        row = [task]
        for risk in ("ASE", *OURS):
            row.append(slashed(default[default["risk"] == risk].loc[task]["ratio"]))
        for risk in OURS:
            row.append(slashed(late[late["risk"] == risk].loc[task]["coverage"]))
        rows.append(row)
    names = ["ASE", "corrected", "guarded", "corrected covers", "guarded covers"]
    print_table(["task", *names], rows)
    guarded = figures[figures["risk"] == "GuardedASE"].sort_values("n_labels")
    rows = []
    for (name, task), part in guarded.groupby(["surrogate", "task"]):
        late = part[part["n_labels"] >= FEWEST]
        row = [name, task, slashed(part["ratio"]), slashed(part["ratio_error"])]
        anytime = slashed(late["anytime_coverage"][-1:])
        rows.append([*row, slashed(late["coverage"]), anytime])
    names = ["guarded", "standard error", "covers", "anytime"]
    print_table(["surrogate", "task", *names], rows)
    print()
    for line in limits(figures[figures["surrogate"] == GOOD]):
        print(f"  * {line.strip()}" if line.startswith(" ") else f"* {line}")


def slashed(values):
    """Numbers with slashes between them, to two digits."""
    texts = (f"{value:.2f}" if value < 9.95 else f"{value:.0f}" for value in values)
    texts = (text.removeprefix("0").replace("-0.", "-.") for text in texts)
    return " / ".join(texts)


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
