"""The contract of losses."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from sklearn_ase._utils._typing import LossFunction, Task
from sklearn_ase.losses import BaseLoss, LossTable, PointLoss, as_loss
from sklearn_ase.testing._require import TASKS, check_copies, require, unchanged

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


def _check_table(loss, classes):
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


def _checked_table(loss, prediction, classes):
    table = loss.build(prediction, classes)
    require(isinstance(table, LossTable), "build must return a LossTable")
    shape = (_N_SAMPLES, len(classes))
    require(
        np.shape(table.values) == shape,
        f"the table must have the shape (n_samples, n_classes), here {shape}, not "
        f"{np.shape(table.values)}",
    )
    valid = np.isfinite(table.values).all() and (table.values >= 0).all()
    require(valid, "losses must be finite and non-negative")
    return table


def _check_point_loss(loss, rtol):
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


def _integrated_moments(loss, prediction, mean, variance):
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


def _check_moment(loss, name, found, exact, rtol):
    require(
        np.shape(found) == exact.shape,
        f"{name} must have the shape of the mean, {exact.shape}, not {np.shape(found)}",
    )
    if name != "curvature":
        require((found >= 0).all(), f"{name} must be non-negative")
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


def _check_rows(loss, y_true, y_pred):
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


def _checked_values(loss, y_true, y_pred):
    values = np.asarray(loss(y_true, y_pred), dtype=float)
    require(
        values.shape == y_true.shape,
        f"a loss must return one value per row, shape {y_true.shape}, but returned "
        f"shape {values.shape}",
    )
    require(np.isfinite(values).all(), "losses must be finite")
    require((values >= 0).all(), "losses must be non-negative")
    if loss.task == "regression":
        low = (values <= loss.max_loss).all()
        require(low, f"losses must not exceed max_loss={loss.max_loss}")
    return values


def _copied(loss):
    """A clone; `as_loss` may have set the task, which is not always a parameter."""
    return as_loss(clone(loss), loss.task)
