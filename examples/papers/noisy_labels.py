"""
Noisy labels: the votes of CIFAR-10H
====================================

Section 8 of the paper claims that ASE does not suffer from noisy labels as LURE does.
The test images of CIFAR-10 have some fifty human votes each; a label is one vote drawn
for each image, and the truth is the expected loss under all votes. Networks and
evaluators are those of ``image_classifiers.py``, frozen as in the paper and
recalibrated. "Clean" labels are what most voters said.

    python examples/papers/noisy_labels.py --out RUNS --data-dir DIR
    python examples/papers/noisy_labels.py --out RUNS --preset paper --votes FILE

Needs the local file ``cifar10h.npz``. Its votes are of the official test images, which
therefore are the test set with either preset. What is finished is not done again.
"""

import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from claims import Claims, below, every, jackknife, listed
from common import finished, parser, result_path
from image_classifiers import RISKS, evaluators, make_scenario
from image_classifiers_report import BLENDED, FROZEN
from image_networks import predictions, preset_of

from sklearn_ase.simulation import LabelEfficiency, label_efficiency_curve

SEED = 20221208
COUNTS = (10, 25, 50, 100, 200)
LOSSES = ("log_loss", "zero_one")
KINDS = ("clean", "noisy")


def votes(path, y):
    """Share of each class among the votes for each test image.

    Parameters
    ----------
    path : path of ``cifar10h.npz``
    y : ndarray of shape (n_test,)
        Labels of the test images, with which most votes agree.

    Returns
    -------
    share : ndarray of shape (n_test, 10)
    """
    with np.load(path) as file:
        counts = file["counts"].astype(float)
    if len(counts) != len(y) or np.mean(counts.argmax(axis=1) == y) < 0.9:
        raise SystemExit(
            f"The {len(counts)} votes of {path} are not of these {len(y)} images in "
            "this order."
        )
    return counts / counts.sum(axis=1, keepdims=True)


def path_of(args, loss, kind):
    return result_path(args, "votes", loss, f"{kind}.csv")


def simulate(args, loss, kind):
    """Draw pools and labels; buy some of these."""
    preset = replace(preset_of(args), n_test=None)
    proba, members, y = predictions(args, preset, "cifar10", "train")
    share = votes(args.votes, y[: len(y) - preset.n_check])
    if kind == "clean":
        share = np.eye(10)[share.argmax(axis=1)]
    label_efficiency_curve(
        evaluators(proba, members, loss),
        lambda seed: make_scenario(preset, proba, y, seed, share),
        risks=RISKS,
        n_labels=[count for count in COUNTS if count <= preset.n_pool],
        n_runs=args.runs or -(-preset.n_pools // 5),
        random_state=SEED,
        n_jobs=args.jobs,
        verbose=1,
        path=path_of(args, loss, kind),
    )


def read(args, loss):
    """Estimates less the truth, a column for each method.

    Returns
    -------
    differences : DataFrame
        Indexed by kind of label, number of labels and run; a run has the same pool with
        clean and with noisy labels.
    """
    parts = {}
    for kind in KINDS:
        path = finished(path_of(args, loss, kind))
        runs = pd.DataFrame(LabelEfficiency.load(path).columns)
        runs["method"] = runs["risk"] + " " + runs["evaluator"]
        runs["difference"] = runs["value"] - runs["truth"]
        parts[kind] = runs.pivot(
            index=["n_labels", "run"], columns="method", values="difference"
        )
    return pd.concat(parts, names=["kind"])


def growth(errors):
    """Mean squared error with noise over that without, of each number of labels."""
    means = errors.groupby(["kind", "n_labels"]).mean()
    return means.loc["noisy"] / means.loc["clean"]


def report(args):
    """Print mean squared errors with and without noise, check the claim."""
    claims = Claims()
    for loss in LOSSES:
        differences = read(args, loss)
        errors = differences**2
        n_pools = errors.index.get_level_values("run").nunique()
        tables = {"mean squared error": errors, "bias": differences}
        for (name, table), kind in product(tables.items(), KINDS):
            means = table.loc[kind].groupby("n_labels").mean().T
            print(f"\n{loss}, {kind}, {n_pools} pools: {name}")
            print(means.to_string(float_format="{:.2g}".format))
        ratios = growth(errors).T
        print(f"\n{loss}: noisy / clean")
        print(ratios.assign(mean=ratios.mean(axis=1)).round(2).to_string())
        for kind in (FROZEN, BLENDED):
            check_growth(claims, loss, errors, f"ASE {kind}", f"LURE {kind}")
        for method in (f"ASE {FROZEN}", f"ASE {BLENDED}", f"GuardedASE {BLENDED}"):
            check_noisy(claims, loss, errors, method)
    return claims.verdict()


def check_growth(claims, loss, errors, method, other):
    """Section 8: noise raises the error of LURE, not that of ASE."""

    def difference(errors):
        found = growth(errors).mean()
        return found[method] - found[other]

    gap, error = jackknife(errors, difference)
    found = growth(errors).mean()
    claims.check(
        f"{loss}, growth, {method}",
        f"noise raises its error less than {other}'s, on average over label counts",
        below(gap, error, 0),
        f"{found[method]:.2f} and {found[other]:.2f} times, {gap:.2f} ± {error:.2g}",
    )


def check_noisy(claims, loss, errors, method):
    """With noisy labels a method is below LURE as the paper has it."""
    gaps = errors.loc["noisy"][method] - errors.loc["noisy"][f"LURE {FROZEN}"]
    gaps = gaps.groupby("n_labels").agg(["mean", "sem"])
    claims.check(
        f"{loss}, noisy, {method}",
        "below LURE with noisy labels at every label count",
        every(below(*gap, 0) for gap in gaps.to_numpy()),
        f"differences {listed(gaps.to_numpy())}",
    )


def main(argv=None):
    arguments = parser(__doc__)
    arguments.add_argument("--votes", help="cifar10h.npz, if it is not in --data-dir")
    args = arguments.parse_args(argv)
    if not args.report:
        if not (args.votes or args.data_dir):
            raise SystemExit("--votes is needed: the votes have no public loader.")
        args.votes = args.votes or Path(args.data_dir) / "cifar10h.npz"
        Path(args.out).mkdir(parents=True, exist_ok=True)
        for loss, kind in product(LOSSES, KINDS):
            simulate(args, loss, kind)
    return report(args)


if __name__ == "__main__":
    sys.exit(main())
