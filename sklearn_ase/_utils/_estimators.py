"""Fit estimators so that one number fixes all that they draw at random."""

import sys
from contextlib import contextmanager

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from sklearn_ase._utils._checks import shown
from sklearn_ase._utils._unwrapping import last_step


def check_seed(random_state):
    """Return a RandomState; what cannot be one is refused by name."""
    try:
        if not isinstance(random_state, (bool, np.bool_)):
            return check_random_state(random_state)
    except (TypeError, ValueError):
        pass
    raise ValueError(
        f"random_state={shown(random_state)} must be None, an integer >= 0 or a "
        "numpy.random.RandomState."
    )


def draw_seed(random_state):
    """Return the seed of an evaluation, an integer.

    Parameters
    ----------
    random_state : int, RandomState instance or None

    Returns
    -------
    seed : int
    """
    return int(check_seed(random_state).randint(2**31 - 1))


def fit_seeded(estimator, seed, X, y, **fit_params):
    """Fit a copy of the estimator; `seed` fixes what it draws.

    Torch networks draw from one generator that all of them share. It is seeded during
    the fit and restored afterwards.

    Parameters
    ----------
    estimator : estimator
        Not changed.
    seed : int
    X : array, sparse matrix, frame or list of shape (n_rows, ...)
    y : ndarray of shape (n_rows,)
    **fit_params : dict
        Passed to ``fit``.

    Returns
    -------
    model : fitted estimator
    """
    model = seeded(estimator, seed)
    with torch_seed(seed):
        return model.fit(X, _targets(model, y), **fit_params)


def seeded(estimator, seed):
    """Return an unfitted copy in which `seed` replaces each ``random_state=None``."""
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
    """Fix torch's random numbers inside the block and restore them afterwards."""
    torch = sys.modules.get("torch")  # Without torch there is no network to seed.
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
    """Return the labels in the shape that the model takes."""
    skorch = sys.modules.get("skorch")
    if skorch is not None and isinstance(last_step(model), skorch.NeuralNetRegressor):
        # Their loss would broadcast a row of targets against a column of predictions.
        return np.asarray(y, dtype=np.float32).reshape(-1, 1)
    return y
