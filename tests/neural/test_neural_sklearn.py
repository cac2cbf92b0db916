"""Deep classifiers behave like every other classifier of scikit-learn."""

import copy
import io
import pickle

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from skorch.callbacks import LRScheduler
from torch import nn

from sklearn_ase.neural import (
    MLP,
    DeepEnsembleClassifier,
    MCDropoutClassifier,
    RadialBNNClassifier,
    RandomCrop,
    RandomFlip,
)

FAST = {"max_epochs": 20, "lr": 0.05, "random_state": 0}


@parametrize_with_checks(
    [
        DeepEnsembleClassifier(n_members=3, **FAST),
        MCDropoutClassifier(n_members=5, **FAST),
    ]
)
def test_common_checks(estimator, check):
    check(estimator)


def ensemble(**params):
    # Mixed precision, on by default on CUDA, is too coarse for exact claims.
    fixed = {"lr": 0.01, "mixed_precision": False, "random_state": 0}
    params = {"n_members": 2, "max_epochs": 5} | fixed | params
    return DeepEnsembleClassifier(**params)


def radial(**params):
    return RadialBNNClassifier(
        n_members=20, max_epochs=2, module__width=2, random_state=0, **params
    )


def test_nested_parameters_are_parameters():
    model = ensemble(module__width=8, optimizer__weight_decay=0.1)
    params = model.get_params()
    assert params["module__width"] == 8
    assert params["optimizer__weight_decay"] == 0.1
    model.set_params(module__width=4, module__dropout=0.5, lr=1.0)
    params = model.get_params(deep=False)
    assert (params["module__width"], params["module__dropout"]) == (4, 0.5)
    assert params["lr"] == model.lr == 1.0
    assert "module__width=4" in repr(model)


def test_clone_keeps_every_parameter(device):
    model = ensemble(
        module=MLP,
        module__width=(8, 4),
        optimizer=torch.optim.SGD,
        optimizer__momentum=0.9,
        classes=[0, 1],
        device=device,
        schedule="cosine",
    )
    assert clone(model).get_params() == model.get_params()
    assert clone(model.set_params(device="auto")).device == "auto"


def test_a_clone_of_a_fitted_model_is_unfitted_and_learns_the_same(rows):
    model = ensemble(
        schedule=LRScheduler("MultiStepLR", milestones=[2], gamma=0.1),
        module=MLP(64, 10, width=8),
    )
    model.fit(rows.X_train, rows.y_train)
    twin = clone(model)
    with pytest.raises(NotFittedError):
        twin.predict(rows.X)
    twin.fit(rows.X_train, rows.y_train)
    assert_array_equal(twin.predict_proba(rows.X), model.predict_proba(rows.X))


def test_auto_device_is_not_replaced_by_the_device_found(rows):
    model = ensemble().fit(rows.X_train, rows.y_train)
    assert model.get_params()["device"] == "auto"
    found = "cuda" if torch.cuda.is_available() else "cpu"
    assert model.net_.device == found


def test_grid_search_over_arguments_of_the_module(rows):
    grid = {"module__width": [1, 32]}
    search = GridSearchCV(ensemble(max_epochs=10), grid, cv=2, error_score="raise")
    search.fit(rows.X_train, rows.y_train)
    assert search.best_params_["module__width"] == 32
    weight = search.best_estimator_.networks_.snapshot(0)["layers.1.weight"]
    assert weight.shape == (32, 64)
    assert search.best_score_ > 0.7


def test_last_step_of_a_pipeline(rows):
    scaler, model = StandardScaler(), ensemble()
    pipeline = make_pipeline(scaler, model).fit(rows.X_train, rows.y_train)
    scaled = StandardScaler().fit(rows.X_train)
    alone = ensemble().fit(scaled.transform(rows.X_train), rows.y_train)
    expected = alone.predict_proba(scaled.transform(rows.X))
    assert_array_equal(pipeline.predict_proba(rows.X), expected)
    pipeline.set_params(deepensembleclassifier__module__width=3)
    assert pipeline[-1].get_params()["module__width"] == 3


# Storing


def _through_pickle(value):
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("store", [_through_pickle, copy.deepcopy])
@pytest.mark.parametrize(
    "make",
    [
        ensemble,
        lambda: ensemble(vectorized=False, schedule="cosine", verbose=1),
        lambda: ensemble(augment=nn.Sequential(RandomCrop(1), RandomFlip())),
        lambda: MCDropoutClassifier(n_members=4, **FAST),
        radial,
    ],
    ids=["stacked", "looped", "augmented", "dropout", "radial"],
)
def test_a_stored_model_predicts_and_continues_like_the_original(images, make, store):
    X, y = images
    model = make().fit(X, y)
    other = store(model)
    assert_array_equal(other.predict_proba_members(X), model.predict_proba_members(X))
    for each in (model, other):
        each.partial_fit(X[:100], y[:100])
    assert_array_equal(other.predict_proba_members(X), model.predict_proba_members(X))
    assert other.networks_ is other.net_.module_


def test_warm_start_of_a_stored_model_begins_at_its_latest_weights(rows):
    model = ensemble(warm_start=True, temperature=False, validation_fraction=0)
    other = _through_pickle(model.fit(rows.X_train, rows.y_train))
    other.partial_fit(rows.X_train, rows.y_train)
    expected = other.predict_proba(rows.X)
    other.set_params(max_epochs=0).fit(rows.X_train, rows.y_train)
    assert_array_equal(other.predict_proba(rows.X), expected)


@pytest.mark.parametrize("make", [ensemble, radial])
def test_a_stored_model_holds_no_rows(make):
    rng = np.random.default_rng(0)
    sizes = []
    for n_samples in (100, 1000):
        X = rng.normal(size=(n_samples, 1, 16, 16))
        model = make(batch_size=1000).fit(X, np.arange(n_samples) % 2)
        model.predict_proba(X)
        sizes.append(len(pickle.dumps(model)))
    # 900 rows take 1.8 MB. Their indices may be stored, for estimators_samples_.
    assert abs(sizes[1] - sizes[0]) < 20_000


def test_draws_of_a_radial_network_are_not_stored(images):
    X, y = images
    model = radial(validation_fraction=0).fit(X, y)
    before = len(pickle.dumps(model))
    model.predict_proba(X)
    assert len(pickle.dumps(model)) == before


class TensorsBesideTheNet(pickle.Pickler):
    """Counts tensors that are not stored by skorch, which can move them to the CPU."""

    n_tensors = 0

    def persistent_id(self, value):
        self.n_tensors += isinstance(value, torch.Tensor)


@pytest.mark.parametrize(
    "make",
    [
        ensemble,
        lambda: ensemble(vectorized=False),
        lambda: ensemble(schedule=LRScheduler("MultiStepLR", milestones=[2])),
        radial,
    ],
    ids=["stacked", "looped", "schedule", "radial"],
)
def test_weights_are_stored_where_skorch_brings_them_from_cuda_to_the_cpu(images, make):
    model = make().fit(*images)
    model.predict_proba(images[0])
    pickler = TensorsBesideTheNet(io.BytesIO())
    pickler.dump(model)
    assert pickler.n_tensors == 0


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_a_model_trained_on_cuda_opens_without_cuda(images, monkeypatch):
    model = ensemble(device="cuda").fit(*images)
    stored = pickle.dumps(model)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    other = pickle.loads(stored)
    assert other.net_.device == "cpu"
    found = other.predict_proba(images[0])
    np.testing.assert_allclose(found, model.predict_proba(images[0]), atol=1e-4)
