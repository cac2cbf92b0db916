"""A small binary pool that is fast to evaluate, and questions about it."""

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.risk import LURE, CorrectedASE, GuardedASE
from sklearn_ase.surrogate import ClassifierSurrogate, RegressorSurrogate

N = 60
WEIGHTED = [LURE(), CorrectedASE(), GuardedASE(worth=0), GuardedASE()]
SURROGATE = ClassifierSurrogate(GaussianNB(), n_members=3, calibration=None)


def binary_pool(n_samples, seed):
    """Rows with three features, and a label that is 1 for about a fifth of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 3))
    return X, (X[:, 0] + rng.normal(size=n_samples) > 1.2).astype(int)


X, Y = binary_pool(N, 2)
X_TRAIN, Y_TRAIN = binary_pool(80, 1)
TRAINING = {"X_train": X_TRAIN, "y_train": Y_TRAIN}
MODEL = FrozenEstimator(GaussianNB().fit(X_TRAIN, Y_TRAIN))
SLICE = X[:, 1] > 0
GROUPS = np.where(X[:, 1] > 0.5, "high", np.where(X[:, 1] > -0.5, "middle", "low"))
WEIGHT = np.random.default_rng(0).integers(0, 3, N).astype(float)
TARGET = X @ [1.0, 2.0, 0.0] - 5.0 + np.random.default_rng(4).normal(size=N)
TARGET_TRAIN = X_TRAIN @ [1.0, 2.0, 0.0] - 5.0
REGRESSOR = FrozenEstimator(
    LinearRegression().fit(X_TRAIN, TARGET_TRAIN + X_TRAIN[:, 2])
)
_OF_START = ("journal", "known_labels", "sample_weight", "X_train", "y_train")


def start(pool=X, **parameters):
    """Start an evaluation of naive Bayes on the pool.

    Parameters
    ----------
    pool : array-like, default: `X`
    **parameters : parameters of the evaluator and of its `start`

    Returns
    -------
    evaluation : Evaluation
    """
    given = {name: parameters.pop(name) for name in _OF_START if name in parameters}
    evaluator = ActiveRiskEstimator(
        MODEL, **{"surrogate": SURROGATE, "random_state": 0} | parameters
    )
    return evaluator.start(pool, **TRAINING | given)


def start_regression(**parameters):
    """Start an evaluation of a regressor; see `start`."""
    surrogate = RegressorSurrogate(LinearRegression(), n_members=3, calibration=None)
    evaluator = ActiveRiskEstimator(
        REGRESSOR, **{"surrogate": surrogate, "random_state": 0} | parameters
    )
    return evaluator.start(X, X_train=X_TRAIN, y_train=TARGET_TRAIN)


def buy(evaluation, n_labels, y=Y, batch_size=1):
    """Buy labels, and return the evaluation."""
    for _ in range(n_labels // batch_size):
        rows = evaluation.ask(batch_size).indices
        evaluation.tell(rows, y[rows])
    return evaluation
