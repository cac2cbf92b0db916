"""Checks of losses and metrics."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from sklearn_ase._utils._typing import Floats, LossFunction, Task
from sklearn_ase.losses import BaseLoss, CustomLoss, LossTable, PointLoss, as_loss
from sklearn_ase.losses._base import check_values
from sklearn_ase.metrics import BaseMetric, PoolMetric, as_metric
from sklearn_ase.metrics._ranking import BaseRanking
from sklearn_ase.testing._states import (
    check_copies,
    check_task,
    checked,
    refusals_count,
    require,
    require_close,
    unchanged,
)

# Losses.

_N_SAMPLES = 20
_MOST_NODES = 350  # Of the quadrature that all others are compared with.


def check_loss(
    loss: str | LossFunction | BaseLoss,
    task: Task | None = None,
    classes: ArrayLike | None = None,
    rtol: float = 0.1,
) -> None:
    """Check that a loss works: its values, its table, and its moments.

    The loss of a row must be a finite number >= 0 that depends on no other row. For
    classification, the table must agree with direct calls. For regression, mean,
    variance and curvature under a Gaussian belief must agree with a quadrature that has
    as many nodes as there may be.

    Parameters
    ----------
    loss : str, callable or BaseLoss
    task : {"classification", "regression"}, default=None
        Needed for a loss that does not set its task.
    classes : array-like of shape (n_classes,), default=None
        Labels for which a classification loss is made; None means 0, 1 and 2.
    rtol : float, default=0.1
        Allowed mean error of the quadrature relative to the mean of the exact values.
        Formulas that replace the quadrature must be right to 0.005.

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
    check_task(loss.task)
    check_copies(loss)
    with refusals_count():
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
        table = loss.build(prediction, classes)
        again = _copied(loss).build(prediction, classes)
    require(isinstance(table, LossTable), "build must return a LossTable")
    what = "of shape (n_samples, n_classes), here"
    checked(table.values, (_N_SAMPLES, len(classes)), "values of the table", what=what)
    require(np.array_equal(table.values, again.values), "two builds must be equal")
    for column, label in enumerate(classes):
        values = _losses(loss, np.full(_N_SAMPLES, label), prediction)
        require(
            np.allclose(table.values[:, column], values),
            f"the table must agree with direct calls, but does not for label {label}",
        )


def _check_point_loss(loss: Any, rtol: float) -> None:
    """Check a loss of regression."""
    rng = np.random.default_rng(0)
    prediction, labels = rng.normal(size=(2, _N_SAMPLES))
    mean = prediction + 1.5 * rng.normal(size=(3, _N_SAMPLES))  # Of three members.
    variance = rng.uniform(0.2, 2.0, _N_SAMPLES)
    fine: Any = CustomLoss(loss, task="regression", n_nodes=_MOST_NODES)
    fine = fine.build(prediction)
    with unchanged(prediction, labels, mean, variance):
        _check_rows(loss, labels, prediction)
        bound, copied = loss.build(prediction), _copied(loss).build(prediction)
        require(isinstance(bound, PointLoss), "build must return a PointLoss")
        members = bound.expected(mean, variance)
        _check_moment(loss, "expected", members, fine.expected(mean, variance), rtol)
        for name in ("expected", "variance", "curvature"):
            found, exact, again = (
                getattr(each, name)(mean[0], variance) for each in (bound, fine, copied)
            )
            _check_moment(loss, name, found, exact, rtol)
            require(np.array_equal(found, again), f"{name} must not change when copied")


def _check_moment(
    loss: BaseLoss, name: str, found: Any, exact: Floats, rtol: float
) -> None:
    """Check a moment against that of a finer quadrature."""
    least = -np.inf if name == "curvature" else 0.0
    what = "of the shape of the mean,"
    found = checked(found, exact.shape, name, what=what, least=least)
    is_formula = getattr(type(loss), name) is not getattr(BaseLoss, name)
    cure = "check the formula" if is_formula else "use more n_nodes, or a formula"
    error, scale = np.abs(found - exact).mean(), np.abs(exact).mean()
    # Where the exact value is 0 only rounding may be left.
    allowed = (min(rtol, 5e-3) if is_formula else rtol) * scale + 1e-9
    require(
        error <= allowed,
        f"{name} must agree with a numerical integration, but is off by {error:.2g} on "
        f"average, where the values are {scale:.2g}: {cure}",
    )


def _check_rows(loss: BaseLoss, y_true: np.ndarray, y_pred: np.ndarray) -> None:
    """Check that the loss of a row does not depend on other rows, nor on a copy."""
    with unchanged(y_true, y_pred):
        values = _losses(loss, y_true, y_pred)
        copied = _losses(_copied(loss), y_true, y_pred)
        rows = np.arange(_N_SAMPLES)[::-3]
        some = _losses(loss, y_true[rows], y_pred[rows])
        one = _losses(loss, y_true[:1], y_pred[:1])
    require(np.array_equal(values, copied), "a copy must give the same losses")
    alone = np.allclose(some, values[rows]) and np.allclose(one, values[:1])
    require(alone, "the loss of a row must not depend on other rows")


def _losses(loss: BaseLoss, y_true: np.ndarray, y_pred: np.ndarray) -> Floats:
    """The losses of some rows, as an evaluation reads them."""
    most = loss.max_loss if loss.task == "regression" else np.inf
    return check_values(loss(y_true, y_pred), len(y_true), most)


def _copied(loss: Any) -> Any:
    """A clone; `as_loss` may have set the task, which is not always a parameter."""
    return as_loss(clone(loss), loss.task)


# Metrics.


_N_METRIC_ROWS = 60


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
    check_task(task)
    check_copies(metric)
    labels, prediction, classes = _data(metric, task, classes)
    arrays = [array for array in (labels, prediction) if array is not None]
    with refusals_count(), unchanged(*arrays):
        if not isinstance(metric, BaseRanking):
            _check_row_values(metric, labels, prediction, classes)
        value = _pool_value(metric, labels, prediction, classes)
        message = "the metric of the pool must agree with a direct call"
        require_close(value, metric(labels, prediction), message)
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
    """Check the values of each row, their means, and the derivative by these."""
    values = _values(metric, labels, prediction, classes)
    rows = np.arange(len(labels))[::-3]
    some = _values(metric, labels[rows], _rows(prediction, rows), classes)
    one = _values(metric, labels[:1], _rows(prediction, slice(1)), classes)
    same = some.shape == values[rows].shape and one.shape == values[:1].shape
    alone = same and np.allclose(some, values[rows]) and np.allclose(one, values[:1])
    require(alone, "the values of a row must not depend on other rows")
    means = values.mean(axis=0)
    value = metric.value(means)
    require(
        np.ndim(value) == 0 and np.isfinite(value),
        f"value must return one finite number for the means of the check, not {value}",
    )
    direct = metric(labels, prediction)
    require_close(direct, value, "a call must give the value of the means")
    what = "of the shape of the means,"
    gradient = metric.gradient(means)
    gradient = checked(gradient, means.shape, "gradient", what=what, least=-np.inf)
    for place, exact in enumerate(BaseMetric.gradient(metric, means)):
        message = f"gradient must agree with finite differences for mean {place}"
        require_close(gradient[place], exact, message, rtol=1e-4, atol=1e-5)


def _values(metric: Any, labels: np.ndarray, prediction: Any, classes: Any) -> Floats:
    """Row values; those of classes are told the classes."""
    if "classes" not in signature(metric.row_values).parameters:
        return metric._checked(labels, prediction)
    values = metric.row_values(labels, prediction, classes=classes)
    return np.asarray(values, dtype=float)


def _pool_value(
    metric: BaseMetric,
    labels: np.ndarray,
    prediction: Any,
    classes: Any,
    weight: Floats | None = None,
) -> float:
    """The metric of a pool with these predictions, by its labels."""
    extra = {"n_samples": len(labels)} if prediction is None else {}
    pool = metric.on_pool(prediction, classes, weight, **extra)
    if isinstance(metric, BaseRanking):  # At a belief that is certain of the labels.
        pool = pool.at((labels[:, None] == classes).astype(float))
    require(isinstance(pool, PoolMetric), "on_pool must return a PoolMetric")
    require(len(pool.parts) > 0, "at least one mean must depend on labels")
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
    found = _pool_value(metric, labels, prediction, classes, weight)
    rows = np.repeat(np.arange(len(labels)), counts)
    exact = _pool_value(metric, labels[rows], _rows(prediction, rows), classes)
    require_close(found, exact, "a weight of 2 must count as a row given twice")


def _check_bounds(
    metric: BaseMetric, labels: np.ndarray, prediction: Any, classes: Any
) -> None:
    """Check that no labels lead out of the bounds."""
    least, most = metric.bounds
    rng = np.random.default_rng(1)
    for _ in range(5):
        value = _pool_value(metric, labels, prediction, classes)
        slack = 1e-9 * max(1.0, abs(value))
        require(
            np.isnan(value) or least - slack <= value <= most + slack,
            f"the value {value:.6g} lies outside the bounds {metric.bounds}",
        )
        labels = rng.permutation(labels)


def _rows(prediction: np.ndarray | None, rows: Any) -> np.ndarray | None:
    """Some of the predictions, if there are any."""
    return None if prediction is None else prediction[rows]
