"""Checks of losses and metrics."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from sklearn_ase._utils._typing import Floats, LossFunction, Task
from sklearn_ase.losses import BaseLoss, LossTable, PointLoss, as_loss
from sklearn_ase.metrics import PoolMetric, as_metric
from sklearn_ase.metrics._ranking import BaseRanking
from sklearn_ase.testing._states import (
    TASKS,
    check_copies,
    checked,
    require,
    require_close,
    unchanged,
)

if TYPE_CHECKING:
    from sklearn_ase.metrics._base import BaseMetric

# Losses.

_N_SAMPLES = 20
# Labels for the numerical integration, in standard deviations from the mean.
_GRID = np.linspace(-9.0, 9.0, 4001)


def check_loss(
    loss: str | LossFunction | BaseLoss,
    task: Task | None = None,
    classes: ArrayLike | None = None,
    rtol: float = 0.1,
) -> None:
    """Check that a loss works: its values, its table, and its moments.

    The loss of a row must be a finite number >= 0 that depends on no other row. For
    classification, the table must agree with direct calls. For regression, mean,
    variance and curvature under a Gaussian belief must agree with a numerical
    integration.

    Parameters
    ----------
    loss : str, callable or BaseLoss
    task : {"classification", "regression"}, default=None
        Needed for a loss that does not set its task.
    classes : array-like of shape (n_classes,), default=None
        Labels for which a classification loss is made; None means 0, 1 and 2.
    rtol : float, default=0.1
        Allowed mean error of the quadrature relative to the mean of the exact values.
        Formulas that replace the quadrature must be right to 0.001.

    Raises
    ------
    AssertionError
        If the loss does not work; the message says why.

    Examples
    --------
    >>> from sklearn_ase.losses import SquaredError
    >>> from sklearn_ase.testing import check_loss
    >>> check_loss(SquaredError())
    """
    loss = as_loss(loss, task)
    require(
        loss.task in TASKS,
        f"the task is not known: set the class attribute task to one of {TASKS}, or "
        "pass task=...",
    )
    check_copies(loss)
    if loss.task == "classification":
        _check_table(loss, np.unique([0, 1, 2] if classes is None else classes))
    else:
        _check_point_loss(loss, rtol)


def _check_table(loss: Any, classes: np.ndarray) -> None:
    """Check a loss of classification."""
    rng = np.random.default_rng(0)
    labels = rng.choice(classes, _N_SAMPLES)
    prediction = rng.choice(classes, _N_SAMPLES)
    if loss.response_method == "predict_proba":
        prediction = rng.dirichlet(np.ones(len(classes)), _N_SAMPLES)
    # Direct calls come first: their errors are easier to understand.
    _check_rows(loss, labels, prediction)
    with unchanged(prediction, classes):
        table = _checked_table(loss, prediction, classes)
        again = _copied(loss).build(prediction, classes)
    require(np.array_equal(table.values, again.values), "two builds must be equal")
    for column, label in enumerate(classes):
        values = _checked_values(loss, np.full(_N_SAMPLES, label), prediction)
        require(
            np.allclose(table.values[:, column], values),
            f"the table must agree with direct calls, but does not for label {label}",
        )


def _checked_table(loss: Any, prediction: np.ndarray, classes: np.ndarray) -> LossTable:
    """The table of a loss, with the right shape and values."""
    table = loss.build(prediction, classes)
    require(isinstance(table, LossTable), "build must return a LossTable")
    what = "of shape (n_samples, n_classes), here"
    checked(table.values, (_N_SAMPLES, len(classes)), "values of the table", what=what)
    return table


def _check_point_loss(loss: Any, rtol: float) -> None:
    """Check a loss of regression."""
    rng = np.random.default_rng(0)
    prediction, labels = rng.normal(size=(2, _N_SAMPLES))
    mean = prediction + 1.5 * rng.normal(size=(3, _N_SAMPLES))  # Of three members.
    variance = rng.uniform(0.2, 2.0, _N_SAMPLES)
    with unchanged(prediction, labels, mean, variance):
        _check_rows(loss, labels, prediction)
        _checked_values(loss, prediction, prediction)
        bound = loss.build(prediction)
        require(isinstance(bound, PointLoss), "build must return a PointLoss")
        exact = _integrated_moments(loss, prediction, mean, variance)
        members = bound.expected(mean, variance)
        _check_moment(loss, "expected", members, exact["expected"], rtol)
        for name, values in exact.items():
            found = getattr(bound, name)(mean[0], variance)
            _check_moment(loss, name, found, values[0], rtol)
            copied = getattr(_copied(loss).build(prediction), name)
            again = copied(mean[0], variance)
            require(np.array_equal(found, again), f"{name} must not change when copied")


def _integrated_moments(
    loss: BaseLoss, prediction: Floats, mean: Floats, variance: Floats
) -> dict[str, Floats]:
    """Moments by a plain sum over a fine grid, shape (n_members, n_samples) each."""
    y_true = mean[..., None] + np.sqrt(variance)[:, None] * _GRID
    y_pred = np.broadcast_to(prediction[:, None], y_true.shape)
    values = _checked_values(loss, y_true.ravel(), y_pred.ravel())
    values = values.reshape(y_true.shape)
    weights = np.exp(-0.5 * _GRID**2)
    weights /= weights.sum()
    expected = values @ weights
    return {
        "expected": expected,
        "variance": (values - expected[..., None]) ** 2 @ weights,
        "curvature": values * (_GRID**2 - 1.0) @ weights,
    }


def _check_moment(
    loss: BaseLoss, name: str, found: Any, exact: Floats, rtol: float
) -> None:
    """Check a moment against that of a numerical integration."""
    least = -np.inf if name == "curvature" else 0.0
    what = "of the shape of the mean,"
    found = checked(found, exact.shape, name, what=what, least=least)
    is_formula = getattr(type(loss), name) is not getattr(BaseLoss, name)
    cure = "check the formula" if is_formula else "use more n_nodes, or a formula"
    error, scale = np.abs(found - exact).mean(), np.abs(exact).mean()
    # Where the exact value is 0 only rounding may be left.
    allowed = (min(rtol, 1e-3) if is_formula else rtol) * scale + 1e-9
    require(
        error <= allowed,
        f"{name} must agree with a numerical integration, but is off by {error:.2g} on "
        f"average, where the values are {scale:.2g}: {cure}",
    )


def _check_rows(loss: BaseLoss, y_true: np.ndarray, y_pred: np.ndarray) -> None:
    """Check that the loss of a row does not depend on other rows, nor on a copy."""
    with unchanged(y_true, y_pred):
        values = _checked_values(loss, y_true, y_pred)
        copied = _checked_values(_copied(loss), y_true, y_pred)
        rows = np.arange(_N_SAMPLES)[::-3]
        some = _checked_values(loss, y_true[rows], y_pred[rows])
        one = _checked_values(loss, y_true[:1], y_pred[:1])
    require(np.array_equal(values, copied), "a copy must give the same losses")
    alone = np.allclose(some, values[rows]) and np.allclose(one, values[:1])
    require(alone, "the loss of a row must not depend on other rows")


def _checked_values(loss: BaseLoss, y_true: np.ndarray, y_pred: np.ndarray) -> Floats:
    """The losses of some rows, of the right shape and size."""
    what = "one value per row, shape"
    values = checked(loss(y_true, y_pred), y_true.shape, "losses", what=what)
    if loss.task == "regression":
        low = (values <= loss.max_loss).all()
        require(low, f"losses must not exceed max_loss={loss.max_loss}")
    return values


def _copied(loss: Any) -> Any:
    """A clone; `as_loss` may have set the task, which is not always a parameter."""
    return as_loss(clone(loss), loss.task)


# Metrics.


_N_METRIC_ROWS = 60
# Steps of the finite differences, relative to the size of a mean.
_STEP = 1e-5


def check_metric(
    metric: str | BaseMetric, task: Task | None = None, classes: ArrayLike | None = None
) -> None:
    """Check that a metric works: its row values, their means, and its derivative.

    The values of a row must be finite and depend on no other row. The metric of the
    pool must agree with direct calls. The derivative must agree with finite
    differences, a weight of 2 with a row that is given twice, and the value must lie
    within the bounds.

    Parameters
    ----------
    metric : str or BaseMetric
    task : {"classification", "regression"}, default=None
        Needed for a metric that does not set its task.
    classes : array-like of shape (n_classes,), default=None
        Labels for which a classification metric is made; None means 0 and 1.

    Raises
    ------
    AssertionError
        If the metric does not work; the message says why.

    Examples
    --------
    >>> from sklearn_ase.metrics import Recall
    >>> from sklearn_ase.testing import check_metric
    >>> check_metric(Recall())
    """
    metric = as_metric(metric)
    task = metric.task or task
    require(
        task in TASKS,
        f"the task is not known: set the class attribute task to one of {TASKS}, or "
        "pass task=...",
    )
    check_copies(metric)
    labels, prediction, classes = _data(metric, task, classes)
    with unchanged(labels, *([] if prediction is None else [prediction])):
        if isinstance(metric, BaseRanking):
            _check_slopes(metric, labels, prediction, classes)
        else:
            _check_row_values(metric, labels, prediction, classes)
            _check_gradient(metric, labels, prediction, classes)
        _check_pool(metric, labels, prediction, classes)
        _check_weights(metric, labels, prediction, classes)
    _check_bounds(metric, labels, prediction, classes)


def _data(
    metric: BaseMetric, task: Task | None, classes: Any
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Labels, predictions that are often right, and classes."""
    rng = np.random.default_rng(0)
    if task == "regression":
        labels = rng.normal(2.0, 1.5, _N_METRIC_ROWS)
        prediction = 0.7 * labels + rng.normal(0.5, 0.8, _N_METRIC_ROWS)
        return labels, prediction if metric.response_method else None, None
    classes = np.unique([0, 1] if classes is None else classes)
    # Every class occurs, so that a direct call can tell the classes.
    some = rng.choice(len(classes), _N_METRIC_ROWS)
    places = np.append(np.arange(len(classes)), some)[:_N_METRIC_ROWS]
    proba = rng.dirichlet(np.ones(len(classes)), _N_METRIC_ROWS)
    proba = 0.6 * proba + 0.4 * np.eye(len(classes))[places]
    guess = np.where(rng.random(_N_METRIC_ROWS) < 0.5, places, rng.permutation(places))
    answers = {None: None, "predict": classes[guess], "predict_proba": proba}
    return classes[places], answers[metric.response_method], classes


def _check_row_values(
    metric: BaseMetric, labels: np.ndarray, prediction: Any, classes: Any
) -> None:
    """Check the values of each row and their means."""
    values = _values(metric, labels, prediction, classes)
    rows = np.arange(len(labels))[::-3]
    some = _values(metric, labels[rows], _rows(prediction, rows), classes)
    one = _values(metric, labels[:1], _rows(prediction, slice(1)), classes)
    same = some.shape == values[rows].shape and one.shape == values[:1].shape
    alone = same and np.allclose(some, values[rows]) and np.allclose(one, values[:1])
    require(alone, "the values of a row must not depend on other rows")
    value = metric.value(values.mean(axis=0))
    require(
        np.ndim(value) == 0 and np.isfinite(value),
        f"value must return one finite number for the means of the check, not {value}",
    )
    direct = metric(labels, prediction)
    require_close(direct, value, "a call must give the value of the means")


def _values(
    metric: BaseMetric, labels: np.ndarray, prediction: Any, classes: Any
) -> Floats:
    """Row values of the right kind; those of classes are told the classes."""
    takes = "classes" in signature(metric.row_values).parameters
    extra = {"classes": classes} if takes else {}
    values = np.asarray(metric.row_values(labels, prediction, **extra))
    shape = (len(labels), *values.shape[1:2])
    shape = shape if len(shape) == 2 else (len(labels), 1)
    what = "of shape (n_rows, n_means), here"
    return checked(values, shape, "row_values", what=what, least=-np.inf)


def _check_gradient(
    metric: BaseMetric, labels: np.ndarray, prediction: Any, classes: Any
) -> None:
    """Check the derivative by the means."""
    means = _values(metric, labels, prediction, classes).mean(axis=0)
    what = "of the shape of the means,"
    gradient = metric.gradient(means)
    gradient = checked(gradient, means.shape, "gradient", what=what, least=-np.inf)
    for place, mean in enumerate(means):
        step = np.zeros(len(means))
        step[place] = _STEP * max(abs(mean), 1e-2)
        ends = metric.value(means + step), metric.value(means - step)
        exact = (ends[0] - ends[1]) / (2.0 * step[place])
        message = f"gradient must agree with finite differences for mean {place}"
        require_close(gradient[place], exact, message, rtol=1e-4, atol=1e-5)


def _check_slopes(
    metric: Any, labels: np.ndarray, prediction: Any, classes: Any
) -> None:
    """Check the slopes of a ranking at a belief that is not certain."""
    proba = 0.8 * _one_hot(labels, classes) + 0.2 / len(classes)
    pool = metric.on_pool(prediction, classes)
    near = pool.at(proba)
    slope = near.parts[0].weight
    for row in range(0, len(labels), 7):
        ends = []
        for step in (_STEP, -_STEP):
            moved = proba.copy()
            moved[row, pool.column] += step
            tangent = pool.at(moved)
            mean = np.mean(tangent.parts[0].weight * moved[:, pool.column])
            ends.append(tangent.value([mean]))
        exact = len(labels) * (ends[0] - ends[1]) / (2.0 * _STEP)
        message = "the slope of a row must agree with finite differences"
        require_close(slope[row], exact, message, rtol=1e-4, atol=1e-5)


def _check_pool(
    metric: BaseMetric, labels: np.ndarray, prediction: Any, classes: Any
) -> None:
    """Check that the metric of the pool is that of its labels."""
    pool = _on_pool(metric, labels, prediction, classes)
    message = "the metric of the pool must agree with a direct call"
    require_close(_pool_value(pool, labels), metric(labels, prediction), message)


def _on_pool(
    metric: BaseMetric,
    labels: np.ndarray,
    prediction: Any,
    classes: Any,
    weight: Floats | None = None,
) -> PoolMetric:
    """The metric for these predictions."""
    extra = {"n_samples": len(labels)} if prediction is None else {}
    pool = metric.on_pool(prediction, classes, weight, **extra)
    if isinstance(metric, BaseRanking):
        pool = pool.at(_one_hot(labels, classes))
    require(isinstance(pool, PoolMetric), "on_pool must return a PoolMetric")
    require(len(pool.parts) > 0, "at least one mean must depend on labels")
    return pool


def _pool_value(pool: PoolMetric, labels: np.ndarray) -> float:
    """The metric of the pool by its labels."""
    rows = np.arange(len(labels))
    means = [part.observed(rows, labels).mean() for part in pool.parts]
    return pool.value(np.array(means))


def _check_weights(
    metric: BaseMetric, labels: np.ndarray, prediction: Any, classes: Any
) -> None:
    """Check that rows of weight 2 are rows given twice, and of weight 0 left out."""
    counts = np.ones(len(labels), int)
    counts[5::4], counts[7::9] = 2, 0
    weight = counts / counts.mean()
    found = _pool_value(_on_pool(metric, labels, prediction, classes, weight), labels)
    rows = np.repeat(np.arange(len(labels)), counts)
    repeated = _rows(prediction, rows)
    exact = _pool_value(_on_pool(metric, labels[rows], repeated, classes), labels[rows])
    require_close(found, exact, "a weight of 2 must count as a row given twice")


def _check_bounds(
    metric: BaseMetric, labels: np.ndarray, prediction: Any, classes: Any
) -> None:
    """Check that no labels lead out of the bounds."""
    least, most = metric.bounds
    rng = np.random.default_rng(1)
    for _ in range(5):
        value = _pool_value(_on_pool(metric, labels, prediction, classes), labels)
        slack = 1e-9 * max(1.0, abs(value))
        require(
            np.isnan(value) or least - slack <= value <= most + slack,
            f"the value {value:.6g} lies outside the bounds {metric.bounds}",
        )
        labels = rng.permutation(labels)


def _one_hot(labels: np.ndarray, classes: np.ndarray) -> Floats:
    """A belief that is certain of the labels."""
    return (labels[:, None] == classes).astype(float)


def _rows(prediction: np.ndarray | None, rows: Any) -> np.ndarray | None:
    """Some of the predictions, if there are any."""
    return None if prediction is None else prediction[rows]
