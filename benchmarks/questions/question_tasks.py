"""Tasks for metrics: rare, common and shifted classes, many classes, and numbers.

In the first three groups one class stands against the rest. The positive class has the
label 1; its share stands in the name of the task. In "rare of many" some of many
classes have .2 to .6 % of the rows, in training rows and pool alike.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from sklearn_ase.metrics import LabelMean

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from tasks import (
    boosting,
    boosting_regressor,
    linear,
    read_digits,
    read_mnist,
    sampler,
    table,
    take,
    tree,
)

USUAL = {"n_train": 1000, "n_pool": 2000}
LARGE = {"n_train": 2000, "n_pool": 4000}


def binary(load, place):
    """The same rows, labelled 1 for one class, told by its place in rarity."""

    def read(data_dir):
        X, y = load(data_dir)
        names, counts = np.unique(y, return_counts=True)
        return X, (np.asarray(y) == names[np.argsort(counts)[place]]).astype(int)

    return read


pendigits = table("pendigits", "class")
covertypes = table("covertype_sample", "Cover_Type")
adult = binary(table("adult", "class", ["split"]), 0)
bank = binary(table("bank_marketing_additional_full", "y"), 0)
covertype = binary(covertypes, -2)
phoneme = binary(table("phoneme", "class"), 0)
california = table("california_housing", "median_house_value")
bikeshare = table("bikeshare", "bikers", ["casual", "registered"])


def thinned(load, shares):
    """The same rows, but only a share of those of some classes, drawn once."""

    def read(data_dir):
        X, y = load(data_dir)
        rng, kept = np.random.default_rng(0), np.ones(len(y), dtype=bool)
        for label, share in shares.items():
            rows = rng.permutation(np.flatnonzero(y == label))
            kept[rows[round(share * len(rows)) :]] = False
        rows = np.flatnonzero(kept)
        return take(X, rows), y[rows]

    return read


def in_classes(load, shares):
    """Numbers as classes in order, of which each has about that share of the rows."""

    def read(data_dir):
        X, y = load(data_dir)
        return X, np.digitize(y, np.quantile(y, np.cumsum(shares)[:-1]))

    return read


def _young(X, y):
    return X["age"].to_numpy() < 30


def _diabetes(data_dir):
    return load_diabetes(return_X_y=True)


def _tree_regressor():
    return DecisionTreeRegressor(min_samples_leaf=5, random_state=0)


@dataclass(frozen=True)
class Group:
    """Tasks that are asked the same.

    Attributes
    ----------
    metrics : dict of str to metric
        What is estimated.
    bought_for : tuple of str
        Metrics for which labels are bought, one evaluation each.
    tasks : dict of str to callable
        See :func:`tasks.sampler`.
    """

    metrics: dict
    bought_for: tuple
    tasks: dict


def _by_name(*names):
    return {name: name for name in names}


OF_ONE_CLASS = _by_name(
    "accuracy",
    "precision",
    "recall",
    "f1",
    "balanced_accuracy",
    "matthews_corrcoef",
    "roc_auc",
    "average_precision",
)
OF_CLASSES = _by_name("accuracy", "f1_macro", "balanced_accuracy", "cohen_kappa")
OF_RARE_CLASSES = {**OF_CLASSES, **_by_name("precision_macro")}
OF_NUMBERS = {
    **_by_name("r2", "explained_variance", "neg_root_mean_squared_error"),
    "label_mean": LabelMean(),
}
NUMBERS = {**USUAL, "is_scaled": True}
GROUPS = {
    "rare": Group(
        OF_ONE_CLASS,
        ("f1", "roc_auc"),
        {
            "mnist 1 %": sampler(read_mnist, linear, rare=(8, 0.01), **LARGE),
            "pendigits 0.5 %": sampler(pendigits, boosting, rare=(9, 0.005), **LARGE),
            "pendigits 3 %": sampler(pendigits, tree, rare=(5, 0.03), **USUAL),
            "adult 2 %": sampler(adult, boosting, rare=(1, 0.02), **LARGE),
            "bank 5 %": sampler(bank, linear, rare=(1, 0.05), **USUAL),
        },
    ),
    "common": Group(
        OF_ONE_CLASS,
        ("accuracy", "f1"),
        {
            "adult 24 %": sampler(adult, boosting, **USUAL),
            "bank 11 %": sampler(bank, linear, **USUAL),
            "phoneme 29 %": sampler(phoneme, tree, **USUAL),
            "covertype 36 %": sampler(covertype, boosting, **USUAL),
        },
    ),
    "shift": Group(
        OF_ONE_CLASS,
        ("accuracy", "f1", "roc_auc"),
        {"adult young": sampler(adult, boosting, keep=_young, **USUAL)},
    ),
    "multi-class": Group(
        OF_CLASSES,
        ("f1_macro",),
        {
            "pendigits": sampler(pendigits, tree, **USUAL),
            "covertype": sampler(covertypes, boosting, **USUAL),
            "digits": sampler(read_digits, linear, n_train=500, n_pool=1200),
        },
    ),
    "rare of many": Group(
        OF_RARE_CLASSES,
        ("f1_macro", "accuracy"),
        {
            "mnist, 2 rare": sampler(
                thinned(read_mnist, {4: 0.03, 9: 0.05}), linear, **USUAL
            ),
            "covertype, 2 rare": sampler(
                thinned(covertypes, {3: 0.02, 6: 0.03}), boosting, **USUAL
            ),
            "california, 5 classes": sampler(
                in_classes(california, (0.002, 0.05, 0.35, 0.5, 0.098)),
                boosting,
                **USUAL,
            ),
        },
    ),
    "regression": Group(
        OF_NUMBERS,
        ("r2", "neg_root_mean_squared_error"),
        {
            "california": sampler(california, boosting_regressor, **NUMBERS),
            "bikeshare": sampler(bikeshare, _tree_regressor, **NUMBERS),
            "diabetes": sampler(
                _diabetes, Ridge, n_train=120, n_pool=300, is_scaled=True
            ),
        },
    ),
}
GROUP_OF = {task: name for name, group in GROUPS.items() for task in group.tasks}
