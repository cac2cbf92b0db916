"""Rankings: values as in scikit-learn, slopes as by brute force, and fast."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics

from sklearn_ase.metrics import AveragePrecision, RocAuc

SCORES = {
    RocAuc: metrics.roc_auc_score,
    AveragePrecision: metrics.average_precision_score,
}
both = pytest.mark.parametrize("kind", SCORES)
every_tie = pytest.mark.parametrize("decimals", [0, 1, 8], ids=["most", "some", "none"])


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def random_scores(rng, n_samples, decimals):
    return rng.random(n_samples).round(decimals)


def one_hot(y, classes):
    return (y[:, None] == classes).astype(float)


def pool_value(pool, y):
    near = pool.at(one_hot(y, pool.classes))
    means = [part.observed(np.arange(len(y)), y).mean() for part in near.parts]
    return near.value(np.array(means))


@both
@every_tie
@pytest.mark.parametrize("weighted", ["equal", "weighted", "slice"])
def test_the_value_is_that_of_scikit_learn(rng, kind, decimals, weighted):
    score = random_scores(rng, 200, decimals)
    y = (rng.random(200) < 0.2 + 0.4 * score).astype(int)
    weight = {
        "equal": None,
        "weighted": rng.uniform(0.1, 3.0, 200),
        "slice": (rng.random(200) < 0.5).astype(float),
    }[weighted]
    expected = SCORES[kind](y, score, sample_weight=weight)
    assert kind()(y, score, weight) == pytest.approx(expected, abs=1e-12)
    weight = None if weight is None else weight / weight.mean()
    pool = kind().on_pool(score, np.array([0, 1]), weight)
    assert pool_value(pool, y) == pytest.approx(expected, abs=1e-12)


@both
def test_probabilities_and_scores_of_the_positive_class_give_the_same(rng, kind):
    y, proba = rng.choice(["no", "yes"], 60), rng.dirichlet([1.0, 1.0], 60)
    for pos_label, column in (("yes", 1), ("no", 0)):
        metric = kind(pos_label=pos_label)
        positive = y == np.array(["no", "yes"])[column]
        expected = SCORES[kind](positive, proba[:, column])
        assert metric(y, proba) == pytest.approx(expected, abs=1e-12)
        assert metric(y, proba[:, column]) == pytest.approx(expected, abs=1e-12)
        # Decision values need not lie between 0 and 1.
        decision = 100.0 * proba[:, column] - 70.0
        assert metric(y, decision) == pytest.approx(expected, abs=1e-12)


@both
def test_one_of_many_classes_is_ranked_against_the_rest(rng, kind):
    classes = np.array(["ant", "bee", "cat"])
    y, proba = rng.choice(classes, 90), rng.dirichlet(np.ones(3), 90)
    pool = kind(pos_label="bee").on_pool(proba, classes)
    expected = SCORES[kind](y == "bee", proba[:, 1])
    assert pool_value(pool, y) == pytest.approx(expected, abs=1e-12)


def brute_force_auc(p, weight, score):
    """Sums over all pairs of different rows."""
    above = (score[:, None] > score) + 0.5 * (score[:, None] == score)
    pairs = np.outer(weight * p, weight * (1 - p))
    np.fill_diagonal(pairs, 0.0)
    return (pairs * above).sum() / pairs.sum()


def brute_force_precision(p, weight, score):
    """Expected sums over pairs of positives; a row is a pair with itself, too."""
    total = 0.0
    for i in range(len(p)):
        above = score >= score[i]
        found = weight * p * above
        found[i] = weight[i]  # If row i is positive, it is.
        total += weight[i] * p[i] * found.sum() / weight[above].sum()
    return total / (weight * p).sum()


BRUTE = {RocAuc: brute_force_auc, AveragePrecision: brute_force_precision}


def tangent(rng, kind, decimals, n_samples=30):
    """Scores, probabilities, weights, and the metric near them."""
    score, p = random_scores(rng, n_samples, decimals), rng.random(n_samples)
    p[:8] = [0, 1, 0, 1, 0, 1, 0, 1]  # Labels that are known.
    weight = rng.uniform(0.2, 2.0, n_samples)
    weight /= weight.mean()
    pool = kind().on_pool(score, np.array([0, 1]), weight)
    near = pool.at(np.column_stack([1 - p, p]))
    return score, p, weight, near


@both
@every_tie
def test_value_and_slopes_at_a_belief_agree_with_brute_force(rng, kind, decimals):
    step = 1e-5
    score, p, weight, near = tangent(rng, kind, decimals)
    n_samples = len(p)
    part = near.parts[0]
    assert near.value([(part.weight * p).mean()]) == pytest.approx(
        BRUTE[kind](p, weight, score), abs=1e-12
    )
    for row in range(n_samples):
        up, down = p.copy(), p.copy()
        up[row], down[row] = p[row] + step, p[row] - step
        ends = (BRUTE[kind](one, weight, score) for one in (up, down))
        slope = n_samples * (next(ends) - next(ends)) / (2 * step)
        assert part.weight[row] == pytest.approx(slope, abs=1e-6)


@both
def test_a_belief_gives_the_mean_over_labels_drawn_from_it(rng, kind):
    score = rng.random(400)
    p = 0.6 * score**2
    pool = kind().on_pool(score, np.array([0, 1]))
    near = pool.at(np.column_stack([1 - p, p]))
    drawn = [kind()((rng.random(400) < p).astype(int), score) for _ in range(300)]
    # The metric is a ratio, so the mean over draws differs by a term of order 1 / N.
    error = 4 * np.std(drawn) / np.sqrt(300) + 0.005
    level = near.value([np.mean(near.parts[0].weight * p)])
    assert level == pytest.approx(np.mean(drawn), abs=error)


@both
def test_the_tangent_is_linear_and_has_one_part(rng, kind):
    p = rng.random(40)
    pool = kind().on_pool(rng.random(40), np.array([0, 1]))
    near = pool.at(np.column_stack([1 - p, p]))
    assert len(near.parts) == 1
    assert near.n_samples == pool.n_samples == 40
    mean = np.mean(near.parts[0].weight * p)
    assert near.value([mean + 0.1]) == pytest.approx(near.value([mean]) + 0.1)
    assert_allclose(near.gradient([0.3]), [1.0])
    values = near.linearised(np.array([mean])).observed(np.arange(40), np.ones(40, int))
    assert_allclose(values, near.parts[0].weight)


def test_by_default_the_greater_class_is_positive_for_the_roc_curve(rng):
    y, score = rng.choice([1, 2], 50), rng.random(50)
    expected = metrics.roc_auc_score(y, score)
    assert RocAuc()(y, score) == pytest.approx(expected, abs=1e-12)
    expected = metrics.average_precision_score(y, score, pos_label=1)
    assert AveragePrecision()(y, score) == pytest.approx(expected, abs=1e-12)


@both
def test_without_positives_a_ranking_is_nan_and_its_slopes_are_0(kind):
    y, score = np.zeros(5, int), np.linspace(0, 1, 5)
    assert np.isnan(kind()(y, score))
    near = kind().on_pool(score, np.array([0, 1])).at(one_hot(y, np.array([0, 1])))
    assert_allclose(near.parts[0].weight, 0.0)
    assert np.isnan(near.value([0.0]))


@both
def test_a_million_rows_are_not_compared_in_pairs(rng, kind):
    """A million million comparisons would never end, nor find room."""
    score = rng.random(1_000_000)
    pool = kind().on_pool(score, np.array([0, 1]))
    proba = np.column_stack([1 - score, score])
    assert len(pool.at(proba).parts[0].weight) == len(score)


@both
def test_a_ranking_has_no_values_of_rows(kind):
    name = kind.__name__
    for call in (lambda: kind().row_values([0], [1]), lambda: kind().value([0.5])):
        with pytest.raises(TypeError, match=rf"{name} compares rows.*on_pool"):
            call()


@both
@every_tie
def test_influence_is_the_change_of_the_value_by_the_weight(rng, kind, decimals):
    step = 1e-5
    score, p, weight, near = tangent(rng, kind, decimals)
    n_samples = len(p)
    influence = near.parts[0].weight * p + near.known_influence(np.zeros(1))
    assert influence.mean() == pytest.approx(0.0, abs=1e-12)
    for row in range(n_samples):
        ends = []
        for sign in (1, -1):
            moved = weight.copy()
            moved[row] *= 1 + sign * step
            ends.append(BRUTE[kind](p, moved, score))
        change = n_samples * (ends[0] - ends[1]) / (2 * step)
        assert influence[row] == pytest.approx(change, abs=1e-6)
