"""Random probabilities and losses of small pools."""

from types import SimpleNamespace

import numpy as np

from sklearn_ase.losses import LossTable

# Numbers of members, samples and classes.
SHAPES = [(6, 8, 4), (2, 5, 2), (1, 3, 3), (3, 1, 10), (3, 4, 1)]
CLOSE = {"rtol": 1e-12, "atol": 1e-14}


def random_proba(rng, *shape):
    """Probabilities, about a fifth of them exactly zero."""
    weights = rng.gamma(0.5, size=shape) * (rng.random(shape) > 0.2)
    weights[..., 0] += weights.sum(axis=-1) == 0
    return weights / weights.sum(axis=-1, keepdims=True)


def random_pool(n_members, n_samples, n_classes):
    """Members of an ensemble, a belief that they are tilted to, and a loss."""
    rng = np.random.default_rng(n_classes)
    return SimpleNamespace(
        members=random_proba(rng, n_members, n_samples, n_classes),
        proba=random_proba(rng, n_samples, n_classes),
        loss=LossTable(
            rng.exponential(size=(n_samples, n_classes)), np.arange(n_classes)
        ),
    )
