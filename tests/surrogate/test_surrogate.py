"""Surrogates made of estimators: members, beliefs, prior mass and weights of rows."""

import numpy as np
import pytest
from helpers.flowers import (
    FLOWERS,
    NAMES,
    UNIFORM,
    AllColumns,
    FixedMembers,
    X,
    Y,
    as_is,
)
from sklearn.datasets import load_diabetes
from sklearn.ensemble import (
    BaggingClassifier,
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

from sklearn_ase.losses import SquaredError
from sklearn_ase.surrogate import (
    BootstrapClassifier,
    ClassifierSurrogate,
    LogLinearStack,
    RegressorSurrogate,
)


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
    monkeypatch.setattr("sklearn_ase.surrogate._estimator.CHUNK_NUMBERS", 7 * 30)
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
    assert stack.weights_[0, 1] > 1.0
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


def test_a_class_without_a_label_gets_the_prior_mass():
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


def test_a_frozen_forest_of_regressors_needs_rows_to_estimate_the_noise():
    points, target = load_diabetes(return_X_y=True)
    forest = FrozenEstimator(RandomForestRegressor(5).fit(points[:200], target[:200]))
    surrogate = RegressorSurrogate(forest)
    with pytest.raises(ValueError, match="Give X_train and y_train"):
        surrogate.fit(points[:0], target[:0])
    assert surrogate.fit(points[200:], target[200:]).noise_ > 0


def test_a_class_without_a_row_has_the_prior_mass_whatever_the_estimator_says():
    X, y = np.zeros((30, 1)), np.arange(30) % 3
    surrogate = ClassifierSurrogate(AllColumns(), prior_mass=0.04)
    surrogate.fit(X, y, classes=np.arange(4))
    np.testing.assert_allclose(surrogate.predict_proba(X)[:, 3], 0.01)
    np.testing.assert_allclose(surrogate.predict_proba(X).sum(axis=1), 1.0)
