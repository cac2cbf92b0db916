"""Losses by name."""

from sklearn.base import clone

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


def as_loss(loss, task=None):
    """Turn a name or a function into a loss object.

    Parameters
    ----------
    loss : str, callable or loss object
    task : {"classification", "regression"}, default=None
        For functions that do not say themselves.

    Returns
    -------
    loss : loss object
    """
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise ValueError(
                f"loss={loss!r} is not known. Use one of {sorted(LOSSES)} or a "
                "function (y_true, y_pred) -> one value a row."
            )
        return LOSSES[loss]()
    if isinstance(loss, CustomLoss) and loss.task is None:
        return clone(loss).set_params(task=task)
    if hasattr(loss, "build"):
        return loss
    if callable(loss):
        return CustomLoss(loss, task=task)
    raise TypeError(
        f"loss must be one of {sorted(LOSSES)} or a function (y_true, y_pred) -> one "
        f"value a row, got {loss!r}."
    )
