"""Losses of the user's making."""

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_ase.losses._pool_loss import LossTable, PointLoss, check_values


class CustomLoss(BaseEstimator):
    """Any function of the label and the prediction.

    A plain function given as ``loss`` is wrapped in this class with its defaults.

    Parameters
    ----------
    function : callable
        ``function(y_true, y_pred)`` returns one finite, non-negative value a row.
    response_method : {"predict", "predict_proba"}, default="predict"
        What `y_pred` is: the model's labels (or values), or its probabilities,
        of shape (n_samples, n_classes), with columns in the order of ``classes_``.
    task : {"classification", "regression"}, default=None
        None takes the task from the surrogate, the model or ``classes``.
    n_nodes : int, default=32
        Nodes of the Gauss-Hermite quadrature that integrates the loss over a
        Gaussian belief (regression).

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

    def __init__(self, function, response_method="predict", task=None, n_nodes=32):
        self.function = function
        self.response_method = response_method
        self.task = task
        self.n_nodes = n_nodes

    def __call__(self, y_true, y_pred):
        return np.asarray(self.function(y_true, y_pred), dtype=float)

    def build(self, prediction, classes=None):
        """Tabulate the loss (classification) or bind it (regression)."""
        if self.task == "regression":
            # Asked for what a perfect model costs, before a label is spent.
            check_values(self(prediction, prediction), len(prediction))
            return PointLoss(self, prediction)
        if classes is None:
            raise ValueError(
                "Without task='regression' the loss is tabulated, which needs the "
                "labels there may be. Pass classes=..."
            )
        n_samples = len(prediction)
        columns = [
            check_values(self(np.full(n_samples, label), prediction), n_samples)
            for label in classes
        ]
        return LossTable(np.column_stack(columns), classes)

    def expected(self, prediction, mean, variance):
        return self._integrate(prediction, mean, variance, lambda loss, z: loss)

    def variance(self, prediction, mean, variance):
        centre = self.expected(prediction, mean, variance)
        return self._integrate(
            prediction, mean, variance, lambda loss, z: (loss - centre) ** 2
        )

    def curvature(self, prediction, mean, variance):
        return self._integrate(
            prediction, mean, variance, lambda loss, z: loss * (z**2 - 1.0)
        )

    def _integrate(self, prediction, mean, variance, integrand):
        nodes, weights = np.polynomial.hermite_e.hermegauss(self.n_nodes)
        scale = np.sqrt(variance)
        shape = np.broadcast_shapes(np.shape(mean), np.shape(prediction))
        y_pred = np.broadcast_to(prediction, shape).ravel()
        total = np.zeros(shape)
        for z, weight in zip(nodes, weights / weights.sum(), strict=True):
            y_true = np.broadcast_to(mean + scale * z, shape).ravel()
            loss = check_values(self(y_true, y_pred), len(y_pred)).reshape(shape)
            total += weight * integrand(loss, z)
        return total
