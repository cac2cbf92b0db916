import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from sklearn_ase import ActiveRiskEstimator
from sklearn_ase._data._class_columns import align_columns
from sklearn_ase._utils._unwrapping import last_step, unfrozen, unwrap
from sklearn_ase.acquisition import LossSpread
from sklearn_ase.belief import CategoricalBelief, GaussianBelief
from sklearn_ase.losses import LogLoss, SquaredError
from sklearn_ase.risk import CorrectedASE
from sklearn_ase.surrogate import (
    BaseSurrogate,
    BootstrapClassifier,
    ClassifierSurrogate,
    FrameEncoder,
    GaussianStack,
    LogLinearStack,
    RegressorSurrogate,
    as_surrogate,
)
from sklearn_ase.surrogate._fit_rows import FitRows
from sklearn_ase.testing import check_surrogate

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
FLOWERS = NAMES[Y]
UNIFORM = LogLoss().build(np.full((150, 3), 1 / 3), NAMES)


class FixedMembers(ClassifierMixin, BaseEstimator):
    """Somebody's ensemble: two members that never change, classes in odd order."""

    def fit(self, X, y):
        self.classes_ = np.array(["virginica", "setosa"])
        return self

    def predict_proba_members(self, X):
        return iter(
            [np.tile([0.9, 0.1], (len(X), 1)), np.tile([0.3, 0.7], (len(X), 1))]
        )


def as_is(estimator):
    return ClassifierSurrogate(estimator, calibration=None)


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(7),
        BaggingClassifier(GaussianNB(), n_estimators=7, max_features=3),
        make_pipeline(StandardScaler(), RandomForestClassifier(7)),
    ],
)
def test_members_of_an_ensemble_average_to_its_own_prediction(estimator):
    surrogate = as_is(estimator).fit(X, FLOWERS, classes=NAMES)
    members = surrogate.predict_proba_members(X)
    assert members.shape == (7, 150, 3)
    np.testing.assert_allclose(
        members.mean(axis=0), surrogate.estimator_.predict_proba(X), atol=1e-12
    )


def test_steps_of_boosting_are_not_taken_for_members():
    boosting = GradientBoostingClassifier(n_estimators=3)
    surrogate = ClassifierSurrogate(boosting, n_members=4).fit(X, Y, classes=[0, 1, 2])
    assert isinstance(surrogate.estimator_, BootstrapClassifier)
    assert surrogate.predict_proba_members(X).shape == (4, 150, 3)


def test_members_of_an_object_are_used_as_they_are_and_aligned_by_label():
    surrogate = ClassifierSurrogate(FixedMembers(), prior_mass=0.0)
    members = surrogate.fit(X, FLOWERS, classes=NAMES).predict_proba_members(X)
    np.testing.assert_allclose(members[:, 0], [[0.1, 0.0, 0.9], [0.7, 0.0, 0.3]])


def test_calibration_moves_mean_and_members_alike():
    surrogate = ClassifierSurrogate(RandomForestClassifier(10))
    surrogate.fit(X, FLOWERS, classes=NAMES)
    raw = surrogate.estimator_.predict_proba(X)
    proba = surrogate.predict_proba(X)
    members = surrogate.predict_proba_members(X)
    assert np.abs(proba - raw).max() > 1e-3
    np.testing.assert_allclose(members.mean(axis=0), proba, atol=1e-12)
    belief = surrogate.belief(X, UNIFORM)
    np.testing.assert_allclose(belief.proba, proba)
    np.testing.assert_allclose(
        belief.member_risk.mean(), belief.expected_loss(UNIFORM).mean()
    )


def test_belief_does_not_depend_on_the_chunk_size(monkeypatch):
    surrogate = ClassifierSurrogate(RandomForestClassifier(10))
    surrogate.fit(X, FLOWERS, classes=NAMES)
    whole = surrogate.belief(X, UNIFORM, keep_member_loss=True)
    monkeypatch.setattr(
        "sklearn_ase.surrogate._estimator_surrogate._CHUNK_NUMBERS", 7 * 30
    )
    pieces = surrogate.belief(X, UNIFORM, keep_member_loss=True)
    for name in ("proba", "class_disagreement", "member_risk", "member_loss"):
        np.testing.assert_allclose(getattr(pieces, name), getattr(whole, name))


@pytest.mark.parametrize(
    "estimator", [RandomForestClassifier(20), KNeighborsClassifier(1)], ids=repr
)
def test_calibration_on_held_out_rows_improves_the_likelihood(estimator):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(600, 2))
    labels = (points[:, 0] + rng.normal(size=600) > 0).astype(int)
    train, rest = slice(0, 200), slice(200, 600)
    surrogates = [as_is(estimator), ClassifierSurrogate(estimator)]
    losses = []
    for surrogate in surrogates:
        surrogate.fit(points[train], labels[train], classes=[0, 1])
        losses.append(log_loss(labels[rest], surrogate.predict_proba(points[rest])))
    assert losses[1] < losses[0]


def test_a_good_model_under_test_gets_most_of_the_weight():
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=300)
    noise = np.full((300, 2), 0.5)
    expert = np.where(codes[:, None] == [0, 1], 0.9, 0.1)
    stack = LogLinearStack().fit(noise, expert, codes)
    assert stack.weights_[1] > 1.0
    assert (stack.predict_proba(noise, expert).argmax(axis=1) == codes).all()


def test_classes_the_model_does_not_know_get_the_surrogates_mass():
    proba = np.tile([0.5, 0.2, 0.3], (60, 1))
    expert = np.tile([0.6, 0.4, 0.0], (60, 1))
    codes = np.repeat([0, 1, 2], 20)
    model_classes = np.array([True, True, False])
    stack = LogLinearStack().fit(proba, expert, codes, model_classes=model_classes)
    blended = stack.predict_proba(proba, expert)
    np.testing.assert_allclose(blended.sum(axis=1), 1.0)
    assert blended[0, 2] == pytest.approx(1 / 3, abs=0.05)


def test_a_class_nobody_has_seen_gets_the_prior_mass():
    rows = FLOWERS != "virginica"
    surrogate = ClassifierSurrogate(RandomForestClassifier(5), prior_mass=0.03)
    surrogate.fit(X[rows], FLOWERS[rows], classes=NAMES)
    np.testing.assert_allclose(surrogate.predict_proba(X)[:, 2], 0.01)
    np.testing.assert_allclose(surrogate.predict_proba(X).sum(axis=1), 1.0)


def test_pool_weight_lets_acquired_rows_outvote_training_rows():
    points = np.zeros((40, 1))
    labels = np.repeat([0, 1], [30, 10])  # The last ten rows were acquired.
    for weight, expected in ((1.0, 0.25), (9.0, 0.75)):
        surrogate = ClassifierSurrogate(
            DecisionTreeClassifier(), calibration=None, pool_weight=weight
        )
        surrogate.fit(points, labels, classes=[0, 1], n_acquired=10)
        assert surrogate.predict_proba(points)[0, 1] == pytest.approx(expected)


def test_pool_weight_needs_a_surrogate_that_takes_weights():
    class Plain(FixedMembers):
        pass

    surrogate = ClassifierSurrogate(Plain(), pool_weight=2.0)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        surrogate.fit(X, FLOWERS, classes=NAMES, n_acquired=10)


def test_every_bootstrap_sample_holds_every_class():
    labels = np.array(["common"] * 49 + ["rare"])
    ensemble = BootstrapClassifier(LogisticRegression(), n_members=10, random_state=0)
    ensemble.fit(X[:50], labels)
    assert all("rare" in labels[rows] for rows in ensemble.estimators_samples_)


def test_a_single_class_is_enough_for_a_first_fit():
    surrogate = ClassifierSurrogate(LogisticRegression())
    surrogate.fit(X[:10], FLOWERS[:10], classes=NAMES)
    assert (surrogate.predict_proba(X)[:, 0] > 0.9).all()


def test_a_frozen_surrogate_is_left_alone():
    forest = RandomForestClassifier(5, random_state=0).fit(X, FLOWERS)
    surrogate = ClassifierSurrogate(FrozenEstimator(forest))
    surrogate.fit(X[:50], FLOWERS[:50], classes=NAMES)
    np.testing.assert_allclose(surrogate.predict_proba(X), forest.predict_proba(X))


def test_gaussian_belief_of_a_gaussian_process_is_its_own():
    points, target = load_diabetes(return_X_y=True)
    points, target = points[:80], target[:80]
    process = GaussianProcessRegressor(RBF() + WhiteKernel(), normalize_y=True)
    surrogate = RegressorSurrogate(process, calibration=None).fit(points, target)
    loss = SquaredError().build(np.zeros(80))
    belief = surrogate.belief(points, loss)
    mean, deviation = surrogate.estimator_.predict(points, return_std=True)
    np.testing.assert_allclose(belief.mean, mean)
    np.testing.assert_allclose(belief.variance, deviation**2, rtol=1e-5)
    np.testing.assert_allclose(
        belief.expected_loss(loss), mean**2 + deviation**2, rtol=1e-5
    )


@pytest.mark.parametrize(
    "estimator", [RandomForestRegressor(30), BayesianRidge()], ids=repr
)
def test_noise_variance_comes_from_held_out_residuals(estimator):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(600, 2))
    target = points[:, 0] + 0.5 * rng.normal(size=600)
    surrogate = RegressorSurrogate(estimator).fit(points[:300], target[:300])
    belief = surrogate.belief(points[300:], SquaredError().build(np.zeros(300)))
    residual = target[300:] - belief.mean
    assert belief.variance.mean() == pytest.approx(np.mean(residual**2), rel=0.25)


def test_calibrated_members_of_a_regressor_have_the_beliefs_moments():
    points, target = load_diabetes(return_X_y=True)
    loss = SquaredError().build(target)
    surrogate = RegressorSurrogate(RandomForestRegressor(10)).fit(points, target)
    belief = surrogate.belief(points, loss, keep_member_loss=True)
    np.testing.assert_allclose(
        belief.member_loss.mean(axis=0), belief.expected_loss(loss), rtol=1e-9
    )


def test_a_frozen_forest_of_regressors_needs_rows_to_tell_the_noise_from():
    points, target = load_diabetes(return_X_y=True)
    forest = FrozenEstimator(RandomForestRegressor(5).fit(points[:200], target[:200]))
    surrogate = RegressorSurrogate(forest)
    with pytest.raises(ValueError, match="Give X_train and y_train"):
        surrogate.fit(points[:0], target[:0])
    assert surrogate.fit(points[200:], target[200:]).noise_ > 0


def test_frames_with_texts_dates_and_missing_values_become_numbers():
    frame = pd.DataFrame(
        {
            "kind": pd.Series(["b", "a", None], dtype="string"),
            "count": pd.Series([1, None, 3], dtype="Int64"),
            "flag": [True, False, True],
            "day": pd.to_datetime(["2026-01-01", "2026-01-02", None]),
            "group": pd.Categorical(["x", "y", "x"]),
        }
    )
    encoder = FrameEncoder().fit(frame)
    encoded = encoder.transform(frame)
    np.testing.assert_array_equal(encoded[:, 0], [1, 0, np.nan])
    np.testing.assert_array_equal(encoded[:, 1], [1, np.nan, 3])
    np.testing.assert_array_equal(encoded[:, 2], [1, 0, 1])
    assert encoded[0, 3] < encoded[1, 3]
    assert np.isnan(encoded[2, 3])
    unseen = frame.assign(kind=["z", "a", "b"])
    np.testing.assert_array_equal(encoder.transform(unseen)[:, 0], [-1, 0, 1])


class AllColumns(ClassifierMixin, BaseEstimator):
    """A classifier with a column for every class, seen or not, as networks have."""

    def fit(self, X, y):
        self.classes_ = np.arange(4)
        self.share_ = np.bincount(y, minlength=4) / len(y)
        return self

    def predict_proba_members(self, X):
        return np.tile(self.share_, (2, len(X), 1))


def test_a_class_without_a_row_has_the_prior_mass_whatever_the_estimator_says():
    X, y = np.zeros((30, 1)), np.arange(30) % 3
    surrogate = ClassifierSurrogate(AllColumns(), prior_mass=0.04)
    surrogate.fit(X, y, classes=np.arange(4))
    np.testing.assert_allclose(surrogate.predict_proba(X)[:, 3], 0.01)
    np.testing.assert_allclose(surrogate.predict_proba(X).sum(axis=1), 1.0)


# Calibration: "auto", None or an object.


@pytest.mark.parametrize(
    ("surrogate", "calibration"),
    [
        (ClassifierSurrogate(RandomForestClassifier()), LogLinearStack),
        (ClassifierSurrogate(GaussianNB()), LogLinearStack),
        (ClassifierSurrogate(FixedMembers()), type(None)),
        (RegressorSurrogate(BayesianRidge()), GaussianStack),
        (ClassifierSurrogate(GaussianNB(), calibration=None), type(None)),
        (RegressorSurrogate(BayesianRidge(), calibration=None), type(None)),
        (
            ClassifierSurrogate(FixedMembers(), calibration=LogLinearStack()),
            LogLinearStack,
        ),
    ],
    ids=repr,
)
def test_auto_is_the_default_calibration_and_none_is_no_calibration(
    surrogate, calibration
):
    y = Y.astype(float) if surrogate.task == "regression" else FLOWERS
    surrogate.fit(X, y)
    assert isinstance(surrogate.calibration_, calibration)
    assert surrogate.is_calibrated == (calibration is not type(None))
    assert surrogate.uses_estimator == surrogate.is_calibrated


@pytest.mark.parametrize("kind", [ClassifierSurrogate, RegressorSurrogate])
@pytest.mark.parametrize("calibration", [False, True, "sigmoid"])
def test_false_is_not_a_calibration(kind, calibration):
    surrogate = kind(RandomForestClassifier(5), calibration=calibration)
    with pytest.raises(TypeError, match="None for no calibration"):
        surrogate.fit(X, Y)


# Rows of a fit and their weights.


def test_weights_of_acquired_rows_follow_from_the_rows():
    rows = FitRows(np.zeros((110, 1)), np.zeros(110), n_acquired=10)
    np.testing.assert_array_equal(rows.fit_weight(3.0), [1.0] * 100 + [3.0] * 10)
    # As much as 100 / 20 training rows, but at least as much as one.
    np.testing.assert_array_equal(rows.calibration_weight(20), [1] * 100 + [5] * 10)
    assert rows.calibration_weight(1000) is None


@pytest.mark.parametrize("n_acquired", [0, 10])
def test_rows_of_one_kind_have_no_weights(n_acquired):
    rows = FitRows(np.zeros((10, 1)), np.zeros(10), n_acquired=n_acquired)
    assert rows.fit_weight(3.0) is None
    assert rows.calibration_weight(0.1) is None


def test_weights_reach_the_last_step_of_nested_pipelines():
    points, labels = np.zeros((40, 1)), np.repeat([0, 1], [30, 10])
    forest = RandomForestClassifier(50, random_state=0)
    nested = make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), forest))
    for weight, expected in ((1.0, 0.25), (9.0, 0.75)):
        surrogate = ClassifierSurrogate(nested, calibration=None, pool_weight=weight)
        surrogate.fit(points, labels, n_acquired=10)
        found = surrogate.predict_proba(points)[0, 1]
        assert found == pytest.approx(expected, abs=0.05)


def test_a_frozen_step_takes_no_weights():
    frozen = FrozenEstimator(RandomForestClassifier(5).fit(X, FLOWERS))
    surrogate = ClassifierSurrogate(
        make_pipeline(StandardScaler(), frozen), pool_weight=2.0
    )
    with pytest.raises(
        ValueError, match=r"FrozenEstimator\.fit takes no sample_weight"
    ):
        surrogate.fit(X, FLOWERS, n_acquired=10)


# Unwrapping and aligning.


def test_estimators_are_found_inside_pipelines_and_frozen_wrappers():
    forest = RandomForestClassifier()
    inner = make_pipeline(StandardScaler(), forest)
    outer = make_pipeline(StandardScaler(), FrozenEstimator(inner))
    for wrapped in (forest, FrozenEstimator(forest), inner, FrozenEstimator(outer)):
        assert last_step(wrapped) is forest
    assert unfrozen(FrozenEstimator(FrozenEstimator(inner))) is inner
    assert unwrap(outer).is_frozen
    assert unwrap(make_pipeline(inner)).prefix == "pipeline__randomforestclassifier__"


def test_rows_pass_all_pipelines_on_the_way_to_the_last_step():
    inner = make_pipeline(StandardScaler(), GaussianNB())
    outer = make_pipeline(StandardScaler(), inner).fit(3.0 * X + 7.0, Y)
    unwrapped = unwrap(FrozenEstimator(outer))
    found = unwrapped.last.predict_proba(unwrapped.transform(3.0 * X + 7.0))
    np.testing.assert_allclose(found, outer.predict_proba(3.0 * X + 7.0))
    alone = make_pipeline(GaussianNB())
    assert unwrap(alone).transform(X) is X


def test_columns_are_aligned_by_class():
    values = np.array([[0.1, 0.2, 0.7]])
    columns = np.array(["c", "a", "x"])  # No b, and an x that is not a class.
    aligned = align_columns(values, columns, np.array(["a", "b", "c"]))
    np.testing.assert_array_equal(aligned, [[0.2, 0.0, 0.1]])
    aligned = align_columns(values, columns, np.array(["b", "c", "a"]))
    np.testing.assert_array_equal(aligned, [[0.0, 0.1, 0.2]])
    np.testing.assert_array_equal(align_columns(values, columns, columns), values)
    objects = np.array(["c", "a", "x"], dtype=object)
    members = align_columns(values[None], objects, np.array(["a", "c"]))
    np.testing.assert_array_equal(members, [[[0.2, 0.1]]])


class UnsortedBootstrap(ClassifierMixin, BaseEstimator):
    """Somebody's bootstrap ensemble of two members, classes in odd order."""

    bootstrap = True

    def fit(self, X, y):
        self.classes_ = np.array(["virginica", "setosa", "versicolor"])
        half = len(y) // 2
        self.estimators_samples_ = [np.arange(half), np.arange(half, len(y))]
        return self

    def predict_proba_members(self, X):
        return np.tile([0.7, 0.2, 0.1], (2, len(X), 1))


def test_out_of_bag_probabilities_of_unsorted_classes_are_aligned_by_class():
    surrogate = as_is(UnsortedBootstrap()).fit(X, FLOWERS, classes=NAMES)
    np.testing.assert_allclose(surrogate.held_out_, np.tile([0.2, 0.1, 0.7], (150, 1)))


def test_a_surrogate_with_a_class_that_cannot_be_is_refused():
    surrogate = ClassifierSurrogate(AllColumns())
    with pytest.raises(ValueError, match=r"classes \[3\], which are not among"):
        surrogate.fit(X, Y, classes=np.arange(3))


@pytest.mark.parametrize(
    "estimator",
    [GaussianNB(), RandomForestClassifier(), LogisticRegression()],
    ids=repr,
)
def test_a_surrogate_takes_the_input_that_its_estimator_takes(estimator):
    surrogate = ClassifierSurrogate(estimator)
    assert get_tags(surrogate).input_tags == get_tags(estimator).input_tags


def test_a_surrogate_without_an_estimator_takes_what_trees_take():
    trees = get_tags(ExtraTreesClassifier()).input_tags
    assert get_tags(ClassifierSurrogate()).input_tags == trees


# Surrogates by others: two methods and the class attribute `task`.


class ClassFrequencies(BaseSurrogate):
    """Believes in the class frequencies of the labelled rows."""

    task = "classification"

    def fit(self, X, y, *, classes=None, expert=None, model_classes=None, **_):
        counts = (y[:, None] == classes).sum(axis=0) + 1
        self.proba_ = counts / counts.sum()
        return self

    def belief(self, X, loss, expert=None, keep_member_loss=False):
        member = np.tile(self.proba_, (1, len(X), 1))
        return CategoricalBelief.from_members(member, loss)


class MeanLabel(BaseSurrogate):
    """Believes in the mean and the variance of the labels so far."""

    task = "regression"

    def fit(self, X, y, *, classes=None, expert=None, model_classes=None, **_):
        self.mean_, self.variance_ = y.mean(), y.var() + 1e-9
        return self

    def belief(self, X, loss, expert=None, keep_member_loss=False):
        mean, noise = np.full(len(X), self.mean_), np.full(len(X), self.variance_)
        return GaussianBelief(mean, np.zeros(len(X)), noise, member_risk=np.empty(0))


@pytest.mark.filterwarnings("ignore::sklearn_ase.exceptions.SurrogateWarning")
@pytest.mark.parametrize("acquisition", [None, LossSpread()], ids=repr)
@pytest.mark.parametrize("with_training_rows", [True, False])
@pytest.mark.parametrize(
    ("surrogate", "name", "loss"),
    [
        (ClassFrequencies(), "digits", "log_loss"),
        (ClassFrequencies(), "digits", "zero_one"),
        (MeanLabel(), "diabetes", "squared_error"),
    ],
    ids=["log loss", "zero-one", "regression"],
)
def test_two_methods_make_a_surrogate(
    request, surrogate, name, loss, with_training_rows, acquisition
):
    data = request.getfixturevalue(name)
    training = {"X_train": data.X_train, "y_train": data.y_train}
    evaluator = ActiveRiskEstimator(
        data.model,
        surrogate=surrogate,
        loss=loss,
        acquisition=acquisition,
        n_labels=30,
        random_state=0,
    )
    evaluator.fit(data.X, data.y, **(training if with_training_rows else {}))
    assert evaluator.risk_.n_labels == 30
    assert np.isfinite(evaluator.risk_.value)
    expected = evaluator.predict(data.X)
    assert expected.shape == (120,)
    assert (expected >= 0).all()
    low, high = evaluator.evaluation_.estimate(CorrectedASE()).interval(0.99)
    losses = evaluator.evaluation_.state.loss.observed(np.arange(120), data.y)
    assert low <= losses.mean() <= high


@pytest.mark.parametrize("surrogate", [ClassFrequencies(), MeanLabel()], ids=repr)
def test_surrogates_by_others_pass_the_contract(surrogate):
    check_surrogate(surrogate, surrogate.task)


def test_defaults_describe_a_surrogate_that_does_not_use_the_model():
    surrogate = ClassFrequencies()
    assert surrogate.can_fit(5)
    assert not surrogate.can_fit(4)
    assert surrogate.held_out_loss(np.arange(3), None) is None
    for name in ("is_constant", "is_calibrated", "gives_members"):
        assert getattr(surrogate, name) is False
    for name in ("uses_estimator", "uses_out_of_fold"):
        assert getattr(surrogate, name) is False
    assert surrogate.frozen_classes is None


def test_a_surrogate_by_others_is_not_wrapped():
    surrogate = ClassFrequencies()
    assert as_surrogate(surrogate, "classification", X) is surrogate


class WithoutTask(ClassFrequencies):
    task = None


class Duck:
    """Has the methods of a surrogate but not the base class."""

    fit, belief = ClassFrequencies.fit, ClassFrequencies.belief


@pytest.mark.parametrize(
    ("surrogate", "error", "message"),
    [
        (WithoutTask(), ValueError, "Set the class attribute task"),
        (MeanLabel(), ValueError, "MeanLabel is not made for it"),
        (Duck(), TypeError, "inherit from sklearn_ase.surrogate.BaseSurrogate"),
        (ClassFrequencies, TypeError, "is not an estimator with a fit method"),
        ("forest", TypeError, "is not an estimator with a fit method"),
        (BayesianRidge(), ValueError, "BayesianRidge is not made for it"),
    ],
)
def test_what_is_not_a_surrogate_for_the_task_is_refused(surrogate, error, message):
    with pytest.raises(error, match=message):
        as_surrogate(surrogate, "classification", X)
