"""
Networks without distribution shift: an estimate without a label
================================================================

Section 7.3 of the paper: ResNet-18 on Fashion-MNIST and CIFAR-10, a wide ResNet on
CIFAR-100. The surrogate is a deep ensemble of the same network and never changes, so
ASE uses no label of the pool at all. Figure 4, appendix B.4 (accuracy) and B.5 (smaller
training set). "Finite pool" is the error of knowing every label of the pool; a
surrogate can be below it, since it does not follow the pool's accidents.

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
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from common import parser, write_csv
from image_classifiers_report import (
    BLENDED,
    DATA,
    FROZEN,
    LOSSES,
    SIZES,
    paths_of,
    report,
)
from image_networks import SEED, predictions, preset_of
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import ExpectedLoss
from sklearn_ase.risk import ASE, LURE, CorrectedASE, GuardedASE
from sklearn_ase.selection import Proportional
from sklearn_ase.simulation import Scenario, label_efficiency_curve
from sklearn_ase.surrogate import ClassifierSurrogate, LogLinearStack

COUNTS = (1, 10, 20, 30, 40, 50)


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
        selection=Proportional(uniform_share=0.0),
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
    "GuardedASE": GuardedASE(),
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
