"""Tables, figures and claims of ``image_classifiers.py``, from its CSV files alone."""

from itertools import product

import pandas as pd
from claims import Claims, below, error_gap, every, listed, median_gap
from common import LIMIT, draw_curves, finished, result_path

from sklearn_ase.simulation import LabelEfficiency

DATA = ("fashion_mnist", "cifar10", "cifar100")
SIZES = ("train", "small")
LOSSES = ("log_loss", "zero_one")
FROZEN, BLENDED = "frozen", "recalibrated"
PLAIN = "Monte Carlo"
OURS = f"ASE, {BLENDED}", f"GuardedASE, {BLENDED}"
THEIRS = PLAIN, "LURE", "ASE", LIMIT
# The paper has medians in figure 4 and the other three in appendix C.
KINDS = tuple(product(("median", "mean"), ("squared_error", "normalised_error")))
# Median squared errors of figure 4, read off at 49 labels; ASE uses none.
IN_THE_PAPER = {
    "fashion_mnist": {LIMIT: 1.1e-4, PLAIN: 0.0029, "ASE": 5.4e-5, "LURE": 0.0008},
    "cifar10": {LIMIT: 0.00024, PLAIN: 0.0056, "ASE": 0.0005, "LURE": 0.0017},
    "cifar100": {LIMIT: 0.0008, PLAIN: 0.023, "ASE": 0.0035, "LURE": 0.010},
}

# Statement, whose median, at the first (0) or last (-1) label count, and how many times
# which others at the last it is below.
MEDIANS = {
    "zero-shot": (
        "ASE without labels is below LURE and Monte Carlo at the last label count",
        "ASE",
        -1,
        ("LURE", PLAIN),
        1,
    ),
    "near the limit": (
        "ASE without labels is within five times the error of the pool itself",
        "ASE",
        -1,
        (LIMIT,),
        5,
    ),
    "recalibrated": (
        "recalibrated ASE at the first label is below LURE and Monte Carlo at the last",
        OURS[0],
        0,
        ("LURE", PLAIN),
        1,
    ),
    "recalibrated, near the limit": (
        "recalibrated ASE at the first label is within five times the pool's error",
        OURS[0],
        0,
        (LIMIT,),
        5,
    ),
}


def paths_of(args, name, size, loss):
    """CSV files of the runs of one experiment, and of the risk on all test images."""
    names = f"{loss}.csv", f"{loss} truth.csv"
    return [result_path(args, name, size, each) for each in names]


def read(args, name, size, loss):
    """All runs and the risk of f.

    Returns
    -------
    runs : DataFrame
        One row for each run, method and number of labels. Errors are measured against
        the risk on all test images that are not in the pool.
    risk : float
        On all test images.
    """
    path, truth_path = map(finished, paths_of(args, name, size, loss))
    runs = pd.DataFrame(LabelEfficiency.load(path).columns)
    truth = pd.read_csv(truth_path).iloc[0]
    n_test, n_pool, risk = truth[["n_test", "n_pool", "risk"]]
    limit = (runs["risk"] == "ASE") & (runs["evaluator"] == FROZEN)
    limit = runs[limit].assign(risk=LIMIT, value=runs["truth"])
    # The pools of the recalibrated ensemble are the first of the same pools.
    again = (runs["risk"] == PLAIN) & (runs["evaluator"] == BLENDED)
    runs = pd.concat([runs[~again], limit], ignore_index=True)
    rest = (n_test * risk - n_pool * runs["truth"]) / (n_test - n_pool)
    difference = runs["value"] - rest
    blended = runs["evaluator"] == BLENDED
    runs = runs.assign(
        method=runs["risk"].mask(blended, runs["risk"] + f", {BLENDED}"),
        difference=difference,
        squared_error=difference**2,
        normalised_error=(difference / rest) ** 2,
    )
    return runs, risk


def report(args):
    """Print tables, draw figures, check the paper's claims."""
    pd.options.display.width = 200
    claims = Claims()
    for name, size, loss in product(args.data, SIZES, LOSSES):
        runs, risk = read(args, name, size, loss)
        title = f"{name}, {size}, {loss}"
        print(f"\n{title}: risk of f {risk:.3f}, {runs['run'].nunique()} pools")
        paper = IN_THE_PAPER[name] if (size, loss) == ("train", "log_loss") else None
        for statistic, column in KINDS:
            table = table_of(runs, statistic, column)
            print(f"\n{statistic} {column}")
            print(table.to_string(float_format="{:.2g}".format))
            path = result_path(args, f"figure 4 {title} {statistic} {column}.png")
            in_figure = paper if (statistic, column) == KINDS[0] else None
            draw_table(table, path, f"{statistic} {column}", in_figure)
        bias = table_of(runs, "mean", "difference")
        print(f"\nmean difference\n{bias.to_string(float_format='{:.2g}'.format)}")
        if paper:
            print("in the paper, median squared error at 49 labels:", paper)
        draw_differences(runs, result_path(args, f"figure 4 {title} difference.png"))
        check(claims, title, runs)
    return claims.verdict()


def table_of(runs, statistic, column):
    """A row for each method, a column for each number of labels."""
    return runs.groupby(["method", "n_labels"])[column].agg(statistic).unstack()


def draw_table(table, path, label, paper):
    """One line for each method; the paper's values, if any, beside them."""
    paper = paper and {method: {49: error} for method, error in paper.items()}
    curves = {method: table.loc[method] for method in (*THEIRS, *OURS)}
    draw_curves(curves, path, label, paper=paper)


def draw_differences(runs, path):
    """Upper row of figure 4: median of estimate - truth, 10 and 90 % quantiles."""
    differences = runs.groupby(["method", "n_labels"])["difference"]
    quantiles = differences.quantile([0.1, 0.5, 0.9]).unstack()
    curves = {method: quantiles.loc[method, 0.5] for method in THEIRS}
    bands = {method: quantiles.loc[method, [0.1, 0.9]] for method in THEIRS}
    draw_curves(curves, path, "estimate - truth", log=False, bands=bands)


def check(claims, title, runs):
    """The paper's claims for one data set, size and loss; then what we add to them."""
    errors = runs.pivot(
        index="run", columns=["n_labels", "method"], values="squared_error"
    )
    counts = sorted(runs["n_labels"].unique())
    last = errors[counts[-1]]
    for name, (statement, method, place, others, times) in MEDIANS.items():
        ours = errors[counts[place], method].dropna()
        theirs = last.loc[ours.index, list(others)]
        gaps = [median_gap(ours, theirs[other], times) for other in others]
        medians = ", ".join(f"{each:.2g}" for each in (ours.median(), *theirs.median()))
        claims.check(
            f"{title}: {name}",
            statement,
            every(below(*gap, 0) for gap in gaps),
            f"medians {medians}; differences {listed(gaps)}",
        )
    check_guarded(claims, title, runs, counts[1:])


def check_guarded(claims, title, runs, counts):
    """What we add: guarded is never worse than Monte Carlo."""
    _, method = OURS
    gaps = [error_gap(runs, count, method, PLAIN) for count in counts]
    pools = runs.loc[runs["method"] == method, "run"].unique()
    means = table_of(runs[runs["run"].isin(pools)], "mean", "squared_error")[counts]
    claims.check(
        f"{title}: guarded",
        "recalibrated guarded is below Monte Carlo at every count after the first",
        every(below(*gap, 0) for gap in gaps),
        f"at most {(means.loc[method] / means.loc[PLAIN]).max():.2g} of its error; "
        f"differences of the means on the same pools {listed(gaps)}",
    )
