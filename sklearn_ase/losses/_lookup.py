"""Turn names and functions into losses."""

from __future__ import annotations

from sklearn.base import clone

from sklearn_ase._utils._checks import (
    check_choice,
    check_number,
    did_you_mean,
    shown,
)
from sklearn_ase._utils._typing import LossFunction, Task
from sklearn_ase.losses._base import BaseLoss, check_n_nodes
from sklearn_ase.losses._classification import Brier, LogLoss, ZeroOne
from sklearn_ase.losses._custom import CustomLoss
from sklearn_ase.losses._regression import AbsoluteError, SquaredError

LOSSES = {
    "log_loss": LogLoss,
    "zero_one": ZeroOne,
    "brier": Brier,
    "squared_error": SquaredError,
    "absolute_error": AbsoluteError,
}
# Other names that people know them by.
_ALSO_CALLED = {
    "accuracy": "zero_one",
    "cross_entropy": "log_loss",
    "error_rate": "zero_one",
    "mae": "absolute_error",
    "mean_absolute_error": "absolute_error",
    "mean_squared_error": "squared_error",
    "mse": "squared_error",
}


def as_loss(loss: str | LossFunction | BaseLoss, task: Task | None = None) -> BaseLoss:
    """Turn a name or a function into a loss object.

    Parameters
    ----------
    loss : str, callable or BaseLoss
    task : {"classification", "regression"}, default=None
        The task, for a loss that does not set it.

    Returns
    -------
    loss : BaseLoss
    """
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise ValueError(
                f"{did_you_mean(loss, sorted(LOSSES), _ALSO_CALLED)}loss={loss!r} is "
                f"not known. Use one of {sorted(LOSSES)} or a function "
                "(y_true, y_pred) -> one value per row. Metrics such as 'f1' or "
                "'roc_auc' are given as metric=..."
            )
        return LOSSES[loss]()
    if isinstance(loss, BaseLoss):
        return _with_task(loss, task)
    _refuse_what_only_looks_like_a_loss(loss)
    if callable(loss):
        return CustomLoss(loss, task=task)
    raise TypeError(
        f"loss must be one of {sorted(LOSSES)} or a function (y_true, y_pred) -> one "
        f"value per row, got {shown(loss)}."
    )


def _with_task(loss, task):
    """A loss whose attributes are valid, with the task where it sets none."""
    for name, choices in (
        ("task", (None, "classification", "regression")),
        ("response_method", ("predict", "predict_proba")),
    ):
        check_choice(getattr(loss, name), f"{type(loss).__name__}.{name}", choices)
    check_n_nodes(loss.n_nodes)
    check_number(loss.max_loss, "max_loss", 0, ends="(]", infinite=True)
    loss.validate()
    if loss.task is None and task is not None:
        loss = clone(loss)
        loss.task = task
    return loss


def _refuse_what_only_looks_like_a_loss(loss):
    """Such objects are callable, or nearly a loss, and would fail much later."""
    if isinstance(loss, type):
        raise TypeError(f"loss={loss.__name__} is a class. Give an instance of it.")
    if hasattr(loss, "build"):
        raise TypeError(
            f"{type(loss).__name__} has a method build, but is not derived from "
            "sklearn_ase.losses.BaseLoss. Derive it from BaseLoss, which needs one "
            "method: __call__(y_true, y_pred) -> one value per row."
        )
