"""Losses: the named ones as in scikit-learn, own functions and classes, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics
from sklearn.base import clone

from sklearn_ase.losses import (
    AbsoluteError,
    BaseLoss,
    Brier,
    CustomLoss,
    LogLoss,
    LossTable,
    PointLoss,
    SquaredError,
    ZeroOne,
    as_loss,
)

N_SAMPLES = 40


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def random_task(rng, classes):
    """Probabilities, predicted labels and true labels for the given classes."""
    classes = np.array(classes)
    proba = rng.dirichlet(np.ones(len(classes)), size=N_SAMPLES)
    return proba, classes[proba.argmax(axis=1)], rng.choice(classes, size=N_SAMPLES)


def observed_mean(loss, prediction, y_true, classes=None):
    bound = as_loss(loss).build(prediction, classes)
    return bound.observed(np.arange(N_SAMPLES), y_true).mean()


every_kind_of_label = pytest.mark.parametrize(
    "classes",
    [[0, 1, 2], [-5, 3, 40], ["ant", "bee", "caterpillar"], [False, True]],
    ids=["range", "integers", "strings", "booleans"],
)


@every_kind_of_label
def test_log_loss_is_that_of_scikit_learn(rng, classes):
    proba, _, y = random_task(rng, classes)
    found = observed_mean("log_loss", proba, y, np.array(classes))
    assert found == pytest.approx(metrics.log_loss(y, proba, labels=classes), rel=1e-12)


@every_kind_of_label
def test_zero_one_is_the_error_of_scikit_learn(rng, classes):
    _, label, y = random_task(rng, classes)
    found = observed_mean("zero_one", label, y, np.array(classes))
    assert found == pytest.approx(metrics.zero_one_loss(y, label), rel=1e-12)


def test_brier_of_two_classes_is_that_of_scikit_learn(rng):
    proba, _, y = random_task(rng, ["no", "yes"])
    found = observed_mean("brier", proba, y, np.array(["no", "yes"]))
    expected = metrics.brier_score_loss(y, proba[:, 1], pos_label="yes")
    assert found == pytest.approx(expected, rel=1e-12)


def test_brier_of_many_classes_is_the_squared_distance_to_the_label(rng):
    proba, _, y = random_task(rng, [0, 1, 2])
    distance = np.sum((proba - np.eye(3)[y]) ** 2, axis=1)
    found = observed_mean("brier", proba, y, np.arange(3))
    assert found == pytest.approx(distance.mean(), rel=1e-12)


def test_brier_of_a_certain_and_right_model_is_zero():
    table = Brier().build(np.eye(3), np.arange(3))
    assert_array_equal(table.values, 2.0 * (1.0 - np.eye(3)))


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("squared_error", metrics.mean_squared_error),
        ("absolute_error", metrics.mean_absolute_error),
    ],
)
def test_errors_are_those_of_scikit_learn(rng, name, metric):
    y, prediction = rng.normal(size=(2, N_SAMPLES))
    found = observed_mean(name, prediction, y)
    assert found == pytest.approx(metric(y, prediction), rel=1e-12)


def test_table_finds_the_column_of_each_label(rng):
    classes = np.array(["ant", "bee", "caterpillar"])
    values = rng.random((4, 3))
    table = LossTable(values, classes)
    found = table.observed(np.array([3, 0, 0]), np.array(["bee", "caterpillar", "ant"]))
    assert_array_equal(found, [values[3, 1], values[0, 2], values[0, 0]])


def test_losses_of_some_rows_are_those_rows_of_the_losses(rng):
    rows = np.array([5, 1])
    table = LossTable(rng.random((6, 2)), np.arange(2))
    assert_array_equal(table.take(rows).values, table.values[rows])
    point = AbsoluteError().build(rng.normal(size=6))
    assert_array_equal(
        point.take(rows).observed(np.arange(2), np.zeros(2)),
        point.observed(rows, np.zeros(2)),
    )


def test_log_loss_of_a_class_ruled_out_is_bounded_by_eps():
    proba, classes = np.array([[0.0, 1.0]]), np.arange(2)
    float32_eps = np.finfo(np.float32).eps
    assert_allclose(LogLoss().build(proba, classes).values, [[-np.log(float32_eps), 0]])
    assert_allclose(LogLoss(eps=1e-3).build(proba, classes).values, [[np.log(1e3), 0]])


def test_log_loss_is_never_negative():
    """Rounding may leave a probability just above 1."""
    table = LogLoss().build(np.array([[1.0 + 1e-9, 0.0]]), np.arange(2))
    assert table.values.min() == 0.0


def test_own_function_of_labels_is_tabulated():
    def cost(y_true, y_pred):
        return np.where(y_true == y_pred, 0.0, np.where(y_true == "sick", 10.0, 1.0))

    loss = as_loss(cost, task="classification")
    table = loss.build(np.array(["sick", "well"]), np.array(["sick", "well"]))
    assert_array_equal(table.values, [[0.0, 1.0], [10.0, 0.0]])


def test_own_function_of_probabilities_is_tabulated(rng):
    classes = np.array(["a", "bb", "ccc"])
    proba, _, y = random_task(rng, classes)

    def spherical(y_true, y_pred):
        column = np.searchsorted(classes, y_true)
        hit = y_pred[np.arange(len(y_pred)), column]
        return 1.0 - hit / np.linalg.norm(y_pred, axis=1)

    table = CustomLoss(spherical, response_method="predict_proba").build(proba, classes)
    assert table.values.shape == (N_SAMPLES, 3)
    found = table.observed(np.arange(N_SAMPLES), y)
    assert_allclose(found, spherical(y, proba), rtol=1e-14)


def test_own_function_of_numbers_is_bound(rng):
    def capped(y_true, y_pred):
        return np.minimum((y_true - y_pred) ** 2, 1.0)

    y, prediction = rng.normal(size=(2, N_SAMPLES))
    bound = as_loss(capped, task="regression").build(prediction)
    assert isinstance(bound, PointLoss)
    rows = np.array([7, 2])
    assert_array_equal(bound.observed(rows, y[rows]), capped(y, prediction)[rows])


def test_own_log_loss_equals_the_named_one(rng):
    proba, _, y = random_task(rng, [0, 1, 2])

    def log_loss(y_true, y_pred):
        return -np.log(y_pred[np.arange(len(y_pred)), y_true])

    own = CustomLoss(log_loss, response_method="predict_proba", task="classification")
    found = observed_mean(own, proba, y, np.arange(3))
    assert found == pytest.approx(observed_mean("log_loss", proba, y, np.arange(3)))


BAD_FUNCTIONS = [
    (lambda y_true, y_pred: 1.0, r"shape \(3,\), but returned shape \(\)"),
    (lambda y_true, y_pred: np.ones((3, 1)), r"but returned shape \(3, 1\)"),
    (lambda y_true, y_pred: np.full(3, -1e-9), "negative or not finite"),
    (lambda y_true, y_pred: np.full(3, np.nan), "negative or not finite"),
    (lambda y_true, y_pred: np.full(3, np.inf), "negative or not finite"),
]
bad_functions = pytest.mark.parametrize(
    ("function", "message"),
    BAD_FUNCTIONS,
    ids=["scalar", "column", "negative", "nan", "infinite"],
)


@bad_functions
def test_bad_values_of_an_own_function_are_refused_for_classes(function, message):
    loss = as_loss(function, task="classification")
    with pytest.raises(ValueError, match=message):
        loss.build(np.zeros(3), np.arange(2))


@bad_functions
def test_bad_values_of_an_own_function_are_refused_for_numbers(function, message):
    loss = as_loss(function, task="regression")
    with pytest.raises(ValueError, match=message):
        loss.build(np.zeros(3))
    bound = PointLoss(loss, np.zeros(3))
    with pytest.raises(ValueError, match=message):
        bound.observed(np.arange(3), np.zeros(3))
    with pytest.raises(ValueError, match=message):
        bound.expected(np.zeros(3), np.ones(3))


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"loss='hinge' is not known.*'zero_one'"):
        as_loss("hinge")
    for name, meant in {"logloss": "log_loss", "mse": "squared_error"}.items():
        with pytest.raises(
            ValueError, match=rf"^Did you mean '{meant}'\? loss='{name}'"
        ):
            as_loss(name)


@pytest.mark.parametrize("loss", [None, 3, ["log_loss"]])
def test_what_is_not_a_loss_is_refused(loss):
    with pytest.raises(TypeError, match="loss must be one of"):
        as_loss(loss)


def test_own_loss_takes_the_task_it_was_not_given():
    given = CustomLoss(lambda y_true, y_pred: np.abs(y_true - y_pred), n_nodes=64)
    checked = as_loss(given, task="regression")
    assert (checked.task, checked.n_nodes, given.task) == ("regression", 64, None)
    decided = CustomLoss(given.function, task="regression")
    assert as_loss(decided, task="classification").task == "regression"


@pytest.mark.parametrize("loss", [LogLoss(eps=1e-4), CustomLoss(max, n_nodes=20)])
def test_losses_are_cloned_with_their_parameters(loss):
    assert clone(loss).get_params() == loss.get_params()


# Direct calls of the named losses.


@every_kind_of_label
def test_losses_of_probabilities_can_be_called_with_the_classes(rng, classes):
    proba, _, y = random_task(rng, classes)
    for loss in (LogLoss(), Brier()):
        table = loss.build(proba, np.array(classes))
        found = loss(y, proba, classes=classes)
        assert_array_equal(found, table.observed(np.arange(N_SAMPLES), y))


def test_without_classes_labels_are_numbers_of_columns():
    proba = np.array([[0.8, 0.2], [0.5, 0.5]])
    assert_allclose(LogLoss()([1, 0], proba), -np.log([0.2, 0.5]))
    with pytest.raises(ValueError, match=r"classes \[0, 1\]. Pass classes="):
        LogLoss()(["no", "yes"], proba)


def test_zero_one_can_be_called():
    assert_array_equal(ZeroOne()(["a", "b"], ["a", "c"]), [0.0, 1.0])


# Losses of the user's as classes.


class Huber(BaseLoss):
    task = "regression"

    def __call__(self, y_true, y_pred):
        error = np.abs(y_true - y_pred)
        return np.where(error < 1, 0.5 * error**2, error - 0.5)


class Sick(BaseLoss):
    """A missed disease costs more than a false alarm."""

    task = "classification"

    def __init__(self, cost=10.0):
        self.cost = cost

    def __call__(self, y_true, y_pred):
        missed = np.where(y_true == "sick", self.cost, 1.0)
        return np.where(y_true == y_pred, 0.0, missed)


class Spherical(BaseLoss):
    """A loss of probabilities, for all classes at once."""

    task = "classification"
    response_method = "predict_proba"

    def __call__(self, y_true, y_pred):
        return self.tabulate(y_pred, None)[np.arange(len(y_true)), y_true]

    def tabulate(self, prediction, classes):
        return 1.0 - prediction / np.linalg.norm(prediction, axis=1, keepdims=True)


class AnyTask(BaseLoss):
    def __call__(self, y_true, y_pred):
        return np.abs(y_true - y_pred)


def test_a_regression_loss_needs_one_method(rng):
    mean, prediction = rng.normal(size=(2, N_SAMPLES))
    variance = rng.uniform(0.5, 2.0, N_SAMPLES)
    found = Huber().build(prediction)
    same = CustomLoss(Huber().__call__, task="regression").build(prediction)
    for moment in ("expected", "variance", "curvature"):
        assert_array_equal(
            getattr(found, moment)(mean, variance),
            getattr(same, moment)(mean, variance),
        )


def test_a_classification_loss_needs_one_method():
    classes = np.array(["sick", "well"])
    table = Sick(cost=5.0).build(classes, classes)
    assert_array_equal(table.values, [[0.0, 1.0], [5.0, 0.0]])


def test_a_loss_of_probabilities_may_compute_its_table(rng):
    classes = np.array(["ant", "bee", "cat"])
    proba, _, _ = random_task(rng, classes)
    table = Spherical().build(proba, classes)
    assert_allclose(table.values[:, 1], Spherical()(np.ones(N_SAMPLES, int), proba))


def test_without_its_method_a_loss_cannot_be_made():
    class Nothing(BaseLoss):
        task = "regression"

    with pytest.raises(TypeError, match="__call__"):
        Nothing()


def test_a_list_of_numbers_is_a_loss():
    class Listed(AnyTask):
        def __call__(self, y_true, y_pred):
            return super().__call__(y_true, y_pred).tolist()

    bound = as_loss(Listed(), "regression").build(np.zeros(2))
    assert_array_equal(bound.observed(np.array([0, 1]), np.array([1.0, -2.0])), [1, 2])


def test_a_loss_that_sets_no_task_takes_the_one_it_is_given():
    loss = AnyTask()
    assert isinstance(as_loss(loss, "regression").build(np.zeros(2)), PointLoss)
    table = as_loss(loss, "classification").build(np.zeros(2), np.arange(2))
    assert isinstance(table, LossTable)
    assert loss.task is None
    with pytest.raises(ValueError, match="AnyTask needs the possible labels"):
        loss.build(np.zeros(2))


def test_a_class_in_place_of_a_loss_is_refused():
    for kind in (Huber, SquaredError):
        with pytest.raises(TypeError, match=f"{kind.__name__} is a class"):
            as_loss(kind)


def test_what_only_looks_like_a_loss_is_told_its_base_class():
    class Duck:
        task = "regression"

        def __call__(self, y_true, y_pred):
            return np.abs(y_true - y_pred)

        def build(self, prediction, classes=None):
            return PointLoss(self, prediction)

    with pytest.raises(TypeError, match=r"Duck has a method build.*Derive it from"):
        as_loss(Duck())


@pytest.mark.parametrize(
    ("name", "value"), [("task", "regresion"), ("response_method", "decision_function")]
)
def test_attributes_of_a_loss_that_cannot_be_are_refused(name, value):
    wrong = type("Wrong", (Huber,), {name: value})()
    with pytest.raises(ValueError, match=f"Wrong.{name}=.{value}. must be one of"):
        as_loss(wrong)


def test_too_many_nodes_are_refused():
    many = CustomLoss(SquaredError(), task="regression", n_nodes=1000).build(
        np.zeros(2)
    )
    with pytest.raises(ValueError, match="n_nodes=1000 must be an integer"):
        many.expected(np.zeros(2), np.ones(2))


# Bounds.


def test_the_greatest_loss_of_a_table_is_its_greatest_entry():
    table = LossTable(np.array([[0.5, 0.0], [3.0, 1.0], [0.0, 0.0]]), np.arange(2))
    assert (table.max_loss, table.n_samples) == (3.0, 3)


def test_the_greatest_loss_of_numbers_is_what_the_loss_says():
    class Capped(Huber):
        max_loss = 2.0

        def __call__(self, y_true, y_pred):
            return np.minimum(super().__call__(y_true, y_pred), self.max_loss)

    bound = Capped().build(np.zeros(3))
    assert (bound.max_loss, bound.n_samples) == (2.0, 3)
    assert bound.take(np.array([1])).n_samples == 1
    for unbounded in (Huber(), SquaredError(), CustomLoss(max, task="regression")):
        assert PointLoss(unbounded, np.zeros(3)).max_loss == np.inf
