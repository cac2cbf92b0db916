"""Training of networks: when they stop, what they see, what they print."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import log_softmax, logsumexp
from skorch.callbacks import Callback, EarlyStopping, LRScheduler
from torch import nn

from sklearn_ase.neural import DeepEnsembleClassifier, RandomCrop, RandomFlip
from sklearn_ase.neural._net import fit_temperature


def ensemble(**params):
    # Mixed precision, on by default on CUDA, is too coarse for exact claims.
    fixed = {"lr": 0.01, "mixed_precision": False, "random_state": 0}
    params = {"n_members": 2, "max_epochs": 5} | fixed | params
    return DeepEnsembleClassifier(module__width=8, **params)


class Watch(Callback):
    """Callback that records the learning rate and the validation losses."""

    def __init__(self):
        self.rates, self.losses = [], []

    def on_epoch_begin(self, net, **kwargs):
        self.rates.append(net.optimizer_.param_groups[0]["lr"])

    def on_epoch_end(self, net, **kwargs):
        self.validation = dict(net.callbacks_).get("keep_best")
        if self.validation is not None:
            self.losses.append(self.loss(net))

    def loss(self, net):
        losses = net.evaluate(self.validation.rows, net.module_.validation_losses)
        return sum(losses).cpu().numpy() / len(np.hstack(self.validation.rows.batches))


class Camera:
    """Augmentation that changes nothing and records the batches."""

    def __init__(self):
        self.batches = []

    def __call__(self, X):
        self.batches.append(X.clone())
        return X


def numbered(n_samples):
    """Rows whose only feature is their number."""
    return np.arange(n_samples, dtype=np.float32)[:, None], np.arange(n_samples) % 2


# Early stopping


def test_each_member_goes_back_to_its_best_epoch_and_training_stops(rows, device):
    watch = Watch()
    model = ensemble(
        n_members=4,
        max_epochs=200,
        patience=3,
        lr=0.05,
        vectorized=False,
        callbacks=[watch],
        device=device,
    )
    model.fit(rows.X_train, rows.y_train)
    losses = np.array(watch.losses)
    assert len(losses) < 200
    assert_allclose(watch.loss(model.net_), losses.min(axis=0), rtol=1e-6)
    best = losses.argmin(axis=0)
    assert len(losses) == best.max() + 1 + 3
    assert len(set(best)) > 1  # Each member stops on its own.
    assert_allclose(model.net_.history[:, "valid_loss"], losses.mean(axis=1), rtol=1e-6)


def test_a_member_that_has_stopped_is_left_as_it_was(rows):
    watch = Watch()
    model = ensemble(
        n_members=4, max_epochs=200, patience=3, vectorized=False, callbacks=[watch]
    )
    model.set_params(lr=0.05).fit(rows.X_train, rows.y_train)
    losses = np.array(watch.losses)
    for member, best in enumerate(losses.argmin(axis=0)):
        assert (losses[best + 3 :, member] == losses[best + 3, member]).all()


def test_without_patience_training_goes_to_the_end(rows):
    model = ensemble(patience=None, max_epochs=30, lr=0.05)
    model.fit(rows.X_train, rows.y_train)
    assert len(model.net_.history) == 30


@pytest.mark.parametrize(("n_samples", "n_validation"), [(94, 0), (100, 10)])
def test_fewer_than_ten_rows_are_not_held_out_for_validation(n_samples, n_validation):
    X, y = numbered(n_samples)
    camera = Camera()
    model = ensemble(augment=camera, batch_size=n_samples, max_epochs=1).fit(X, y)
    for member in camera.batches[0].view(2, -1):
        assert len(set(member.tolist())) == n_samples - n_validation
    assert ("valid_loss" in model.net_.history[-1]) == (n_validation > 0)
    assert (model.temperature_ == 1.0) == (n_validation == 0)


def test_validation_rows_are_the_same_for_all_members_and_never_learned_from():
    X, y = numbered(200)
    camera, watch = Camera(), Watch()
    ensemble(augment=camera, callbacks=[watch], batch_size=50).fit(X, y)
    held_out = set(np.hstack(watch.validation.rows.batches).tolist())
    assert len(held_out) == 20
    assert held_out.isdisjoint(torch.cat(camera.batches).ravel().tolist())


# What each member sees


@pytest.mark.parametrize("bootstrap", [False, True])
def test_each_member_sees_the_rows_in_another_order(bootstrap):
    X, y = numbered(60)
    camera = Camera()
    model = ensemble(augment=camera, bootstrap=bootstrap, batch_size=60, max_epochs=2)
    samples = model.fit(X, y).estimators_samples_
    (one, other), (later, _) = (batch.view(2, 60) for batch in camera.batches)
    assert not torch.equal(one, other)
    assert not torch.equal(one, later)
    # The same rows in every epoch, in any order.
    assert torch.equal(one.sort().values, later.sort().values)
    assert sorted(samples[0]) == one.sort().values.tolist()
    assert sorted(samples[1]) == other.sort().values.tolist()
    if bootstrap:
        assert not torch.equal(one.sort().values, other.sort().values)
        assert 30 < len(one.unique()) < 48  # 63 % of 60 is 38.
    else:
        assert len(one.unique()) == len(other.unique()) == 60


def test_no_batch_is_much_smaller_than_the_others():
    X, y = numbered(65)
    camera = Camera()
    ensemble(augment=camera, batch_size=16, max_epochs=1).fit(X, y)
    assert [len(batch) // 2 for batch in camera.batches] == [13] * 5


def test_augmentation_is_for_training_only(rows):
    camera = Camera()
    model = ensemble(augment=camera, batch_size=300, max_epochs=3)
    model.fit(rows.X_train, rows.y_train)
    assert [len(batch) for batch in camera.batches] == [2 * 270] * 3
    model.predict_proba(rows.X)
    assert len(camera.batches) == 3


def test_networks_learn_from_what_the_augmentation_gives(rows):
    blind = ensemble(augment=torch.zeros_like, max_epochs=50, lr=0.1, temperature=False)
    proba = blind.fit(rows.X_train, rows.y_train).predict_proba(0 * rows.X[:1])
    assert_allclose(proba[0], np.bincount(rows.y_train) / 300, atol=0.03)


def test_crop_only_moves_pixels():
    torch.manual_seed(0)
    X = torch.zeros(2000, 2, 9, 9)
    X[:, :, 4, 4] = torch.tensor([1.0, 2.0])
    cropped = RandomCrop(2)(X)
    assert cropped.shape == X.shape
    sample, channel, row, column = cropped.nonzero(as_tuple=True)
    assert torch.equal(sample, torch.arange(2000).repeat_interleave(2))
    assert torch.equal(cropped[sample, channel, row, column], channel + 1.0)
    assert torch.equal(row[::2], row[1::2])
    assert torch.equal(column[::2], column[1::2])
    # Every shift up to two pixels occurs, and no other.
    places = set(zip(row.tolist(), column.tolist(), strict=True))
    assert places == {(i, j) for i in range(2, 7) for j in range(2, 7)}


def test_crop_without_padding_changes_nothing():
    X = torch.rand(5, 3, 6, 7)
    assert torch.equal(RandomCrop(0)(X), X)


def test_flip_gives_the_image_or_its_mirror():
    torch.manual_seed(0)
    X = torch.rand(200, 3, 4, 5)
    flipped = RandomFlip()(X)
    same = (flipped == X).flatten(1).all(dim=1)
    mirrored = (flipped == X.flip(-1)).flatten(1).all(dim=1)
    assert (same ^ mirrored).all()
    assert 70 < same.sum() < 130


def test_crops_and_flips_train_an_ensemble_on_images(images, device):
    augment = nn.Sequential(RandomCrop(1), RandomFlip())
    model = ensemble(augment=augment, device=device, max_epochs=2).fit(*images)
    assert model.net_.history[1, "train_loss"] < model.net_.history[0, "train_loss"]


def test_the_memory_layout_of_augmented_rows_does_not_matter(images):
    def other_layout(X):
        return X.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)

    X, y = images
    plain, moved = (
        ensemble(augment=augment, max_epochs=2).fit(X, y).predict_proba(X)
        for augment in (None, other_layout)
    )
    assert_allclose(moved, plain, atol=1e-6)


# Temperature


def test_temperature_of_overconfident_logits_is_found():
    # With probability 3/4, one label of four is the other class.
    logits = 2.5 * np.tile([np.log(3.0), 0.0], (1, 40_000, 1))
    codes = np.tile([0, 0, 0, 1], 10_000)
    assert fit_temperature(logits, codes) == pytest.approx(2.5, rel=1e-2)
    assert fit_temperature(logits / 5, codes) == pytest.approx(0.5, rel=1e-2)


@pytest.mark.parametrize(("n_rows", "least"), [(10, 0.4), (100, 0.2), (10_000, 0.05)])
def test_rows_without_an_error_do_not_make_predictions_certain(n_rows, least):
    logits = np.tile([1.0, 0.0], (2, n_rows, 1))
    temperature = fit_temperature(logits, np.zeros(n_rows, dtype=int))
    assert least < temperature < 1


def test_temperature_lowers_the_log_loss_of_the_validation_rows(rows, monkeypatch):
    seen = []

    def spy(logits, codes):
        seen.append((logits, codes))
        return fit_temperature(logits, codes)

    monkeypatch.setattr("sklearn_ase.neural._base.fit_temperature", spy)
    model = ensemble(max_epochs=40, lr=0.05).fit(rows.X_train, rows.y_train)
    ((logits, codes),) = seen
    assert logits.shape == (2, 30, 10)

    def log_loss(temperature):
        log_proba = log_softmax(logits / temperature, axis=2)[:, range(30), codes]
        return -np.mean(logsumexp(log_proba, axis=0) - np.log(2))

    assert log_loss(model.temperature_) < log_loss(1.0)


def test_temperature_divides_the_logits(rows):
    scaled, raw = (
        ensemble(temperature=wanted).fit(rows.X_train, rows.y_train)
        for wanted in (True, False)
    )
    assert raw.temperature_ == 1.0
    assert scaled.temperature_ != 1.0
    log_proba = np.log(raw.predict_proba_members(rows.X).astype(float))
    expected = np.exp(log_softmax(log_proba / scaled.temperature_, axis=2))
    assert_allclose(scaled.predict_proba_members(rows.X), expected, atol=1e-5)


# Learning rate


def test_cosine_schedule(rows):
    watch = Watch()
    ensemble(schedule="cosine", callbacks=[watch], max_epochs=4, lr=0.2).fit(
        rows.X_train, rows.y_train
    )
    expected = 0.1 * (1 + np.cos(np.pi * np.arange(4) / 4))
    assert_allclose(watch.rates, expected, rtol=1e-6)


def test_schedule_in_steps_is_left_as_it_was_given(rows):
    schedule = LRScheduler("MultiStepLR", milestones=[2, 4], gamma=0.1)
    given = vars(schedule).copy()
    for _ in range(2):
        watch = Watch()
        model = ensemble(schedule=schedule, callbacks=[watch])
        model.fit(rows.X_train, rows.y_train)
        assert_allclose(watch.rates, [0.01, 0.01, 0.001, 0.001, 0.0001], rtol=1e-6)
    assert vars(schedule) == given


def test_learning_rate_is_constant_without_a_schedule(rows):
    watch = Watch()
    ensemble(callbacks=[watch]).fit(rows.X_train, rows.y_train)
    assert watch.rates == [0.01] * 5


# Continued training


def test_partial_fit_goes_on(rows, device):
    model = ensemble(device=device)
    for _ in range(15):
        model.partial_fit(rows.X_train, rows.y_train, classes=rows.classes)
    losses = model.net_.history[:, "train_loss"]
    assert len(losses) == 15
    assert losses[-1] < 0.5 * losses[0]
    assert "valid_loss" not in model.net_.history[-1]


def test_partial_fit_needs_every_class_at_the_first_call(rows):
    first, rest = rows.y_train < 5, rows.y_train >= 5
    model = ensemble().partial_fit(rows.X_train[first], rows.y_train[first])
    with pytest.raises(ValueError, match=r"Labels \[5, 6, 7, 8, 9\] are not among"):
        model.partial_fit(rows.X_train[rest], rows.y_train[rest])
    for params, classes in [({}, rows.classes), ({"classes": rows.classes}, None)]:
        model = ensemble(**params)
        model.partial_fit(rows.X_train[first], rows.y_train[first], classes=classes)
        model.partial_fit(rows.X_train[rest], rows.y_train[rest])
        assert_array_equal(model.classes_, rows.classes)


@pytest.mark.parametrize("vectorized", [True, False])
def test_partial_fit_trains_networks_that_had_stopped(rows, vectorized):
    model = ensemble(max_epochs=100, patience=1, lr=0.05, vectorized=vectorized)
    model.fit(rows.X_train, rows.y_train)
    assert len(model.net_.history) < 100
    before = [model.networks_.snapshot(number) for number in range(2)]
    model.partial_fit(rows.X_train, rows.y_train)
    for number, state in enumerate(before):
        after = model.networks_.snapshot(number)
        assert all(not torch.equal(after[name], state[name]) for name in state)


@pytest.mark.parametrize("vectorized", [True, False])
def test_warm_start_goes_on_from_the_weights(rows, vectorized):
    model = ensemble(warm_start=True, vectorized=vectorized, max_epochs=20)
    model.fit(rows.X_train, rows.y_train)
    expected = model.predict_proba(rows.X)
    first = model.net_.history[0, "train_loss"]
    model.set_params(max_epochs=0, validation_fraction=0, temperature=False)
    temperature = model.temperature_
    model.fit(rows.X_train, rows.y_train)
    model.temperature_ = temperature
    assert_array_equal(model.predict_proba(rows.X), expected)
    model.set_params(max_epochs=1).fit(rows.X_train, rows.y_train)
    assert model.net_.history[0, "train_loss"] < 0.5 * first


def test_without_warm_start_a_fit_forgets_the_last_one(rows):
    model = ensemble().fit(rows.X_train, rows.y_train)
    expected = model.predict_proba(rows.X)
    model.fit(rows.X_train[:100], rows.y_train[:100])
    model.fit(rows.X_train, rows.y_train)
    assert_array_equal(model.predict_proba(rows.X), expected)


# Output


def test_quiet_by_default(rows, capsys, recwarn):
    ensemble().fit(rows.X_train, rows.y_train).predict_proba(rows.X)
    assert capsys.readouterr() == ("", "")
    assert len(recwarn) == 0


def test_verbose_draws_a_bar(rows, capsys):
    ensemble(verbose=1).fit(rows.X_train, rows.y_train)
    out, err = capsys.readouterr()
    assert out == ""
    assert "epochs: 5/5" in err
    assert "valid_loss" in err


def test_training_that_diverges_is_an_error_with_a_cure(rows):
    model = ensemble(lr=1e30, optimizer=torch.optim.SGD)
    with pytest.raises(
        ValueError, match=r"diverged: weights are infinite.*smaller learning"
    ):
        model.fit(rows.X_train, rows.y_train)


# With callbacks of skorch


@pytest.mark.parametrize("monitor", ["train_loss", "valid_loss"])
def test_early_stopping_of_skorch_works_too(rows, monitor):
    stopping = EarlyStopping(monitor=monitor, patience=1, threshold=1.0, sink=str)
    model = ensemble(callbacks=[stopping], max_epochs=50)
    model.fit(rows.X_train, rows.y_train)
    assert len(model.net_.history) < 50


def test_an_interrupt_from_outside_is_not_swallowed(rows):
    def interrupt(X):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ensemble(augment=interrupt).fit(rows.X_train, rows.y_train)


def test_training_goes_on_at_the_full_rate_after_a_schedule(rows):
    model = ensemble(schedule="cosine", max_epochs=3).fit(rows.X_train, rows.y_train)
    before = model.predict_proba(rows.X)
    model.partial_fit(rows.X_train, rows.y_train)
    assert np.abs(model.predict_proba(rows.X) - before).max() > 1e-4
