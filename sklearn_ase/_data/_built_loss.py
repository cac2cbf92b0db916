"""The loss of a model, bound to its predictions and checked."""

import numpy as np

# What the package reads of a loss that is bound to a pool.
_OF_A_POOL_LOSS = ("n_samples", "max_loss", "is_bounded", "observed", "take")


def build_loss(loss, predictions, classes):
    """Loss of the model at some rows, checked, because the loss may be a user's.

    Parameters
    ----------
    loss : BaseLoss
    predictions : Predictions
    classes : ndarray of shape (n_classes,) or None

    Returns
    -------
    built : LossTable or PointLoss
    """
    response = predictions.response_for(classes)
    built, name = loss.build(response, classes), type(loss).__name__
    missing = [name for name in _OF_A_POOL_LOSS if not hasattr(built, name)]
    if missing:
        raise TypeError(
            f"{name}.build must return a LossTable or a PointLoss, but returned "
            f"{built!r}, which lacks {', '.join(missing)}."
        )
    if classes is None:
        return built
    shape, values = (len(response), len(classes)), getattr(built, "values", 0)
    values = np.asarray(values)
    is_number = values.dtype.kind in "biuf" and values.shape == shape
    if not is_number or not np.isfinite(values).all() or values.min(initial=0) < 0:
        raise ValueError(
            f"The loss table of {name} must hold finite numbers >= 0, one row per "
            f"sample and one column per class, shape {shape}, but has shape "
            f"{values.shape} and type {values.dtype}, or other values."
        )
    return built
