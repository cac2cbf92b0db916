"""Rows of a pool in chunks that are picked for a metric, or that have weights."""

import numpy as np
import pytest
from helpers.chunks import (
    HALF,
    N_TRAINING,
    STORES,
    WEIGHT,
    assert_same,
    classes,
    label,
    labelled,
    numbers,
    start,
)

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._pool._pool import LocalParts
from sklearn_ase._state import RECORDED
from sklearn_ase.acquisition import BALD, LossSpread
from sklearn_ase.exceptions import NewClassWarning
from sklearn_ase.metrics import LabelShare

pytestmark = pytest.mark.usefixtures("small_chunks")


def _data(kind):
    return numbers() if kind == "numbers" else classes(kind)


def assert_same_run(chunks, tables):
    """Picks, what was known of them, estimates and their history are the same."""
    for name in RECORDED:
        found, wanted = (np.array(getattr(e.ledger, name)) for e in (chunks, tables))
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12, err_msg=name)
    for name, wanted in tables.history.items():
        np.testing.assert_allclose(chunks.history[name], wanted, rtol=1e-8, atol=1e-12)
    assert_same(chunks.estimate(), tables.estimate())
    assert_same(chunks.estimate(where=HALF), tables.estimate(where=HALF))
    assert str(chunks.diagnose()) == str(tables.diagnose())


@pytest.mark.parametrize("recalibrate", [False, True])
@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (2, {"metric": "f1"}),
        (2, {"metric": "roc_auc"}),
        (3, {"metric": "f1_macro"}),
        (5, {"metric": "matthews_corrcoef"}),
        (3, {"metric": "accuracy"}),
        (3, {"metric": "accuracy", "loss": "log_loss"}),
        (3, {"metric": "f1_macro", "acquisition": BALD()}),
        (5, {"metric": "log_loss", "loss": "zero_one", "acquisition": LossSpread()}),
        ("numbers", {"metric": "r2"}),
        ("numbers", {"metric": "neg_root_mean_squared_error"}),
    ],
    ids=str,
)
def test_rows_are_picked_for_a_metric_as_with_tables(kind, parameters, recalibrate):
    data = _data(kind)
    assert_same_run(
        *(
            labelled(data, store, recalibrate=recalibrate, **parameters)
            for store in STORES
        )
    )


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [(3, {}), (2, {"metric": "precision"}), ("numbers", {}), (3, {"refit": [4, 8]})],
    ids=str,
)
def test_rows_with_weights_are_picked_as_with_tables(kind, parameters):
    data, runs = _data(kind), []
    for store in STORES:
        run = start(data, store, {"sample_weight": WEIGHT}, **parameters)
        label(run, data[1], 14)
        runs.append(run)
    assert_same_run(*runs)
    other = "r2" if kind == "numbers" else "cohen_kappa"
    assert_same(*(run.estimate(metric=other) for run in runs))


def test_a_metric_takes_no_further_pass_for_its_estimates(monkeypatch):
    data, counts = classes(3), {"reduce": 0, "collect": 0}
    for name in counts:
        method = getattr(LocalParts, name)

        def counted(self, *arguments, name=name, method=method):
            counts[name] += 1
            return method(self, *arguments)

        monkeypatch.setattr(LocalParts, name, counted)
    run = labelled(data, "chunks", metric="f1_macro", refit=[6, 12])
    run.estimate()
    run.estimate(where=HALF)
    run.estimate_by(HALF)
    assert counts == {"reduce": 3, "collect": 1}  # At the start and after two fits.


def test_a_journal_with_a_metric_is_continued_as_with_tables(tmp_path):
    data, runs = classes(3), []
    for store in STORES:
        path = tmp_path / f"{store}.jsonl"
        for _ in range(2):
            with start(data, store, {"journal": path}, metric="f1_macro") as run:
                label(run, data[1], 7)
        runs.append(run)
    assert_same_run(*runs)


@pytest.mark.parametrize("recalibrate", [False, True])
@pytest.mark.parametrize(
    "metric", ["f1_macro", "balanced_accuracy", "matthews_corrcoef", "log_loss"]
)
def test_skips_and_a_new_class_count_as_with_tables(metric, recalibrate):
    data, runs = classes(2), []
    for store in STORES:
        run = start(data, store, metric=metric, recalibrate=recalibrate)
        label(run, data[1], 8)
        run.skip(run.ask())
        label(run, data[1], 3)
        runs.append(run)
    assert_same_run(*runs)
    for run in runs:
        with pytest.warns(NewClassWarning, match="2"):
            run.tell(run.ask(), [2])
        label(run, data[1], 5)
        with pytest.warns(NewClassWarning, match="7"):
            run.tell(run.ask(), [7])
        label(run, data[1], 4)
    assert runs[0].classes_.tolist() == [0, 1, 2, 7]
    found, wanted = (run.ledger.query_proba for run in runs)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert_same_run(*runs)


def test_another_pool_is_scored_by_the_metric_as_with_tables():
    X, y, model = classes(3)
    scores = []
    for store in STORES:
        model.fit(X[:N_TRAINING], y[:N_TRAINING])
        how = {"metric": "f1_macro", "store": store, "cv": 0, "random_state": 0}
        evaluator = ActiveRiskEstimator(model, n_labels=8, **how)
        evaluator.fit(
            X[N_TRAINING:],
            y[N_TRAINING:],
            X_train=X[:N_TRAINING],
            y_train=y[:N_TRAINING],
        )
        scores.append([evaluator.score(X[:50]), evaluator.score(X[:50], y[:50])])
    assert scores[0] == pytest.approx(scores[1], rel=1e-9)


def test_what_a_metric_needs_tables_for_is_refused_before_a_label():
    with pytest.raises(ValueError, match=r"each of 5 classes.*store='tables'"):
        start(classes(5), "chunks", {"sample_weight": WEIGHT})
    X = classes(2)[0]
    evaluator = ActiveRiskEstimator(None, metric=LabelShare(1), store="chunks")
    with pytest.raises(ValueError, match=r"without a model.*store='tables'"):
        evaluator.start(X)


def test_a_journal_is_continued_if_the_metric_is_the_mean_loss(tmp_path):
    data, runs = classes(3), []
    parameters = {"metric": "accuracy", "loss": "zero_one"}
    for store in STORES:
        path = tmp_path / f"{store}.jsonl"
        for _ in range(2):
            with start(data, store, {"journal": path}, **parameters) as run:
                label(run, data[1], 7)
        runs.append(run)
    chunks, tables = runs
    assert chunks.ledger.indices == tables.ledger.indices
    assert_same(chunks.estimate(), tables.estimate())
    assert str(chunks.diagnose()) == str(tables.diagnose())
