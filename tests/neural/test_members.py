"""Members of one network, radial draws and dropout masks, are fixed functions."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from skorch.callbacks import Callback
from torch import nn
from torch.nn import functional as F

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.neural import (
    BaseDeepClassifier,
    DeepEnsembleClassifier,
    MCDropoutClassifier,
    RadialBNN,
    RadialBNNClassifier,
    SmallCNN,
)
from sklearn_ase.neural._networks import RadialWeight


def radial(**params):
    params = {"n_members": 6, "max_epochs": 4, "lr": 0.01, "random_state": 0} | params
    return RadialBNNClassifier(module__width=2, **params)


def dropout(module=None, **params):
    params = {"n_members": 6, "max_epochs": 4, "lr": 0.01, "random_state": 0} | params
    return MCDropoutClassifier(module, **params)


@pytest.mark.parametrize("make", [radial, dropout])
def test_a_member_is_one_function_over_the_whole_pool(make, images, device):
    X, y = images
    model = make(device=device).fit(X, y)
    members = model.predict_proba_members(X)
    assert members.shape == (6, 150, 10)
    assert_array_equal(model.predict_proba_members(X), members)
    some = np.array([100, 3, 77])
    assert_allclose(model.predict_proba_members(X[some]), members[:, some], atol=1e-5)
    assert_allclose(model.predict_proba(X), members.mean(axis=0), atol=1e-5)


@pytest.mark.parametrize("make", [radial, dropout])
def test_members_do_not_depend_on_the_batches(make, images, monkeypatch):
    X, y = images
    model = make().fit(X, y)
    whole = model.predict_proba_members(X)
    monkeypatch.setattr(type(model), "_pool_batch_size", lambda self, X: 7)
    assert_allclose(model.predict_proba_members(X), whole, atol=1e-5)


@pytest.mark.parametrize("make", [radial, dropout])
def test_members_differ_and_come_from_the_random_state(make, images):
    X, y = images
    one, same, other = (
        make(random_state=seed).fit(X, y).predict_proba_members(X) for seed in (0, 0, 1)
    )
    assert_array_equal(one, same)
    assert np.abs(one - other).max() > 1e-4
    for member in one[1:]:
        assert np.abs(member - one[0]).max() > 1e-4


@pytest.fixture
def sides():
    """Images that are bright on one side or the other, easy to classify."""
    y = np.arange(150) % 2
    X = np.random.default_rng(0).normal(scale=0.3, size=(150, 1, 16, 16))
    X[y == 0, :, :, :8] += 1
    X[y == 1, :, :, 8:] += 1
    return X, y


@pytest.mark.parametrize("make", [radial, dropout])
def test_training_reduces_the_loss_and_leaves_torchs_generator(make, sides, device):
    before = torch.get_rng_state()
    model = make(max_epochs=15, lr=0.005, batch_size=32, device=device).fit(*sides)
    for name in ("train_loss", "valid_loss"):
        losses = model.net_.history[:, name]
        assert losses[-1] < losses[0]
    assert min(model.net_.history[:, "valid_loss"]) < 0.3
    assert model.score(*sides) > 0.95
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("make", [radial, dropout])
def test_early_stopping_looks_at_the_mean_of_the_members(make, images):
    X, y = images
    model = make(max_epochs=2, patience=None, temperature=False).fit(X, y)
    logits = torch.randn(6, 5, 10)
    codes = torch.arange(5)
    loss = model.networks_.validation_losses
    model.networks_.logits = lambda X: logits
    mean = logits.softmax(dim=2).mean(dim=0)
    expected = -mean[range(5), codes].log().sum()
    assert_allclose(loss(None, codes), [expected], rtol=1e-5)


@pytest.mark.parametrize("make", [radial, dropout])
@pytest.mark.parametrize("layout", [{"channels_last": True}, {"mixed_precision": True}])
def test_layout_and_precision_hardly_change_the_members(make, layout, images, device):
    X, y = images
    plain, other = (
        make(device=device, temperature=False, max_epochs=1, **params).fit(X, y)
        for params in ({"channels_last": False, "mixed_precision": False}, layout)
    )
    expected = plain.predict_proba_members(X)
    assert_allclose(other.predict_proba_members(X), expected, atol=0.01)


# Radial networks


def test_radial_noise_has_a_normal_radius_and_a_uniform_direction():
    torch.manual_seed(0)
    weight = RadialWeight((3, 4), fan_in=4, initial_rho=-1.0)
    nn.init.normal_(weight.rho)
    draws = weight.draw(5, torch.Generator().manual_seed(1)).detach()
    generator = torch.Generator().manual_seed(1)
    epsilon = torch.randn((5, 12), generator=generator)
    radius = torch.randn((5, 1), generator=generator)
    noise = ((draws - weight.mean) / F.softplus(weight.rho)).detach().flatten(1)
    assert_allclose(noise.norm(dim=1), radius[:, 0].abs(), rtol=1e-4)
    direction = epsilon / epsilon.norm(dim=1, keepdim=True)
    assert_allclose(noise, direction * radius, atol=1e-5)


def test_divergence_from_the_prior_is_that_of_the_formula():
    torch.manual_seed(0)
    weight = RadialWeight((3, 4), fan_in=4, initial_rho=-1.0)
    draws = torch.randn(5, 3, 4)
    found = weight.divergence(draws, prior_std=0.5)
    cross_entropy = 0.5 * np.mean([(draw**2).sum() / 0.25 for draw in draws])
    entropy = 12 * np.log(np.log1p(np.exp(-1.0)))
    assert found.item() == pytest.approx(cross_entropy - entropy, rel=1e-5)


def test_divergence_sends_scales_up_and_means_to_zero():
    weight = RadialWeight((3, 4), fan_in=4, initial_rho=-1.0)
    draws = weight.mean.detach().expand(5, 3, 4) + 0 * weight.mean
    weight.divergence(weight.mean.expand(5, 3, 4), prior_std=0.5).backward()
    # d/dρ log softplus(ρ) = sigmoid(ρ) / softplus(ρ), d/dμ (μ / σ)² / 2 = μ / σ².
    slope = torch.sigmoid(weight.rho) / F.softplus(weight.rho)
    assert_allclose(weight.rho.grad, -slope.detach(), rtol=1e-5)
    assert_allclose(weight.mean.grad, draws[0].detach() / 0.25, rtol=1e-5)


def test_all_draws_at_once_are_the_slow_loop_over_draws():
    torch.manual_seed(0)
    network = RadialBNN(in_channels=2, n_classes=4, image_size=20, width=3)
    X = torch.randn(5, 2, 20, 20)
    draws = network.draw(7)
    expected = []
    for number in range(7):
        w1, b1, w2, b2, w3, b3, w4, b4 = (drawn[number] for drawn in draws)
        hidden = F.relu(F.max_pool2d(F.conv2d(X, w1, b1), 2))
        hidden = F.relu(F.max_pool2d(F.conv2d(hidden, w2, b2), 2))
        hidden = F.relu(F.linear(hidden.flatten(1), w3, b3))
        expected.append(F.linear(hidden, w4, b4))
    expected = torch.stack(expected).detach()
    assert expected.shape == (7, 5, 4)
    assert_allclose(network(X, draws).detach(), expected, atol=1e-5)
    if torch.backends.mkldnn.is_available():
        with torch.no_grad():
            found = network.call(X, network.arrange(draws, blocked=True))
        assert_allclose(found, expected, atol=1e-5)


def test_a_radial_network_without_noise_is_the_small_cnn():
    torch.manual_seed(0)
    network = RadialBNN(width=4, initial_rho=-100.0)
    plain = SmallCNN(width=4)
    pairs = zip(plain.parameters(), network.tensors, strict=True)
    for values, tensor in pairs:
        values.data = tensor.mean.data
    X = torch.randn(3, 1, 28, 28)
    assert_allclose(network(X)[5].detach(), plain(X).detach(), atol=1e-5)


def test_radial_loss_is_the_log_loss_of_the_draws_and_the_divergence_by_row(images):
    X, y = images
    model = radial(max_epochs=0).fit(X, y)
    members = model.networks_
    assert members.n_rows == 135  # 15 rows are for validation.
    rows, codes = torch.tensor(X[None, :9]), torch.tensor(y[None, :9])
    torch.manual_seed(0)
    (loss,) = members.losses(rows, codes)
    torch.manual_seed(0)
    draws = members.network.draw(8)
    logits = members.network(rows[0], draws)
    log_loss = np.mean([F.cross_entropy(one, codes[0]).item() for one in logits])
    divergence = members.network.divergence(draws).item()
    assert loss.item() == pytest.approx(log_loss + divergence / 135, rel=1e-5)


def test_members_of_a_radial_network_are_draws_from_its_weights(images):
    X, y = images
    model = radial(temperature=False).fit(X, y)
    draws = model.networks_.network.draw(
        6, torch.Generator().manual_seed(model.networks_.seed)
    )
    expected = model.networks_.network(torch.tensor(X), draws).softmax(dim=2)
    assert_allclose(model.predict_proba_members(X), expected.detach(), atol=1e-5)


def test_a_radial_network_goes_back_to_its_best_weights(images):
    seen = []

    class Watch(Callback):
        def on_epoch_end(self, net, **kwargs):
            seen.append(net.module_.snapshot(0))

    model = radial(max_epochs=100, patience=2, lr=0.1, callbacks=[Watch()])
    model.fit(*images)
    losses = model.net_.history[:, "valid_loss"]
    best = int(np.argmin(losses))
    assert len(losses) == best + 1 + 2 < 100
    for name, values in model.networks_.network.state_dict().items():
        assert torch.equal(values, seen[best][name])
        assert not torch.equal(values, seen[-1][name])


@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.SurrogateWarning")
def test_a_radial_network_is_a_surrogate(images):
    X, y = images
    evaluator = ActiveRiskEstimator(
        lambda X: np.full((len(X), 10), 0.1),
        surrogate=radial(max_epochs=2),
        n_labels=12,
        classes=range(10),
        random_state=0,
    )
    # A model that knows nothing has the same log loss everywhere.
    assert evaluator.fit(X, y).risk_.value == pytest.approx(np.log(10), rel=1e-6)


# Dropout


def test_a_member_leaves_out_the_same_units_for_every_row():
    module = nn.Sequential(nn.Dropout(0.5), nn.Linear(8, 3))
    X = np.eye(8, dtype=np.float32)
    model = dropout(module, max_epochs=0, n_members=40).fit(X, np.arange(8) % 3)
    weight, bias = model.networks_.networks[0][1].parameters()
    logits = model.networks_.eval().logits(torch.tensor(X)).detach()
    # A row with a single one tells whether its unit is kept, at double weight.
    kept = torch.isclose(logits, bias + 2 * weight.T, atol=1e-5).all(dim=2)
    left_out = torch.isclose(logits, bias.expand(8, 3), atol=1e-5).all(dim=2)
    assert (kept ^ left_out).all()
    assert 0.4 < kept.float().mean() < 0.6
    together = model.networks_.logits(torch.ones(1, 8))[:, 0]
    expected = bias + 2 * kept.float() @ weight.T
    assert_allclose(together.detach(), expected.detach(), atol=1e-5)


def test_masks_average_to_the_network_without_dropout():
    module = nn.Sequential(nn.Dropout(0.3), nn.Linear(8, 3))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 8)).astype(np.float32)
    model = dropout(module, max_epochs=0, n_members=1000).fit(X, np.arange(20) % 3)
    logits = model.networks_.eval().logits(torch.tensor(X)).detach()
    expected = model.networks_.networks[0](torch.tensor(X)).detach()
    error = logits.std(dim=0) / np.sqrt(1000)
    assert ((logits.mean(dim=0) - expected).abs() < 5 * error).all()


def test_channels_are_left_out_as_a_whole():
    module = nn.Sequential(
        nn.Dropout2d(0.5), nn.Flatten(), nn.Linear(4 * 9, 2, bias=False)
    )
    X = np.zeros((4, 4, 3, 3), dtype=np.float32)
    X[range(4), range(4)] = 1.0
    model = dropout(module, max_epochs=0, n_members=30).fit(X, [0, 1, 0, 1])
    weight = model.networks_.networks[0][2].weight.view(2, 4, 9).sum(dim=2).T
    logits = model.networks_.eval().logits(torch.tensor(X)).detach()
    kept = torch.isclose(logits, 2 * weight, atol=1e-5).all(dim=2)
    left_out = (logits == 0).all(dim=2)
    assert (kept ^ left_out).all()
    assert 0.3 < kept.float().mean() < 0.7


@pytest.mark.parametrize(
    ("module", "name"), [(nn.Linear(64, 10), "Linear"), (SmallCNN, "SmallCNN")]
)
def test_a_module_without_dropout_is_refused(images, rows, module, name):
    X, y = images if module is SmallCNN else (rows.X_train, rows.y_train)
    with pytest.raises(ValueError, match=f"{name} has no dropout layer"):
        dropout(module).fit(X, y)
    if module is SmallCNN:
        model = dropout(module, module__dropout=0.2, module__width=2).fit(X, y)
        assert np.ptp(model.predict_proba_members(X), axis=0).max() > 1e-3


# Number of members


@pytest.mark.parametrize(
    ("kind", "n_members"),
    [
        (DeepEnsembleClassifier, 10),
        (MCDropoutClassifier, 50),
        (RadialBNNClassifier, 100),
    ],
)
def test_each_class_has_its_default_number_of_members(images, kind, n_members):
    model = kind(max_epochs=1, module__width=2, validation_fraction=0)
    assert model.n_members is None
    assert model.n_members_ == n_members
    assert model.fit(*images).predict_proba_members(images[0][:2]).shape[0] == n_members


def test_a_subclass_without_a_default_has_ten_members():
    class Deep(BaseDeepClassifier):
        def _n_networks(self):
            return 1

        def _join(self, networks):
            return networks[0]

    assert Deep().n_members_ == 10
    assert Deep(n_members=3).n_members_ == 3
