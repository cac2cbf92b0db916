"""How far annotators agree."""

from itertools import permutations

import numpy as np
import pytest

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.metrics import LabelMean, LabelShare
from sklearn_ase.risk import ASE
from sklearn_ase.selection import ArgMax

X = np.random.default_rng(0).normal(size=(60, 2))


def _evaluation(answers, metric, n_labels=None, **parameters):
    """An evaluation whose rows are asked for and answered all at once."""
    if metric.task == "classification":
        parameters = {"classes": ["a", "b", "c"]} | parameters
    evaluator = ActiveRiskEstimator(metric=metric, random_state=0, **parameters)
    evaluation = evaluator.start(X[: len(answers)])
    query = evaluation.ask(len(answers) if n_labels is None else n_labels)
    evaluation.tell(query, answers[query.indices])
    return evaluation


def _alpha(units, distance):
    """Krippendorff's alpha by its definition: all pairs, in rows and in all rows."""
    values = [value for unit in units for value in unit]
    n = len(values)
    observed = sum(
        sum(distance(*pair) for pair in permutations(unit, 2)) / (len(unit) - 1)
        for unit in units
    )
    expected = sum(distance(*pair) for pair in permutations(values, 2)) / (n - 1)
    return 1.0 - observed / expected


def _noisy_classes(n, n_answers, error=0.15, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n)
    others = rng.integers(3, size=(n, n_answers))
    is_slip = rng.random((n, n_answers)) < error
    return np.array(["a", "b", "c"])[np.where(is_slip, others, truth[:, None])]


def test_alpha_of_classes_is_krippendorffs():
    answers = _noisy_classes(40, 3)
    found = _evaluation(answers, LabelShare("a")).agreement()
    assert found.alpha == pytest.approx(_alpha(answers, lambda a, b: a != b))
    pairs = [np.mean([a == b for a, b in permutations(row, 2)]) for row in answers]
    assert found.agreement == pytest.approx(np.mean(pairs))
    assert found.noise_floor == pytest.approx(1.0 - found.agreement)
    assert (found.n_rows, found.n_answers) == (40, 120)


def test_alpha_of_numbers_is_krippendorffs():
    rng = np.random.default_rng(2)
    answers = 1e4 + rng.normal(size=(30, 1)) + 0.5 * rng.normal(size=(30, 2))
    found = _evaluation(answers, LabelMean()).agreement()
    assert found.alpha == pytest.approx(_alpha(answers, lambda a, b: (a - b) ** 2))
    assert found.noise_floor == pytest.approx(answers.var(axis=1, ddof=1).mean())
    assert np.isnan(found.agreement)


def test_rows_may_have_different_numbers_of_answers():
    answers = _noisy_classes(30, 4)
    evaluator = ActiveRiskEstimator(
        metric=LabelShare("a"), classes=["a", "b", "c"], random_state=0
    )
    evaluation = evaluator.start(X[:30])
    units = []
    for place, row in enumerate(evaluation.ask(30).indices):
        units.append(answers[row, : 1 + place % 4].tolist())
        evaluation.tell([row], [units[-1]])
    several = [unit for unit in units if len(unit) > 1]
    found = evaluation.agreement()
    assert found.n_rows == len(several)
    assert found.n_answers == sum(map(len, several))
    assert found.alpha == pytest.approx(_alpha(several, lambda a, b: a != b))


@pytest.mark.slow
def test_rows_are_weighted_by_their_picks():
    """Few rows are noisy, and they are picked often: the floor is that of the pool."""
    rng = np.random.default_rng(3)
    n, n_noisy, floors = 60, 20, []
    proba = np.where(np.arange(n) < n_noisy, 0.5, 0.95)
    for seed in range(16):
        answers = np.where(rng.random((n, 2)) < proba[:, None], "yes", "no")
        evaluator = ActiveRiskEstimator(
            metric=LabelShare("yes"), n_labels=30, random_state=seed
        )
        evaluator.fit(
            None, answers, experts={"judge": np.where(proba == 0.5, 0.5, 0.99)}
        )
        evaluation = evaluator.evaluation_
        floors.append(evaluation.agreement().noise_floor)
        picked = evaluation.state.indices
    assert np.mean(picked < n_noisy) > n_noisy / n  # Noisy rows are picked more often.
    truth = np.mean(2.0 * proba * (1.0 - proba))
    error = np.std(floors) / np.sqrt(len(floors))
    assert abs(np.mean(floors) - truth) < 3.0 * error


def test_intervals_cover():
    n_covered = 0
    for seed in range(20):
        answers = _noisy_classes(60, 2, seed=10 + seed)
        found = _evaluation(answers, LabelShare("a"), 60).agreement()
        low, high = found.noise_floor_interval
        # A slip hits the truth in a third of all cases.
        same = 0.85**2 + 2 * 0.85 * 0.15 / 3 + 0.15**2 / 3
        n_covered += low <= 1.0 - same <= high
        assert found.alpha_interval[0] < found.alpha < found.alpha_interval[1]
    assert n_covered >= 15  # Fewer have a probability of 0.01 with 90 % coverage.


def test_rows_that_all_agree_leave_room_for_disagreement():
    answers = np.repeat(_noisy_classes(40, 1), 2, axis=1)
    found = _evaluation(answers, LabelShare("a"), 20).agreement()
    assert found.alpha == 1.0
    assert found.noise_floor == 0.0
    assert 0.05 < found.noise_floor_interval[1] < 0.2
    assert found.alpha_interval[0] < 1.0


def test_one_answer_everywhere_has_no_alpha():
    answers = np.full((10, 2), "a")
    evaluation = _evaluation(answers, LabelShare("a"))
    assert np.isnan(evaluation.agreement().alpha)


def test_picks_without_probabilities_count_the_same():
    answers = _noisy_classes(40, 2)
    parameters = {"selection": ArgMax(), "risk": ASE()}
    evaluation = _evaluation(answers, LabelShare("a"), 20, **parameters)
    rows = evaluation.state.indices
    assert evaluation.agreement().noise_floor == pytest.approx(
        np.mean(answers[rows, 0] != answers[rows, 1])
    )


def test_without_several_answers_the_error_says_how_to_give_them():
    evaluation = _evaluation(_noisy_classes(40, 1)[:, 0], LabelShare("a"), 10)
    with pytest.raises(ValueError, match="two or more answers"):
        evaluation.agreement()


def test_it_prints():
    found = _evaluation(_noisy_classes(40, 2), LabelShare("a"), 20).agreement()
    assert "Krippendorff's alpha" in str(found)
    assert "40 for 20 rows" in str(found)
    assert found._repr_html_().startswith("<table>")
