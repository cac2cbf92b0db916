"""Members of a deep ensemble: independent, reproducible, and read in batches."""

from functools import partial

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from torch import nn

from sklearn_ase.neural import MLP, DeepEnsembleClassifier, SmallCNN
from sklearn_ase.neural._networks import Looped, Stacked
from sklearn_ase.surrogate import ClassifierSurrogate
from sklearn_ase.surrogate._members import out_of_bag


class BatchNormNet(nn.Module):
    """A perceptron with batch norm."""

    def __init__(self, n_features, n_classes):
        super().__init__()
        # A bias before batch norm has only rounding as gradient, which Adam amplifies.
        self.layers = nn.Sequential(
            nn.Linear(n_features, 16, bias=False),
            nn.BatchNorm1d(16),
            nn.ReLU(),
            nn.Linear(16, n_classes),
        )

    def forward(self, X):
        return self.layers(X)


def ensemble(module=None, **params):
    """A fast ensemble."""
    # Mixed precision, on by default on CUDA, is too coarse for exact claims.
    fixed = {"lr": 0.01, "mixed_precision": False, "random_state": 0}
    params = {"n_members": 3, "max_epochs": 8} | fixed | params
    if module in (None, SmallCNN):
        params = {"module__width": 8} | params
    return DeepEnsembleClassifier(module, **params)


# Adam divides by the size of the gradients. For small ones it amplifies rounding, which
# depends on the processor.
STEADY = {"optimizer__eps": 1e-3}


def assert_same_members(one, other, atol=0.0):
    assert one.n_members_ == other.n_members_
    for number in range(one.n_members_):
        left, right = (each.networks_.snapshot(number) for each in (one, other))
        assert left.keys() == right.keys()
        for name, values in left.items():
            assert_allclose(values.cpu(), right[name].cpu(), atol=atol, rtol=atol)


@pytest.mark.parametrize("module", [None, BatchNormNet])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_stacked_and_looped_training_give_the_same_members(
    rows, device, module, bootstrap
):
    stacked, looped = (
        ensemble(
            module,
            bootstrap=bootstrap,
            vectorized=vectorized,
            device=device,
            **STEADY,
        )
        for vectorized in (True, False)
    )
    stacked.fit(rows.X_train, rows.y_train)
    looped.fit(rows.X_train, rows.y_train)
    assert isinstance(stacked.networks_, Stacked)
    assert isinstance(looped.networks_, Looped)
    assert_same_members(stacked, looped, atol=1e-5)
    assert_allclose(
        stacked.predict_proba_members(rows.X),
        looped.predict_proba_members(rows.X),
        atol=1e-5,
    )


def test_members_that_stop_early_are_the_same_stacked_and_looped(rows):
    rng = np.random.default_rng(0)
    y = rng.permutation(rows.y_train)  # Random labels can only be memorised.
    stacked, looped = (
        ensemble(vectorized=vectorized, max_epochs=40, patience=2).fit(rows.X_train, y)
        for vectorized in (True, False)
    )
    assert len(stacked.net_.history) == len(looped.net_.history) < 40
    assert_same_members(stacked, looped, atol=1e-5)


def test_convolutions_are_the_same_stacked_and_looped(images):
    X, y = images
    stacked, looped = (
        ensemble(SmallCNN, vectorized=vectorized, max_epochs=2, **STEADY).fit(X, y)
        for vectorized in (True, False)
    )
    assert_same_members(stacked, looped, atol=1e-5)


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({}, Stacked),
        ({"module__width": 4000}, Looped),
        ({"compile": True}, Looped),
        ({"module": BatchNormNet}, Looped),
        ({"module": BatchNormNet, "vectorized": True}, Stacked),
    ],
)
def test_auto_stacks_small_networks_without_batch_norm(rows, params, kind):
    model = ensemble(max_epochs=0, temperature=False, **params)
    assert isinstance(model.fit(rows.X_train, rows.y_train).networks_, kind)


def test_auto_loops_over_convolutions(images):
    assert isinstance(ensemble(SmallCNN, max_epochs=0).fit(*images).networks_, Looped)


def test_members_differ_from_each_other(rows):
    members = ensemble().fit(rows.X_train, rows.y_train).predict_proba_members(rows.X)
    for one, other in [(0, 1), (0, 2), (1, 2)]:
        assert np.abs(members[one] - members[other]).max() > 0.1


def test_a_member_does_not_depend_on_how_many_there_are(rows):
    params = {"vectorized": False, "temperature": False, "patience": None}
    few, many = (
        ensemble(n_members=n_members, **params)
        .fit(rows.X_train, rows.y_train)
        .predict_proba_members(rows.X)
        for n_members in (2, 4)
    )
    assert_array_equal(many[:2], few)


def test_same_random_state_gives_the_same_members(rows, device):
    one, same, other = (
        ensemble(device=device, random_state=seed).fit(rows.X_train, rows.y_train)
        for seed in (0, 0, 1)
    )
    assert_same_members(one, same)
    assert_array_equal(one.predict_proba(rows.X), same.predict_proba(rows.X))
    assert np.abs(one.predict_proba(rows.X) - other.predict_proba(rows.X)).max() > 0.01


def test_torchs_own_random_numbers_are_left_alone(rows, device):
    before = torch.get_rng_state()
    model = ensemble(device=device, augment=nn.Dropout(0.1))
    model.fit(rows.X_train, rows.y_train).partial_fit(rows.X_train, rows.y_train)
    assert torch.equal(torch.get_rng_state(), before)
    model.predict_proba(rows.X)
    model.predict_proba_members(rows.X)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_callers_rows_are_not_written_to():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 4)).astype(np.float32), np.arange(120) % 2
    given = X.copy()
    in_place = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(4, 2))
    model = ensemble(in_place, vectorized=False, augment=lambda rows: rows.zero_())
    model.fit(X, y).predict_proba_members(X)
    assert_array_equal(X, given)


def test_an_instance_is_reinitialised_for_each_member(rows):
    module = MLP(64, 10, width=4)
    given = {name: values.clone() for name, values in module.state_dict().items()}
    model = ensemble(module, max_epochs=0).fit(rows.X_train, rows.y_train)
    states = [given, model.networks_.snapshot(0), model.networks_.snapshot(1)]
    for one, other in [(0, 1), (0, 2), (1, 2)]:
        for name in given:
            assert not torch.equal(states[one][name], states[other][name])
    for name, values in module.state_dict().items():
        assert torch.equal(values, given[name])


def test_prediction_is_the_mean_of_the_members(rows, device):
    model = ensemble(device=device).fit(rows.X_train, rows.y_train)
    members = model.predict_proba_members(rows.X)
    assert members.shape == (3, 400, 10)
    assert members.dtype == np.float32
    assert_allclose(members.sum(axis=2), 1.0, rtol=1e-5)
    mean = members.mean(axis=0, dtype=np.float64)
    assert_allclose(model.predict_proba(rows.X), mean, rtol=1e-12)
    assert_array_equal(model.predict(rows.X), model.classes_[mean.argmax(axis=1)])


def test_prediction_does_not_depend_on_the_batches(rows, monkeypatch):
    model = ensemble(BatchNormNet).fit(rows.X_train, rows.y_train)
    whole = model.predict_proba_members(rows.X)
    monkeypatch.setattr(DeepEnsembleClassifier, "_pool_batch_size", lambda self, X: 7)
    assert_allclose(model.predict_proba_members(rows.X), whole, atol=1e-5)
    assert_allclose(model.predict_proba(rows.X), whole.mean(axis=0), atol=1e-5)


@pytest.mark.parametrize("bootstrap", [False, True])
def test_a_bootstrapped_ensemble_is_calibrated_on_rows_out_of_the_bag(rows, bootstrap):
    surrogate = ClassifierSurrogate(ensemble(n_members=5, bootstrap=bootstrap))
    surrogate.fit(rows.X_train, rows.y_train, classes=rows.classes)
    assert (surrogate.calibration_ is not None) == bootstrap
    found = out_of_bag(surrogate.estimator_, rows.X_train)
    if not bootstrap:
        assert found is None
        return
    members = surrogate.estimator_.predict_proba_members(rows.X_train)
    samples = surrogate.estimator_.estimators_samples_
    for row, mean in enumerate(found[0][:50]):
        out = [number for number in range(5) if row not in samples[number]]
        if out:
            assert_allclose(mean, members[out, row].mean(axis=0), atol=1e-5)
        else:
            assert np.isnan(mean).all()


def test_a_class_without_rows_has_its_column(rows):
    keep = rows.y_train != 7
    model = ensemble(classes=range(10), max_epochs=20)
    model.fit(rows.X_train[keep], rows.y_train[keep])
    assert_array_equal(model.classes_, np.arange(10))
    assert model.predict_proba_members(rows.X).shape == (3, 400, 10)
    assert model.predict_proba(rows.X)[:, 7].max() < 0.1
    assert model.score(rows.X[rows.y != 7], rows.y[rows.y != 7]) > 0.8


def test_text_may_be_labels(rows):
    names = np.array([f"digit {k}" for k in range(10)])
    numbers = ensemble().fit(rows.X_train, rows.y_train)
    texts = ensemble().fit(rows.X_train, names[rows.y_train])
    assert_array_equal(texts.classes_, names)
    assert_array_equal(texts.predict(rows.X), names[numbers.predict(rows.X)])


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int64, np.uint8])
def test_any_numbers_become_float32(rows, dtype):
    X = np.round(16 * rows.X_train)
    expected = ensemble().fit(X, rows.y_train).predict_proba(X)
    found = ensemble().fit(X.astype(dtype), rows.y_train)
    assert_array_equal(found.predict_proba(X.astype(dtype)), expected)


def test_labels_outside_of_the_classes_are_refused(rows):
    with pytest.raises(ValueError, match=r"Labels \[8, 9\] are not among the classes"):
        ensemble(classes=range(8)).fit(rows.X_train, rows.y_train)


def test_a_module_with_the_wrong_number_of_outputs_is_refused(rows):
    with pytest.raises(ValueError, match=r"each of the 10 classes .* shape \(1, 4\)"):
        ensemble(nn.Linear(64, 4)).fit(rows.X_train, rows.y_train)


def test_a_parameter_that_nobody_reads_is_refused(rows):
    model = ensemble(widht=8)
    with pytest.raises(TypeError, match=r"no parameter 'widht'.*module__name"):
        model.fit(rows.X_train, rows.y_train)
    with pytest.raises(TypeError, match="no parameter 'epochs'"):
        ensemble().set_params(epochs=3).fit(rows.X_train, rows.y_train)


def test_an_ensemble_needs_a_member(rows):
    with pytest.raises(ValueError, match="n_members=0 must be at least 1"):
        ensemble(n_members=0).fit(rows.X_train, rows.y_train)


def test_arguments_of_the_optimizer_reach_it(rows):
    model = ensemble(
        optimizer=torch.optim.SGD, optimizer__momentum=0.9, optimizer__weight_decay=0.1
    )
    group = model.fit(rows.X_train, rows.y_train).net_.optimizer_.param_groups[0]
    assert isinstance(model.net_.optimizer_, torch.optim.SGD)
    assert (group["lr"], group["momentum"], group["weight_decay"]) == (0.01, 0.9, 0.1)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA")
def test_cuda_is_refused_where_there_is_none_but_a_fitted_model_predicts(rows):
    with pytest.raises(ValueError, match=r"torch finds no CUDA device.*device='auto'"):
        ensemble(device="cuda").fit(rows.X_train, rows.y_train)
    model = ensemble().fit(rows.X_train, rows.y_train)
    expected = model.predict_proba(rows.X)
    assert_array_equal(model.set_params(device="cuda").predict_proba(rows.X), expected)


def test_mixed_precision_trains(images, device):
    X, y = images
    model = ensemble(SmallCNN, mixed_precision=True, device=device, max_epochs=8)
    model.fit(X, y)
    assert model.net_.precision is torch.bfloat16
    assert model.predict_proba_members(X).dtype == np.float32
    assert np.isfinite(model.predict_proba_members(X)).all()
    assert model.net_.history[-1, "train_loss"] < model.net_.history[0, "train_loss"]


def test_the_memory_layout_of_images_does_not_change_the_members(images, device):
    X, y = images
    plain, last = (
        ensemble(SmallCNN, channels_last=layout, device=device, max_epochs=3).fit(X, y)
        for layout in (False, True)
    )
    assert last.net_.channels_last
    assert_same_members(plain, last, atol=1e-5)
    assert_allclose(plain.predict_proba(X), last.predict_proba(X), atol=1e-5)


def test_compiled_networks_give_the_same_predictions(rows, monkeypatch):
    # The default backend needs a C++ compiler and half a minute.
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    expected = ensemble(vectorized=False).fit(rows.X_train, rows.y_train)
    model = ensemble(compile=True).fit(rows.X_train, rows.y_train)
    assert len(vars(model.networks_)["_calls"]) == 3
    assert_allclose(
        model.predict_proba(rows.X), expected.predict_proba(rows.X), atol=1e-5
    )


class RawWeight(nn.Module):
    """Module with a weight that cannot be re-initialised."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(64, 10))

    def forward(self, X):
        return X @ self.weight


def test_an_instance_that_cannot_be_reinitialised_is_refused(rows):
    with pytest.raises(ValueError, match="RawWeight has weights but no reset_param"):
        ensemble(RawWeight()).fit(rows.X_train, rows.y_train)
    ensemble(RawWeight, max_epochs=1).fit(rows.X_train, rows.y_train)


def test_flat_rows_are_refused_by_convolutions(rows):
    with pytest.raises(ValueError, match=r"SmallCNN takes images.*shape \(64,\)"):
        ensemble(SmallCNN).fit(rows.X_train, rows.y_train)


def test_compiling_and_stacking_exclude_each_other(rows):
    with pytest.raises(ValueError, match="Use one of them"):
        ensemble(compile=True, vectorized=True).fit(rows.X_train, rows.y_train)
