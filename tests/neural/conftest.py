"""Fixtures: one thread, every available device, and rows for networks."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Networks as small as these are slower on several threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=DEVICES)
def device(request):
    """The CPU and, if it is available, CUDA."""
    return request.param


@pytest.fixture(scope="session")
def rows():
    """Ten digits of 8x8 pixels, shuffled: 300 to learn from and a pool of 400."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))[:700]
    X, y = (X[order] / 16).astype(np.float32), y[order]
    X.setflags(write=False)  # Data of the caller must not be changed.
    return SimpleNamespace(
        X_train=X[:300], y_train=y[:300], X=X[300:], y=y[300:], classes=np.arange(10)
    )


@pytest.fixture(scope="session")
def images(rows):
    """The first 150 of them as images of 16x16 pixels in one channel, and labels."""
    small = rows.X_train[:150].reshape(-1, 1, 8, 8)
    return small.repeat(2, axis=2).repeat(2, axis=3), rows.y_train[:150]
