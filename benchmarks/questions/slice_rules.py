"""How should groups with few labels learn from the other groups?

Reads the runs of slices.py and applies several rules to them. Printed is the mean
squared error of each rule divided by that of guarding each group by itself, at 50, 100
and 200 labels: as it is; if the surrogate's estimates of all groups are moved by 0.1;
and if that of one group is, for this group and for the others.

    cd benchmarks/questions
    python slices.py --data-dir DIR --out RUNS --runs 12 --seed 1234
    python slice_rules.py --out RUNS --runs 12 --seed 1234
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from sklearn_ase._inference._evidence import CALIBRATED, WORTH, errors_of_groups

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from slices import COUNTS, N_POOL, TASKS, read
from tables import slashed

KEYS = ["metric", "task", "seed", "n_labels"]


def guarded(gaps, variances, one_label):
    """Expected errors, each group by itself."""
    spread = variances[:, None] * one_label / (WORTH * np.array(CALIBRATED[0]))
    total = variances[:, None] + spread
    weight = CALIBRATED[1] * np.exp(-0.5 * gaps[:, None] ** 2 / total) / total**0.5
    weight /= weight.sum(axis=1, keepdims=True)
    return np.sum(weight * spread / total, axis=1) * gaps


def fay_herriot(gaps, variances, has_mean):
    """Expected errors, if they vary around a common mean or around 0."""
    precision = 1.0 / variances
    mean = precision @ gaps / precision.sum() if has_mean else 0.0
    lost = precision @ precision / precision.sum() if has_mean else 0.0
    excess = precision @ (gaps - mean) ** 2 - (len(gaps) - has_mean)
    left = precision.sum() - lost
    between = max(excess / left, 0.0) if left > 0 else 0.0
    if has_mean:
        weight = 1.0 / (variances + between)
        mean = weight @ gaps / weight.sum()
    return mean + between / (between + variances) * (gaps - mean)


def rules(gaps, variances, common, n_labels):
    """Expected error of the surrogate in each group, by rule."""
    one_label = n_labels / (1.0 - n_labels / N_POOL)
    alone, limit = guarded(gaps, variances, one_label), variances**0.5
    around_0 = fay_herriot(gaps, variances, False)
    shared = {"one_label": one_label, "worth": WORTH, "is_calibrated": True}
    return {
        "each group by itself": alone,
        "Fay-Herriot, around a common mean": fay_herriot(gaps, variances, True),
        "Fay-Herriot, around 0": around_0,
        "the same, within a standard error": gaps
        - np.clip(gaps - around_0, -limit, limit),
        "error on the pool, rest by itself": common
        + guarded(gaps - common, variances, one_label),
        "shared worth": errors_of_groups(gaps, variances, 0.0, **shared),
        "shared worth and common error": errors_of_groups(
            gaps, variances, common, **shared
        ),
        "the surrogate alone": np.zeros(len(gaps)),
    }


def squares(runs, moved, is_one):
    """Squared errors of all rules, with estimates of the surrogate that are moved."""
    rng, found = np.random.default_rng(0), []
    for key, part in runs.groupby(KEYS):
        surrogate = part["surrogate"].to_numpy(copy=True)
        is_moved = np.ones(len(part), dtype=bool)
        if is_one:
            is_moved = np.arange(len(part)) == rng.integers(len(part))
        surrogate[is_moved] += moved
        gaps = surrogate - part["corrected"].to_numpy()
        variances = part["error"].to_numpy() ** 2
        # The groups have about the same size: their mean stands for the pool.
        total = 1.0 / np.sum(1.0 / variances)
        pooled = np.array([gaps @ (1.0 / variances) * total])
        one_label = key[-1] / (1.0 - key[-1] / N_POOL)
        common = guarded(pooled, np.array([total]), one_label)[0]
        for rule, errors in rules(gaps, variances, common, key[-1]).items():
            square = (surrogate - errors - part["truth"].to_numpy()) ** 2
            frame = pd.DataFrame({"rule": rule, "moved": is_moved, "square": square})
            found.append(frame.assign(metric=key[0], n_labels=key[-1]))
    return pd.concat(found)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="directory of the runs")
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1234)
    args = parser.parse_args(argv)
    args.tasks = list(TASKS)
    runs = read(args)
    runs = runs[(runs["n_in_group"] > 1) & (runs["error"] > 0) & runs["low"].notna()]
    cases = [(0.0, False, True), (0.1, False, True), (0.1, True, True)]
    names = ["as it is", "all moved", "the moved one", "the others"]
    columns = {}
    for name, case in zip(names, [*cases, (0.1, True, False)], strict=True):
        found = squares(runs, *case[:2])
        found = found[found["moved"] == case[2]]
        mean = found.groupby(["metric", "n_labels", "rule"], sort=False)
        mean = mean["square"].mean().unstack("rule")
        columns[name] = mean.div(mean["each group by itself"], axis=0)
    print(f"At {' / '.join(map(str, COUNTS))} labels:\n")
    print(f"| metric | rule | {' | '.join(columns)} |")
    print("|---|---|" + "---|" * len(columns))
    for metric in ("accuracy", "f1"):
        for rule in columns["as it is"]:
            texts = [slashed(column.loc[metric, rule]) for column in columns.values()]
            print(f"| {metric} | {rule} | {' | '.join(texts)} |")


if __name__ == "__main__":
    main()
