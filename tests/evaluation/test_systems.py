"""Systems that answer the same questions: shares, differences, what is tied."""

import numpy as np
import pytest

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.metrics import LabelScore, LabelShare
from sklearn_ase.risk import CorrectedASE

N = 150


def two_systems(seed=0, gap=0.3, n=N):
    """Verdicts on the answers of two systems, and a judge who prefers the worse one."""
    rng = np.random.default_rng(seed)
    system = np.repeat(["good", "poor"], n)
    is_right = rng.uniform(size=2 * n) < np.where(system == "good", 0.5 + gap, 0.5)
    judge = np.clip(0.5 * is_right + 0.3 * (system == "poor") + 0.1, 0, 1)
    judge = np.clip(judge + 0.15 * rng.normal(size=2 * n), 0, 1)
    return system, is_right.astype(int), judge


def evaluated(n_labels, seed=0, gap=0.3, n=N):
    system, y, judge = two_systems(seed, gap, n)
    evaluator = ActiveRiskEstimator(
        metric=LabelShare(1), n_labels=n_labels, random_state=seed
    )
    X = (system == "good").astype(float)[:, None]
    evaluation = evaluator.fit(X, y, experts={"judge": judge}).evaluation_
    truth = y[system == "good"].mean() - y[system == "poor"].mean()
    return evaluation, system, y, truth


def test_with_all_labels_shares_and_differences_are_exact():
    evaluation, system, y, truth = evaluated(80, n=40)
    comparison = evaluation.compare_groups(system)
    assert comparison.best_name == "good"
    difference = comparison.difference("good", "poor")
    assert float(difference) == pytest.approx(truth, abs=1e-9)
    assert difference.interval() == pytest.approx([truth, truth], abs=1e-9)
    for name, estimate in zip(comparison.names, comparison.estimates, strict=True):
        assert float(estimate) == pytest.approx(y[system == name].mean(), abs=1e-9)


@pytest.mark.slow
def test_a_judge_who_inverts_the_order_is_found_out():
    right, covered = [], []
    for seed in range(12):
        evaluation, system, _, truth = evaluated(60, seed)
        difference = evaluation.compare_groups(system).difference("good", "poor")
        low, high = difference.interval(0.9)
        right.append(float(difference) > 0)
        covered.append(low <= truth <= high)
    assert np.mean(right) > 0.9
    assert np.mean(covered) > 0.7


def test_the_difference_is_that_of_the_two_shares():
    evaluation, system, _, _ = evaluated(60)
    risk = CorrectedASE()
    comparison = evaluation.compare_groups(system, risk=risk)
    shares = [
        float(evaluation.estimate(risk, where=system == name))
        for name in ("good", "poor")
    ]
    found = float(comparison.difference("good", "poor"))
    assert found == pytest.approx(shares[0] - shares[1], abs=1e-9)
    assert float(comparison.difference("poor", "good")) == pytest.approx(-found)


def test_weights_by_the_size_of_a_group_buy_labels_of_the_small_one():
    rng = np.random.default_rng(0)
    system = np.repeat(["new", "old"], [40, 260])
    y = rng.integers(2, size=300)
    judge = np.clip(0.25 + 0.5 * y + 0.2 * rng.normal(size=300), 0, 1)
    names, sizes = np.unique(system, return_counts=True)
    weight = 1 / sizes[np.searchsorted(names, system)]
    n_new, found = [], []
    for sample_weight in (None, weight):
        evaluator = ActiveRiskEstimator(
            metric=LabelShare(1), n_labels=60, random_state=0
        )
        evaluator.fit(None, y, experts=judge, sample_weight=sample_weight)
        evaluation = evaluator.evaluation_
        n_new.append((system[evaluation.state.indices] == "new").sum())
        found.append(evaluation.compare_groups(system).difference("new", "old"))
    assert n_new[1] > 1.5 * n_new[0]
    widths = [np.ptp(each.interval(0.9)) for each in found]
    assert widths[1] < widths[0]


def test_systems_that_are_alike_stay_candidates():
    evaluation, system, _, _ = evaluated(40, gap=0.0)
    assert set(evaluation.compare_groups(system).candidates()) == {"good", "poor"}


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.full(2 * N, "one"), "at least two groups"),
        (np.arange(7), "one entry per row"),
    ],
)
def test_groups_that_cannot_be_compared_are_refused(groups, message):
    evaluation, *_ = evaluated(20)
    with pytest.raises(ValueError, match=message):
        evaluation.compare_groups(groups)


def test_verdicts_on_pairs_give_the_difference_of_two_systems():
    _, y, judge = two_systems()
    names = np.array(["neither", "only b", "only a", "both"])
    verdict = names[2 * y[:N] + y[N:]]
    guess = names[2 * (judge[:N] > 0.5) + (judge[N:] > 0.5)]
    metric = LabelScore({"only a": 1, "only b": -1})
    evaluator = ActiveRiskEstimator(metric=metric, n_labels=N, random_state=0)
    truth = y[:N].mean() - y[N:].mean()
    found = evaluator.fit(None, verdict, experts={"judge": guess}).estimate_
    assert float(found) == pytest.approx(truth, abs=1e-12)
    few = evaluator.set_params(n_labels=60).fit(None, verdict, experts=guess).estimate_
    low, high = few.interval(0.95)
    assert -1 <= low < truth < high <= 1


@pytest.mark.parametrize("scores", [{}, {"a": "b"}, {"a": np.nan}, {"a": 0}, [1, 2]])
def test_scores_of_labels_must_be_numbers(scores):
    evaluator = ActiveRiskEstimator(metric=LabelScore(scores), classes=["a", "b"])
    with pytest.raises(ValueError, match="scores"):
        evaluator.start(np.zeros((5, 1)))
