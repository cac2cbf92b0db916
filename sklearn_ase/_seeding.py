"""Randomness of other people's estimators, fixed by one number."""

import numpy as np
from sklearn.base import clone


def seeded(estimator, seed):
    """An unfitted copy whose open ``random_state`` parameters are fixed by `seed`."""
    copy = clone(estimator)
    rng = np.random.default_rng(seed)
    names = sorted(copy.get_params()) if hasattr(copy, "get_params") else ()
    open_names = [
        name
        for name in names
        if name.rpartition("__")[2] == "random_state"
        and copy.get_params()[name] is None
    ]
    seeds = rng.integers(np.iinfo(np.int32).max, size=len(open_names))
    if open_names:
        copy.set_params(**dict(zip(open_names, map(int, seeds), strict=True)))
    return copy
