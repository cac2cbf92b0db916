"""
Noisy labels: the votes of CIFAR-10H
====================================

Section 8 of the paper claims that ASE does not suffer from noisy labels as LURE does.
The test images of CIFAR-10 have some fifty human votes each; a label is one vote drawn
for each image, and the truth is the expected loss under all votes. Networks and
evaluators are those of ``image_classifiers.py``, frozen as in the paper and
recalibrated. "Clean" labels are what most voters said.

    python examples/papers/noisy_labels.py --out RUNS --data-dir DIR

Needs the local file ``cifar10h.npz``. What is finished is not done again.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from common import Claims, parser
from image_classifiers import (
    BLENDED,
    FROZEN,
    PRESETS,
    RISKS,
    evaluators,
    make_scenario,
    predictions,
)

from sklearn_ase.simulation import LabelEfficiency, label_efficiency_curve

SEED = 20221208
COUNTS = (10, 25, 50, 100, 200)
LOSSES = ("log_loss", "zero_one")


def votes(data_dir):
    """Share of each class among the votes for each test image."""
    with np.load(Path(data_dir) / "cifar10h.npz") as file:
        counts = file["counts"].astype(float)
    return counts / counts.sum(axis=1, keepdims=True)


def path_of(args, loss, kind):
    return Path(args.out) / f"{args.preset} votes {loss} {kind}.csv"


def simulate(args, loss, kind):
    """Draw pools and labels; buy some of these."""
    preset = PRESETS[args.preset]
    proba, members, y = predictions(args, "cifar10", "train")
    share = votes(args.data_dir)
    if kind == "clean":
        share = np.eye(10)[share.argmax(axis=1)]
    label_efficiency_curve(
        evaluators(proba, members, loss),
        lambda seed: make_scenario(args.preset, proba, y, seed, share),
        risks=RISKS,
        n_labels=[count for count in COUNTS if count <= preset.n_pool],
        n_runs=args.runs or preset.n_pools // 5 + 1,
        random_state=SEED,
        n_jobs=args.jobs,
        verbose=1,
        path=path_of(args, loss, kind),
    )


def report(args):
    """Print mean squared errors with and without noise, check the claim."""
    claims = Claims()
    for loss in LOSSES:
        errors = {}
        for kind in ("clean", "noisy"):
            result = LabelEfficiency.load(path_of(args, loss, kind))
            figures = pd.DataFrame(result.summary())
            figures["method"] = figures["risk"] + " " + figures["evaluator"]
            errors[kind] = figures.pivot(
                index="method", columns="n_labels", values="mean_squared_error"
            )
            print(
                f"\n{loss}, {kind}, {figures['n_runs'].max()} pools: mean squared error"
            )
            print(errors[kind].to_string(float_format="{:.2g}".format))
        noisy = errors["noisy"][errors["noisy"].columns[:3]].mean(axis=1)
        lure = noisy[f"LURE {FROZEN}"]
        for method in (f"ASE {FROZEN}", f"ASE {BLENDED}", f"Guarded {BLENDED}"):
            claims.check(
                f"{loss}, {method}",
                "below LURE with noisy labels, on average over the first label counts",
                noisy[method] < lure,
                f"{noisy[method]:.2g} and {lure:.2g}",
            )
    return claims.verdict()


def main(argv=None):
    args = parser(__doc__, list(PRESETS)).parse_args(argv)
    if args.data_dir is None:
        raise SystemExit("--data-dir is needed: the votes have no public loader.")
    Path(args.out).mkdir(parents=True, exist_ok=True)
    if not args.report:
        for loss in LOSSES:
            for kind in ("clean", "noisy"):
                simulate(args, loss, kind)
    return report(args)


if __name__ == "__main__":
    sys.exit(main())
