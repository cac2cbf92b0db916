"""Members and simulations give the same on every backend of joblib."""

from contextlib import nullcontext

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.simulation import Scenario, label_efficiency_curve
from sklearn_ase.surrogate import BootstrapClassifier, ClassifierSurrogate

distributed = pytest.importorskip("distributed")
X, Y = load_iris(return_X_y=True)
# Ray's backend is, as multiprocessing, one that does not say when a job is done.
BACKENDS = ["loky", "threading", "multiprocessing", "dask"]


@pytest.fixture(params=BACKENDS)
def backend(request):
    """One of the backends, in force during a test."""
    client = nullcontext()
    if request.param == "dask":
        client = distributed.Client(request.getfixturevalue("cluster"))
    with client, parallel_config(request.param):
        yield request.param


def test_members_are_the_same_on_every_backend(backend):
    members = BootstrapClassifier(
        DecisionTreeClassifier(), n_members=4, n_jobs=2, random_state=0
    )
    found = members.fit(X, Y).predict_proba_members(X)
    with parallel_config("threading"):
        wanted = members.set_params(n_jobs=1).fit(X, Y).predict_proba_members(X)
    np.testing.assert_array_equal(found, wanted)


def test_simulations_are_the_same_on_every_backend(backend):
    model = GaussianNB().fit(X[::10], Y[::10])
    surrogate = ClassifierSurrogate(GaussianNB(), n_members=3, calibration=None)
    evaluator = ActiveRiskEstimator(model, surrogate=surrogate)
    scenario = Scenario(X, Y, model, X[::10], Y[::10])
    how = {"n_labels": [4], "n_runs": 2, "random_state": 0}
    found = label_efficiency_curve(evaluator, scenario, n_jobs=2, **how).columns
    with parallel_config("threading"):
        wanted = label_efficiency_curve(evaluator, scenario, n_jobs=1, **how).columns
    np.testing.assert_array_equal(found["value"], wanted["value"])
