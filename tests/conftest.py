"""Fixtures for every test: small pools, models that count, oracles that record."""

import os

# Before numpy is imported: the tests have a process for each core already.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.base import BaseEstimator
from sklearn.datasets import load_diabetes, load_digits
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator

# No test depends on how busy the machine is: hypothesis does not look at the clock, and
# the workers of a cluster may take their time to start.
settings.register_profile(
    "calm", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("calm")
for name in ("CONNECT", "TCP"):
    os.environ.setdefault(f"DASK_DISTRIBUTED__COMM__TIMEOUTS__{name}", "600s")

# As doctests, files of the same name would be imported over each other.
collect_ignore_glob = ["*conftest.py"]


def _split(X, y, model, n_train=80, n_pool=120):
    order = np.random.default_rng(0).permutation(len(y))
    train, pool = order[:n_train], order[n_train : n_train + n_pool]
    model = FrozenEstimator(model.fit(X[train], y[train]))
    training = {"X_train": X[train], "y_train": y[train]}
    return SimpleNamespace(
        X=X[pool], y=y[pool], model=model, training=training, **training
    )


@pytest.fixture
def digits():
    """Four classes of digits: a pool, training rows and a model fitted on these."""
    X, y = load_digits(n_class=4, return_X_y=True)
    return _split(X, y, GaussianNB(var_smoothing=0.01))


@pytest.fixture
def diabetes():
    """The same for regression."""
    X, y = load_diabetes(return_X_y=True)
    return _split(X, y, Ridge())


@pytest.fixture
def evaluator(digits):
    """A fast evaluator of the model on the digits."""
    return ActiveRiskEstimator(
        digits.model,
        surrogate=RandomForestClassifier(10),
        n_labels=12,
        random_state=0,
    )


@pytest.fixture
def regression_evaluator(diabetes):
    """A fast evaluator of the model on the diabetes data."""
    return ActiveRiskEstimator(
        diabetes.model,
        surrogate=RandomForestRegressor(10),
        loss="squared_error",
        n_labels=12,
        random_state=0,
    )


class CountingModel(BaseEstimator):
    """A fitted classifier that cannot be fitted again and counts its calls."""

    def __init__(self, model):
        self.model = model
        self.calls = []

    @property
    def classes_(self):
        return self.model.classes_

    def predict(self, X):
        self.calls.append(("predict", len(X)))
        return self.model.predict(X)

    def predict_proba(self, X):
        self.calls.append(("predict_proba", len(X)))
        return self.model.predict_proba(X)


@pytest.fixture
def counting_model(digits):
    """The model of the digits, counting its calls."""
    return CountingModel(digits.model)


class RecordingOracle:
    """An oracle that records what it was asked."""

    def __init__(self, y):
        self.y = y
        self.asked = []

    def __call__(self, indices):
        self.asked.extend(indices.tolist())
        return self.y[indices]


@pytest.fixture
def recording_oracle():
    """Make an oracle of an array of labels."""
    return RecordingOracle
