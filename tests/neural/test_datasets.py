"""Pools on disk: memmaps and torch datasets are read batch by batch."""

import tracemalloc

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.frozen import FrozenEstimator
from torch import nn
from torch.utils.data import Dataset, Subset, TensorDataset

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._data._rows import is_dataset, n_rows, read_dataset, take_rows
from sklearn_ase.neural import DeepEnsembleClassifier

# Surrogates are trained for seconds only, so that they are poor.
pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn_ase.exceptions.SurrogateWarning"
)


class OnDisk(Dataset):
    """Dataset with wrong labels or none, which counts how often it is read."""

    def __init__(self, X, labels=True):
        self.X = X
        self.labels = labels
        self.n_reads = 0

    def __len__(self):
        return len(self.X)

    def __getitem__(self, index):
        self.n_reads += 1
        return (self.X[index], -1) if self.labels else self.X[index]


def ensemble(module=None, **params):
    # Mixed precision, on by default on CUDA, is too coarse for exact claims.
    fixed = {"lr": 0.01, "mixed_precision": False, "random_state": 0}
    params = {"n_members": 2, "max_epochs": 5} | fixed | params
    return DeepEnsembleClassifier(module, **params)


@pytest.fixture(scope="module")
def model(rows):
    """A fitted ensemble."""
    return ensemble().fit(rows.X_train, rows.y_train)


def as_memmap(path, X):
    stored = np.memmap(path / "pool", dtype=X.dtype, mode="w+", shape=X.shape)
    stored[:] = X
    stored.flush()
    return np.memmap(path / "pool", dtype=X.dtype, mode="r", shape=X.shape)


CONTAINERS = [
    lambda X: OnDisk(X),
    lambda X: OnDisk(X, labels=False),
    lambda X: OnDisk(X.astype(np.float64)),
    lambda X: OnDisk(torch.tensor(X)),
    lambda X: TensorDataset(torch.tensor(X)),
    lambda X: TensorDataset(torch.tensor(X), torch.full((len(X),), 99)),
    lambda X: Subset(OnDisk(np.concatenate([X[:5], X])), range(5, len(X) + 5)),
]


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_dataset_predicts_as_its_array(rows, model, container):
    found = model.predict_proba_members(container(rows.X))
    assert_allclose(found, model.predict_proba_members(rows.X), atol=1e-5)
    assert_array_equal(model.predict(container(rows.X)), model.predict(rows.X))


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_dataset_trains_as_its_array_with_the_labels_of_y(rows, model, container):
    found = ensemble().fit(container(rows.X_train), rows.y_train)
    expected = model.predict_proba(rows.X)
    assert_allclose(found.predict_proba(rows.X), expected, atol=1e-5)


def test_labels_of_another_length_than_the_dataset_are_refused(rows):
    with pytest.raises(ValueError, match="X has 300 rows, but y has 7 labels"):
        ensemble().fit(OnDisk(rows.X_train), rows.y_train[:7])


def test_a_memmap_trains_and_predicts_as_its_array(rows, model, tmp_path, recwarn):
    stored = as_memmap(tmp_path, np.concatenate([rows.X_train, rows.X]))
    found = ensemble().fit(stored[:300], rows.y_train)
    expected = model.predict_proba(rows.X)
    assert_allclose(found.predict_proba(stored[300:]), expected, atol=1e-5)
    assert len(recwarn) == 0  # Torch warns about read-only arrays.


def test_a_memmap_is_never_held_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("sklearn_ase.neural._base.POOL_BATCH_NUMBERS", 2**17)
    rng = np.random.default_rng(0)
    pool = as_memmap(tmp_path, rng.normal(size=(20_000, 100)).astype(np.float32))
    model = ensemble(max_epochs=1).fit(pool[:100], np.arange(100) % 2)
    tracemalloc.start()
    try:
        model.predict_proba(pool)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The pool has 8 MB; the probabilities have 0.3 MB, twice while they are joined.
    assert peak < 2e6


class Watching(nn.Module):
    """Network that records how many rows were read before each call."""

    pool, seen = None, ()

    def __init__(self, n_features, n_classes):
        super().__init__()
        self.layer = nn.Linear(n_features, n_classes)

    def forward(self, X):
        if Watching.pool is not None:
            Watching.seen = (*Watching.seen, (Watching.pool.n_reads, len(X)))
        return self.layer(X)


def test_a_dataset_is_read_one_batch_at_a_time(rows, monkeypatch):
    model = ensemble(Watching, n_members=1, vectorized=False)
    model.fit(rows.X_train, rows.y_train)
    monkeypatch.setattr(DeepEnsembleClassifier, "_pool_batch_size", lambda self, X: 150)
    monkeypatch.setattr(Watching, "pool", OnDisk(rows.X))
    monkeypatch.setattr(Watching, "seen", ())
    model.predict_proba(Watching.pool)
    # Each batch is read just before the network needs it, and each row once.
    assert Watching.seen == ((150, 150), (300, 150), (400, 100))


@pytest.mark.parametrize("n_features", [10, 100_000])
@pytest.mark.parametrize("n_members", [2, 1000])
def test_a_batch_of_the_pool_is_bounded_whatever_its_rows(n_features, n_members):
    model = ensemble(n_members=n_members)
    model.classes_ = np.arange(10)
    size = model._pool_batch_size(np.zeros((3, n_features)))
    assert 1 <= size <= 4096
    assert size * max(n_features, n_members * 10) <= 2**21


def test_workers_may_read_a_dataset(rows, model):
    parallel = ensemble(iterator_valid__num_workers=1)
    parallel.fit(rows.X_train, rows.y_train)
    expected = model.predict_proba(rows.X[:50])
    found = parallel.predict_proba(OnDisk(rows.X[:50]))
    assert_allclose(found, expected, atol=1e-5)


# Datasets as the pool of an evaluation


def evaluator(model, **params):
    surrogate = ensemble(max_epochs=10)
    params = {"surrogate": surrogate, "loss": "zero_one", "n_labels": 15} | params
    return ActiveRiskEstimator(
        FrozenEstimator(model), classes=range(10), refit=5, random_state=0, **params
    )


@pytest.mark.parametrize("with_training_rows", [False, True])
def test_a_dataset_as_pool_gives_the_estimate_of_its_array(
    rows, model, with_training_rows
):
    estimates = []
    for wrap in (np.asarray, OnDisk):
        given = {"X_train": wrap(rows.X_train), "y_train": rows.y_train}
        found = evaluator(model)
        found.fit(wrap(rows.X), rows.y, **(given if with_training_rows else {}))
        estimates.append((found.risk_.value, found.ledger_.indices))
        assert found.n_features_in_ == 64
        other_pool = [found.predict(kind(rows.X[:30])) for kind in (np.asarray, OnDisk)]
        assert_allclose(*other_pool, atol=1e-5)
    (expected, indices), (found, same_indices) = estimates
    assert found == pytest.approx(expected, rel=1e-4)
    assert indices == same_indices


def test_a_memmap_as_pool_gives_the_estimate_of_its_array(rows, model, tmp_path):
    expected = evaluator(model).fit(rows.X, rows.y).risk_.value
    found = evaluator(model).fit(as_memmap(tmp_path, rows.X), rows.y).risk_.value
    assert found == pytest.approx(expected, rel=1e-4)


def test_training_rows_of_another_shape_than_the_dataset_are_refused(rows, model):
    with pytest.raises(ValueError, match=r"rows of shape \(63,\) .* shape \(64,\)"):
        evaluator(model).fit(
            OnDisk(rows.X), rows.y, X_train=rows.X_train[:, 1:], y_train=rows.y_train
        )


def test_the_default_surrogate_refuses_a_dataset(rows, model):
    with pytest.raises(ValueError, match="torch dataset, which the default surrogate"):
        evaluator(model, surrogate=None).fit(OnDisk(rows.X), rows.y)


def test_an_empty_dataset_is_refused_as_pool(rows, model):
    with pytest.raises(ValueError, match="The pool has 0 rows"):
        evaluator(model).fit(OnDisk(rows.X[:0]), rows.y[:0])


# The helpers of the core


def test_datasets_are_distinguished_from_other_containers(rows):
    assert all(is_dataset(container(rows.X)) for container in CONTAINERS)
    assert not any(map(is_dataset, (rows.X, [1, 2], torch.tensor(rows.X), None)))


def test_consecutive_rows_of_a_dataset_stay_on_disk(rows):
    pool = OnDisk(rows.X)
    part = take_rows(take_rows(pool, slice(100, 200)), slice(10, None))
    assert is_dataset(part)
    assert n_rows(part) == 90
    assert pool.n_reads == 0
    assert_array_equal(part[0][0], rows.X[110])


@pytest.mark.parametrize("labels", [True, False])
def test_single_rows_of_a_dataset_become_an_array(rows, labels):
    pool = OnDisk(rows.X, labels=labels)
    some = np.array([7, 3, 3])
    assert_array_equal(take_rows(pool, some), rows.X[some])
    assert pool.n_reads == 3
    assert take_rows(pool, some[:0]).shape == (0, 64)
    assert_allclose(read_dataset(pool), rows.X)
