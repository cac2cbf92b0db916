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
and compared with the risk on all other test images. What is finished is not done again.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from common import Claims, draw_curves, parser, read_images
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
from sklearn_ase.simulation import LabelEfficiency, Scenario, label_efficiency_curve
from sklearn_ase.surrogate import ClassifierSurrogate, LogLinearStack

SEED = 20221207
COUNTS = (1, 10, 20, 30, 40, 50)
FROZEN, BLENDED = "frozen", "recalibrated"


@dataclass(frozen=True)
class Preset:
    """Sizes of one experiment."""

    n_train: int
    n_small: int
    n_check: int
    n_pool: int
    n_pools: int
    n_members: int
    max_epochs: int
    resnet_width: float
    wide_width: float
    patience: int = 20


PRESETS = {
    "cpu": Preset(9000, 3000, 1000, 2000, 1000, 5, 10, 8, 0.25),
    "paper": Preset(38_000, 10_000, 2000, 2000, 1000, 10, 160, 64, 4),
    "tiny": Preset(60, 40, 40, 30, 3, 2, 1, 2, 0.25),
}
DATA = ("fashion_mnist", "cifar10", "cifar100")
LOSSES = ("log_loss", "zero_one")


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
    """Images to train on and images to evaluate on, none in both."""
    X_train, y_train, X_test, y_test = read_images(name, data_dir)
    if preset == "paper":
        # As in the paper: 20,000 images to evaluate on, where there are as many.
        X, y = np.concatenate([X_train, X_test]), np.concatenate([y_train, y_test])
        order = np.random.default_rng(SEED).permutation(len(y))
        test, train = order[:20_000], order[20_000:]
        return X[train], y[train], X[test], y[test]
    order = np.random.default_rng(SEED).permutation(len(y_train))
    return X_train[order], y_train[order], X_test, y_test


def make_ensemble(name, preset, n_members, seed):
    """Networks as the paper trains them."""
    wide = name == "cifar100"
    steps = LRScheduler(
        "MultiStepLR",
        milestones=[int(share * preset.max_epochs) for share in (0.3, 0.6, 0.8)],
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
        max_epochs=preset.max_epochs,
        batch_size=128,
        validation_fraction=0.125,
        patience=None if wide else preset.patience,
        random_state=seed,
        verbose=1,
    )


def predictions(args, name, size):
    """Probabilities by f and by each member, and labels.

    Of all test images and, after them, of training images that no network has seen.
    """
    path = Path(args.out) / f"{args.preset} {name} {size}.npz"
    preset = PRESETS[args.preset]
    if not path.exists():
        X, y, X_test, y_test = split(name, args.data_dir, args.preset)
        rows = slice(preset.n_check, preset.n_check + getattr(preset, f"n_{size}"))
        X_all = np.concatenate([X_test, X[: preset.n_check]])
        print(f"training networks: {path.stem}", flush=True)
        model = make_ensemble(name, preset, 1, SEED).fit(X[rows], y[rows])
        ensemble = make_ensemble(name, preset, preset.n_members, SEED + 1)
        ensemble.fit(X[rows], y[rows])
        partial = path.with_suffix(".part.npz")
        np.savez(
            partial,
            proba=model.predict_proba(X_all),
            members=ensemble.predict_proba_members(X_all),
            y=np.concatenate([y_test, y[: preset.n_check]]),
        )
        partial.rename(path)  # Whole or not at all.
    with np.load(path) as file:
        return file["proba"], file["members"], file["y"]


def n_test(y, preset):
    """How many of the stored images are test images."""
    return len(y) - PRESETS[preset].n_check


def make_scenario(preset, proba, y, seed, label_proba=None):
    """A pool drawn from the test images; training images to calibrate on."""
    first = n_test(y, preset)
    rng = np.random.default_rng(seed)
    pool = rng.choice(first, PRESETS[preset].n_pool, replace=False)
    return Scenario(
        X=pool[:, None],
        y=y[pool] if label_proba is None else np.arange(proba.shape[1]),
        X_train=np.arange(first, len(y))[:, None],
        y_train=y[first:],
        train_predictions=proba[first:],
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


def path_of(args, name, size, loss):
    return Path(args.out) / f"{args.preset} {name} {size} {loss}.csv"


def simulate(args, name, size, loss):
    """Draw pools and buy labels of each."""
    preset = PRESETS[args.preset]
    proba, members, y = predictions(args, name, size)
    n_pools = args.runs or preset.n_pools
    for kind, evaluator in evaluators(proba, members, loss).items():
        label_efficiency_curve(
            {kind: evaluator},
            lambda seed: make_scenario(args.preset, proba, y, seed),
            risks=RISKS,
            n_labels=[count for count in COUNTS if count <= preset.n_pool],
            # Calibrating again and again takes its time.
            n_runs=n_pools if kind == FROZEN else -(-n_pools // 5),
            random_state=SEED,
            n_jobs=args.jobs,
            verbose=1,
            path=path_of(args, name, size, loss),
        )


def squared_errors(args, name, size, loss):
    """Squared error of each estimate against the risk on all other test images."""
    proba, _, y = predictions(args, name, size)
    tested = slice(n_test(y, args.preset))
    proba, y = proba[tested], y[tested]
    right = proba[np.arange(len(y)), y]
    losses = -np.log(np.clip(right, np.finfo(np.float32).eps, 1))
    if loss == "zero_one":
        losses = (proba.argmax(axis=1) != y).astype(float)
    runs = pd.DataFrame(LabelEfficiency.load(path_of(args, name, size, loss)).columns)
    n_pool = PRESETS[args.preset].n_pool
    rest = (losses.sum() - n_pool * runs["truth"]) / (len(y) - n_pool)
    runs["squared_error"] = (runs["value"] - rest) ** 2
    limit = runs[(runs["risk"] == "ASE") & (runs["evaluator"] == FROZEN)].assign(
        risk="finite pool", squared_error=(runs["truth"] - rest) ** 2
    )
    blended = runs["evaluator"] == BLENDED
    runs.loc[blended, "risk"] += f", {BLENDED}"
    runs = runs[runs["risk"] != f"Monte Carlo, {BLENDED}"]  # The same pools again.
    return pd.concat([runs, limit]), losses.mean()


# Median squared errors of figure 4, read off at 49 labels; ASE uses none.
METHODS = ("finite pool", "Monte Carlo", "ASE", "LURE")
OURS = f"ASE, {BLENDED}", f"Guarded, {BLENDED}"
IN_THE_PAPER = {
    "fashion_mnist": (1.1e-4, 0.0029, 5.4e-5, 0.0008),
    "cifar10": (0.00024, 0.0056, 0.0005, 0.0017),
    "cifar100": (0.0008, 0.023, 0.0035, 0.010),
}


def report(args):
    """Print tables, draw figures, check the paper's claims."""
    claims = Claims()
    for name in args.data:
        for size in ("train", "small"):
            for loss in LOSSES:
                runs, truth = squared_errors(args, name, size, loss)
                grouped = runs.groupby(["risk", "n_labels"])["squared_error"]
                table = grouped.median().unstack()
                title = f"{name}, {size}, {loss}"
                print(
                    f"\n{title}: risk of f {truth:.3f}, {runs['run'].nunique()} pools"
                )
                print("median squared error")
                print(table.to_string(float_format="{:.2g}".format))
                stem = Path(args.out) / f"{args.preset} figure 4 {title}.png"
                curves = {method: table.loc[method] for method in (*METHODS, *OURS)}
                paper = None
                if (size, loss) == ("train", "log_loss"):
                    paper = dict(zip(METHODS, IN_THE_PAPER[name], strict=True))
                    print("in the paper, at 49 labels:", paper)
                    paper = {method: {49: error} for method, error in paper.items()}
                draw_curves(curves, stem, "median squared error", paper=paper)
                check(claims, title, table)
    return claims.verdict()


def check(claims, title, table):
    """The paper's claims for one data set, size and loss; then what we add to them."""
    first, last = table[table.columns.min()], table[table.columns.max()]
    others, limit = min(last["LURE"], last["Monte Carlo"]), last["finite pool"]
    claims.check(
        f"{title}: zero-shot",
        "ASE without labels is below LURE and Monte Carlo at the last label count",
        last["ASE"] < others,
        f"{last['ASE']:.2g}, {last['LURE']:.2g}, {last['Monte Carlo']:.2g}",
    )
    claims.check(
        f"{title}: near the limit",
        "ASE without labels is within five times the error of the pool itself",
        last["ASE"] < 5 * limit,
        f"{last['ASE']:.2g}, {limit:.2g}",
    )
    claims.check(
        f"{title}: recalibrated",
        "recalibrated ASE at the first label is below LURE and Monte Carlo at the last",
        first[OURS[0]] < others,
        f"{first[OURS[0]]:.2g}, {others:.2g}",
    )
    ours, plain = table.loc[OURS[1]], table.loc["Monte Carlo"]
    worst = max(table.columns[1:], key=lambda count: ours[count] / plain[count])
    claims.check(
        f"{title}: guarded",
        "recalibrated guarded is below Monte Carlo at every count after the first",
        ours[worst] < plain[worst],
        f"at most {ours[worst] / plain[worst]:.2f} of its error, at {worst} labels",
    )


def main(argv=None):
    arguments = parser(__doc__, list(PRESETS))
    arguments.add_argument("--data", nargs="*", choices=DATA, default=list(DATA))
    args = arguments.parse_args(argv)
    Path(args.out).mkdir(parents=True, exist_ok=True)
    if not args.report:
        for name in args.data:
            for size in ("train", "small"):
                for loss in LOSSES:
                    simulate(args, name, size, loss)
    return report(args)


if __name__ == "__main__":
    sys.exit(main())
