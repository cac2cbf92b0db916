"""The choice of one of several models, label by label."""

from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_ase import ActiveModelSelector
from sklearn_ase._evaluation._picker import score_pool
from sklearn_ase._state import Query
from sklearn_ase.selection import Proportional


def _pool(n_samples=80, shares=(0.1, 0.2, 0.3, 0.4), n_classes=2, seed=0):
    """Labels, and predictions with these shares of errors."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_samples)
    wrong = rng.random((n_samples, len(shares))) < np.array(shares)
    other = (y[:, None] + rng.integers(1, n_classes, wrong.shape)) % n_classes
    return np.where(wrong, other, y[:, None]), y


def _named(table, names=None):
    names = names or [f"m{place}" for place in range(table.shape[1])]
    return dict(zip(names, table.T, strict=True))


def _start(table, names=None, seed=0, **params):
    selector = ActiveModelSelector(random_state=seed, **params)
    return selector.start(None, predictions=_named(table, names))


def _label(run, y, n_labels, n_queries=1):
    for _ in range(n_labels // n_queries):
        query = run.ask(n_queries)
        run.tell(query, y[query.indices])
    return run


def _corrected(run):
    return run.race().corrected


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_best_model_is_found(n_classes):
    table, y = _pool(400, n_classes=n_classes)
    run = _label(_start(table), y, 60)
    assert run.best_name == "m0"
    assert "m0" in run.candidates
    assert run.probabilities["m0"] > 0.9
    assert "m3" not in run.candidates


def test_estimates_are_exact_when_all_rows_are_labelled():
    table, y = _pool(25)
    run = _label(_start(table), y, 25)
    truth = (table == y[:, None]).mean(axis=0)
    assert_allclose(_corrected(run).gains, truth)
    results = run.results
    assert_allclose(results["estimate"], truth)
    behind = truth.max() - truth
    for column in ("behind_best", "behind_low", "behind_high"):
        assert_allclose(results[column], behind, atol=1e-12)
    assert run.best_index == truth.argmax()
    assert run.candidates == [f"m{k}" for k in np.flatnonzero(truth == truth.max())]


def test_differences_are_antisymmetric():
    table, y = _pool()
    comparison = _label(_start(table), y, 30).compare()
    for first, second in combinations(comparison.names, 2):
        there = comparison.difference(first, second)
        back = comparison.difference(second, first)
        assert float(there) == pytest.approx(-float(back))
        for method in ("fixed", "anytime"):
            low, high = there.interval(method=method)
            assert back.interval(method=method) == pytest.approx((-high, -low))


def test_clones_get_equal_values():
    table, y = _pool()
    table = table[:, [0, 1, 2, 0, 1]]
    results = _label(_start(table), y, 25).results
    for name, column in results.items():
        if name != "model":
            column = np.array(column, dtype=float)
            assert_allclose(column[[3, 4]], column[[0, 1]], atol=1e-9)


def test_permuting_the_models_permutes_everything():
    table, y = _pool(shares=(0.1, 0.15, 0.2, 0.3, 0.3))
    names, order = list("abcde"), [3, 0, 4, 1, 2]
    first = _label(_start(table, names), y, 30)
    second = _label(_start(table[:, order], [names[k] for k in order]), y, 30)
    assert_array_equal(first.ledger.indices, second.ledger.indices)
    assert_allclose(
        first.ledger.picks.query_proba, second.ledger.picks.query_proba, rtol=1e-5
    )
    assert first.best_name == second.best_name
    assert sorted(first.candidates) == sorted(second.candidates)
    one, two = first.results, second.results
    for name in one:
        if name not in ("model", "may_be_best"):
            expected = np.array(one[name])[order]
            assert_allclose(two[name], expected, rtol=1e-4, atol=1e-8)


def test_a_model_turned_over_is_mirrored():
    table, y = _pool(200)
    swapped = table.copy()
    swapped[:, 3] = 1 - swapped[:, 3]
    runs = [_label(_start(each), y, 40) for each in (table, swapped)]
    weights = [run.surrogate.weights_[3] for run in runs]
    assert weights[0] > weights[1]
    assert runs[1].best_name == "m0"


def test_rows_where_all_agree_get_the_uniform_share_only():
    table, y = _pool(100, shares=(0.05, 0.1, 0.1))
    run = _label(_start(table), y, 10)
    view = run.view(run.state, run.epochs, run.classes_)
    scores = score_pool(run.plan, view, None)
    proba = run.plan.selection.distribution(scores[run.state.free])
    agree = (table == table[:, :1]).all(axis=1)[run.state.free]
    n_free = run.state.free.sum()
    assert_allclose(proba[agree], 0.15 / n_free)
    assert (proba[~agree] > 0.15 / n_free).mean() > 0.5


def test_models_that_always_agree_are_labelled_at_random():
    table, y = _pool(40, shares=(0.2,))
    run = _label(_start(np.column_stack([table, table])), y, 10)
    assert_allclose(run.ledger.picks.query_proba, 1.0 / (40 - np.arange(10)))
    assert run.candidates == ["m0", "m1"]
    assert run.results["behind_high"] == [0.0, 0.0]


class Forced(Proportional):
    """Picks given rows, with the probabilities that they have."""

    def __init__(self, rows, uniform_share=0.15):
        self.rows = rows
        self.uniform_share = uniform_share

    def pick(self, scores, candidates, n_queries, rng):
        row = self.rows[len(scores) - len(candidates)]
        proba = self.distribution(scores[candidates])
        return Query(np.array([row]), proba[candidates == row])


@pytest.mark.parametrize("metric", ["accuracy", "zero_one"])
def test_means_of_all_models_are_unbiased(metric):
    # All sequences of picks, each with its probability.
    table, y = _pool(6, shares=(0.2, 0.5, 0.5), n_classes=3, seed=3)
    mean, total = 0.0, 0.0
    for rows in permutations(range(6), 3):
        run = _start(table, metric=metric)
        run.plan = replace(run.plan, selection=Forced(rows))
        _label(run, y, 3)
        share = np.prod(run.ledger.picks.query_proba)
        total += share
        mean = mean + share * _corrected(run).means
    assert total == pytest.approx(1.0)
    truth = (table == y[:, None]).mean(axis=0)
    assert_allclose(mean, truth if metric == "accuracy" else 1 - truth, atol=1e-9)


def test_a_majority_of_poor_clones_does_not_mislead():
    table, y = _pool(300, shares=(0.1, 0.15, 0.45), seed=4)
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random((300, 12)) < 0.02, 1 - table[:, 2:], table[:, 2:])
    run = _label(_start(np.column_stack([table[:, :2], noisy])), y, 40)
    assert run.best_name == "m0"


def test_a_journal_resumes_with_the_same_picks(tmp_path):
    table, y = _pool()
    predictions = _named(table)
    expected = _label(_start(table), y, 30)
    selector = ActiveModelSelector(random_state=0)
    path = tmp_path / "choice.jsonl"
    with selector.start(None, predictions=predictions, journal=path) as run:
        _label(run, y, 17)
    with selector.start(None, predictions=predictions, journal=path) as run:
        assert len(run.ledger) == 17
        _label(run, y, 13)
        assert_array_equal(run.ledger.indices, expected.ledger.indices)
        one, two = run.results, expected.results
        for name in ("estimate", "behind_best", "behind_low", "probability"):
            assert_allclose(one[name], two[name], rtol=1e-4, atol=1e-6)


def test_a_journal_of_other_models_is_refused(tmp_path):
    table, y = _pool()
    selector = ActiveModelSelector(random_state=0)
    path = tmp_path / "choice.jsonl"
    with selector.start(None, predictions=_named(table), journal=path) as run:
        _label(run, y, 5)
    table[:40, 3] = 1 - table[:40, 3]
    with pytest.raises(ValueError, match="predictions"):
        selector.start(None, predictions=_named(table), journal=path)


def test_labels_of_a_new_class_are_taken():
    table, y = _pool(60)
    y = np.where(np.arange(60) % 7 == 0, 2, y)
    with pytest.warns(match="new"):
        run = _label(_start(table), y, 30)
    assert run.classes_.tolist() == [0, 1, 2]
    assert len(run.results["estimate"]) == 4


def test_skips_batches_corrections_and_known_labels():
    table, y = _pool(120)
    selector = ActiveModelSelector(random_state=0)
    known = {row: y[row] for row in range(5)}
    run = selector.start(None, predictions=_named(table), known_labels=known)
    _label(run, y, 20, n_queries=5)
    query = run.ask(2)
    run.skip(query.indices[:1])
    run.tell(query.indices[1:], y[query.indices[1:]])
    row = run.ledger.indices[0]
    run.correct(row, 1 - y[row])
    run.correct(row, y[row])
    _label(run, y, 20)
    assert run.best_name == "m0"
    assert np.isfinite(run.results["behind_low"]).all()


def test_cheap_rows_are_preferred():
    table, y = _pool(200)
    cost = np.where(np.arange(200) < 100, 1.0, 100.0)
    run = ActiveModelSelector(random_state=0).start(
        None, predictions=_named(table), cost=cost
    )
    _label(run, y, 40)
    assert np.mean(np.array(run.ledger.indices) < 100) > 0.6


def test_questions_are_about_the_leader_or_a_named_model():
    table, y = _pool(100)
    run = _label(_start(table), y, 40)
    assert float(run.estimate()) == float(run.estimate_of(run.best_name))
    f1 = run.estimate(metric="f1")
    assert float(f1) == pytest.approx(float(run.estimate_of("m0", metric="f1")))
    assert run.estimate_of("m3").interval(0.9)[0] < float(run.estimate())
    with pytest.raises(ValueError, match="name"):
        run.estimate_of("m9")


def test_ties_are_said():
    table, y = _pool(400, shares=(0.1, 0.101, 0.45), seed=1)
    run = _label(_start(table), y, 40)
    text = run.compare().describe()
    assert "m0 and m1 cannot be told apart with 40 labels." in text
    assert text in str(run.compare())
    assert "Best so far: m" in text


@pytest.mark.slow
def test_the_labels_that_would_do_it_are_forecast():
    table, y = _pool(600, shares=(0.15, 0.2, 0.45), seed=1)
    run = _label(_start(table), y, 20)
    comparison = run.compare()
    assert comparison.candidates() == ["m0", "m1"]
    more = comparison.labels_needed()
    assert f"About {more:.0f} more labels would be sufficient." in comparison.describe()
    _label(run, y, int(2 * more))
    assert run.compare().labels_needed() == 0.0
    assert "m0 is the best of 3 models" in run.compare().describe()


def test_labels_for_the_level_narrow_it():
    widths = []
    for share in (0.0, 0.6):
        table, y = _pool(400, shares=(0.3, 0.32, 0.33))
        run = _label(_start(table, level_share=share), y, 60)
        low, high = run.estimate().interval(0.9)
        widths.append(high - low)
    assert widths[1] < widths[0]


@pytest.mark.parametrize("metric", ["accuracy", "f1", "log_loss"])
def test_models_are_compared_with_the_same_labels(metric):
    table, y = _pool(200)
    predictions = _named(table)
    if metric == "log_loss":
        proba = 0.1 + 0.8 * table
        both = np.stack([1 - proba, proba], axis=2)
        predictions = {name: both[:, k] for k, name in enumerate(predictions)}
    selector = ActiveModelSelector(metric=metric, classes=[0, 1], random_state=0)
    run = _label(selector.start(None, predictions=predictions), y, 60)
    comparison = run.compare()
    assert comparison.best_name == run.best_name == "m0"
    first = comparison.estimates[0]
    assert float(first) == pytest.approx(float(run.estimate_of("m0")), abs=0.02)
    other = run.compare({"m3": predictions["m3"], "m1": predictions["m1"]})
    assert other.best_name == "m1"


def test_differences_of_all_pairs_are_unbiased():
    # All sequences of picks, each with its probability; weights count, too.
    table, y = _pool(6, shares=(0.2, 0.5, 0.5), n_classes=3, seed=3)
    weight = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 0.0])
    gaps = 0.0
    for rows in permutations(range(6), 3):
        selector = ActiveModelSelector(random_state=0)
        run = selector.start(None, predictions=_named(table), sample_weight=weight)
        run.plan = replace(run.plan, selection=Forced(rows))
        _label(run, y, 3)
        gains = _corrected(run).gains
        share = np.prod(run.ledger.picks.query_proba)
        gaps = gaps + share * (gains[:, None] - gains)
    truth = np.average(table == y[:, None], axis=0, weights=weight)
    assert_allclose(gaps, truth[:, None] - truth, atol=1e-9)


def test_the_answer_is_one():
    # The model that is chosen, the comparison and the table agree at any time.
    table, y = _pool(150, shares=(0.2, 0.21, 0.22, 0.24, 0.3), seed=5)
    run = _start(table)
    for _ in range(25):
        _label(run, y, 2)
        comparison = run.compare()
        assert comparison.best_name == run.best_name
        assert comparison.best_name in comparison.candidates()
        assert comparison.candidates() == run.candidates
        stays = [
            name
            for name, may in zip(run.names, run.results["may_be_best"], strict=True)
            if may
        ]
        assert stays == run.candidates
        assert comparison.probabilities().tolist() == [*run.probabilities.values()]
        assert set(comparison.candidates(0.99)) >= set(comparison.candidates(0.5))
        assert comparison.best_name in comparison.candidates(method="anytime")
        assert min(map(float, comparison.differences)) >= 0.0


def test_naming_the_own_metric_is_no_other_question():
    table, y = _pool(150, shares=(0.2, 0.21, 0.22, 0.24, 0.3), seed=5)
    run = _label(_start(table), y, 20)
    assert run.compare(metric="accuracy").to_dict() == run.compare().to_dict()
    other = run.compare(metric="balanced_accuracy")
    assert other.metric_name != run.compare().metric_name


@pytest.mark.slow
def test_anytime_claims_hold_at_all_label_counts_at_once():
    # 16 runs of 40 looks each; at 90 % two runs may ever be wrong, here up to four.
    wrong = {"anytime": 0, "fixed": 0, "candidates": 0}
    for place in range(16):
        table, y = _pool(150, shares=(0.2, 0.25, 0.3), seed=100 + place)
        truth = (table == y[:, None]).mean(axis=0)
        best = {f"m{k}" for k in np.flatnonzero(truth == truth.max())}
        run, missed = _start(table, seed=place), set()
        for _ in range(40):
            comparison = _label(run, y, 1).compare()
            gap = comparison.difference("m0", "m1")
            for method in ("anytime", "fixed"):
                low, high = gap.interval(method=method)
                if not low - 1e-9 <= truth[0] - truth[1] <= high + 1e-9:
                    missed.add(method)
            if not best & set(comparison.candidates(method="anytime")):
                missed.add("candidates")
        for name in missed:
            wrong[name] += 1
    assert wrong["anytime"] <= 4
    assert wrong["candidates"] <= 4
    assert wrong["anytime"] <= wrong["fixed"]


def test_anytime_sets_become_small_in_the_end():
    table, y = _pool(400, shares=(0.1, 0.3, 0.4))
    run = _label(_start(table), y, 80)
    assert run.compare().candidates(method="anytime") == ["m0"]
    assert run.compare().regret(method="anytime") == 0.0


def test_estimates_of_one_model_say_what_the_labels_were_bought_for():
    table, y = _pool(100)
    run = _label(_start(table), y, 20)
    assert "bought to tell the models apart" in run.estimate().note
    assert "level_share=0.2" in run.compare().estimates[1].describe()["note"]
    assert run.compare().difference("m0", "m1").note == ""
    run = _label(_start(table, level_share=0.2), y, 20)
    assert "a share of 0.2 for the best model by itself" in run.estimate_of("m1").note


def test_weights_of_rows_decide_what_is_best():
    # The second model is better on the rows that count.
    y = np.zeros(200, dtype=int)
    half = np.arange(200) < 100
    table = np.column_stack([half & (np.arange(200) % 2), ~half & True]).astype(int)
    weight = np.where(half, 1.0, 0.05)
    runs = [
        ActiveModelSelector(random_state=0).start(
            None, predictions=_named(table), sample_weight=each
        )
        for each in (None, weight)
    ]
    for run in runs:
        _label(run, y, 60)
    assert [run.best_name for run in runs] == ["m0", "m1"]
    truth = np.average(table == 0, axis=0, weights=weight)
    low, high = runs[1].compare().difference("m1", "m0").interval()
    assert low <= truth[1] - truth[0] <= high
    everything = _label(runs[1], y, 140)
    assert_allclose(everything.results["estimate"], truth)


def test_a_difference_is_exact_when_all_rows_that_count_have_labels():
    table, y = _pool(40, shares=(0.3, 0.3), seed=2)
    weight = (np.arange(40) < 20).astype(float)
    selector = ActiveModelSelector(random_state=0)
    run = selector.start(None, predictions=_named(table), sample_weight=weight)
    _label(run, y, 30)
    apart = (table[:, 0] != table[:, 1]) & (weight > 0)
    assert apart[run.ledger.indices].sum() == apart.sum()
    low, high = run.compare().difference("m0", "m1").interval()
    truth = np.average(table == y[:, None], axis=0, weights=weight)
    assert_allclose([low, high], truth[0] - truth[1], atol=1e-9)


def test_of_two_models_labels_are_bought_for_the_difference():
    run = _start(_pool(60, shares=(0.2, 0.3))[0])
    state = run.view(run.state, run.epochs, run.classes_)
    spread = state.models.difference_spread(1)
    scores = score_pool(run.plan, state, None)
    assert_allclose(scores / scores.sum(), spread / spread.sum())


def test_a_model_that_is_wrong_everywhere_mirrors_the_difference():
    # 1 - y in the place of y: what was better by d is worse by d.
    table, y = _pool(60, shares=(0.2, 0.4))
    run = _label(_start(table), y, 60)
    other = _label(_start(1 - table), y, 60)
    there = run.compare().difference("m0", "m1")
    back = other.compare().difference("m0", "m1")
    assert float(there) == pytest.approx(-float(back))
