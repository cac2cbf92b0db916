"""Tables, figures and claims of ``missing_class.py``, from its CSV files alone."""

from itertools import product
from pathlib import Path

import pandas as pd
from claims import Claims
from common import draw_curves, finished, result_path
from missing_class_claims import ACQUISITIONS, PLAIN, check_errors, check_shares

from sklearn_ase.simulation import LabelEfficiency

GROUPS = ("arg max", "sampling", "constant")
SHARE = "share of sevens"
PICTURES = {
    "figure 1": [PLAIN, "LURE ~E[loss]", "ASE XWED", "GuardedASE default"],
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
        A row for each number of labels and run, a column for each acquisition.
    """
    files = [path_of(args, group) for group in GROUPS]
    files = [finished(files[0]), *filter(Path.exists, files[1:])]
    parts = [pd.DataFrame(LabelEfficiency.load(file).columns) for file in files]
    runs = pd.concat(parts, ignore_index=True)
    shares = runs[runs["risk"] == SHARE].pivot(
        index=["n_labels", "run"], columns="evaluator", values="value"
    )
    runs = runs[runs["risk"] != SHARE]
    plain = runs["risk"] == PLAIN
    # Every acquisition has the same plain samples beside it.
    runs = runs[~plain | (runs["evaluator"] == runs["evaluator"].iloc[0])]
    method = (runs["risk"] + " " + runs["evaluator"]).mask(plain, PLAIN)
    squared = (runs["value"] - runs["truth"]) ** 2
    runs = runs.assign(
        method=method,
        squared_error=squared,
        normalised_error=squared / runs["truth"] ** 2,
    )
    return runs, shares


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
    """Print tables, draw figures, check the paper's claims.

    While only the runs by arg max are finished, there are tables of these alone.
    """
    runs, shares = read(args)
    figures = summarise(runs)
    pd.options.display.width = 200
    risks = runs.drop_duplicates("run")["truth"]
    print(
        f"{len(risks)} runs, log loss of f {risks.mean():.2f}, standard deviation "
        f"{risks.std():.2f}; ratios are to the exact variance of a random sample"
    )
    for kind in (*KINDS, "ratio_error", "bias"):
        table = figures[kind].unstack("n_labels")
        print(f"\n{kind}\n{table.to_string(float_format='{:.2g}'.format)}")
    mean_shares = shares.groupby("n_labels").mean()
    print(f"\n{SHARE}\n{mean_shares.T.round(2).to_string()}")
    if not all(path_of(args, group).exists() for group in GROUPS):
        return 0
    draw_pictures(args, runs, figures, mean_shares)
    claims = Claims()
    check_errors(claims, figures, runs)
    check_shares(claims, shares, preset.n_pool)
    return claims.verdict()


def draw_pictures(args, runs, figures, shares):
    """Figures of the paper in each kind of error, and the shares of sevens."""
    for (name, methods), kind in product(PICTURES.items(), KINDS):
        curves = {method: figures.loc[method, kind] for method in methods}
        path = result_path(args, args.surrogate, f"{name} {kind}.png")
        paper = IN_THE_PAPER if kind == "mean_squared_error" else None
        bands = bands_of(runs, methods, kind) if kind.startswith("mean") else None
        draw_curves(curves, path, kind, paper=paper, bands=bands)
    path = result_path(args, args.surrogate, "figure 2.png")
    draw_curves({name: shares[name] for name in ACQUISITIONS}, path, SHARE, log=False)


def bands_of(runs, methods, kind):
    """Two standard errors about the means, as in the paper's figures."""
    column = kind.removeprefix("mean_")
    figures = runs.groupby(["method", "n_labels"])[column].agg(["mean", "sem"])
    low, high = (figures["mean"] + sign * figures["sem"] for sign in (-2, 2))
    ends = pd.DataFrame({"low": low, "high": high})
    return {method: ends.loc[method] for method in methods}
