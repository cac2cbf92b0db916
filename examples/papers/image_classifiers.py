"""
Networks without distribution shift: an estimate without a label
================================================================

Section 7.3 of the paper: ResNet-18 on Fashion-MNIST and CIFAR-10, a wide ResNet on
CIFAR-100. The surrogate is a deep ensemble of the same network and never changes, so
ASE uses no label of the pool at all. Figure 4, appendix B.4 (accuracy) and B.5 (smaller
training set); "finite pool" is the error that a pool of this size has at least.

"Recalibrated" is not in the paper: the same ensemble, blended with f by the package's
calibration on training images that no network has learned from and on the labels of the
pool, with the default acquisition. At one label it is all but zero-shot.

    python examples/papers/image_classifiers.py --out RUNS --data-dir DIR
    python examples/papers/image_classifiers.py --out RUNS --preset paper

Networks are trained once and their predictions kept; then pools are drawn many times
and compared with the risk on all other test images. What is finished is not done again;
``image_classifiers_report.py`` makes tables, figures and claims of the CSV files.
"""

import sys
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from common import parser, result_path, write_csv
from image_classifiers_report import (
    BLENDED,
    DATA,
    FROZEN,
    LOSSES,
    SIZES,
    paths_of,
    report,
)
from image_data import read_images
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from skorch.callbacks import LRScheduler
from torch import nn

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import ExpectedLoss
from sklearn_ase.neural import (
    DeepEnsembleClassifier,
    RandomCrop,
    RandomFlip,
    ResNet18,
    WideResNet40,
)
from sklearn_ase.risk import ASE, LURE, CorrectedASE, Guarded
from sklearn_ase.selection import Proportional
from sklearn_ase.simulation import Scenario, label_efficiency_curve
from sklearn_ase.surrogate import ClassifierSurrogate, LogLinearStack

SEED = 20221207
COUNTS = (1, 10, 20, 30, 40, 50)


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
    return preset


class StoredMembers(ClassifierMixin, BaseEstimator):
    """Predictions of an ensemble, never fitted again; X holds numbers of images."""

    def __init__(self, member_proba=None):
        self.member_proba = member_proba

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    @property
    def classes_(self):
        return np.arange(self.member_proba.shape[2])

    def predict_proba_members(self, X):
        return self.member_proba[:, X[:, 0]]


class Stored:
    """Predictions of a model; X holds numbers of images."""

    def __init__(self, proba):
        self.proba = proba

    def __call__(self, X):
        return self.proba[X[:, 0]]


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


def make_scenario(preset, proba, y, seed, label_proba=None):
    """A pool drawn from the test images; training images to calibrate on."""
    n_test = len(y) - preset.n_check
    rng = np.random.default_rng(seed)
    pool = rng.choice(n_test, preset.n_pool, replace=False)
    return Scenario(
        X=pool[:, None],
        y=y[pool] if label_proba is None else np.arange(proba.shape[1]),
        X_train=np.arange(n_test, len(y))[:, None],
        y_train=y[n_test:],
        train_predictions=proba[n_test:],
        label_proba=None if label_proba is None else label_proba[pool],
    )


def evaluators(proba, members, loss):
    """As in the paper, and as the package would have it."""
    stored = StoredMembers(members)
    frozen = ActiveRiskEstimator(
        Stored(proba),
        surrogate=ClassifierSurrogate(FrozenEstimator(stored)),
        loss=loss,
        acquisition=ExpectedLoss(),
        selection=Proportional(defensive=0.0),
        classes=np.arange(proba.shape[1]),
    )
    blended = clone(frozen).set_params(
        surrogate=ClassifierSurrogate(stored, calibration=LogLinearStack()),
        acquisition=None,
        selection=None,
    )
    return {FROZEN: frozen, BLENDED: blended}


RISKS = {
    "ASE": ASE(),
    "LURE": LURE(),
    "CorrectedASE": CorrectedASE(),
    "Guarded": Guarded(),
}


def simulate(args, preset, name, size, loss):
    """Draw pools and buy labels of each."""
    proba, members, y = predictions(args, preset, name, size)
    path, truth_path = paths_of(args, name, size, loss)
    write_csv(true_risk(preset, proba, y, loss), truth_path)
    n_pools = args.runs or preset.n_pools
    for kind, evaluator in evaluators(proba, members, loss).items():
        label_efficiency_curve(
            {kind: evaluator},
            lambda seed: make_scenario(preset, proba, y, seed),
            risks=RISKS,
            n_labels=[count for count in COUNTS if count <= preset.n_pool],
            # Calibrating again and again takes its time.
            n_runs=n_pools if kind == FROZEN else -(-n_pools // 5),
            random_state=SEED,
            n_jobs=args.jobs,
            verbose=1,
            path=path,
        )


def true_risk(preset, proba, y, loss):
    """Mean loss on all test images, as a table of one row."""
    n_test = len(y) - preset.n_check
    proba, y = proba[:n_test], y[:n_test]
    right = proba[np.arange(n_test), y]
    losses = -np.log(np.clip(right, np.finfo(np.float32).eps, 1))
    if loss == "zero_one":
        losses = proba.argmax(axis=1) != y
    sizes = {"n_test": [n_test], "n_pool": [preset.n_pool]}
    return pd.DataFrame({**sizes, "risk": [losses.mean()]})


def main(argv=None):
    arguments = parser(__doc__)
    arguments.add_argument("--data", nargs="*", choices=DATA, default=list(DATA))
    args = arguments.parse_args(argv)
    if not args.report:
        Path(args.out).mkdir(parents=True, exist_ok=True)
        for experiment in product(args.data, SIZES, LOSSES):
            simulate(args, preset_of(args), *experiment)
    return report(args)


if __name__ == "__main__":
    sys.exit(main())
