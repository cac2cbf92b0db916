"""The evaluator behaves like any other estimator of scikit-learn."""

import io
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from sklearn_ase import ActiveRiskEstimator, TrainingRows
from sklearn_ase.acquisition import BALD, XWED, Uniform
from sklearn_ase.risk import LURE, CorrectedASE
from sklearn_ase.selection import ArgMax
from sklearn_ase.surrogate import ClassifierSurrogate


def _row_means(X):
    """One number a row, for any width and container."""
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)
    return np.nan_to_num(X).reshape(len(X), -1).mean(axis=1)


class RowMean:
    """A callable model that takes rows of any width."""

    def __call__(self, X):
        return _row_means(X)

    def __repr__(self):  # The names of the tests must not hold an address.
        return "RowMean()"


class RowSign(RowMean):
    """The same for two classes."""

    def __call__(self, X):
        return (_row_means(X) > 0).astype(int)

    def __repr__(self):
        return "RowSign()"


class RowClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that needs no fit, with probabilities."""

    classes_ = np.array([0, 1])

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        proba = 0.1 + 0.8 * (_row_means(X) > 0)
        return np.column_stack([1 - proba, proba])

    def __sklearn_is_fitted__(self):
        return True


def _small(estimator, surrogate, loss, **params):
    return ActiveRiskEstimator(
        estimator, surrogate=surrogate, loss=loss, n_labels=6, random_state=0, **params
    )


@parametrize_with_checks(
    [
        _small(RowSign(), RandomForestClassifier(5), "zero_one", refit=3),
        _small(
            FrozenEstimator(RowClassifier()),
            ClassifierSurrogate(DecisionTreeClassifier(max_depth=2), n_members=3),
            "log_loss",
            refit=3,
            acquisition=XWED(),
            risk=CorrectedASE(),
        ),
        _small(RowSign(), FrozenEstimator(RowClassifier()), "zero_one", batch_size=2),
        _small(
            RowMean(), RandomForestRegressor(5), "squared_error", risk=LURE(), refit=3
        ),
        _small(
            RowMean(), BayesianRidge(), "absolute_error", selection=ArgMax(), refit=3
        ),
        _small(RowSign(), RandomForestClassifier(5), None, refit=3, metric="f1_macro"),
        _small(RowMean(), BayesianRidge(), None, refit=3, metric="r2"),
    ]
)
def test_common_checks(estimator, check):
    check(estimator)


def test_last_step_of_a_pipeline(digits, evaluator):
    scaler = StandardScaler().fit(digits.X_train)
    model = GaussianNB(var_smoothing=0.01)
    model.fit(scaler.transform(digits.X_train), digits.y_train)
    evaluator.set_params(estimator=FrozenEstimator(model))
    pipeline = make_pipeline(FrozenEstimator(scaler), evaluator)
    pipeline.fit(digits.X, digits.y)
    assert pipeline.predict(digits.X).shape == (120,)
    assert_allclose(
        pipeline.score(digits.X), -pipeline.predict(digits.X).mean(), rtol=1e-12
    )
    assert pipeline.score(digits.X, digits.y) <= 0


@pytest.mark.parametrize(
    "grid",
    [{"surrogate__max_depth": [1, 3]}, {"acquisition": [Uniform(), BALD()]}],
)
def test_grid_search_compares_evaluators(digits, evaluator, grid):
    evaluator.set_params(refit=6)
    search = GridSearchCV(evaluator, grid, cv=2, error_score="raise")
    search.fit(digits.X, digits.y, X_train=digits.X_train, y_train=digits.y_train)
    (name, values), *_ = grid.items()
    assert search.best_params_[name] in values
    assert search.best_score_ <= 0
    assert search.best_estimator_.risk_.n_labels == 12


def test_cross_val_score_is_minus_the_error_of_the_estimate(digits, evaluator):
    cv = KFold(3)
    scores = cross_val_score(evaluator, digits.X, digits.y, cv=cv)
    train, test = next(cv.split(digits.X))
    one = clone(evaluator).fit(digits.X[train], digits.y[train])
    assert scores[0] == one.score(digits.X[test], digits.y[test])


def test_clone_keeps_the_frozen_model(digits, evaluator):
    copy = clone(evaluator)
    assert copy.estimator is digits.model
    assert copy.fit(digits.X, digits.y).risk_ == evaluator.fit(digits.X, digits.y).risk_


def test_clone_unfits_a_bare_model_and_the_error_names_the_cure(digits, evaluator):
    evaluator.set_params(estimator=digits.model.estimator)
    evaluator.fit(digits.X, digits.y)
    with pytest.raises(NotFittedError, match="FrozenEstimator"):
        clone(evaluator).fit(digits.X, digits.y)


def _through_joblib(value):
    file = io.BytesIO()
    joblib.dump(value, file)
    file.seek(0)
    return joblib.load(file)


@pytest.mark.parametrize(
    "copy", [lambda value: pickle.loads(pickle.dumps(value)), _through_joblib]
)
def test_a_stored_evaluator_resumes(digits, evaluator, copy):
    evaluator.fit(digits.X, digits.y, X_train=digits.X_train, y_train=digits.y_train)
    other = copy(evaluator)
    assert other.risk_ == evaluator.risk_
    assert_array_equal(other.predict(digits.X), evaluator.predict(digits.X))
    query, expected = other.evaluation_.ask(3), evaluator.evaluation_.ask(3)
    assert_array_equal(query.indices, expected.indices)
    other.evaluation_.tell(query, digits.y[query.indices])
    assert other.risk_.n_labels == 15


class WatchedForest(RandomForestClassifier):
    """A forest that remembers with how many rows it was fitted."""

    seen = ()

    def fit(self, X, y, sample_weight=None):
        WatchedForest.seen = (*self.seen, len(y))
        return super().fit(X, y, sample_weight)


def test_holder_keeps_training_rows_whole_in_cross_validation(
    digits, evaluator, monkeypatch
):
    # As many training rows as pool rows: cross-validation would cut them.
    X, y = digits.X[:80], digits.y[:80]
    evaluator.set_params(surrogate=WatchedForest(5), n_labels=6, refit=6)
    plain = {"X_train": digits.X_train, "y_train": digits.y_train}
    holder = {"X_train": TrainingRows(digits.X_train, digits.y_train)}
    for params, n_rows in [(holder, 80), (plain, 40)]:
        monkeypatch.setattr(WatchedForest, "seen", ())
        cross_val_score(evaluator, X, y, cv=2, params=params)
        assert min(WatchedForest.seen) == n_rows
    monkeypatch.setattr(WatchedForest, "seen", ())
    search = GridSearchCV(evaluator, {"batch_size": [1, 2]}, cv=2)
    search.fit(X, y, **holder)
    assert min(WatchedForest.seen) == 80


NAMES = [f"pixel {k}" for k in range(64)]


def _frame(X):
    return pd.DataFrame(X, columns=NAMES, index=np.arange(len(X))[::-1])


def _polars(X):
    return pl.DataFrame(np.asarray(X), schema=NAMES)


@pytest.mark.parametrize(
    "container", [_frame, _polars, sparse.csr_array, np.ndarray.tolist]
)
@pytest.mark.parametrize("with_training_rows", [False, True])
def test_the_container_does_not_change_the_estimate(
    digits, evaluator, container, with_training_rows
):
    evaluator.set_params(refit=6, n_labels=8)

    def fit(wrap):
        model = MultinomialNB(alpha=1000)
        evaluator.estimator = FrozenEstimator(
            model.fit(wrap(digits.X_train), digits.y_train)
        )
        rows = {"X_train": wrap(digits.X_train), "y_train": digits.y_train}
        evaluator.fit(wrap(digits.X), digits.y, **(rows if with_training_rows else {}))
        return evaluator.risk_.value, evaluator.predict(wrap(digits.X)).mean()

    np.testing.assert_allclose(fit(container), fit(np.array), rtol=1e-6)


@pytest.mark.parametrize("container", [np.array, list, pd.Series, pl.Series])
def test_labels_come_in_any_container(digits, evaluator, container):
    expected = evaluator.fit(digits.X, digits.y).risk_
    assert evaluator.fit(digits.X, container(digits.y.tolist())).risk_ == expected


def test_string_labels_give_the_estimate_of_integer_ones(digits, evaluator):
    names = np.array(["a", "b", "c", "d"])
    expected = evaluator.fit(digits.X, digits.y).risk_.value
    model = digits.model.estimator
    model.fit(digits.X_train, names[digits.y_train])
    evaluator.fit(digits.X, names[digits.y])
    assert evaluator.classes_.tolist() == names.tolist()
    assert evaluator.risk_.value == pytest.approx(expected)


def _is_red(frame):
    return np.asarray(frame["colour"]) == "red"


@pytest.mark.parametrize("library", [pd, pl])
def test_default_surrogate_reads_text_columns(library):
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], size=90)
    frame = library.DataFrame({"colour": colour, "size": rng.normal(size=90)})
    evaluator = ActiveRiskEstimator(
        _is_red, loss="zero_one", n_labels=30, refit=10, random_state=0
    )
    evaluator.fit(frame, colour != "blue")
    # The model is wrong where the colour is green, and the surrogate sees colours.
    expected = evaluator.predict(frame)
    assert expected[colour == "green"].min() > expected[colour != "green"].max()


@pytest.fixture
def reviews():
    """Texts and what they say."""
    rng = np.random.default_rng(0)
    good = rng.random(60) < 0.5
    words = {True: ["good", "great", "nice"], False: ["bad", "poor", "awful"]}
    texts = [" ".join(rng.choice([*words[bool(g)], "film"], size=4)) for g in good]
    return texts, np.where(good, "yes", "no")


def _text_evaluator(texts, labels):
    model = make_pipeline(TfidfVectorizer(), MultinomialNB()).fit(texts, labels)
    surrogate = make_pipeline(TfidfVectorizer(), RandomForestClassifier(10))
    return ActiveRiskEstimator(
        FrozenEstimator(model), surrogate=surrogate, n_labels=10, random_state=0
    )


@pytest.mark.parametrize("with_training_rows", [False, True])
def test_a_list_of_texts_is_a_pool(reviews, with_training_rows):
    texts, labels = reviews
    rows = {"X_train": texts[:20], "y_train": labels[:20]} if with_training_rows else {}
    evaluator = _text_evaluator(texts[:20], labels[:20])
    evaluator.fit(texts[20:], labels[20:], **rows)
    assert 0 < evaluator.risk_.value < 1
    assert evaluator.predict(texts[:5]).shape == (5,)


@pytest.mark.parametrize(
    "container",
    [tuple, np.array, lambda texts: np.array(texts, dtype=object), pd.Series],
)
def test_texts_come_in_any_container(reviews, container):
    texts, labels = reviews
    evaluator = _text_evaluator(texts[:20], labels[:20])
    expected = evaluator.fit(texts[20:], labels[20:]).risk_
    assert evaluator.fit(container(texts[20:]), labels[20:]).risk_ == expected


def _flat(X):
    return X.reshape(len(X), -1)


def test_images_reach_the_model_in_their_shape(digits, evaluator):
    expected = evaluator.fit(digits.X, digits.y).risk_.value
    images = digits.X.reshape(-1, 1, 8, 8)
    shapes = []

    def model(X):
        shapes.append(X.shape)
        return digits.model.predict_proba(_flat(X))

    surrogate = make_pipeline(FunctionTransformer(_flat), RandomForestClassifier(10))
    evaluator.set_params(estimator=model, surrogate=surrogate, classes=range(4))
    evaluator.fit(images, digits.y)
    assert shapes == [(120, 1, 8, 8)]
    assert evaluator.risk_.value == pytest.approx(expected, abs=0.3)
    assert evaluator.predict(images[:7]).shape == (7,)
