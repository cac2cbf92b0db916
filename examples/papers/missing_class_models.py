"""Models and surrogates of ``missing_class.py``, and their sizes."""

from dataclasses import dataclass, replace

from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sklearn_ase.surrogate import ClassifierSurrogate


@dataclass(frozen=True)
class Preset:
    """Sizes of one experiment; estimates are reported at the refits."""

    n_train: int
    n_pool: int
    refits: tuple
    n_runs: int
    width: int = 16
    n_members: int = 100
    max_epochs: int = 500
    lr: float = 1e-4
    n_draws: int = 8


FEWER = (10, 20, 50, 100, 200, 400)
FEW = (5, 10, 20, 30, 40, 50, 70, 100, 150, 200)
# As in the paper: ever more rarely, the last time at 4,500. Its figures end at 4,950,
# where there is a refit of ours, since estimates are reported at the refits.
MANY = (5, 10, 20, 30, 40, 50, 70, 100, 125, 150, *range(200, 1000, 50))
MANY += (*range(1000, 2000, 250), *range(2000, 5000, 500), 4950)
PAPER = Preset(2500, 60_000, MANY, 100)
PRESETS = {
    ("cpu", "trees"): Preset(1000, 4000, (*FEW, 300, 400, 600, 1000), 50),
    ("cpu", "ensemble"): Preset(1000, 4000, FEWER, 20, 64, 10, 60, 2e-3),
    ("cpu", "radial"): Preset(500, 2000, FEWER, 20, 8, 20, 20, 5e-3, n_draws=2),
    ("paper", "trees"): PAPER,
    ("paper", "ensemble"): replace(PAPER, width=128, n_members=10, max_epochs=200),
    ("paper", "radial"): PAPER,
}
TINY = {
    "n_train": 90,
    "n_pool": 60,
    "refits": (5, 10),
    "n_runs": 1,
    "width": 2,
    "n_members": 3,
    "max_epochs": 1,
}


def preset_of(args):
    """Sizes as the arguments have them."""
    preset = PRESETS[args.preset, args.surrogate]
    if args.tiny:
        preset = replace(preset, **TINY)
    return replace(preset, max_epochs=args.epochs) if args.epochs else preset


def make_model(kind, preset, seed):
    """A model of the kind of the surrogate."""
    if kind == "trees":
        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    from sklearn_ase.neural import DeepEnsembleClassifier, RadialBNNClassifier

    training = {
        "classes": list(range(10)),
        "max_epochs": preset.max_epochs,
        "module__width": preset.width,
        "lr": preset.lr,
        "optimizer__weight_decay": 1e-4,
        "validation_fraction": 0.2,
        "patience": 10,
        "random_state": seed,
    }
    if kind == "radial":
        return RadialBNNClassifier(
            n_members=preset.n_members,
            module__n_train_draws=preset.n_draws,
            **training,
        )
    return DeepEnsembleClassifier(n_members=1, **training)


def make_surrogate(kind, preset, seed=None):
    """The surrogate; networks are calibrated by their temperature, as in the paper."""
    if kind == "trees":
        trees = ExtraTreesClassifier(60, bootstrap=True, max_features=0.3)
        return ClassifierSurrogate(trees.set_params(random_state=seed))
    if kind == "trees on images":
        components = make_pipeline(FunctionTransformer(flat), PCA(30, random_state=0))
        trees = make_surrogate("trees", preset, seed).estimator
        return ClassifierSurrogate(make_pipeline(components, trees))
    estimator = make_model(kind, preset, seed)
    estimator.set_params(n_members=preset.n_members)
    return ClassifierSurrogate(estimator, calibration=None)


def make_constant(kind, preset, seed, X, y):
    """A surrogate that never changes after training.

    Networks are as sure as they are. Trees are not sure enough without calibration, and
    a surrogate that is never fitted again is never calibrated again.
    """
    estimator = make_surrogate(kind, preset, seed).estimator
    if kind == "trees":
        estimator = CalibratedClassifierCV(estimator, cv=3)
    return ClassifierSurrogate(FrozenEstimator(estimator.fit(X, y)))


def flat(X):
    """Images as rows of pixels."""
    return X.reshape(len(X), -1)
