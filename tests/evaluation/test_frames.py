"""Evaluations of frames: encoded once, by what the whole pool shows."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.surrogate import ClassifierSurrogate, PoolEncoder

N_POOL, N_TRAIN = 300, 40
COMMON = ["the", "and", "was", "very", "here", "that", "with", "this", "have", "from"]


def _words(rng, n_words=60):
    letters = [*"abcdefghijklmnopqrstuvwxyz"]
    return ["".join(rng.choice(letters, 6)) for _ in range(n_words)]


def _topics(n_rows=N_POOL, seed=0):
    """Texts on two topics, which share their most common words, and the topics."""
    words = [_words(np.random.default_rng(topic)) for topic in range(2)]
    rng = np.random.default_rng([seed, 1])
    y = rng.integers(2, size=n_rows)
    texts = [
        " ".join([*rng.choice(words[topic], 6), *rng.choice(COMMON, 6)]) for topic in y
    ]
    return texts, y


def _guess(y, seed=0):
    """Predictions that are right for three rows out of four and always as sure."""
    rng = np.random.default_rng([seed, 2])
    said = np.where(rng.random(len(y)) < 0.75, y, 1 - y)
    return np.where(said[:, None] == [0, 1], 0.8, 0.2)


def _rows(n_rows, seed):
    """A frame with a column of each kind, and labels."""
    texts, y = _topics(n_rows, seed)
    rng = np.random.default_rng([seed, 3])
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows) + y,
            "kind": rng.choice(["a", "b", None], n_rows),
            "text": texts,
            "day": pd.date_range("2026-01-01", periods=n_rows, freq="31h", tz="UTC"),
            "id": [f"{rng.integers(2**60):x}" for _ in range(n_rows)],
        }
    )
    return frame, y


class SizeModel(GaussianNB):
    """A model of the size that keeps what it was asked about."""

    asked = ()

    def predict_proba(self, X):
        self.asked = [*self.asked, X]
        return super().predict_proba(np.asarray(X["size"])[:, None])


@pytest.fixture
def pool():
    return _rows(N_POOL, seed=0)


@pytest.fixture
def training():
    X_train, y_train = _rows(N_TRAIN, seed=1)
    return {"X_train": X_train, "y_train": y_train}


@pytest.fixture
def model(training):
    sizes = np.asarray(training["X_train"]["size"])[:, None]
    return SizeModel().fit(sizes, training["y_train"])


def _evaluator(model=None, *, n_labels=15, refit=3.0, **params):
    params = {"n_labels": n_labels, "refit": refit, "random_state": 0, **params}
    return ActiveRiskEstimator(model, cv=0, **params)


def _error(rows, y, predictions):
    """How far the surrogate is from knowing where the model is wrong."""
    evaluator = _evaluator(loss="zero_one", n_labels=60, classes=[0, 1], refit=2.0)
    evaluator.fit(rows, y, predictions=predictions)
    wrong = predictions.argmax(axis=1) != y
    expected = evaluator.evaluation_.state.expected_loss
    return np.mean((expected - wrong) ** 2)


@pytest.mark.slow
def test_free_text_in_a_frame_is_as_good_as_the_same_texts_in_a_list():
    errors = []
    for seed in range(2):
        texts, y = _topics(seed=seed)
        predictions = _guess(y, seed)
        ids = np.random.default_rng(seed).integers(2**60, size=N_POOL)
        frame = pd.DataFrame({"text": texts, "id": [f"{i:x}" for i in ids]})
        forms = (frame, pl.from_pandas(frame), texts)
        errors.append([_error(rows, y, predictions) for rows in forms])
    pandas, polars, in_list = np.mean(errors, axis=0)
    assert pandas == polars
    assert pandas < 1.05 * in_list
    assert pandas < 0.5 * 0.25 * 0.75  # Half of what a constant guess would have.


def test_rows_are_encoded_once_for_each_evaluation(pool, training, model, monkeypatch):
    calls = []
    fit, transform = PoolEncoder.fit, PoolEncoder.transform

    def counting_fit(self, X, **options):
        calls.append(("fit", len(X)))
        return fit(self, X, **options)

    def counting_transform(self, X):
        if not isinstance(X, np.ndarray):
            calls.append(("transform", len(X)))
        return transform(self, X)

    monkeypatch.setattr(PoolEncoder, "fit", counting_fit)
    monkeypatch.setattr(PoolEncoder, "transform", counting_transform)
    evaluator = _evaluator(model, refit=5).fit(*pool, **training)
    assert len(evaluator.ledger_.refits) == 3
    once = [("fit", N_POOL), ("transform", N_POOL), ("transform", N_TRAIN)]
    assert sorted(calls) == sorted(once)


def test_the_model_gets_the_frame_untouched(pool, training, model):
    X, y = pool
    before = X.copy(deep=True)
    _evaluator(model).fit(X, y, **training)
    assert len(model.asked) == 1
    assert model.asked[0] is X
    pd.testing.assert_frame_equal(X, before)


def test_other_frames_are_encoded_as_the_pool_was(pool, training, model):
    X, y = pool
    evaluator = _evaluator(model).fit(X, y, **training)
    expected = evaluator.evaluation_.state.expected_loss
    assert_allclose(evaluator.predict(X), expected)
    assert_allclose(evaluator.predict(X[::-1]), expected[::-1])
    other = _rows(7, seed=5)[0].assign(kind="new", day="some day")
    assert np.isfinite(evaluator.predict(other)).all()


def test_a_frame_of_polars_gives_the_same_estimate(pool, training, model):
    X, y = pool
    expected = _evaluator(model).fit(X, y, **training).risk_
    training = {**training, "X_train": pl.from_pandas(training["X_train"])}
    assert _evaluator(model).fit(pl.from_pandas(X), y, **training).risk_ == expected


def test_training_rows_may_be_stored_in_another_way():
    X = pl.DataFrame({"size": range(50), "kind": ["a", "b"] * 25})
    X_train = pl.DataFrame({"size": [0.5, 30.5] * 5, "kind": [1, 2] * 5})
    y = np.arange(50) % 2
    evaluator = _evaluator(n_labels=10, classes=[0, 1])
    evaluator.fit(
        X, y, X_train=X_train, y_train=y[:10], predictions=np.full((50, 2), 0.5)
    )
    assert evaluator.risk_.n_labels == 10


def test_the_same_seed_gives_the_same_labels_and_estimate(pool, training, model):
    first, second = (_evaluator(model).fit(*pool, **training) for _ in range(2))
    assert first.ledger_.indices == second.ledger_.indices
    assert first.risk_ == second.risk_


def test_a_fitted_evaluator_can_be_pickled_and_cloned(pool, training, model):
    X, y = pool
    evaluator = _evaluator(model).fit(X, y, **training)
    other = _rows(20, seed=5)[0]
    copy = pickle.loads(pickle.dumps(evaluator))
    assert_array_equal(copy.predict(other), evaluator.predict(other))
    # A clone knows nothing of the pool, and a surrogate that was given is not changed.
    assert clone(evaluator).surrogate is None
    surrogate = ClassifierSurrogate()
    _evaluator(model, surrogate=surrogate).fit(X, y, **training)
    assert surrogate.estimator is None


def test_a_journal_resumes_exactly(pool, training, model, tmp_path):
    X, y = pool
    path = tmp_path / "labels.jsonl"
    straight = _evaluator(model).fit(X, y, **training)
    with _evaluator(model).start(X, journal=path, **training) as evaluation:
        for _ in range(9):
            query = evaluation.ask()
            evaluation.tell(query, y[query.indices])
    resumed = _evaluator(model).fit(X, y, journal=path, **training)
    assert resumed.ledger_.indices == straight.ledger_.indices
    assert resumed.risk_ == straight.risk_
    header = path.read_text().splitlines()[0]
    assert "PoolEncoder(transformer=TableVectorizer(" in header


def test_a_forest_of_ones_own_gets_the_same_features(pool, training, model):
    X, y = pool
    expected = _evaluator(model).fit(X, y, **training).risk_
    trees = ExtraTreesClassifier(n_estimators=100, bootstrap=True, max_features=0.3)
    pipeline = make_pipeline(PoolEncoder(), trees)
    evaluator = _evaluator(model, surrogate=pipeline).fit(X, y, **training)
    assert evaluator.risk_ == expected
    assert isinstance(pipeline[0], PoolEncoder)
    assert not hasattr(pipeline[0], "transformer_")


class SizeOnly(TransformerMixin, BaseEstimator):
    """A step of the user's that wants the frame."""

    def fit(self, X, y):
        assert isinstance(X, pd.DataFrame)
        assert len(y) < N_POOL
        self.size_ = np.mean(X["size"])
        return self

    def transform(self, X):
        return np.asarray(X[["size"]]) - self.size_


def test_a_pipeline_without_the_encoder_gets_the_frame(pool, training, model):
    X, y = pool
    pipeline = make_pipeline(SizeOnly(), ExtraTreesClassifier(10, bootstrap=True))
    evaluator = _evaluator(model, surrogate=pipeline).fit(X, y, **training)
    assert evaluator.evaluation_.problem.features is X


class InThousands(ClassifierSurrogate):
    """A surrogate that wants other units, and is asked for them once."""

    def prepare(self, X, X_train=None):
        self.seen_ = [len(X), len(X_train)]
        return X / 1000, X_train / 1000

    def prepare_other(self, X):
        return X / 1000

    def fit(self, X, y, **options):
        assert np.abs(X).max() < 0.1
        return super().fit(X, y, **options)


def test_a_surrogate_may_prepare_the_rows_before_the_first_fit():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.integers(2, size=80)
    model = GaussianNB().fit(X[:30], y[:30])
    evaluator = _evaluator(model, surrogate=InThousands(ExtraTreesClassifier(10)))
    evaluator.fit(X[30:], y[30:], X_train=X[:30], y_train=y[:30])
    assert evaluator.evaluation_.surrogate.seen_ == [50, 30]
    expected = evaluator.evaluation_.state.expected_loss
    assert_allclose(evaluator.predict(X[30:]), expected)
