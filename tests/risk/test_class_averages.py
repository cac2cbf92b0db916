"""Averages in which each class counts the same, and classes with hardly any row."""

from functools import cache

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase.metrics import BalancedAccuracy, as_metric
from sklearn_ase.metrics._class_mean import ClassMean
from sklearn_ase.risk import ASE, LURE, CorrectedASE, GuardedASE
from sklearn_ase.risk._class_average import ClassAverage

N = 300
MACRO = [f"{ratio}_macro" for ratio in ("f1", "precision", "recall", "jaccard")]
MACRO += ["specificity_macro", "balanced_accuracy"]
ADJUSTED = BalancedAccuracy(adjusted=True)
risks = pytest.mark.parametrize(
    "risk", [ASE(), LURE(), CorrectedASE(), GuardedASE()], ids=repr
)


def rows_of(sizes, seed):
    """Rows of classes that overlap, so many of each."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    centre = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5], [1.5, 1.5]])[y]
    X = centre + rng.normal(size=(len(y), 2))
    order = rng.permutation(len(y))
    return X[order], y[order]


X_TRAIN, Y_TRAIN = rows_of([150, 100, 45, 5], 1)
MODEL = GaussianNB().fit(X_TRAIN, Y_TRAIN)
WITHOUT = rows_of([150, 100, 50, 0], 2)
RARE = rows_of([150, 100, 47, 3], 3)


def evaluated(pool, n_labels, seed=0, skipped=()):
    """An evaluation with labels that were asked for at once."""
    X, y = pool
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(MODEL),
        loss="zero_one",
        surrogate=FrozenEstimator(MODEL),
        random_state=seed,
    )
    evaluation = evaluator.start(X, X_train=X_TRAIN, y_train=Y_TRAIN)
    rows = evaluation.ask(n_labels).indices
    kept = rows[~np.isin(rows, skipped)]
    evaluation.tell(kept, y[kept])
    if len(kept) < len(rows):
        evaluation.skip(rows[np.isin(rows, skipped)])
    return evaluation


@cache
def half_labelled():
    return evaluated(WITHOUT, 60)


@risks
@pytest.mark.parametrize("metric", [*MACRO, ADJUSTED], ids=str)
def test_with_all_labels_a_class_without_rows_does_not_count(metric, risk):
    X, y = WITHOUT
    found = evaluated(WITHOUT, N).estimate(risk, metric=metric)
    truth = as_metric(metric)(y, MODEL.predict(X))
    assert float(found) == pytest.approx(truth, abs=1e-12)
    if not isinstance(risk, ASE):
        assert found.interval() == pytest.approx((truth, truth), abs=1e-9)


@pytest.mark.parametrize("metric", [*MACRO, ADJUSTED], ids=str)
def test_a_class_that_no_label_has_shown_may_occur_or_not(metric):
    """One row without a label decides whether the average has another class."""
    (X, y), evaluation = WITHOUT, half_labelled()
    free = np.setdiff1d(np.arange(N), evaluation.state.indices)
    predicted = MODEL.predict(X)
    assert not (predicted == 3).any()
    other = y.copy()
    other[free[0]] = 3
    truths = [as_metric(metric)(labels, predicted) for labels in (y, other)]
    low, high = evaluation.estimate(metric=metric).interval()
    assert abs(truths[1] - truths[0]) > 0.04
    assert low <= min(truths)
    assert max(truths) <= high


def test_the_value_is_between_those_with_and_without_such_a_class():
    evaluation = half_labelled()
    average = evaluation.estimate(metric="recall_macro").average
    chance = average.chance[3]
    assert (average.chance[:3] == 1.0).all()
    assert average.is_open.tolist() == [False, False, False, True]
    assert 0.05 < chance < 0.99
    ratios = average.means[:3, 0] / average.means[:3].sum(axis=1)
    expected = ratios.sum() / (3.0 + chance)
    assert average.value(as_metric("recall_macro").class_mean) == pytest.approx(
        expected
    )


def test_a_class_that_a_label_has_shown_counts():
    y = RARE[1]
    seed = next(
        s for s in range(50) if (y[evaluated(RARE, 60, s).state.indices] == 3).any()
    )
    average = evaluated(RARE, 60, seed).estimate(metric="f1_macro").average
    assert average.chance[3] == 1.0
    assert not average.is_open.any()


@pytest.mark.parametrize("metric", ["f1_macro", "recall_macro", "precision_macro"])
def test_intervals_hold_with_a_class_of_three_rows(metric):
    X, y = RARE
    truth = as_metric(metric)(y, MODEL.predict(X))
    covered = []
    for seed in range(40):
        low, high = evaluated(RARE, 60, seed).estimate(metric=metric).interval()
        covered.append(low <= truth <= high)
    assert np.mean(covered) >= 0.85


@pytest.mark.parametrize("metric", MACRO)
def test_groups_without_a_class_have_an_interval_around_their_value(metric):
    X, y = RARE
    where = (y != 3) & (X[:, 0] > 0)
    truth = as_metric(metric)(y[where], MODEL.predict(X[where]))
    found = evaluated(RARE, 100).estimate(metric=metric, where=where)
    low, high = found.interval()
    assert low <= truth <= high
    assert abs(float(found) - truth) < 0.15


def test_with_skipped_rows_nobody_knows_the_predictions_that_count():
    found = evaluated(RARE, 100, skipped=np.arange(0, N, 7)).estimate(metric="f1_macro")
    assert found.average is None
    assert np.isfinite(found.interval()).all()


def own_ends(average, top, bottom, quantile):
    """Ends of the average, from a fine grid over the region of each class."""
    angle = np.linspace(0, 2 * np.pi, 400)
    down, up, middle = [], [], []
    for c, (found, missed) in enumerate(average.means):
        root = np.linalg.cholesky(average.covariance[c] + 1e-18 * np.eye(2))
        values = []
        for radius in np.linspace(0, 1, 20):
            point = average.means[c] + quantile * radius * (
                np.stack([np.cos(angle), np.sin(angle)], axis=1) @ root.T
            )
            u, v = np.clip(point, average.least[c], average.most[c]).T
            x = np.array([np.ones_like(u), u, v, np.full_like(u, average.predicted[c])])
            values.append((np.array(top) @ x) / (np.array(bottom) @ x))
        x = np.array([1.0, found, missed, average.predicted[c]])
        middle.append((np.array(top) @ x) / (np.array(bottom) @ x))
        down.append(middle[-1] - np.min(values))
        up.append(np.max(values) - middle[-1])
    ends = []
    for chosen in (np.ones(len(middle), bool), ~average.is_open):
        n, centre = chosen.sum(), np.mean(np.array(middle)[chosen])
        below = sum(d**2 for d, here in zip(down, chosen, strict=True) if here) ** 0.5
        above = sum(u**2 for u, here in zip(up, chosen, strict=True) if here) ** 0.5
        ends.append((centre - below / n, centre + above / n))
    return min(e[0] for e in ends), max(e[1] for e in ends)


@pytest.mark.parametrize("quantile", [0.5, 1.7])
def test_errors_of_classes_add_up_as_if_they_were_independent(quantile):
    f1 = ((0, 2, 0, 0), (0, 1, 1, 1))
    average = ClassAverage(
        means=np.array([[0.3, 0.1], [0.2, 0.05], [0.02, 0.01]]),
        predicted=np.array([0.45, 0.4, 0.15]),
        least=np.array([[0.1, 0.02], [0.05, 0.01], [0.0, 0.0]]),
        most=np.array([[0.4, 0.3], [0.35, 0.2], [0.1, 0.2]]),
        chance=np.array([1.0, 1.0, 0.7]),
        is_open=np.array([False, False, True]),
        covariance=np.array(
            [
                [[4e-4, -1e-4], [-1e-4, 9e-4]],
                [[9e-4, 0.0], [0.0, 4e-4]],
                [[4e-4, 1e-4], [1e-4, 1e-3]],
            ]
        ),
    )
    found = average.ends(ClassMean(*f1), quantile)
    assert found == pytest.approx(own_ends(average, *f1, quantile), abs=1e-3)
