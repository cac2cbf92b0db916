"""Networks of ``image_classifiers.py``: how they are trained, what they predict."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from common import result_path
from image_data import read_images
from skorch.callbacks import LRScheduler
from torch import nn

from sklearn_ase.neural import (
    DeepEnsembleClassifier,
    RandomCrop,
    RandomFlip,
    ResNet18,
    WideResNet40,
)

SEED = 20221207


@dataclass(frozen=True)
class Preset:
    """Sizes of one experiment."""

    n_train: int
    n_small: int
    n_check: int  # No network learns from these; the package calibrates on them.
    n_pool: int
    n_pools: int
    n_members: int
    resnet_width: float
    resnet_epochs: int
    wide_width: float
    wide_epochs: int
    n_test: int | None = None  # None is the official test set.
    patience: int = 20


PRESETS = {
    "cpu": Preset(
        n_train=9000,
        n_small=3000,
        n_check=1000,
        n_pool=2000,
        n_pools=1000,
        n_members=5,
        resnet_width=8,
        resnet_epochs=10,
        wide_width=0.25,
        wide_epochs=10,
    ),
    "paper": Preset(
        n_train=40_000,
        n_small=10_000,
        n_check=2000,
        n_pool=2000,
        n_pools=1000,
        n_members=10,
        resnet_width=64,
        resnet_epochs=160,
        wide_width=10,
        wide_epochs=200,
        n_test=20_000,
    ),
}
TINY = {
    "n_train": 60,
    "n_small": 40,
    "n_check": 40,
    "n_pool": 30,
    "n_pools": 1,
    "n_members": 2,
    "resnet_width": 2,
    "resnet_epochs": 1,
    "wide_width": 0.25,
    "wide_epochs": 1,
}


def preset_of(args):
    """Sizes as the arguments have them."""
    preset = PRESETS[args.preset]
    if args.tiny:
        preset = replace(preset, n_test=preset.n_test and 100, **TINY)
    if args.epochs:
        preset = replace(preset, resnet_epochs=args.epochs, wide_epochs=args.epochs)
    return preset


def split(name, data_dir, preset):
    """Images to train on in random order, and images to evaluate on."""
    X, y, X_test, y_test = read_images(name, data_dir)
    rng = np.random.default_rng(SEED)
    if preset.n_test is None:
        train = rng.permutation(len(y))
    else:
        X, y = np.concatenate([X, X_test]), np.concatenate([y, y_test])
        order = rng.permutation(len(y))
        test, train = order[: preset.n_test], order[preset.n_test :]
        X_test, y_test = X[test], y[test]
    if len(train) < preset.n_train:
        raise SystemExit(
            f"{preset.n_train} images to train on are needed, but {name} has "
            f"{len(train)} beside {len(y_test)} to evaluate on. Leave out --data-dir "
            "to download all, or use --preset cpu."
        )
    return X[train], y[train], X_test, y_test


def make_ensemble(name, preset, n_members, seed):
    """Networks as the paper trains them."""
    wide = name == "cifar100"
    n_epochs = preset.wide_epochs if wide else preset.resnet_epochs
    # After 60, 120 and 160 of the paper's 200 epochs.
    steps = LRScheduler(
        "MultiStepLR",
        milestones=[int(share * n_epochs) for share in (0.3, 0.6, 0.8)],
        gamma=0.2,
    )
    return DeepEnsembleClassifier(
        WideResNet40 if wide else ResNet18,
        module__width=preset.wide_width if wide else preset.resnet_width,
        n_members=n_members,
        classes=list(range(100 if wide else 10)),
        optimizer=torch.optim.SGD,
        optimizer__momentum=0.9,
        optimizer__weight_decay=5e-4,
        optimizer__nesterov=True,
        lr=0.1,
        schedule=steps if wide else "cosine",
        augment=nn.Sequential(RandomCrop(4), RandomFlip()),
        max_epochs=n_epochs,
        batch_size=128,
        validation_fraction=0.125,
        patience=None if wide else preset.patience,
        random_state=seed,
        verbose=1,
    )


def network_predictions(args, preset, name, size, n_members, seed):
    """Probabilities by each of some networks, and labels; trained if not kept.

    Of all test images and, after them, of training images that no network has seen.
    """
    kind = "f" if n_members == 1 else "ensemble"
    tested = "official" if preset.n_test is None else str(preset.n_test)
    path = result_path(args, name, size, tested, f"{kind}.npz")
    if not path.exists():
        X, y, X_test, y_test = split(name, args.data_dir, preset)
        # Of CIFAR the paper uses every image, so that there those to check on are taken
        # from the 40,000 to train on.
        n_check = preset.n_check
        rows = slice(n_check, n_check + getattr(preset, f"n_{size}"))
        print(f"training networks: {path.stem}", flush=True)
        networks = make_ensemble(name, preset, n_members, seed).fit(X[rows], y[rows])
        X_all = np.concatenate([X_test, X[:n_check]])
        y_all = np.concatenate([y_test, y[:n_check]])
        partial = path.with_suffix(".part.npz")
        np.savez(partial, members=networks.predict_proba_members(X_all), y=y_all)
        partial.replace(path)  # Whole or not at all.
    with np.load(path) as file:
        return file["members"], file["y"]


def predictions(args, preset, name, size):
    """Probabilities by f, by each member of the ensemble, and labels."""
    (proba,), y = network_predictions(args, preset, name, size, 1, SEED)
    members, _ = network_predictions(
        args, preset, name, size, preset.n_members, SEED + 1
    )
    return proba, members, y
