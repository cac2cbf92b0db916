"""What a pool that is read in chunks cannot give is refused, with what to do."""

import pickle
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._evaluation import _starting as _storing
from sklearn_ase._pool._pool import LocalParts
from sklearn_ase.acquisition import BaseAcquisition, LossSpread
from sklearn_ase.exceptions import NewClassWarning
from sklearn_ase.selection import BaseSelection
from sklearn_ase.surrogate import ClassifierSurrogate


@pytest.fixture
def pool():
    """Rows, labels and a model that was fitted on the first hundred."""
    X, y = make_classification(300, 5, random_state=0)
    return X, y, LogisticRegression().fit(X[:100], y[:100])


def _start(pool, journal=None, **parameters):
    X, y, model = pool
    trees = ExtraTreesClassifier(5, bootstrap=True)
    how = {"store": "chunks", "surrogate": trees, "cv": 0, "random_state": 0}
    evaluator = ActiveRiskEstimator(model, **how | parameters)
    return evaluator.start(X, X_train=X[:100], y_train=y[:100], journal=journal)


class _Own(BaseAcquisition):
    def score_samples(self, state):
        return state.belief.proba.max(axis=1)


class _OwnLocal(_Own):
    is_local = True


class _Ranks(BaseSelection):
    def distribution(self, scores):
        return np.full(len(scores), 1 / len(scores))


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"acquisition": _Own()}, "_Own"),
        ({"selection": _Ranks()}, "_Ranks"),
        ({"acquisition": _OwnLocal()}, "KeptBelief.proba"),
    ],
)
def test_strategies_that_need_tables_are_refused_before_a_label(parameters, word, pool):
    with pytest.raises(ValueError, match=rf"{word}.*store='tables'"):
        _start(pool, **parameters).ask()


def test_what_chunks_cannot_do_says_what_to_do(pool):
    evaluation = _start(pool)
    with pytest.raises(ValueError, match=r"ledger=evaluation\.ledger"):
        evaluation.ask(embedding=np.zeros((300, 2)))


def test_labels_of_chunks_answer_later_questions_with_tables(pool):
    evaluation = _start(pool, loss="zero_one")
    evaluation.run(pool[1], 8)
    X, y, model = pool
    tables = ActiveRiskEstimator(
        model,
        loss="zero_one",
        surrogate=ExtraTreesClassifier(5, bootstrap=True),
        cv=0,
        store="tables",
        random_state=0,
    ).start(X, X_train=X[:100], y_train=y[:100], ledger=evaluation.ledger)
    assert float(tables.estimate()) == pytest.approx(float(evaluation.estimate()))
    assert 0 < float(tables.estimate(metric="f1")) < 1


def test_an_acquisition_of_ones_own_works_in_chunks_if_it_needs_one_row_only(pool):
    class Spread(LossSpread):
        def score_samples(self, state):
            return 2.0 * np.sqrt(state.belief.loss_variance(state.loss))

    rows = [
        _start(pool, acquisition=Spread(), store=store).ask(5).indices
        for store in ("chunks", "tables")
    ]
    assert rows[0].tolist() == rows[1].tolist()


def test_a_new_class_is_learned_by_another_pass(pool):
    runs = []
    for store in ("chunks", "tables"):
        evaluation = _start(pool, store=store)
        query = evaluation.ask(6)
        with pytest.warns(NewClassWarning, match="new"):
            evaluation.tell(query, [0, 1, 2, 0, 1, 0])
        runs.append(evaluation)
    assert runs[0].classes_.tolist() == [0, 1, 2]
    estimates = [float(evaluation.estimate()) for evaluation in runs]
    assert estimates[0] == pytest.approx(estimates[1], rel=1e-12)
    assert runs[0].ask(3).indices.tolist() == runs[1].ask(3).indices.tolist()


def test_corrections_and_withdrawals_give_what_tables_give(pool):
    values = []
    for store in ("chunks", "tables"):
        evaluation = _start(pool, store=store, loss="brier")
        evaluation.run(pool[1], 6)
        rows = evaluation.ledger.indices
        evaluation.correct(rows[2], 1 - pool[1][rows[2]])
        evaluation.withdraw(rows[5])
        evaluation.skip([rows[5]])
        values.append(float(evaluation.estimate()))
    assert values[0] == pytest.approx(values[1], rel=1e-12)


def _label(evaluation, y, n_labels):
    for _ in range(n_labels):
        query = evaluation.ask()
        evaluation.tell(query, y[query.indices])


def test_a_journal_resumes_where_it_stopped(pool, tmp_path):
    whole = _start(pool)
    _label(whole, pool[1], 8)
    path = tmp_path / "labels.jsonl"
    with _start(pool, journal=path) as first:
        _label(first, pool[1], 4)
    with _start(pool, journal=path) as second:
        _label(second, pool[1], 4)
        assert second.ledger.indices == whole.ledger.indices
        assert float(second.estimate()) == pytest.approx(float(whole.estimate()))


def _fail(*arguments, **named):
    raise OSError("The disk is gone.")


def test_a_pass_that_fails_leaves_an_evaluation_that_goes_on(pool, monkeypatch):
    evaluation = _start(pool)
    query = evaluation.ask()
    with monkeypatch.context() as patch:
        patch.setattr(LocalParts, "reduce", _fail)
        with pytest.raises(OSError, match="disk"):
            evaluation.tell(query, pool[1][query.indices])
    assert len(evaluation.ledger) == 1
    evaluation.refit()
    assert evaluation.is_fitted
    assert float(evaluation.estimate()) > 0


def test_a_belief_that_was_lost_is_made_again_with_the_next_label(pool, monkeypatch):
    evaluation = _start(pool, recalibrate=True, refit=[2])  # No refit after that.
    evaluation.run(pool[1], 3)
    query = evaluation.ask()
    with monkeypatch.context() as patch:
        patch.setattr(LocalParts, "reduce", _fail)
        with pytest.raises(OSError, match="disk"):
            evaluation.tell(query, pool[1][query.indices])
        with pytest.raises(OSError, match="disk"):
            evaluation.refit()
    assert not evaluation.is_fitted
    query = evaluation.ask()
    evaluation.tell(query, pool[1][query.indices])
    assert evaluation.is_fitted


def _met(new_class):
    """Expects the warning about a class that was not seen before."""
    return pytest.warns(NewClassWarning) if new_class else nullcontext()


@pytest.mark.parametrize("store", ["chunks", "tables"])
@pytest.mark.parametrize("new_class", [False, True])
def test_nothing_is_picked_until_a_surrogate_that_failed_has_learned(
    store, new_class, pool, monkeypatch
):
    label = 2 if new_class else 1
    runs = [_start(pool, store=store) for _ in range(2)]
    rows, _ = (run.ask(3).indices for run in runs)
    with _met(new_class), monkeypatch.context() as patch:
        patch.setattr(ClassifierSurrogate, "belief", _fail)
        patch.setattr(ClassifierSurrogate, "update", _fail)
        with pytest.raises(OSError, match="disk") as caught:
            runs[0].tell(rows, [0, 1, label])
        assert "All labels are recorded" in caught.value.__notes__[0]
        for again in (runs[0].ask, runs[0].estimate, runs[0].refit, runs[0].diagnose):
            with pytest.raises(OSError, match="disk") as caught:
                again()
            assert "tries it again" in caught.value.__notes__[0]
    assert runs[0].ledger.indices == rows.tolist()
    assert list(runs[0].ledger.labels.values()) == [0, 1, label]
    with _met(new_class):
        runs[1].tell(rows, [0, 1, label])
    runs[1].refit()
    queries = [run.ask(5) for run in runs]
    assert queries[0].indices.tolist() == queries[1].indices.tolist()
    assert_allclose(queries[0].proba, queries[1].proba, rtol=1e-12)
    assert float(runs[0].estimate()) == pytest.approx(float(runs[1].estimate()))
    assert runs[0].history["refit"][-1]


@pytest.mark.parametrize("store", ["chunks", "tables"])
def test_a_surrogate_that_failed_half_way_does_not_learn_a_label_twice(
    store, pool, monkeypatch
):
    runs = [_start(pool, store=store, refit=[2]) for _ in range(2)]
    rows = runs[0].ask(4).indices
    runs[1].ask(4)
    for run in runs:
        run.tell(rows[:2], pool[1][rows[:2]])
        run.tell(rows[2:3], pool[1][rows[2:3]])
    with monkeypatch.context() as patch:
        patch.setattr(ClassifierSurrogate, "belief", _fail)
        with pytest.raises(OSError, match="disk"):
            runs[0].refit()  # The trees have learned three labels by now.
    for run in runs:
        run.tell(rows[3:], pool[1][rows[3:]])
    runs[1].refit()
    first, second = (np.asarray(run.state.expected_loss) for run in runs)
    assert_allclose(first, second, rtol=1e-12)


def test_a_resumed_evaluation_is_the_one_that_has_learned_again(
    pool, tmp_path, monkeypatch
):
    path = tmp_path / "labels.jsonl"
    with _start(pool, journal=path) as first:
        _label(first, pool[1], 3)
        query = first.ask()
        with monkeypatch.context() as patch:
            patch.setattr(ClassifierSurrogate, "update", _fail)
            with pytest.raises(OSError, match="disk"):
                first.tell(query, pool[1][query.indices])
        expected = float(first.estimate())
        proba = first.ask().proba
    with _start(pool, journal=path) as second:
        assert float(second.estimate()) == pytest.approx(expected, rel=1e-12)
        assert_allclose(second.ledger.query_proba[-1], proba[0], rtol=1e-12)
        assert second.n_learned == second.ledger.refits[-1] == 4


def test_a_state_that_somebody_keeps_does_not_change(pool):
    evaluation = _start(pool)
    state = evaluation.state
    before = state.expected_loss.copy()
    evaluation.run(pool[1], 5)
    assert (state.expected_loss == before).all()
    assert (evaluation.state.expected_loss != before).any()


def test_an_evaluation_in_chunks_can_be_pickled(pool):
    evaluation = _start(pool)
    _label(evaluation, pool[1], 3)
    copied = pickle.loads(pickle.dumps(evaluation))
    assert copied.ask(3).indices.tolist() == evaluation.ask(3).indices.tolist()


def test_auto_keeps_tables_until_they_are_large(pool, monkeypatch):
    assert _start(pool, store="auto").problem.pool is None
    monkeypatch.setattr(_storing, "_MOST_BYTES", 8 * 300 * 10 - 1)
    assert _start(pool, store="auto").problem.pool is not None
    # What needs tables gets them.
    assert _start(pool, store="auto", acquisition=_Own()).problem.pool is None


def test_auto_recalibrates_tables_and_small_pools_in_chunks(pool, monkeypatch):
    assert _start(pool).plan.can_update
    monkeypatch.setattr(_storing, "_MOST_RECALIBRATED", 299)
    assert not _start(pool).plan.can_update
    assert _start(pool, recalibrate=True).plan.can_update
    assert _start(pool, store="tables").plan.can_update
    assert not _start(pool, store="tables", recalibrate=False).plan.can_update


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_pool_that_is_not_recalibrated_says_so(pool, on_disk, tmp_path, monkeypatch):
    X, y, model = pool
    if on_disk:
        X = tmp_path / "pool.parquet"
        pd.DataFrame(pool[0]).rename(columns=str).to_parquet(X)
        model = LogisticRegression().fit(pd.read_parquet(X)[:100], y[:100])
    monkeypatch.setattr(_storing, "_MOST_RECALIBRATED", 299)
    kept = {}
    for recalibrate in ("auto", True):
        evaluator = ActiveRiskEstimator(
            model,
            surrogate=ExtraTreesClassifier(5, bootstrap=True),
            store="chunks",
            refit=[10],
            recalibrate=recalibrate,
            random_state=0,
        )
        evaluation = evaluator.start(X)
        for _ in range(13):
            query = evaluation.ask()
            evaluation.tell(query, y[query.indices])
        kept[recalibrate] = evaluation
    words = "nothing is learned (recalibrate=False); 3 labels wait"
    assert "learns at refits only" in repr(kept["auto"])
    assert words in str(kept["auto"].diagnose())
    assert words in kept["auto"].diagnose()._repr_html_()
    assert "learns" not in repr(kept[True])
    assert kept[True].diagnose().n_waiting is None
    assert float(kept[True].estimate()) != float(kept["auto"].estimate())


def test_only_24_bytes_of_each_row_stay(pool):
    columns = _start(pool).state.belief.columns
    assert sum(column.nbytes for column in columns.values()) == 24 * 300


@pytest.mark.parametrize(
    ("parameters", "word"),
    [({"store": "disk"}, "store="), ({"recalibrate": "never"}, "recalibrate=")],
)
def test_wrong_names_are_refused(parameters, word, pool):
    with pytest.raises(ValueError, match=word):
        _start(pool, **parameters)


def test_a_pool_on_disk_cannot_have_tables(pool, tmp_path):
    path = tmp_path / "pool.parquet"
    pd.DataFrame(pool[0]).rename(columns=str).to_parquet(path)
    evaluator = ActiveRiskEstimator(pool[2], store="tables")
    with pytest.raises(ValueError, match=r"not in memory.*store='chunks'"):
        evaluator.start(path)


def test_rows_of_a_pool_on_disk_can_be_exported(pool, tmp_path):
    frame = pd.DataFrame(pool[0]).rename(columns=str)
    frame.to_parquet(tmp_path / "pool.parquet", row_group_size=40)
    model = LogisticRegression().fit(frame[:100], pool[1][:100])
    evaluation = ActiveRiskEstimator(model, random_state=0).start(
        tmp_path / "pool.parquet"
    )
    query = evaluation.ask(3)
    evaluation.export(query, tmp_path / "sheet.csv")
    sheet = pd.read_csv(tmp_path / "sheet.csv")
    assert sheet["row"].tolist() == query.indices.tolist()
    np.testing.assert_allclose(sheet["0"], frame["0"].iloc[query.indices])


def test_passes_show_a_progress_bar_on_request(pool, capsys):
    _start(pool, verbose=1)
    assert "surrogate on the pool" not in capsys.readouterr().err
    _start(pool, verbose=2)
    assert "surrogate on the pool" in capsys.readouterr().err
