"""Pools on which intervals are hard: rare errors, heavy tails, a missing class.

The error rates are exact on average: the model is wrong at rows that nothing in the
features tells apart from others. Each task comes with the default surrogate, which has
training rows on which the model makes no error, and with a poor one: it believes in
next to no error, everywhere or (hidden errors) outside a tenth of the rows, to which
most picks then go.
"""

import sys
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_ase.simulation import Scenario

sys.path.append(str(Path(__file__).parents[1] / "shared"))
from tasks import TASKS

N_POOL, N_TRAIN, N_FEATURES = 2000, 500, 5
RATES = (0.002, 0.005, 0.02, 0.1, 0.4)
NOISES = {"lognormal": stats.lognorm(1.0), "t(2.1)": stats.t(2.1)}


class Rule(ClassifierMixin, BaseEstimator):
    """Predicts the sign of the first feature, but not at a share of all rows.

    Parameters
    ----------
    rate : float, default=0.0
        Share of the rows where the prediction is wrong. The digits of the second
        feature decide which.
    """

    def __init__(self, rate=0.0):
        self.rate = rate

    def fit(self, X=None, y=None):
        """Name the classes; there is nothing to learn."""
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        """Return the labels."""
        is_wrong = np.modf(1e5 * np.abs(X[:, 1]))[0] < self.rate
        return ((X[:, 0] > 0) ^ is_wrong).astype(int)


class Believer(ClassifierMixin, BaseEstimator):
    """Believes that a model is right, except with a small probability.

    Parameters
    ----------
    model : classifier, default=None
    hot : float, default=1e-4
        Probability of an error at a tenth of all rows; at the others it is 1e-5, or
        1e-4 by default.
    """

    def __init__(self, model=None, hot=1e-4):
        self.model = model
        self.hot = hot

    def fit(self, X=None, y=None):
        """Take over the classes of the model."""
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X):
        """Return probabilities of shape (n_rows, 2)."""
        cold = 1e-4 if self.hot == 1e-4 else 1e-5
        error = np.where(X[:, 2] > stats.norm.ppf(0.9), self.hot, cold)
        proba = np.tile(error[:, None], 2)
        proba[np.arange(len(X)), self.model.predict(X)] = 1 - error
        return proba


def rare_errors(rate):
    """A function that draws a pool on which the model has an error rate."""

    def sample(seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(N_POOL + N_TRAIN, N_FEATURES))
        model = Rule(rate).fit()
        y = (X[:, 0] > 0).astype(int)
        y[N_POOL:] = model.predict(X[N_POOL:])
        return _scenario(X, y, FrozenEstimator(model))

    return sample


def noisy_regression(noise):
    """A function that draws a pool with the best model for labels with some noise."""

    def sample(seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(N_POOL + N_TRAIN, N_FEATURES))
        y = X[:, 0] + noise.rvs(size=len(X), random_state=rng) * rng.choice([-1, 1])
        return _scenario(X, y, first_feature)

    return sample


def first_feature(X):
    """The model under test: the mean of the labels."""
    return X[:, 0]


def missing_class(seed):
    """Digits with a model that was trained without sevens."""
    return TASKS["digits-7 log_loss"][0](None, seed)


def _scenario(X, y, model):
    parts = X[:N_POOL], y[:N_POOL], model, X[N_POOL:], y[N_POOL:]
    return Scenario(*parts)


def _tasks():
    """Name, loss, pool and poor surrogate of each task."""
    for rate in RATES:
        believer = FrozenEstimator(Believer(Rule(rate).fit()).fit())
        yield f"error rate {rate:.1%}", "zero_one", rare_errors(rate), believer
    for rate in (0.02, 0.06):
        believer = FrozenEstimator(Believer(Rule(rate).fit(), hot=0.02).fit())
        yield f"hidden errors {rate:.1%}", "zero_one", rare_errors(rate), believer
    stump = DecisionTreeClassifier(max_depth=1)
    yield "missing class", "log_loss", missing_class, stump
    for name, noise in NOISES.items():
        stump = DecisionTreeRegressor(max_depth=1)
        loss = "absolute_error" if name == "lognormal" else "squared_error"
        yield f"{name} noise", loss, noisy_regression(noise), stump


INTERVAL_TASKS = {name: rest for name, *rest in _tasks()}
