"""Architectures have the sizes of the literature."""

import pytest
import torch
from torch import nn

from sklearn_ase.neural import (
    MLP,
    DeepEnsembleClassifier,
    RadialBNN,
    RadialBNNClassifier,
    ResNet18,
    SmallCNN,
    WideResNet40,
)
from sklearn_ase.neural._networks import n_parameters


@pytest.mark.parametrize(
    ("module", "params", "expected"),
    [
        # The same as in kuangliu/pytorch-cifar and the CIFAR variants after it.
        (ResNet18, {}, 11_173_962),
        # 0.6, 2.2 and 8.9 million in the paper of Zagoruyko and Komodakis.
        (WideResNet40, {"n_classes": 10, "width": 1}, 563_930),
        (WideResNet40, {"n_classes": 10, "width": 2}, 2_243_546),
        (WideResNet40, {"n_classes": 10, "width": 4}, 8_949_210),
        (SmallCNN, {}, 80_202),
        # A mean and a scale for each weight of the small CNN.
        (RadialBNN, {}, 2 * 80_202),
        (MLP, {"n_features": 4, "n_classes": 3, "width": (8, 5)}, 40 + 45 + 18),
    ],
)
def test_number_of_parameters(module, params, expected):
    with torch.device("meta"):  # Shapes only, no memory.
        assert n_parameters(module(**params)) == expected


@pytest.mark.parametrize(
    ("module", "n_3x3", "n_shortcuts"),
    [
        (ResNet18, 17, 3),  # With the dense layer 18, shortcuts not counted.
        (WideResNet40, 37, 3),  # With shortcuts 40, the dense layer not counted.
    ],
)
def test_residual_networks_are_as_deep_as_their_names_say(module, n_3x3, n_shortcuts):
    with torch.device("meta"):
        parts = list(module().modules())
    sizes = [part.kernel_size for part in parts if isinstance(part, nn.Conv2d)]
    assert sizes.count((3, 3)) == n_3x3
    assert sizes.count((1, 1)) == n_shortcuts
    assert len(sizes) == n_3x3 + n_shortcuts


@pytest.mark.parametrize(
    ("module", "params"),
    [
        (ResNet18, {"width": 2}),
        (WideResNet40, {"width": 1}),
        (SmallCNN, {"width": 2}),
        (SmallCNN, {"width": 2, "image_size": 20}),
        (MLP, {"n_features": 28 * 28}),
    ],
)
def test_one_logit_for_each_class(module, params, device):
    if module is not MLP:
        params = params | {"in_channels": 1}
    network = module(n_classes=4, **params).to(device)
    side = params.get("image_size", 28)
    logits = network(torch.rand(3, 1, side, side, device=device))
    assert logits.shape == (3, 4)
    assert torch.isfinite(logits).all()


def test_the_last_maps_of_residual_networks_are_small():
    sizes = {}
    for module in (ResNet18(width=2), WideResNet40(width=1)):
        features = module.blocks(module.stem(torch.rand(1, 3, 32, 32)))
        sizes[type(module)] = tuple(features.shape[1:])
    assert sizes == {ResNet18: (16, 4, 4), WideResNet40: (64, 8, 8)}


@pytest.mark.parametrize("module", [SmallCNN, RadialBNN])
def test_images_too_small_for_the_convolutions_are_refused(module):
    with pytest.raises(ValueError, match=r"image_size=15 is too small.*16 is the"):
        module(image_size=15)
    assert n_parameters(module(image_size=16)) > 0


def test_the_radial_classifier_refuses_images_that_are_too_small(rows):
    X = rows.X_train.reshape(-1, 1, 8, 8)
    with pytest.raises(ValueError, match="image_size=8 is too small"):
        RadialBNNClassifier().fit(X, rows.y_train)


@pytest.mark.parametrize("module", [MLP, SmallCNN, ResNet18, WideResNet40, RadialBNN])
def test_sizes_are_taken_from_the_data(module):
    X, y = torch.rand(6, 2, 16, 16).numpy(), ["a", "b", "c"] * 2
    base = RadialBNNClassifier if module is RadialBNN else DeepEnsembleClassifier
    model = base(module, module__width=1, n_members=2, max_epochs=1).fit(X, y)
    assert model.predict_proba_members(X).shape == (2, 6, 3)


def test_a_function_may_make_the_network(rows):
    def linear(n_features, n_classes, bias):
        return nn.Linear(n_features, n_classes, bias=bias)

    model = DeepEnsembleClassifier(linear, module__bias=False, max_epochs=1)
    model.fit(rows.X_train, rows.y_train)
    assert list(model.networks_.snapshot(0)) == ["weight"]
