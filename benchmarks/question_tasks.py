"""Tasks for metrics: one class against the rest, rare and common, three kinds of model.

The positive class has the label 1. Its name and share stand in the name of the task.
"""

import numpy as np
from tasks import boosting, linear, read_mnist, sampler, table, tree

pendigits = table("pendigits", "class")
USUAL = {"n_train": 1000, "n_pool": 2000}
LARGE = {"n_train": 2000, "n_pool": 4000}


def binary(load, place):
    """The same rows, labelled 1 for one class, told by its place in rarity."""

    def read(data_dir):
        X, y = load(data_dir)
        names, counts = np.unique(y, return_counts=True)
        return X, (np.asarray(y) == names[np.argsort(counts)[place]]).astype(int)

    return read


adult = binary(table("adult", "class", ["split"]), 0)
bank = binary(table("bank_marketing_additional_full", "y"), 0)
covertype = binary(table("covertype_sample", "Cover_Type"), -2)
phoneme = binary(table("phoneme", "class"), 0)


def _young(X, y):
    return X["age"].to_numpy() < 30


RARE = {
    "mnist 1 %": sampler(read_mnist, linear, rare=(8, 0.01), **LARGE),
    "pendigits 0.5 %": sampler(pendigits, boosting, rare=(9, 0.005), **LARGE),
    "pendigits 3 %": sampler(pendigits, tree, rare=(5, 0.03), **USUAL),
    "adult 2 %": sampler(adult, boosting, rare=(1, 0.02), **LARGE),
    "bank 5 %": sampler(bank, linear, rare=(1, 0.05), **USUAL),
}
COMMON = {
    "adult 24 %": sampler(adult, boosting, **USUAL),
    "bank 11 %": sampler(bank, linear, **USUAL),
    "phoneme 29 %": sampler(phoneme, tree, **USUAL),
    "covertype 36 %": sampler(covertype, boosting, **USUAL),
}
SHIFT = {"adult young": sampler(adult, boosting, keep=_young, **USUAL)}
QUESTION_TASKS = {**RARE, **COMMON, **SHIFT}


def group_of(task):
    """Whether the positive class is rare or common, or the pool has shifted."""
    return "rare" if task in RARE else "common" if task in COMMON else "shift"
