"""Other people's estimators, fitted with their randomness fixed by one number."""

import sys
from contextlib import contextmanager

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline


def fit_seeded(estimator, seed, X, y, **fit_params):
    """A copy of the estimator, fitted; `seed` fixes what it draws.

    Networks of torch draw from a generator that all share, so it is seeded for the time
    of the fit and then brought back.
    """
    model = seeded(estimator, seed)
    with torch_seed(seed):
        return model.fit(X, _targets(model, y), **fit_params)


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


@contextmanager
def torch_seed(seed):
    """Torch's random numbers fixed by `seed` inside, untouched outside."""
    torch = sys.modules.get("torch")  # A network cannot be here if torch is not.
    if torch is None:
        yield
        return
    # Asking for devices would start CUDA, which forked processes do not survive.
    cuda = torch.cuda.is_initialized()
    devices = range(torch.cuda.device_count()) if cuda else ()
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


def _targets(model, y):
    """Labels in the form that the model takes: regressors of skorch want a column."""
    skorch = sys.modules.get("skorch")
    last = model[-1] if isinstance(model, Pipeline) else model
    if skorch is not None and isinstance(last, skorch.NeuralNetRegressor):
        return np.asarray(y, dtype=np.float32).reshape(-1, 1)
    return y
