"""What the surrogate expects over all rows of a source that need not be in memory."""

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pytest
from distributed import Client, LocalCluster
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_ase import ActiveRiskEstimator, sample_pool
from sklearn_ase._data import _sampling
from sklearn_ase.metrics import LabelMean, LabelShare, MeanLoss

N, N_DRAWN = 1500, 200
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
NUMBER = X[:, 0] + RNG.normal(scale=0.7, size=N)
LABEL = np.select([NUMBER < -0.5, NUMBER < 0.6], ["low", "middle"], "high")
CLASSIFIER = LogisticRegression().fit(X[:100], LABEL[:100])
REGRESSOR = LinearRegression().fit(X[:100], NUMBER[:100])


def campaign(task, **options):
    trees, model, y = ExtraTreesClassifier, CLASSIFIER, LABEL
    if task == "regression":
        trees, model, y = ExtraTreesRegressor, REGRESSOR, NUMBER
    loss = "zero_one" if task == "classification" else "squared_error"
    surrogate = trees(10, bootstrap=True, random_state=0)
    settings = {"loss": loss, "surrogate": surrogate, "n_labels": 40, "cv": 0}
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(model), random_state=0, **settings | options
    )
    evaluator.fit(sample_pool(X, N_DRAWN, random_state=1), y)
    evaluator.evaluation_.refit()
    return evaluator


@pytest.fixture(scope="module", params=["classification", "regression"])
def evaluator(request):
    return campaign(request.param)


def test_it_is_the_mean_of_what_is_expected_at_each_row(evaluator):
    expected = evaluator.evaluation_.expected_on(X)
    assert expected == pytest.approx(evaluator.predict(X).mean(), rel=1e-12)


def test_the_size_of_chunks_does_not_matter(evaluator, monkeypatch):
    expected = evaluator.evaluation_.expected_on(X)
    monkeypatch.setattr(_sampling, "_CHUNK_ROWS", 101)
    found = evaluator.evaluation_.expected_on(X)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("task", "metric"),
    [
        ("classification", "accuracy"),
        ("classification", "f1_macro"),
        ("classification", "balanced_accuracy"),
        ("classification", "recall_macro"),
        ("classification", MeanLoss("brier")),
        ("classification", LabelShare("low")),
        ("regression", "r2"),
        ("regression", "neg_root_mean_squared_error"),
        ("regression", "neg_mean_absolute_error"),
        ("regression", "explained_variance"),
        ("regression", LabelMean()),
    ],
)
def test_a_metric_over_chunks_is_that_of_all_rows(task, metric, monkeypatch):
    evaluator = campaign(task, metric=metric)
    sign = 1 if evaluator.evaluation_.plan.metric.greater_is_better else -1
    expected = sign * evaluator.score(X)
    monkeypatch.setattr(_sampling, "_CHUNK_ROWS", 101)
    found = evaluator.evaluation_.expected_on(X)
    assert found == pytest.approx(expected, rel=1e-9)
    assert evaluator.evaluation_.expected_on(X, metric=metric) == found


def test_sources_on_disk_and_lazy_frames_are_read(tmp_path):
    frame = pd.DataFrame(X, columns=list("abc"))
    frame.to_parquet(tmp_path / "pool.parquet", row_group_size=170)
    model = LogisticRegression().fit(frame[:100], LABEL[:100])
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(model),
        surrogate=ExtraTreesClassifier(10, bootstrap=True, random_state=0),
        n_labels=20,
        random_state=0,
        cv=0,
    ).fit(sample_pool(tmp_path, N_DRAWN, random_state=0), LABEL)
    expected = evaluator.evaluation_.expected_on(frame)
    assert evaluator.evaluation_.expected_on(tmp_path) == pytest.approx(expected)
    lazy = pl.scan_parquet(tmp_path / "pool.parquet")
    assert evaluator.evaluation_.expected_on(lazy) == pytest.approx(expected)


@pytest.mark.slow
def test_the_workers_of_a_cluster_compute_it(evaluator):
    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        found = evaluator.evaluation_.expected_on(da.from_array(X, chunks=(250, -1)))
    assert found == pytest.approx(evaluator.evaluation_.expected_on(X), rel=1e-12)


def test_a_model_that_is_a_function_is_asked(monkeypatch):
    evaluator = campaign("classification").set_params(
        estimator=CLASSIFIER.predict_proba, classes=CLASSIFIER.classes_
    )
    evaluator.fit(sample_pool(X, N_DRAWN, random_state=1), LABEL)
    expected = evaluator.predict(X).mean()
    assert evaluator.evaluation_.expected_on(X) == pytest.approx(expected)


def test_what_cannot_be_added_up_is_refused():
    binary = np.where(LABEL == "low", 1, 0)
    model = LogisticRegression().fit(X[:100], binary[:100])
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(model), n_labels=20, random_state=0, cv=0
    ).fit(X[:300], binary[:300])
    with pytest.raises(ValueError, match="compares pairs of them"):
        evaluator.evaluation_.expected_on(X, metric="roc_auc")
    evaluation = evaluator.start(X[:300])
    with pytest.raises(ValueError, match="surrogate has not been fitted"):
        evaluation.expected_on(X)
    given = evaluator.set_params(estimator=None, classes=[0, 1]).start(
        X[:300],
        predictions=model.predict_proba(X[:300]),
        X_train=X[300:400],
        y_train=binary[300:400],
    )
    with pytest.raises(ValueError, match="predictions were given for the evaluated"):
        given.expected_on(X)
