"""A loss from a function."""

from __future__ import annotations

import numpy as np

from sklearn_ase._utils._checks import check_callable
from sklearn_ase._utils._typing import Floats, LossFunction, Response, Task
from sklearn_ase.losses._base import BaseLoss


class CustomLoss(BaseLoss):
    """Loss given by a function of the label and the prediction.

    A plain function given as ``loss`` is wrapped in this class with its defaults.

    Parameters
    ----------
    function : callable
        ``function(y_true, y_pred)`` returns one finite, non-negative value per row.
    response_method : {"predict", "predict_proba"}, default="predict"
        What `y_pred` is: the model's labels (or values), or its probabilities,
        of shape (n_samples, n_classes), with columns in the order of ``classes_``.
    task : {"classification", "regression"}, default=None
        None takes the task from the surrogate, the model or ``classes``.
    n_nodes : int, default=32
        Number of nodes of the Gauss-Hermite quadrature that integrates the loss over
        a Gaussian belief (regression).
    max_loss : float, default=inf
        Greatest value that the function can return, if there is one. With it, intervals
        allow for losses that no label has shown yet, and need fewer labels.

    See Also
    --------
    BaseLoss : A loss as a class, with parameters of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.losses import CustomLoss
    >>> def twice_as_bad_above(y_true, y_pred):
    ...     return np.where(y_pred > y_true, 2.0, 1.0) * np.abs(y_pred - y_true)
    >>> loss = CustomLoss(twice_as_bad_above, task="regression").build(np.zeros(2))
    >>> loss.observed(np.array([0, 1]), np.array([1.0, -1.0]))
    array([1., 2.])
    """

    def __init__(
        self,
        function: LossFunction,
        response_method: Response = "predict",
        task: Task | None = None,
        n_nodes: int = 32,
        max_loss: float = np.inf,
    ) -> None:
        self.function = function
        self.response_method = response_method
        self.task = task
        self.n_nodes = n_nodes
        self.max_loss = max_loss

    def validate(self) -> None:
        what = "(y_true, y_pred) -> one value per row"
        check_callable(self.function, "function", what)

    def __call__(self, y_true: np.ndarray, y_pred: np.ndarray) -> Floats:
        """Values of the function, of shape (n_rows,)."""
        try:
            return np.asarray(self.function(y_true, y_pred))
        except Exception as error:
            error.add_note(
                f"This comes from loss={self.function!r}. It must be a function "
                "(y_true, y_pred) -> one value per row, for any rows. Functions that "
                "return one number for all rows are not losses: use metric=..., or "
                "names such as loss='log_loss'."
            )
            raise
