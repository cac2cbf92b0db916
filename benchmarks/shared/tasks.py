"""Evaluation tasks on real data: a training set, a pool, a model, perhaps a shift.

Each task is a function of the data directory and a seed that draws training rows and
pool and fits the model under test, with the name of its loss. Rows come from the files
of ``--data-dir`` (see :func:`read_table`) or from data that ship with scikit-learn.
"""

import runpy
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, load_digits
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_ase.simulation import Scenario

PAPERS = Path(__file__).parents[2] / "examples" / "papers"


def linear():
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def tree():
    return DecisionTreeClassifier(min_samples_leaf=5, random_state=0)


def boosting():
    return HistGradientBoostingClassifier(max_iter=50, random_state=0)


def boosting_regressor():
    return HistGradientBoostingRegressor(max_iter=50, random_state=0)


@lru_cache
def read_table(data_dir, name, target):
    """A table as numbers: text columns by the code of their value."""
    keep = name != "adult"
    path = Path(data_dir) / "tabular" / f"{name}.csv.gz"
    frame = pd.read_csv(path, keep_default_na=keep)
    y = frame.pop(target).to_numpy()
    text = [c for c in frame.columns if not pd.api.types.is_numeric_dtype(frame[c])]
    frame[text] = OrdinalEncoder().fit_transform(frame[text].astype(str))
    frame = frame.astype(float)
    return frame.fillna(frame.median()), y


def read_digits(data_dir):
    """The digits that ship with scikit-learn."""
    return load_digits(return_X_y=True)


@lru_cache
def read_cifar10_votes(data_dir):
    """CIFAR-10 on 50 principal components, with labels and human votes."""
    from sklearn.decomposition import PCA

    folder = Path(data_dir)
    read_npz = runpy.run_path(str(PAPERS / "image_data.py"))["read_npz"]
    X_train, y_train, X_test, _ = read_npz(folder / "cifar10_20k.npz")
    with np.load(folder / "cifar10h.npz") as file:
        votes = file["counts"]
    train, test = (
        X.reshape(len(X), -1).astype(np.float32) / 255.0 for X in (X_train, X_test)
    )
    pca = PCA(50, random_state=0).fit(train[:5000])
    return pca.transform(train), y_train, pca.transform(test), votes


@lru_cache
def read_mnist(data_dir, n_components=30):
    """MNIST on its first principal components."""
    from sklearn.decomposition import PCA

    with np.load(Path(data_dir) / "mnist.npz") as file:
        X = np.concatenate([file["X_train"], file["X_test"]]).reshape(-1, 784) / 255.0
        y = np.concatenate([file["y_train"], file["y_test"]]).astype(int)
    return PCA(n_components, random_state=0).fit_transform(X), y


def draw(X, y, rng, n_train, n_pool, keep=None):
    """Disjoint training rows, only those that `keep` allows, and pool."""
    order = rng.permutation(len(y))
    candidates = order if keep is None else order[keep[order]]
    train = candidates[:n_train]
    pool = np.setdiff1d(order, train, assume_unique=True)
    pool = rng.permutation(pool)[:n_pool]
    return take(X, train), y[train], take(X, pool), y[pool]


def take(X, rows):
    """Rows of an array or a frame; a frame gets new row numbers."""
    return X.iloc[rows].reset_index(drop=True) if hasattr(X, "iloc") else X[rows]


def against_the_rest(X, y, rng, label, share):
    """One class against all others, with so many of its rows that they are a share."""
    rest, found = np.flatnonzero(y != label), np.flatnonzero(y == label)
    count = round(share / (1 - share) * len(rest))
    rows = np.concatenate([rest, rng.permutation(found)[:count]])
    return take(X, rows), (y[rows] == label).astype(int)


def sampler(
    load,
    model,
    *,
    n_train,
    n_pool,
    keep=None,
    noise=0.0,
    drift=0.0,
    rare=None,
    is_alone=False,
    is_frame=False,
    is_scaled=False,
):
    """A function of data directory and seed that makes a scenario.

    Parameters
    ----------
    load : callable, data_dir -> X, y
    model : callable, () -> estimator
    n_train, n_pool : int
    keep : callable, X, y -> mask, default=None
        Rows that may be trained on.
    noise : float, default=0.0
        Share of the training labels that are drawn again; the pool has none of it.
    drift : float, default=0.0
        Share of the pool, the rows with the greatest first feature, whose labels are
        shuffled; rather fewer rows if many have the same value.
    rare : tuple of label and float, default=None
        The label against all others, and the share of rows that have it, in training
        rows and pool alike. Rows of that label are left out at random to get there.
    is_alone : bool, default=False
        Whether the evaluation is not given the training rows.
    is_frame : bool, default=False
        Whether model and evaluation get frames as they are, not arrays.
    is_scaled : bool, default=False
        Whether the labels are numbers, which get mean 0 and variance 1.
    """

    def sample(data_dir, seed):
        rng = np.random.default_rng(seed)
        X, y = load(data_dir)
        allowed = None if keep is None else keep(X, y)
        values = X if is_frame or not hasattr(X, "to_numpy") else X.to_numpy()
        if is_scaled:
            y = ((y - y.mean()) / y.std()).astype(float)
        if rare:
            values, y = against_the_rest(values, y, rng, *rare)
        X_train, y_train, X_pool, y_pool = draw(
            values, y, rng, n_train, n_pool, allowed
        )
        if noise:
            wrong = rng.random(len(y_train)) < noise
            y_train = np.where(wrong, rng.permutation(y_train), y_train)
        fitted = model().fit(X_train, y_train)
        if drift:
            last = X_pool[:, 0] > np.quantile(X_pool[:, 0], 1 - drift)
            y_pool[last] = rng.permutation(y_pool[last])
        if is_alone:
            return Scenario(X_pool, y_pool, fitted)
        return Scenario(X_pool, y_pool, fitted, X_train, y_train)

    return sample


def classification(name, load, model, **options):
    """A classification task for each of the two losses; see :func:`sampler`."""
    sample = sampler(load, model, **options)
    return {f"{name} {loss}": (sample, loss) for loss in ("log_loss", "zero_one")}


def regression(name, load, model, **options):
    """A regression task with squared error; see :func:`sampler`."""
    sample = sampler(load, model, is_scaled=True, **options)
    return {name: (sample, "squared_error")}


def table(name, target, drop=()):
    """A loader of a table from the data directory."""

    def load(data_dir):
        X, y = read_table(data_dir, name, target)
        return X.drop(columns=list(drop)), y

    return load


def _without(label):
    return lambda X, y: y != label


TASKS = {
    **classification(
        "digits-7",
        read_digits,
        linear,
        n_train=500,
        n_pool=1200,
        keep=_without(7),
    ),
    **classification(
        "mnist-7", read_mnist, linear, n_train=1000, n_pool=2000, keep=_without(7)
    ),
    **classification(
        "pendigits-4",
        table("pendigits", "class"),
        tree,
        n_train=1000,
        n_pool=2000,
        keep=_without(4),
    ),
    **classification(
        "adult", table("adult", "class", ["split"]), boosting, n_train=1000, n_pool=2000
    ),
    **classification(
        "adult young",
        table("adult", "class", ["split"]),
        boosting,
        n_train=1000,
        n_pool=2000,
        keep=lambda X, y: X["age"].to_numpy() < 30,
    ),
    **classification(
        "phoneme", table("phoneme", "class"), tree, n_train=1000, n_pool=2000
    ),
    **classification(
        "phoneme noisy",
        table("phoneme", "class"),
        tree,
        n_train=1000,
        n_pool=2000,
        noise=0.2,
    ),
    **classification(
        "covertype",
        table("covertype_sample", "Cover_Type"),
        boosting,
        n_train=1000,
        n_pool=2000,
    ),
    **classification(
        "bank",
        table("bank_marketing_additional_full", "y"),
        linear,
        n_train=1000,
        n_pool=2000,
    ),
    **classification(
        "bank telephone",
        table("bank_marketing_additional_full", "y"),
        linear,
        n_train=1000,
        n_pool=2000,
        keep=lambda X, y: X["contact"].to_numpy() == 1,
    ),
    **regression(
        "california",
        table("california_housing", "median_house_value"),
        boosting_regressor,
        n_train=1000,
        n_pool=2000,
    ),
    **regression(
        "california coast",
        table("california_housing", "median_house_value"),
        lambda: Ridge(),
        n_train=1000,
        n_pool=2000,
        keep=lambda X, y: X["longitude"].to_numpy() < -119,
    ),
    **regression(
        "bikeshare",
        table("bikeshare", "bikers", ["casual", "registered"]),
        lambda: DecisionTreeRegressor(min_samples_leaf=5, random_state=0),
        n_train=1000,
        n_pool=2000,
    ),
    **regression(
        "diabetes",
        lambda data_dir: load_diabetes(return_X_y=True),
        lambda: Ridge(1.0),
        n_train=120,
        n_pool=300,
    ),
}
