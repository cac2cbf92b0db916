"""Averages in which each class counts the same, and classes with hardly any row."""

import warnings
from functools import cache

import numpy as np
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._inference._bounds import PoolSample
from sklearn_ase.metrics import BalancedAccuracy, BaseMetric, ClassMean, as_metric
from sklearn_ase.risk import ASE, LURE, CorrectedASE, GuardedASE
from sklearn_ase.risk._intervals import ClassInterval

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


ALWAYS_0 = DummyClassifier(strategy="constant", constant=0).fit(X_TRAIN, Y_TRAIN)


def evaluated(pool, n_labels, seed=0, skipped=(), model=MODEL, n_classes=4):
    """An evaluation with labels that were asked for at once."""
    (X, y), known = pool, n_classes > Y_TRAIN
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(model),
        loss="zero_one",
        surrogate=FrozenEstimator(GaussianNB().fit(X_TRAIN[known], Y_TRAIN[known])),
        classes=np.arange(n_classes),
        random_state=seed,
    )
    evaluation = evaluator.start(X, X_train=X_TRAIN[known], y_train=Y_TRAIN[known])
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
@pytest.mark.parametrize("pool", [WITHOUT, RARE], ids=["without it", "three rows"])
@pytest.mark.parametrize("model", [MODEL, ALWAYS_0], ids=["model", "always 0"])
def test_with_all_labels_classes_count_as_in_scikit_learn(model, pool, metric, risk):
    X, y = pool
    found = evaluated(pool, N, model=model).estimate(risk, metric=metric)
    truth = as_metric(metric)(y, model.predict(X))
    assert float(found) == pytest.approx(truth, abs=1e-12)
    if not isinstance(risk, ASE):
        assert found.interval() == pytest.approx((truth, truth), abs=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("metric", MACRO)
def test_a_class_that_is_never_predicted_counts_if_rows_have_it(metric, n_classes):
    """Its ratio is 0 whatever its share, but the average is over one class more."""
    pool = X, y = tuple(each[RARE[1] < n_classes] for each in RARE)
    model = DummyClassifier(strategy="constant", constant=0).fit(X, y)
    evaluation = evaluated(pool, 100, model=model, n_classes=n_classes)
    found = evaluation.estimate(metric=metric)
    truth = as_metric(metric)(y, np.zeros(len(y), dtype=int))
    low, high = found.interval()
    assert low - 1e-9 <= truth <= high + 1e-9
    assert abs(float(found) - truth) < 0.1


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
    average = evaluation.estimate(metric="recall_macro").uncertainty
    chance = average.chance[3]
    assert (average.chance[:3] == 1.0).all()
    assert average.is_shown.tolist() == [True, True, True, False]
    assert average.is_sure.tolist() == [True, True, True, False]
    assert 0.05 < chance < 0.99
    ratios = average.means[:3, 0] / average.means[:3].sum(axis=1)
    expected = ratios.sum() / (3.0 + chance)
    assert average.value() == pytest.approx(expected)


def test_a_class_of_which_many_rows_are_believed_may_still_have_none():
    """A surrogate that gives every class some probability proves nothing."""
    X, y = WITHOUT
    smooth = GaussianNB(var_smoothing=10.0).fit(X_TRAIN, Y_TRAIN)
    evaluator = ActiveRiskEstimator(
        FrozenEstimator(MODEL),
        loss="zero_one",
        surrogate=FrozenEstimator(smooth),
        random_state=0,
    )
    pool = np.concatenate([X] * 20), np.concatenate([y] * 20)
    evaluation = evaluator.start(pool[0])
    rows = evaluation.ask(60).indices
    evaluation.tell(rows, pool[1][rows])
    found = evaluation.estimate(ASE(), metric="balanced_accuracy")
    assert float(found) < 0.78 * BalancedAccuracy()(pool[1], MODEL.predict(pool[0]))
    guarded = evaluation.estimate(metric="balanced_accuracy")
    assert guarded.uncertainty.chance[3] > 0.999
    low, high = guarded.interval()
    assert low <= BalancedAccuracy()(pool[1], MODEL.predict(pool[0])) <= high


def test_a_class_that_a_label_has_shown_counts():
    y = RARE[1]
    seed = next(
        s for s in range(50) if (y[evaluated(RARE, 60, s).state.indices] == 3).any()
    )
    average = evaluated(RARE, 60, seed).estimate(metric="f1_macro").uncertainty
    assert average.chance[3] == 1.0
    assert average.is_shown.all()


@pytest.mark.parametrize("pool", [WITHOUT, RARE], ids=["without it", "three rows"])
def test_intervals_hold_with_a_class_of_hardly_any_rows(pool):
    X, y = pool
    truths = {name: as_metric(name)(y, MODEL.predict(X)) for name in MACRO}
    covered = []
    for seed in range(30):
        evaluation = evaluated(pool, 60, seed)
        ends = [evaluation.estimate(metric=name).interval() for name in MACRO]
        pairs = zip(ends, truths.values(), strict=True)
        covered.append([low <= truth <= high for (low, high), truth in pairs])
    assert np.mean(covered, axis=0).min() >= 0.85


@pytest.mark.parametrize("metric", MACRO)
def test_groups_without_a_class_have_an_interval_around_their_value(metric):
    X, y = RARE
    where = (y != 3) & (X[:, 0] > 0)
    truth = as_metric(metric)(y[where], MODEL.predict(X[where]))
    found = evaluated(RARE, 100).estimate(metric=metric, where=where)
    low, high = found.interval()
    assert low <= truth <= high
    assert abs(float(found) - truth) < 0.15


@pytest.mark.parametrize("metric", MACRO)
@pytest.mark.parametrize("rows", ["all", "predicted as 0"])
def test_one_skipped_row_changes_little(metric, rows):
    X = RARE[0]
    where = np.ones(N, dtype=bool) if rows == "all" else MODEL.predict(X) == 0
    first = evaluated(RARE, 100).state.indices[0]
    found = evaluated(RARE, 100, skipped=[first]).estimate(metric=metric, where=where)
    plain = evaluated(RARE, 100).estimate(metric=metric, where=where)
    assert float(found) == pytest.approx(float(plain), abs=0.02)
    assert found.interval() == pytest.approx(plain.interval(), abs=0.06)


def test_one_class_has_no_balanced_accuracy_beyond_chance():
    evaluation, where = evaluated(RARE, 150), (RARE[1] == 0) & (RARE[0][:, 0] < 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = evaluation.estimate(metric=ADJUSTED, where=where)
    assert "not defined" in found.refusal or found.bounds == (-1.0, 1.0)
    assert found.standard_error != np.inf


def test_two_classes_have_one_interval_whatever_it_is_called():
    X, y = RARE[0], (RARE[1] > 1).astype(int)
    model = GaussianNB().fit(X_TRAIN, Y_TRAIN > 1)
    evaluator = ActiveRiskEstimator(loss="zero_one", classes=[0, 1], random_state=0)
    evaluation = evaluator.start(X, predictions=model.predict(X).astype(int))
    evaluation.run(y, 60)
    found = [evaluation.estimate(metric=m) for m in ("recall_macro", MACRO[-1])]
    assert float(found[0]) == pytest.approx(float(found[1]))
    assert found[0].interval() == pytest.approx(found[1].interval())


@pytest.mark.parametrize("metric", MACRO)
def test_a_table_of_models_has_the_same_value(metric):
    evaluation = evaluated(RARE, 100)
    models = {"one": MODEL.predict(RARE[0]), "zero": np.zeros(N, dtype=int)}
    compared = evaluation.compare(models, metric=metric)
    place = compared.to_dict()["model"].index(compared.best_name)
    best = compared.estimates[place]
    assert compared.best_name == "one"
    found = evaluation.estimate(metric=metric)
    assert float(best) == pytest.approx(float(found))
    assert best.interval() == pytest.approx(found.interval())


ABOUT = {
    "centre": np.nan,
    "standard_error": np.nan,
    "n_labels": 50,
    "degrees_of_freedom": 49.0,
    "sample": PoolSample(),
}


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
        least = np.min(values) if average.is_shown[c] else 0.0
        down.append(middle[-1] - least)
        up.append(np.max(values) - middle[-1])
    ends = []
    for chosen in (np.ones(len(middle), bool), average.is_sure):
        n, centre = chosen.sum(), np.mean(np.array(middle)[chosen])
        reach = []
        for side in (down, up):
            square = together = 0.0
            for c, error in enumerate(side):
                if chosen[c] and average.is_shown[c]:
                    square += error**2
                elif chosen[c]:
                    together += error
            reach.append((square**0.5 + together) / n)
        ends.append((centre - reach[0], centre + reach[1]))
    return min(e[0] for e in ends), max(e[1] for e in ends)


@pytest.mark.parametrize("quantile", [0.5, 1.7])
def test_errors_of_classes_that_labels_show_are_independent(quantile):
    f1 = ((0, 2, 0, 0), (0, 1, 1, 1))
    average = ClassInterval(
        **ABOUT,
        class_mean=ClassMean(*f1),
        means=np.array([[0.3, 0.1], [0.2, 0.05], [0.02, 0.01], [0.01, 0.02]]),
        predicted=np.array([0.45, 0.4, 0.1, 0.05]),
        least=np.array([[0.1, 0.02], [0.05, 0.01], [0.0, 0.0], [0.0, 0.0]]),
        most=np.array([[0.4, 0.3], [0.35, 0.2], [0.1, 0.2], [0.05, 0.2]]),
        is_shown=np.array([True, True, False, False]),
        is_sure=np.array([True, True, False, True]),
        chance=np.array([1.0, 1.0, 0.7, 1.0]),
        n_expected=np.array([0.0, 0.0, 0.0, 0.0]),
        covariance=np.array(
            [
                [[4e-4, -1e-4], [-1e-4, 9e-4]],
                [[9e-4, 0.0], [0.0, 4e-4]],
                [[4e-4, 1e-4], [1e-4, 1e-3]],
                [[1e-4, 0.0], [0.0, 1e-4]],
            ]
        ),
    )
    found = average._over(quantile)
    assert found == pytest.approx(own_ends(average, *f1, quantile), abs=1e-3)


@pytest.mark.parametrize(
    ("n_expected", "missed"),
    [
        ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]),  # Labels there: they show other classes.
        ([2.0, 2.0, 2.0], [0.5, 1.0, 0.0]),  # The picks can have missed one and a half.
        ([9.0, 9.0, 9.0], [0.0, 1.0 / 3.0, 0.0]),
    ],
)
def test_picks_can_have_missed_only_so_many_rows_by_chance(n_expected, missed):
    """Three picks that were expected fail to come with a probability of 5 %."""
    errors, worst = np.array([0.1, 0.2, 0.1]), np.array([0.6, 0.8, 0.4])
    average = ClassInterval(
        **ABOUT,
        class_mean=None,
        means=np.zeros((3, 2)),
        predicted=np.zeros(3),
        least=np.zeros((3, 2)),
        most=np.zeros((3, 2)),
        is_shown=np.zeros(3, dtype=bool),
        is_sure=np.ones(3, dtype=bool),
        chance=np.ones(3),
        n_expected=np.array(n_expected),
        covariance=np.zeros((3, 2, 2)),
    )
    quantile = stats.norm.isf(np.exp(-3.0))
    found = average._error(errors, worst, np.ones(3, dtype=bool), quantile)
    missed = np.array(missed)
    rest = np.linalg.norm((1.0 - missed) * errors)
    assert found == pytest.approx(missed @ worst + rest)


def test_expected_picks_add_up_to_the_picks():
    evaluation = evaluated(RARE, 60)
    found = evaluation.estimate(metric="f1_macro").uncertainty
    shown = np.bincount(MODEL.predict(RARE[0])[evaluation.state.indices], minlength=4)
    assert (found.n_expected[shown > 0] == 0).all()
    many = evaluated(RARE, 2).estimate(metric="f1_macro", risk=CorrectedASE())
    assert "fewer than 25" in many.refusal
    assert 0 < many.uncertainty.n_expected.sum() < 2


class OwnRecall(BaseMetric):
    """The macro recall of four classes, as a user would write it."""

    task, bounds, name = "classification", (0.0, 1.0), "own recall"
    class_mean = ClassMean(top=(0, 1, 0, 0), bottom=(0, 1, 1, 0))

    def row_values(self, y_true, y_pred):
        label, said = (y[:, None] == np.arange(4) for y in (y_true, y_pred))
        return np.hstack([label & said, label & ~said, said])

    def value(self, means):
        found, missed, _ = np.reshape(means, (3, 4))
        return np.mean(found / (found + missed))


def test_an_average_of_ones_own_has_the_interval_of_those_of_the_package():
    evaluation = evaluated(RARE, 100)
    own, theirs = (
        evaluation.estimate(metric=metric) for metric in (OwnRecall(), "recall_macro")
    )
    assert float(own) == pytest.approx(float(theirs), abs=1e-6)
    assert own.interval() == pytest.approx(theirs.interval(), abs=1e-6)
