"""An evaluation on a sample of a large pool is about all rows of that pool."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from sklearn_ase import ActiveModelSelector, ActiveRiskEstimator, sample_pool
from sklearn_ase.exceptions import JournalError

N, N_DRAWN = 3000, 400
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4))
Y = (X[:, 0] + RNG.normal(scale=0.7, size=N) > 0).astype(int)
REGION = np.where(X[:, 1] > 0, "north", "south")
COLUMNS = list("abcd")
FRAME = pd.DataFrame(X, columns=COLUMNS)
MODEL = LogisticRegression().fit(X[:100], Y[:100])
FRAME_MODEL = LogisticRegression().fit(FRAME[:100], Y[:100])


def doubt(rows):
    """A score: how little certain the model is."""
    return 0.05 + 1 - np.abs(2 * MODEL.predict_proba(rows)[:, 1] - 1)


def evaluator(model=MODEL, **options):
    trees = ExtraTreesClassifier(10, bootstrap=True, random_state=0)
    settings = {"loss": "zero_one", "n_labels": 30, "random_state": 0}
    settings |= {"surrogate": trees, "cv": 0} | options
    return ActiveRiskEstimator(FrozenEstimator(model), **settings)


@pytest.fixture(params=[None, doubt], ids=["uniform", "by a score"])
def sample(request):
    return sample_pool(X, N_DRAWN, by=request.param, random_state=1)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "pool"
    path.mkdir()
    FRAME[:1700].to_parquet(path / "part0.parquet", row_group_size=300)
    FRAME[1700:].to_parquet(path / "part1.parquet", row_group_size=500)
    return path


def numbers(estimate):
    return float(estimate), estimate.standard_error, *estimate.interval(0.9)


# A pool that is taken whole.


def test_a_pool_that_is_taken_whole_gives_the_numbers_of_one_in_memory(folder):
    def run(pool):
        fitted = evaluator(FRAME_MODEL).fit(pool, Y)
        return [*numbers(fitted.estimate_), *fitted.ledger_.indices]

    expected = run(FRAME)
    # Columns lie otherwise in memory: older libraries add them in another order.
    assert run(folder) == pytest.approx(expected, rel=1e-12)
    drawn = run(sample_pool(folder, N, random_state=5))
    assert drawn == pytest.approx(expected, rel=1e-12)
    assert (
        run(sample_pool(FRAME, N + 1, by=lambda rows: np.ones(len(rows)))) == expected
    )


def test_a_sample_of_all_rows_with_equal_weights_is_the_pool_of_these_rows():
    """The numbers of labels, rows and picks are those of the sampled rows alone."""
    sample = sample_pool(X, N_DRAWN, random_state=1)
    of_sample = evaluator().fit(sample, Y)
    of_rows = evaluator().fit(sample.X, Y[sample.indices])
    assert float(of_sample.estimate_) == float(of_rows.estimate_)
    assert of_sample.estimate_.standard_error == of_rows.estimate_.standard_error
    names = sample.indices[of_rows.ledger_.indices].tolist()
    assert of_sample.ledger_.indices == names
    assert np.ptp(of_sample.estimate_.interval()) > np.ptp(of_rows.estimate_.interval())
    population = of_rows.estimate_.interval(target="population")
    assert of_sample.estimate_.interval(target="population") == population


# Rows are named by their numbers in the source.


def test_queries_ledger_and_history_name_rows_of_the_source(sample):
    evaluation = evaluator().start(sample)
    query = evaluation.ask(5)
    assert np.isin(query.indices, sample.indices).all()
    assert_array_equal(evaluation.pending.indices, query.indices)
    evaluation.tell(query, Y[query.indices])
    assert list(evaluation.ledger.labels) == query.indices.tolist()
    assert_array_equal(evaluation.history["index"], query.indices)
    places = np.searchsorted(sample.indices, query.indices)
    assert_array_equal(evaluation.state.indices, places)


def test_an_oracle_is_asked_for_rows_of_the_source(sample):
    asked = []

    def oracle(indices):
        asked.extend(indices.tolist())
        return Y[indices]

    by_function = evaluator().fit(sample, oracle)
    assert np.isin(asked, sample.indices).all()
    for labels in (Y, list(Y), pd.Series(Y), Y[sample.indices]):
        assert numbers(evaluator().fit(sample, labels).estimate_) == numbers(
            by_function.estimate_
        )
    with pytest.raises(ValueError, match=r"y has 17 labels"):
        evaluator().fit(sample, Y[:17])


def test_rows_that_were_not_drawn_are_refused_before_anything_is_recorded(sample):
    evaluation = evaluator().start(sample)
    query = evaluation.ask(2)
    other = np.setdiff1d(np.arange(N), sample.indices)[:2]
    with pytest.raises(ValueError, match=r"not in the sample|were not asked for"):
        evaluation.tell(other, [0, 1])
    with pytest.raises(ValueError, match=r"not in the sample|were not asked for"):
        evaluation.skip(other)
    assert len(evaluation.ledger) == 0
    evaluation.tell(query, Y[query.indices])


def test_corrections_skips_and_several_answers_go_to_the_right_rows(sample):
    evaluation = evaluator().start(sample)
    query = evaluation.ask(6)
    rows = query.indices
    evaluation.tell(rows[:3], np.column_stack([Y[rows[:3]]] * 2))
    evaluation.tell(rows[3:5], Y[rows[3:5]])
    evaluation.skip(rows[5:])
    evaluation.correct(rows[3], 1 - Y[rows[3]])
    evaluation.withdraw(rows[4])
    assert evaluation.ledger.skipped == [rows[5]]
    assert evaluation.pending.indices.tolist() == [rows[4]]
    assert evaluation.state.n_labels == 4
    assert 0 <= float(evaluation.estimate(metric="f1")) <= 1
    evaluation.agreement()


def test_labels_known_beforehand_name_rows_of_the_source(sample):
    drawn, other = sample.indices[:20], np.setdiff1d(np.arange(N), sample.indices)[:3]
    known = {int(row): int(Y[row]) for row in [*drawn, *other]}
    with pytest.warns(UserWarning, match="3 of 23 known_labels are of rows that were"):
        evaluation = evaluator().start(sample, known_labels=known)
    assert list(evaluation.ledger.known) == drawn.tolist()
    assert evaluation.is_fitted


def test_a_sheet_names_rows_of_the_source(sample, tmp_path):
    evaluation = evaluator().start(sample)
    query = evaluation.ask(3)
    path = tmp_path / "sheet.csv"
    evaluation.export(query, path, predictions=MODEL.predict(X))
    sheet = pd.read_csv(path)
    assert_array_equal(sheet["row"], query.indices)
    assert_array_equal(sheet["prediction"], MODEL.predict(X[query.indices]))
    np.testing.assert_allclose(sheet["x0"], X[query.indices, 0])
    sheet["label"] = Y[query.indices]
    sheet.to_csv(path, index=False)
    assert evaluation.import_answers(path) == 3
    assert list(evaluation.ledger.labels) == query.indices.tolist()


# Arguments with one entry per row.


def test_arrays_may_be_as_long_as_the_source_or_as_the_sample(sample):
    evaluation = evaluator().fit(sample, Y).evaluation_
    drawn, north = sample.indices, REGION == "north"
    of_source = evaluation.estimate(where=north)
    assert numbers(evaluation.estimate(where=north[drawn])) == numbers(of_source)
    tables = [evaluation.estimate_by(groups) for groups in (REGION, REGION[drawn])]
    assert_array_equal(tables[0]["estimate"], tables[1]["estimate"])
    weight = np.arange(1.0, N + 1)
    pair = [evaluation.estimate(sample_weight=w) for w in (weight, weight[drawn])]
    assert numbers(pair[0]) == numbers(pair[1])
    models = {"model": MODEL.predict(X), "none": np.zeros(N, dtype=int)}
    of_sample = {name: each[drawn] for name, each in models.items()}
    pair = [
        evaluation.compare(each).difference("model", "none")
        for each in (models, of_sample)
    ]
    assert numbers(pair[0]) == numbers(pair[1])
    with pytest.raises(ValueError, match=r"where has 7 entries, but must have one per"):
        evaluation.estimate(where=north[:7])
    with pytest.raises(ValueError, match=r"groups has 7 entries"):
        evaluation.estimate_by(REGION[:7])


def test_predictions_and_costs_may_be_given_for_the_source(sample):
    proba, cost = MODEL.predict_proba(X), 1.0 + np.arange(N)
    about = {"predictions": proba, "cost": cost}
    shorter = {name: values[sample.indices] for name, values in about.items()}
    found = [
        evaluator().set_params(estimator=None, classes=[0, 1]).fit(sample, Y, **each)
        for each in (about, shorter)
    ]
    assert numbers(found[0].estimate_) == numbers(found[1].estimate_)
    spent = found[0].evaluation_.spent
    assert spent == cost[found[0].ledger_.indices].sum()


def test_experts_may_be_given_for_the_source(sample):
    judge = np.clip(Y + RNG.normal(0, 0.3, N), 0, 1)
    found = [
        evaluator().fit(sample, Y, experts={"judge": values}).estimate_
        for values in (judge, judge[sample.indices])
    ]
    assert numbers(found[0]) == numbers(found[1])


# Estimates are about the source.


def test_weights_of_the_draw_are_in_every_estimate():
    sample = sample_pool(X, N_DRAWN, by=doubt, random_state=1)
    drawn, proba = sample.indices, sample.inclusion_proba
    evaluation = evaluator(n_labels=N_DRAWN).fit(sample, Y).evaluation_
    wrong = (MODEL.predict(X) != Y).astype(float)[drawn]
    risk = np.sum(wrong / proba) / np.sum(1 / proba)
    assert float(evaluation.estimate()) == pytest.approx(risk)
    assert float(evaluation.estimate(metric="accuracy")) == pytest.approx(1 - risk)
    north = REGION[drawn] == "north"
    weight = north / proba
    assert float(evaluation.estimate(where=REGION == "north")) == pytest.approx(
        weight @ wrong / weight.sum()
    )
    own = np.arange(1.0, N + 1)
    weight = own[drawn] / proba
    found = evaluation.estimate(sample_weight=own, metric="accuracy")
    assert float(found) == pytest.approx(1 - weight @ wrong / weight.sum())


def test_weights_of_the_start_are_multiplied_by_those_of_the_draw():
    sample = sample_pool(X, N_DRAWN, by=doubt, random_state=1)
    own = np.arange(1.0, N + 1)
    found = evaluator(n_labels=N_DRAWN).fit(sample, Y, sample_weight=own).estimate_
    weight = own[sample.indices] / sample.inclusion_proba
    wrong = (MODEL.predict(X) != Y)[sample.indices]
    assert float(found) == pytest.approx(weight @ wrong / weight.sum())


def test_the_interval_of_a_fully_labelled_sample_is_that_of_the_draw(sample):
    evaluation = evaluator(n_labels=N_DRAWN).fit(sample, Y).evaluation_
    wrong = (MODEL.predict(X) != Y).astype(float)
    value = float(evaluation.estimate())
    proba, drawn = sample.inclusion_proba, wrong[sample.indices]
    total = np.sum(1 / proba)
    variance = np.sum((1 - proba) * ((drawn - value) / proba) ** 2) / total**2
    for metric in (None, "accuracy"):
        low, high = evaluation.estimate(metric=metric).interval(0.9)
        assert (high - low) / 2 == pytest.approx(1.65 * variance**0.5, rel=0.05)


@pytest.mark.parametrize("metric", ["f1", "recall", "balanced_accuracy", "roc_auc"])
def test_other_metrics_allow_for_the_draw(sample, metric):
    evaluation = evaluator(n_labels=N_DRAWN).fit(sample, Y).evaluation_
    low, high = evaluation.estimate(metric=metric).interval(0.9)
    assert 0.005 < high - low < 0.15


def test_a_choice_between_models_takes_a_sample(sample):
    models = [("model", MODEL), ("trees", ExtraTreesClassifier(5).fit(X[:50], Y[:50]))]
    selector = ActiveModelSelector(models, n_labels=20, random_state=0)
    selector.fit(sample, Y)
    assert np.isin(selector.ledger_.indices, sample.indices).all()
    assert selector.best_name_ in ("model", "trees")


def test_a_forecast_says_that_the_sample_is_too_small_for_a_width(sample):
    evaluation = evaluator().fit(sample, Y).evaluation_
    assert "Draw more rows" in evaluation.labels_needed(width=0.001).basis
    assert "Draw more rows" not in evaluation.labels_needed(width=0.3).basis


# Journals.


def test_a_journal_draws_the_same_rows_again(folder, tmp_path):
    path = tmp_path / "labels.jsonl"
    sample = sample_pool(folder, N_DRAWN, random_state=4)
    with evaluator(FRAME_MODEL, random_state=None).start(sample, journal=path) as first:
        query = first.ask(4)
        first.tell(query, Y[query.indices])
        first.ask(2)
        expected = numbers(first.estimate())
    header = json.loads(path.read_text().splitlines()[0])
    assert header["source"]["n_rows"] == N
    assert header["source"]["seed"] == sample.seed
    with evaluator(FRAME_MODEL, random_state=None).start(folder, journal=path) as again:
        assert list(again.ledger.labels) == query.indices.tolist()
        assert again.ledger.pending == first.ledger.pending
        assert len(again.problem.X) == N_DRAWN
        assert numbers(again.estimate()) == expected
        open_rows = again.pending
        again.tell(open_rows, Y[open_rows.indices])


def test_a_journal_refuses_another_source_and_another_draw(folder, tmp_path):
    path = tmp_path / "labels.jsonl"
    model = evaluator(FRAME_MODEL)
    model.start(sample_pool(folder, N_DRAWN, random_state=4), journal=path).close()
    before = path.read_bytes()
    shorter = FRAME[:-1]
    renamed = FRAME.rename(columns={"a": "b", "b": "a"})
    for other in (
        sample_pool(folder, N_DRAWN, random_state=5),
        sample_pool(folder, N_DRAWN - 1, random_state=4),
        sample_pool(shorter, N_DRAWN, random_state=4),
        sample_pool(folder, N_DRAWN, by=lambda f: np.ones(len(f)), random_state=4),
    ):
        with pytest.raises(JournalError, match="the source that the rows were drawn"):
            model.start(other, journal=path)
    (folder / "part0.parquet").unlink()
    renamed[:1700].to_parquet(folder / "part0.parquet")
    with pytest.raises((JournalError, ValueError)):
        model.start(folder, journal=path)
    assert path.read_bytes() == before


def test_a_journal_of_a_draw_by_a_score_says_how_to_go_on(folder, tmp_path):
    path = tmp_path / "labels.jsonl"

    def drawn():
        return sample_pool(
            folder, N_DRAWN, by=lambda f: doubt(f.to_numpy()), random_state=4
        )

    model = evaluator(FRAME_MODEL)
    with model.start(drawn(), journal=path) as first:
        query = first.ask(3)
        first.tell(query, Y[query.indices])
    with pytest.raises(ValueError, match=r"by a score\. Draw the same again"):
        model.start(folder, journal=path)
    with model.start(drawn(), journal=path) as again:
        assert list(again.ledger.labels) == query.indices.tolist()


def test_a_path_is_drawn_with_the_seed_of_the_evaluator(folder, monkeypatch):
    monkeypatch.setattr(
        "sklearn_ase._evaluation._start.sample_pool",
        lambda X, random_state: sample_pool(X, N_DRAWN, random_state=random_state),
    )
    of_path = evaluator(FRAME_MODEL).fit(folder, Y)
    of_sample = evaluator(FRAME_MODEL).fit(
        sample_pool(folder, N_DRAWN, random_state=0), Y
    )
    assert numbers(of_path.estimate_) == numbers(of_sample.estimate_)


def test_a_report_says_that_the_pool_is_a_sample(sample):
    text = evaluator().fit(sample, Y).evaluation_.report().to_markdown()
    assert "400 of 3,000 rows" in text
