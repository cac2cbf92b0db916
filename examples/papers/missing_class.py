"""
Distribution shift: MNIST without sevens
========================================

Sections 7.1 and 7.2 of the paper: f and the surrogate learn from images without sevens,
the pool has them. Figures 1, 2, 3 (a) and (b), appendix B.1 (share of sevens among the
labels), B.2 (constant surrogate), B.3 (stochastic acquisition) and C (medians,
normalised errors).

    python examples/papers/missing_class.py --out RUNS --data-dir DIR
    python examples/papers/missing_class.py --out RUNS --surrogate radial
    python examples/papers/missing_class.py --out RUNS --preset paper --surrogate radial

Three surrogates: ``trees`` (as the package's default, on principal components),
``ensemble`` (deep ensemble of perceptrons) and ``radial`` (radial Bayesian networks, as
in the paper). With the latter two f is such a network too, and "default" is not in the
paper: the same f evaluated with trees and the package's other defaults. Runs that are
finished are kept in CSV files and not run again; ``missing_class_report.py`` makes
tables, figures and claims of them.
"""

import sys
from pathlib import Path

import numpy as np
from common import parser
from image_data import all_mnist, mnist_components
from missing_class_models import make_constant, make_model, make_surrogate, preset_of
from missing_class_report import SHARE, path_of, report
from sklearn.base import clone

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.acquisition import BALD, XWED, ExpectedLoss, Uniform
from sklearn_ase.risk import ASE, LURE, BaseRisk, CorrectedASE, Estimate, GuardedASE
from sklearn_ase.selection import ArgMax, Proportional
from sklearn_ase.simulation import Scenario, label_efficiency_curve

SEED = 20221206
MISSING = 7


class ShareOfClass(BaseRisk):
    """No risk but the share of one class among the labels (figure 2)."""

    def __init__(self, label):
        self.label = label

    def estimate(self, state):
        share = float(np.mean(state.labels == self.label))
        return Estimate(share, np.nan, state.n_labels, 1, refusal="A share.")


def images(args):
    """All images and labels, as the surrogate reads them."""
    read = mnist_components if args.surrogate == "trees" else all_mnist
    return read(args.data_dir)


def split(y, preset, seed):
    """Numbers of the rows of a pool, of training rows without sevens, and of others.

    These others are what comes after the last training row in random order, so that
    they have as many sevens as the pool.
    """
    order = np.random.default_rng(seed).permutation(len(y))
    pool, rest = order[: preset.n_pool], order[preset.n_pool :]
    train = np.flatnonzero(y[rest] != MISSING)[: preset.n_train]
    if len(train) < preset.n_train:
        raise ValueError(
            f"{len(y)} images are too few for a pool of {preset.n_pool} and "
            f"{preset.n_train} training rows without sevens."
        )
    return pool, rest[train], rest[train[-1] + 1 :]


def draw(args, preset, frozen, seed):
    """Training rows without sevens, a pool with them, the model; a frozen surrogate."""
    X, y = images(args)
    pool, train, _ = split(y, preset, seed)
    model = make_model(args.surrogate, preset, seed).fit(X[train], y[train])
    surrogate = None
    if frozen:
        surrogate = make_constant(args.surrogate, preset, seed + 1, X[train], y[train])
    return Scenario(
        X=X[pool],
        y=y[pool],
        estimator=model,
        X_train=X[train],
        y_train=y[train],
        surrogate=surrogate,
    )


def evaluators(kind, preset):
    """Acquisitions by arg max, and by sampling (with a tilde)."""
    base = ActiveRiskEstimator(
        surrogate=make_surrogate(kind, preset),
        loss="log_loss",
        refit=list(preset.refits),
    )

    def variant(acquisition, selection):
        return clone(base).set_params(acquisition=acquisition, selection=selection)

    sampling = Proportional(uniform_share=0.0)
    default = clone(base)
    if kind != "trees":
        default.set_params(surrogate=make_surrogate("trees on images", preset))
    by_maximum = {
        "XWED": variant(XWED(), ArgMax()),
        "BALD": variant(BALD(), ArgMax()),
        "E[loss]": variant(ExpectedLoss(), ArgMax()),
    }
    return {
        "arg max": by_maximum,
        "sampling": {
            "~E[loss]": variant(ExpectedLoss(), sampling),
            "~XWED": variant(XWED(), sampling),
            "~BALD": variant(BALD(), sampling),
            "Uniform": variant(Uniform(), sampling),
            "default": default,
        },
        "constant": {"constant ~E[loss]": variant(ExpectedLoss(), sampling)},
    }


def simulate(args, preset):
    """Run what is missing."""
    Path(args.out).mkdir(parents=True, exist_ok=True)
    share = {SHARE: ShareOfClass(MISSING)}
    weighted = {"ASE": ASE(), "LURE": LURE(), "CorrectedASE": CorrectedASE(), **share}
    risks = {
        "arg max": {"ASE": ASE(), **share},
        "sampling": {"GuardedASE": GuardedASE(), **weighted},
        "constant": weighted,
    }
    for group, chosen in evaluators(args.surrogate, preset).items():
        label_efficiency_curve(
            chosen,
            lambda seed, group=group: draw(args, preset, group == "constant", seed),
            risks=risks[group],
            n_labels=preset.refits,
            n_runs=args.runs or preset.n_runs,
            random_state=SEED,
            n_jobs=args.jobs,
            verbose=1,
            path=path_of(args, group),
        )


def run_script(doc, simulate, report, argv):
    """What a script on these data does from the command line."""
    arguments = parser(doc)
    kinds = ["trees", "ensemble", "radial"]
    arguments.add_argument("--surrogate", choices=kinds, default="trees")
    args = arguments.parse_args(argv)
    preset = preset_of(args)
    if not args.report:
        simulate(args, preset)
    return report(args, preset)


def main(argv=None):
    return run_script(__doc__, simulate, report, argv)


if __name__ == "__main__":
    sys.exit(main())
