"""Tables, figures and claims of ``missing_class.py``, from its CSV files alone."""

import pandas as pd
from claims import Claims, below, error_gap, every, none_of
from common import draw_curves, finished, result_path

from sklearn_ase.simulation import LabelEfficiency

GROUPS = ("arg max", "sampling", "constant")
SHARE = "share of sevens"
SEVENS = 0.104  # Their share of all images.
PLAIN = "Monte Carlo"
PICTURES = {
    "figure 1": [PLAIN, "LURE ~E[loss]", "ASE XWED", "Guarded default"],
    "figure 3a": [
        PLAIN,
        "ASE XWED",
        "ASE BALD",
        "ASE ~E[loss]",
        "ASE E[loss]",
        "ASE Uniform",
    ],
    "figure 3b": [PLAIN, "LURE ~E[loss]", "LURE ~XWED", "LURE ~BALD"],
    "appendix B2": [PLAIN, "ASE constant ~E[loss]", "LURE constant ~E[loss]"],
    "appendix B3": [PLAIN, "ASE XWED", "ASE ~XWED", "ASE ~BALD"],
}
# Of figure 2.
ACQUISITIONS = ("XWED", "BALD", "~E[loss]", "Uniform")
# "Normalised" is appendix C's, by the squared true loss of f; the ratio is ours.
KINDS = (
    "mean_squared_error",
    "median_squared_error",
    "mean_normalised_error",
    "median_normalised_error",
    "ratio",
)
# Mean squared errors read off the authors' published curves, to about ten per cent.
COUNTS = (100, 500, 1000, 2000, 4950)
READ_OFF = {
    PLAIN: (0.14, 0.037, 0.017, 0.0090, 0.0036),
    "LURE ~E[loss]": (0.39, 0.024, 0.0077, 0.0029, 0.0007),
    "ASE XWED": (0.5, 0.0019, 0.00048, 0.00038, 0.00008),
    "ASE BALD": (0.88, 0.017, 0.0023, 0.0004, 0.0001),
    "ASE ~E[loss]": (0.20, 0.0099, 0.0018, 0.0009, 0.0009),
    "LURE ~XWED": (0.10, 0.15, 0.20, 0.21, 0.15),
    "LURE ~BALD": (0.11, 0.16, 0.11, 0.11, 0.07),
    "ASE constant ~E[loss]": (1.8, 1.8, 1.8, 1.8, 1.8),
    "LURE constant ~E[loss]": (680, 29, 6.9, None, 0.26),
}
IN_THE_PAPER = {
    name: {
        count: value
        for count, value in zip(COUNTS, values, strict=True)
        if value is not None
    }
    for name, values in READ_OFF.items()
}
AGAINST_PLAIN = {
    "b": (
        "LURE sampling by XWED or BALD is no better than Monte Carlo",
        none_of,
        ["LURE ~XWED", "LURE ~BALD"],
    ),
    "c": (
        "with a constant surrogate neither is better than Monte Carlo",
        none_of,
        ["ASE constant ~E[loss]", "LURE constant ~E[loss]"],
    ),
    "figure 3a": (
        "ASE is below Monte Carlo with every acquisition of the paper",
        every,
        ["ASE XWED", "ASE BALD", "ASE ~E[loss]"],
    ),
    "B3": (
        "ASE sampling by XWED or BALD is below Monte Carlo",
        every,
        ["ASE ~XWED", "ASE ~BALD"],
    ),
}
AGAINST_OTHERS = {
    "figure 3a, best": (
        "of the acquisitions by arg max XWED is the best for ASE",
        "ASE XWED",
        ["ASE BALD", "ASE E[loss]"],
    ),
    "figure 3b, best": (
        "expected loss is the best acquisition for LURE",
        "LURE ~E[loss]",
        ["LURE ~XWED", "LURE ~BALD"],
    ),
}


def path_of(args, group):
    """CSV file of the runs of one group of acquisitions."""
    return result_path(args, args.surrogate, f"{group}.csv")


def read(args):
    """All runs, and the shares of sevens among their labels.

    Returns
    -------
    runs : DataFrame
        One row for each run, method ("ASE XWED") and number of labels.
    shares : DataFrame
        Means over runs, a row for each number of labels, a column for each acquisition.
    """
    files = [finished(path_of(args, group)) for group in GROUPS]
    parts = [pd.DataFrame(LabelEfficiency.load(file).columns) for file in files]
    runs = pd.concat(parts, ignore_index=True)
    shares = runs[runs["risk"] == SHARE].groupby(["n_labels", "evaluator"])["value"]
    runs = runs[runs["risk"] != SHARE]
    plain = runs["risk"] == PLAIN
    # Every acquisition has the same plain samples beside it.
    runs = runs[~plain | (runs["evaluator"] == "default")]
    method = (runs["risk"] + " " + runs["evaluator"]).mask(plain, PLAIN)
    squared = (runs["value"] - runs["truth"]) ** 2
    runs = runs.assign(
        method=method,
        squared_error=squared,
        normalised_error=squared / runs["truth"] ** 2,
    )
    return runs, shares.mean().unstack()


def summarise(runs):
    """Figures over the runs, indexed by method and number of labels."""
    columns = {name: column.to_numpy() for name, column in runs.items()}
    columns["evaluator"] = columns["method"]
    figures = pd.DataFrame(LabelEfficiency(columns).summary())
    figures = figures.set_index(["evaluator", "n_labels"]).rename_axis(
        index={"evaluator": "method"}
    )
    normalised = runs.groupby(["method", "n_labels"])["normalised_error"]
    return figures.assign(
        mean_normalised_error=normalised.mean(),
        median_normalised_error=normalised.median(),
    )


def report(args, preset):
    """Print tables, draw figures, check the paper's claims."""
    runs, shares = read(args)
    figures = summarise(runs)
    pd.options.display.width = 200
    print(f"{int(figures['n_runs'].min())} runs")
    for kind in (*KINDS, "ratio_error"):
        table = figures[kind].unstack("n_labels")
        print(f"\n{kind}\n{table.to_string(float_format='{:.2g}'.format)}")
    print(f"\n{SHARE}\n{shares.T.round(2).to_string()}")
    for name, methods in PICTURES.items():
        for kind in KINDS:
            curves = {method: figures.loc[method, kind] for method in methods}
            path = result_path(args, args.surrogate, f"{name} {kind}.png")
            paper = IN_THE_PAPER if kind == "mean_squared_error" else None
            draw_curves(curves, path, kind, paper=paper)
    path = result_path(args, args.surrogate, "figure 2.png")
    draw_curves({name: shares[name] for name in ACQUISITIONS}, path, SHARE, log=False)
    claims = Claims()
    check_errors(claims, figures, runs)
    check_shares(claims, shares, preset.n_pool)
    return claims.verdict()


def against_plain(figures, methods, count):
    """Of each method whether it is below Monte Carlo, and the numbers."""
    ratio, error = figures["ratio"], figures["ratio_error"]
    outcomes = [below(ratio[m, count], error[m, count], 1) for m in methods]
    numbers = [f"{m} {ratio[m, count]:.2g} ± {error[m, count]:.2g}" for m in methods]
    return outcomes, ", ".join(numbers) + " of Monte Carlo's error"


def against_others(runs, method, others, count):
    """Of each other method whether the first is below it, and the numbers."""
    gaps = [error_gap(runs, count, method, other) for other in others]
    numbers = [
        f"{gap:.2g} ± {error:.2g} from {other}'s"
        for other, (gap, error) in zip(others, gaps, strict=True)
    ]
    return [below(*gap, 0) for gap in gaps], ", ".join(numbers)


def check_errors(claims, figures, runs):
    """The paper's claims on errors at the last label count; then what we add."""
    last = runs["n_labels"].max()
    below_plain, ratios = against_plain(figures, ["ASE XWED"], last)
    below_lure, gaps = against_others(runs, "ASE XWED", ["LURE ~E[loss]"], last)
    claims.check(
        "a",
        f"at {last} labels, once the shift is learned, ASE XWED is below LURE and "
        "Monte Carlo",
        every(below_plain + below_lure),
        f"{ratios}, {gaps}",
    )
    for name, (statement, quantifier, methods) in AGAINST_PLAIN.items():
        outcomes, ratios = against_plain(figures, methods, last)
        claims.check(name, f"{statement} at {last}", quantifier(outcomes), ratios)
    for name, (statement, method, others) in AGAINST_OTHERS.items():
        outcomes, gaps = against_others(runs, method, others, last)
        claims.check(name, f"{statement} at {last}", every(outcomes), gaps)
    counts = [count for count in figures.loc["Guarded default"].index if count >= 10]
    outcomes = [against_plain(figures, ["Guarded default"], m)[0][0] for m in counts]
    worst = max(counts, key=lambda m: figures["ratio"]["Guarded default", m])
    claims.check(
        "better",
        "the guarded estimate is below Monte Carlo at every label count from 10 on",
        every(outcomes),
        f"at {worst} {against_plain(figures, ['Guarded default'], worst)[1]}",
    )


def check_shares(claims, shares, n_pool):
    """Figure 2: which acquisition buys sevens, and for how long."""
    steps = {name: steps_of(shares[name], n_pool) for name in ACQUISITIONS}
    found = {name: focuses_then_diversifies(step) for name, step in steps.items()}
    claims.check(
        "d",
        "XWED acquires sevens first and then diversifies, BALD and E[loss] do not",
        found["XWED"] and not found["BALD"] and not found["~E[loss]"],
        "; ".join(f"{name} {step.round(2).to_dict()}" for name, step in steps.items()),
    )


def steps_of(shares, n_pool):
    """Share of sevens among the labels bought since the count before.

    Only while no more than half of the pool's sevens are bought: after that an
    acquisition that wants nothing else has to diversify, too.
    """
    counts = shares.index.to_series()
    bought = shares * counts
    steps = bought.diff().fillna(bought) / counts.diff().fillna(counts)
    return steps[bought <= SEVENS * n_pool / 2]


def focuses_then_diversifies(steps):
    """Whether sevens are most of the labels at some time, and last half as many."""
    return steps.max() > 0.5 and steps.iloc[-1] < steps.max() / 2
