"""The tables of ``trust.py``, from the runs that it made."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from sklearn_ase.simulation import LabelEfficiency

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from tables import is_table, print_table, save, slashed

GOOD = "default"
RISKS = ["ASE", "CorrectedASE", "GuardedASE", "LURE"]
OURS = ["CorrectedASE", "GuardedASE"]
FEWEST = 25  # Labels below which there are no intervals.
TOO_HIGH, TOO_LOW = 1.3, 0.85  # Ratio and coverage that no task should be beyond.
COLUMNS = ["surrogate", "task", "n_labels", "ratio", "ratio_error", "n_runs"]


KEPT = ["task", "surrogate", "risk", "n_labels", "n_runs", "ratio", "ratio_error"]
KEPT += ["interval_rate", "coverage", "width", "anytime_coverage"]
KEPT += ["n_off", "n_flagged", "n_flagged_off"]


def read(path, tasks, n_runs):
    """Figures of every task, surrogate, risk and label count.

    Of a directory of runs only the first ones count, so that all tasks have as many.
    """
    if is_table(path):
        figures = pd.read_csv(path)
        figures = figures[figures["task"].isin(tasks)]
    else:
        files = {task: Path(path) / f"{task}.csv" for task in tasks}
        parts = [
            figures_of(LabelEfficiency.load(file), n_runs).assign(task=task)
            for task, file in files.items()
            if file.exists()
        ]
        figures = pd.concat(parts)[KEPT] if parts else pd.DataFrame()
    if figures.empty:
        raise FileNotFoundError(f"{path} holds no runs of these tasks.")
    return figures


def figures_of(result, n_runs):
    """Figures of one task; of ASE also how often it was far off and diagnosed."""
    first = result.columns["run"] < n_runs
    result = LabelEfficiency({k: v[first] for k, v in result.columns.items()})
    keys = ["evaluator", "risk", "n_labels"]
    runs = pd.DataFrame(result.columns)
    runs = runs[runs["risk"] == "ASE"]
    is_off = (runs["value"] - runs["truth"]) ** 2 > 4 * runs["mc_variance"]
    counts = runs.assign(
        n_off=is_off, n_flagged=runs["flagged"], n_flagged_off=runs["flagged"] * is_off
    )
    counts = counts.groupby(keys)[["n_off", "n_flagged", "n_flagged_off"]].sum()
    figures = pd.DataFrame(result.summary()).join(counts, on=keys)
    return figures.rename(columns={"evaluator": "surrogate"})


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
    figures = read(args.out, tasks, args.runs)
    if args.save:
        save(figures, args.save)
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
    diagnoses(figures)


def n_tasks(wide):
    """How many tasks there are with each surrogate, as text."""
    names = wide.reset_index().groupby("surrogate")["task"].nunique()
    return ", ".join(f"{name}: {count}" for name, count in names.items())


def beside(wide, args, tasks):
    """Geometric means here and in the baseline, over the tasks that both have."""
    figures = read(args.baseline, tasks, args.runs)
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


def diagnoses(figures):
    """How often diagnose() warns."""
    heading("Runs that diagnose() flags; bad: ASE off by more than two MC errors")
    ase = figures[figures["risk"] == "ASE"]
    sums = ase.groupby(["surrogate", "n_labels"])[
        ["n_runs", "n_flagged", "n_off", "n_flagged_off"]
    ].sum()
    is_good = sums.index.get_level_values("surrogate") == GOOD
    kind = pd.Index(np.where(is_good, "good", "other"), name="kind")
    by_kind = sums.groupby([kind, sums.index.get_level_values("n_labels")]).sum()
    right = by_kind["n_runs"] - by_kind["n_off"]
    flagged = by_kind["n_flagged"] - by_kind["n_flagged_off"]
    shares = {
        "not off": pd.DataFrame({"flagged": flagged / right, "runs": right}),
        "off": share_of_off(by_kind),
    }
    print(pd.concat(shares, names=["ASE"]).unstack("n_labels").round(3).to_string())
    good = sums[is_good].droplevel("surrogate")
    share = (good["n_flagged"] / good["n_runs"]).round(3).to_dict()
    print("all runs with a good surrogate:", share)
    print(share_of_off(sums).unstack("n_labels").round(3).to_string())


def share_of_off(sums):
    """Share of the runs with an ASE that is far off which are flagged."""
    share = sums["n_flagged_off"] / sums["n_off"].where(sums["n_off"] > 0)
    return pd.DataFrame({"flagged": share, "runs": sums["n_off"]})


def markdown(args, tasks):
    """Print the tables of the documentation's summary."""
    figures = read(args.out, tasks, args.runs)
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
    print_intervals(figures[figures["surrogate"] == GOOD])
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


def print_intervals(figures):
    """Print the coverage and the width of the intervals beside a plain sample's."""
    late = figures[figures["n_labels"] >= FEWEST]
    width = late.pivot(index=["task", "n_labels"], columns="risk", values="width")
    rows = []
    for risk in ("GuardedASE", "Monte Carlo"):
        cover = late[late["risk"] == risk].groupby("n_labels")["coverage"]
        ratio = (width[risk] / width["Monte Carlo"]).groupby("n_labels").median()
        columns = (cover.mean(), cover.min(), cover.max(), ratio)
        rows.append([risk, *map(slashed, columns)])
    names = ["covers, mean", "covers, least", "covers, most", "width, median"]
    print_table(["interval", *names], rows)


def both(first, second, names=("median", "worst")):
    """Two tables side by side, as text."""
    joined = pd.concat({names[0]: first, names[1]: second}, axis=1)
    return joined.round(2).to_string()


def heading(text):
    """Print a heading."""
    print(f"\n{text}")
