"""Later questions about a pool that is read in chunks: answers are those of tables."""

import re

import numpy as np
import pytest
from helpers.chunks import (
    HALF,
    N_POOL,
    N_TRAINING,
    STORES,
    WEIGHT,
    assert_same,
    assert_same_columns,
    classes,
    label,
    labelled,
    numbers,
    start,
)
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._evaluation import _beliefs as _epochs
from sklearn_ase._pool._pool import LocalParts
from sklearn_ase.exceptions import NewClassWarning
from sklearn_ase.metrics import BaseMetric, ConfusionMetric, LabelShare, MeanLoss
from sklearn_ase.risk import ASE, LURE

pytestmark = pytest.mark.usefixtures("small_chunks")

_KEPT = {}


def of_matrix(matrix):
    return 2 * matrix[1, 0] + matrix[0, 1] ** 2


def power(y_true, y_pred):
    return np.abs(y_true - y_pred) ** 1.5


def name_of(value):
    """The same name in every process: a function has its name, not its address."""
    return re.sub(r"<function (\w+) at \w+>", r"\1", str(value))


def _both(kind, recalibrate=False):
    """Two evaluations with the same labels, with chunks and with tables."""
    key = kind, recalibrate
    if key not in _KEPT:
        data = numbers() if kind == "numbers" else classes(kind)
        both = [labelled(data, store, recalibrate=recalibrate) for store in STORES]
        _KEPT[key] = both
    return _KEPT[key]


@pytest.mark.parametrize("recalibrate", [False, True])
@pytest.mark.parametrize(
    ("kind", "metric"),
    [
        (2, "f1"),
        (2, "precision"),
        (2, "roc_auc"),
        (2, "average_precision"),
        (2, LabelShare(1)),
        (3, "accuracy"),
        (3, "matthews_corrcoef"),
        (3, "f1_macro"),
        (3, "log_loss"),
        (3, ConfusionMetric(of_matrix)),
        (5, "brier"),
        (5, MeanLoss("zero_one", negative=True)),
        ("numbers", "r2"),
        ("numbers", "neg_root_mean_squared_error"),
        ("numbers", "absolute_error"),
        ("numbers", MeanLoss(power)),
    ],
    ids=name_of,
)
def test_a_metric_in_chunks_is_that_of_tables(kind, metric, recalibrate):
    chunks, tables = _both(kind, recalibrate)
    for about in ({}, {"where": HALF}, {"where": ~HALF, "sample_weight": WEIGHT}):
        found, wanted = (e.estimate(metric=metric, **about) for e in (chunks, tables))
        assert_same(found, wanted)


@pytest.mark.parametrize("risk", [ASE(), LURE()], ids=str)
def test_other_estimators_answer_too(risk):
    chunks, tables = _both(3)
    assert_same(*(e.estimate(risk, metric="f1_macro") for e in (chunks, tables)))


@pytest.mark.parametrize("kind", [2, 5, "numbers"])
def test_rows_of_a_slice_in_chunks_are_those_of_tables(kind):
    chunks, tables = _both(kind)
    groups = np.arange(N_POOL) % 3
    assert_same(*(e.estimate(where=HALF) for e in (chunks, tables)))
    assert_same_columns(*(e.estimate_by(groups) for e in (chunks, tables)))
    ends = [
        e.estimate(groups=groups, where=HALF).interval(target="population")
        for e in (chunks, tables)
    ]
    assert ends[0] == pytest.approx(ends[1], rel=1e-9)


@pytest.mark.parametrize("recalibrate", [False, True])
@pytest.mark.parametrize(
    ("kind", "metric"),
    [(2, "f1"), (2, "log_loss"), (2, "roc_auc"), (5, "accuracy"), ("numbers", "r2")],
)
def test_a_comparison_in_chunks_is_that_of_tables(kind, metric, recalibrate):
    both = _both(kind, recalibrate)
    X, y, model = numbers() if kind == "numbers" else classes(kind)
    rows = slice(N_TRAINING)
    models = {
        "all": model.fit(X[rows], y[rows]),
        "few": type(model)().fit(X[:40], y[:40]),
        "few columns": _of_two_columns(model).fit(X[rows], y[rows]),
    }
    found, wanted = (e.compare(models, metric=metric, reference="few") for e in both)
    assert_same_columns(found.to_dict(), wanted.to_dict())
    assert str(found) == str(wanted)
    assert_same(found.difference("all", "few"), wanted.difference("all", "few"))


def _of_two_columns(model):
    """A model that reads the first two columns."""
    return make_pipeline(FunctionTransformer(lambda X: X[:, :2]), clone(model))


@pytest.mark.parametrize("kind", [5, "numbers"])
def test_given_predictions_are_compared_without_a_model(kind):
    both = _both(kind)
    y = (numbers() if kind == "numbers" else classes(kind))[1][N_TRAINING:]
    models = {"right": y, "shifted": np.roll(y, 1)}
    metric = "squared_error" if kind == "numbers" else "accuracy"
    found, wanted = (e.compare(models, metric=metric, where=HALF) for e in both)
    assert_same_columns(found.to_dict(), wanted.to_dict())
    assert found.best_name == "right"
    with pytest.raises(ValueError, match="50 rows, but the pool has 240"):
        both[0].compare({"right": y[:50], "shifted": y}, metric=metric)


def test_groups_of_rows_are_compared_as_with_tables():
    found, wanted = (
        e.compare_groups(np.arange(N_POOL) % 2, metric="accuracy") for e in _both(3)
    )
    assert_same_columns(found.to_dict(), wanted.to_dict())


def _resumed(ledger, store, data, **parameters):
    """An evaluation with labels that another one bought."""
    return start(data, store, {"ledger": ledger}, **parameters)


@pytest.mark.parametrize("recalibrate", [False, True])
def test_skipped_corrected_and_further_answers_count_as_with_tables(recalibrate):
    data = classes(3)
    evaluation = start(data, "tables", recalibrate=recalibrate)
    y = data[1][N_TRAINING:]
    for place in range(14):
        query = evaluation.ask()
        if place in (4, 9):
            evaluation.skip(query)
        elif place == 6:
            evaluation.tell(query, np.array([[y[query.indices[0]], 0, 2]]))
        else:
            evaluation.tell(query, y[query.indices])
    row = evaluation.ledger.indices[3]
    evaluation.correct(row, (y[row] + 1) % 3)
    evaluation.withdraw(evaluation.ledger.indices[5])
    both = [
        _resumed(evaluation.ledger, store, data, recalibrate=recalibrate)
        for store in STORES
    ]
    for metric in ("f1_macro", "accuracy", "log_loss"):
        assert_same(*(e.estimate(metric=metric, where=HALF) for e in both))


def test_a_ranking_allows_for_skipped_rows_as_with_tables():
    data = classes(2)
    both = [start(data, store) for store in STORES]
    for evaluation in both:
        label(evaluation, data[1], 12)
        evaluation.skip(evaluation.ask(2))
        label(evaluation, data[1], 8)
    for metric in ("roc_auc", "f1", "accuracy"):
        assert_same(*(e.estimate(metric=metric) for e in both))


def test_a_journal_that_was_reopened_answers_as_before(tmp_path):
    data = classes(3)
    with start(data, "chunks", {"journal": tmp_path / "labels.jsonl"}) as first:
        label(first, data[1], 12)
        wanted = first.estimate(metric="f1_macro", where=HALF)
    with start(data, "chunks", {"journal": tmp_path / "labels.jsonl"}) as second:
        assert_same(second.estimate(metric="f1_macro", where=HALF), wanted)


def test_a_question_before_a_correction_does_not_change_the_answer_after_it():
    data, answers = classes(3), []
    for asks_before in (True, False):
        run = labelled(data, "chunks", 12, refit=[4, 8])
        early = run.ledger.indices[1]
        run.withdraw(early)
        run.tell([early], data[1][N_TRAINING:][[early]])
        if asks_before:
            run.estimate(metric="f1_macro")
        run.correct(early, (data[1][N_TRAINING + early] + 1) % 3)
        answers.append(run.estimate(metric="f1_macro"))
    assert_same(*answers)


def test_a_new_class_is_asked_about_as_with_tables():
    data = classes(2)
    both = []
    for store in STORES:
        evaluation = labelled(data, store, 8)
        with pytest.warns(NewClassWarning, match="2"):
            evaluation.tell(evaluation.ask(), [2])
        label(evaluation, data[1], 6)
        both.append(evaluation)
    for metric in ("f1_macro", "log_loss", "f1"):
        assert_same(*(e.estimate(metric=metric) for e in both))


def test_an_evaluation_goes_on_after_a_question_as_if_none_had_been_asked():
    data = classes(2)
    asked, silent = (labelled(data, "chunks", 8, recalibrate=True) for _ in range(2))
    asked.estimate(metric="f1")
    asked.compare({"a": data[2], "b": LogisticRegression().fit(data[0], data[1])})
    for evaluation in (asked, silent):
        label(evaluation, data[1], 8)
    assert asked.ledger.indices == silent.ledger.indices
    assert float(asked.estimate()) == float(silent.estimate())
    found, wanted = (e.estimate().member_spread for e in (asked, silent))
    assert found == wanted


@pytest.fixture
def passes(monkeypatch):
    """Count passes of the model alone, and of model and surrogate."""
    counts = {"collect": 0, "reduce": 0}
    for name in counts:
        method = getattr(LocalParts, name)

        def counted(self, *arguments, name=name, method=method):
            counts[name] += 1
            return method(self, *arguments)

        monkeypatch.setattr(LocalParts, name, counted)
    return counts


def test_all_groups_of_a_call_share_one_pass_for_each_fit(passes):
    evaluation = labelled(classes(3), "chunks", refit=[5, 10])
    passes.update(collect=0, reduce=0)
    table = evaluation.estimate_by(np.arange(N_POOL) % 12, metric="f1_macro")
    assert len(table["group"]) == 12
    # Of the model alone; of now; of the start and of two fits.
    assert passes == {"collect": 1, "reduce": 4}
    evaluation.estimate(metric="matthews_corrcoef")
    assert passes == {"collect": 1, "reduce": 4}
    evaluation.estimate(metric="accuracy")  # Other probabilities.
    assert passes == {"collect": 1, "reduce": 8}


def test_what_was_read_is_let_go_with_the_next_fit(passes):
    data = classes(3)
    evaluation = labelled(data, "chunks", 9, refit=[10])
    evaluation.estimate(metric="f1_macro")
    label(evaluation, data[1], 1)
    assert not evaluation.problem.pool.asked._found
    passes.update(collect=0, reduce=0)
    evaluation.estimate(metric="f1_macro")
    assert passes == {"collect": 1, "reduce": 2}


def test_labels_that_teach_the_surrogate_nothing_take_no_further_pass(passes):
    data, refit = classes(3), [8, 30]
    run = labelled(data, "chunks", 8, refit=refit)
    run.estimate(metric="f1_macro")  # Right after a fit, by which nothing was picked.
    label(run, data[1], 4)
    passes.update(collect=0, reduce=0)
    found = run.estimate(metric="f1_macro")
    assert passes["reduce"] == 2
    label(run, data[1], 4)
    again = run.estimate(metric="f1_macro")
    assert passes["reduce"] == 2
    tables = labelled(data, "tables", 12, refit=refit)
    assert_same(found, tables.estimate(metric="f1_macro"))
    label(tables, data[1], 4)
    assert_same(again, tables.estimate(metric="f1_macro"))


def test_a_pass_for_a_question_is_announced_on_request(capsys):
    evaluation = labelled(classes(2), "chunks", 6, verbose=1)
    capsys.readouterr()
    evaluation.estimate(metric="f1")
    said = capsys.readouterr().err
    assert "read once to ask the model" in said
    assert "read again" in said
    evaluation.estimate(metric="precision")
    assert "read" not in capsys.readouterr().err


def test_kept_beliefs_take_a_limited_memory(monkeypatch, passes):
    data, growth = classes(3), [4, 8, 12]
    evaluation = labelled(data, "chunks", refit=growth)
    wanted = evaluation.estimate(metric="f1_macro")
    monkeypatch.setattr(_epochs, "_MOST_BYTES", 2 * N_POOL * (3 * 8 + 4))
    again = _resumed(evaluation.ledger, "chunks", data, refit=growth)
    passes.update(collect=0, reduce=0)
    found = again.estimate(metric="f1_macro")
    assert passes["reduce"] < 5
    assert np.isfinite(found.standard_error)
    assert found.value == pytest.approx(wanted.value, abs=0.3)


class _Two(BaseMetric):
    """A ratio of means that have a value for each class."""

    task, bounds = "classification", (0.0, np.inf)
    response_method = "predict_proba"

    def row_values(self, y_true, y_pred):
        rows = np.arange(len(y_true))
        return np.column_stack([y_pred[rows, y_true], y_pred[rows, y_true] ** 2])

    def value(self, means):
        return means[1] / means[0]


def test_several_tables_of_many_classes_are_refused():
    chunks, tables = _both(3)
    assert_same(*(e.estimate(metric=_Two()) for e in (chunks, tables)))
    data = classes(8)
    many = labelled(data, "chunks", 6)
    with pytest.raises(ValueError, match=r"2 means and a value.*store='tables'"):
        many.estimate(metric=_Two())
    models = {"one": data[2], "other": LogisticRegression().fit(data[0], data[1])}
    with pytest.raises(ValueError, match=r"comparison by.*8 classes.*store='tables'"):
        many.compare(models, metric="log_loss")


def test_probabilities_of_0_and_1_in_a_chunk_are_not_taken_for_labels():
    X, y, _ = classes(2)
    trees = ExtraTreesClassifier(2, random_state=0).fit(X[:N_TRAINING], y[:N_TRAINING])
    sharp, found = np.eye(2)[trees.predict(X[N_TRAINING:])], []
    sharp[-1] = 0.5  # All other chunks have certain predictions only.
    for store in STORES:
        how = {"store": store, "classes": [0, 1], "random_state": 0}
        run = ActiveRiskEstimator(None, loss="brier", **how).start(
            X[N_TRAINING:], predictions=sharp, X_train=X[:50], y_train=y[:50]
        )
        label(run, y, 14)
        found.append(run)
    for metric in ("roc_auc", "average_precision"):
        assert_same(*(run.estimate(metric=metric) for run in found))
    run = ActiveRiskEstimator(None, store="chunks", loss="zero_one").start(
        X[N_TRAINING:], predictions=sharp[:, 1].round().astype(int)
    )
    label(run, y, 4)
    with pytest.raises(ValueError, match="gives labels only"):
        run.estimate(metric="roc_auc")
