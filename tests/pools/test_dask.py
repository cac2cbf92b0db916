"""A pool on a cluster gives what it gives in memory, also if a worker dies."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.surrogate import FrameEncoder

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

N_TRAINING, N_LABELS = 100, 8
RECORDED = ("indices", "query_proba", "free_expected_loss", "residual_moment")


@pytest.fixture
def client(cluster):
    """A client of the two workers."""
    with distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def classes():
    """Rows and labels of two classes."""
    return make_classification(500, 5, random_state=0)


def _start(data, pool, model=None, surrogate=None, **parameters):
    X, y = data
    training, y_train = X[:N_TRAINING], y[:N_TRAINING]
    model = LogisticRegression() if model is None else model
    trees = ExtraTreesClassifier(5, bootstrap=True)
    evaluator = ActiveRiskEstimator(
        model.fit(training, y_train),
        surrogate=trees if surrogate is None else surrogate,
        cv=0,
        random_state=0,
        **parameters,
    )
    return evaluator.start(pool, X_train=training, y_train=y_train)


def _label(evaluation, y, n_labels=N_LABELS):
    for _ in range(n_labels):
        query = evaluation.ask()
        evaluation.tell(query, np.asarray(y)[N_TRAINING:][query.indices])


def _assert_same(found, wanted):
    for name in RECORDED:
        first, second = (getattr(each.ledger, name) for each in (found, wanted))
        np.testing.assert_allclose(first, second, rtol=1e-12, err_msg=name)
    assert float(found.estimate()) == pytest.approx(float(wanted.estimate()), rel=1e-12)
    first, second = found.estimate(), wanted.estimate()
    assert first.standard_error == pytest.approx(second.standard_error, rel=1e-10)


def test_an_array_on_a_cluster_gives_what_it_gives_in_memory(client, classes):
    X, y = classes
    pool = da.from_array(X[N_TRAINING:], chunks=(90, 3))
    runs = [_start(classes, rows) for rows in (pool, X[N_TRAINING:])]
    for run in runs:
        _label(run, y)
    assert runs[0].problem.pool.parts.client is client
    _assert_same(*runs)
    assert str(runs[0].diagnose()) == str(runs[1].diagnose())


def test_numbers_on_a_cluster_give_what_they_give_in_memory(client):
    X, y = make_regression(400, 5, noise=10.0, random_state=0)
    trees = ExtraTreesRegressor(5, bootstrap=True)
    how = {"model": Ridge(), "surrogate": trees, "loss": "squared_error"}
    pool = da.from_array(X[N_TRAINING:], chunks=(120, -1))
    runs = [_start((X, y), rows, **how) for rows in (pool, X[N_TRAINING:])]
    for run in runs:
        _label(run, y)
    _assert_same(*runs)


@pytest.fixture(scope="module")
def frame(classes):
    """The rows of the two classes as a frame."""
    return pd.DataFrame(classes[0], columns=list("abcde"))


def _of_frames(y, frame, pool):
    trees = make_pipeline(FrameEncoder(), ExtraTreesClassifier(5, bootstrap=True))
    run = _start((frame, y), pool, surrogate=trees)
    _label(run, y)
    return run


def test_frames_on_a_cluster_give_what_they_give_in_memory(client, classes, frame):
    y, rows = classes[1], frame[N_TRAINING:].reset_index(drop=True)
    tables = _of_frames(y, frame, rows)
    _assert_same(_of_frames(y, frame, dd.from_pandas(rows, npartitions=3)), tables)


def test_a_parquet_directory_is_read_by_the_workers(client, classes, frame, tmp_path):
    y, rows = classes[1], frame[N_TRAINING:].reset_index(drop=True)
    dd.from_pandas(rows, npartitions=4).to_parquet(tmp_path)
    model = LogisticRegression().fit(frame[:N_TRAINING], y[:N_TRAINING])
    trees = make_pipeline(FrameEncoder(), ExtraTreesClassifier(5, bootstrap=True))
    runs = []
    for pool, where in ((str(tmp_path), client), (rows, None)):
        evaluator = ActiveRiskEstimator(model, surrogate=trees, random_state=0)
        evaluation = evaluator.start(
            pool,
            X_train=frame[:N_TRAINING],
            y_train=y[:N_TRAINING],
            client=where,
        )
        _label(evaluation, y, 4)
        runs.append(evaluation)
    assert not runs[0].problem.pool.parts.is_local
    _assert_same(*runs)


@pytest.mark.parametrize("metric", ["f1", "roc_auc", "log_loss"])
def test_later_questions_are_answered_as_in_memory(metric, client, classes):
    X, y = classes
    pool = da.from_array(X[N_TRAINING:], chunks=(90, 3))
    both = [_start(classes, rows, recalibrate=False) for rows in (pool, X[N_TRAINING:])]
    other = LogisticRegression(C=0.01).fit(X[:60], y[:60])
    models = {"first": both[0].problem.model, "other": other}
    groups, found = np.arange(len(X) - N_TRAINING) % 3, []
    for run in both:
        _label(run, y, 14)
        table = run.estimate_by(groups, metric=metric)
        compared = run.compare(models, metric=metric)
        ends = compared.difference("first", "other").interval()
        found.append([*table["estimate"], *table["low"], *table["high"], *ends])
    np.testing.assert_allclose(*found, rtol=1e-9)


def test_given_predictions_are_compared_on_a_cluster(client, classes):
    X, y = classes
    pool = da.from_array(X[N_TRAINING:], chunks=(90, -1))
    both = [_start(classes, rows, recalibrate=False) for rows in (pool, X[N_TRAINING:])]
    models = {"right": y[N_TRAINING:], "wrong": 1 - y[N_TRAINING:]}
    for run in both:
        _label(run, y, 12)
    first, second = (run.compare(models, metric="accuracy") for run in both)
    assert first.best_name == "right"
    assert str(first) == str(second)


def test_without_a_client_partitions_are_read_one_by_one(classes):
    X, y = classes
    pool = da.from_array(X[N_TRAINING:], chunks=(90, 3))
    runs = [_start(classes, rows) for rows in (pool, X[N_TRAINING:])]
    for run in runs:
        _label(run, y, 4)
    assert runs[0].problem.pool.parts.is_local
    _assert_same(*runs)


def test_a_worker_that_dies_loses_nothing(cluster, client, classes):
    X, y = classes
    pool = da.from_array(X[N_TRAINING:], chunks=(50, -1))
    run, wanted = (_start(classes, rows) for rows in (pool, X[N_TRAINING:]))
    _label(run, y, 3)
    killed = next(iter(cluster.workers.values()))
    pid = killed.pid
    cluster.sync(killed.kill)
    _label(run, y, N_LABELS - 3)
    assert killed.pid != pid
    _label(wanted, y)
    _assert_same(run, wanted)


def test_workers_keep_the_columns_of_one_pass_only(client, classes):
    X, y = classes
    run = _start(classes, da.from_array(X[N_TRAINING:], chunks=(100, -1)))
    _label(run, y, 4)
    futures = run.state.belief.columns.futures
    held = client.run_on_scheduler(
        lambda dask_scheduler: [
            key for key in dask_scheduler.tasks if str(key).startswith("_reduce")
        ]
    )
    assert sorted(held) == sorted(future.key for future in futures)


def test_single_values_of_a_column_do_not_bring_the_whole(client, classes):
    X, _ = classes
    pool = da.from_array(X[N_TRAINING:], chunks=(90, -1))
    runs = [_start(classes, rows) for rows in (pool, X[N_TRAINING:])]
    remote, here = (run.state.expected_loss for run in runs)
    rows = np.array([399, 0, 91, 91])
    np.testing.assert_allclose(remote[rows], here[rows], rtol=1e-12)
    assert remote.mean() == pytest.approx(here.mean(), rel=1e-12)
    assert remote.var() == pytest.approx(here.var(), rel=1e-12)
    assert remote.sum() == pytest.approx(here.sum(), rel=1e-12)
    np.testing.assert_allclose(2.0 * remote - 1.0, 2.0 * here - 1.0, rtol=1e-11)
    np.testing.assert_allclose(remote[:50], here[:50], rtol=1e-12)


@pytest.mark.parametrize(
    ("argument", "word"),
    [
        ({"cost": np.ones(400)}, "cost="),
        ({"predictions": np.zeros(400)}, "predictions"),
    ],
)
def test_arrays_of_this_process_do_not_go_to_a_cluster(argument, word, client, classes):
    pool = da.from_array(classes[0][N_TRAINING:], chunks=(90, -1))
    model = LogisticRegression().fit(*classes)
    with pytest.raises(ValueError, match=f"{word}.*cluster"):
        ActiveRiskEstimator(model).start(pool, **argument)


def test_a_client_needs_a_pool_that_workers_can_read(client, classes):
    model = LogisticRegression().fit(*classes)
    with pytest.raises(ValueError, match="client= needs a pool"):
        ActiveRiskEstimator(model).start(classes[0], client=client)


class _Refuses(LogisticRegression):
    """Fails in a pass as long as a file is there."""

    def predict_proba(self, X):
        if len(X) > 50 and self.flag.exists():
            raise OSError("This worker has no memory left.")
        return super().predict_proba(X)


def test_a_pass_that_fails_on_a_worker_is_tried_again(client, classes, tmp_path):
    X, y = classes
    pool, model = da.from_array(X[N_TRAINING:], chunks=(90, -1)), _Refuses()
    model.flag = tmp_path / "flag"
    runs = [_start(classes, rows, model) for rows in (pool, X[N_TRAINING:])]
    first, second = (run.ask(2).indices for run in runs)
    labels = y[N_TRAINING:][first]
    model.flag.touch()
    for again in (lambda: runs[0].tell(first, labels), runs[0].ask, runs[0].estimate):
        with pytest.raises(OSError, match="no memory") as caught:
            again()
        assert "tries it again" in caught.value.__notes__[-1]
    model.flag.unlink()
    assert runs[0].ledger.indices == first.tolist()
    runs[1].tell(second, labels)
    runs[1].refit()
    for run in runs:
        run.ask(3)
    _assert_same(*runs)


@pytest.mark.parametrize("then", ["ask", "estimate", "tell"])
def test_a_cluster_that_was_restarted_gets_the_belief_again(then, client, classes):
    X, y = classes
    pool = da.from_array(X[N_TRAINING:], chunks=(90, -1))
    runs = [_start(classes, rows) for rows in (pool, X[N_TRAINING:])]
    for run in runs:
        _label(run, y, 2)
    open_rows = runs[0].ask().indices
    runs[1].ask()
    client.cancel(runs[0].state.belief.columns.futures)  # As a restart does.
    if then == "tell":
        for run in runs:
            run.tell(open_rows, y[N_TRAINING:][open_rows])
    else:
        getattr(runs[0], then)()
        runs[1].refit()
        if then == "ask":
            runs[1].ask()
    for run in runs:
        run.ask(2)
    _assert_same(*runs)
