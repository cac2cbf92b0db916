"""Losses of classifiers: a table with a column for each class."""

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_ase.losses._pool_loss import LossTable

_FLOAT32_EPS = float(np.finfo(np.float32).eps)


class _ClassificationLoss(BaseEstimator):
    task = "classification"
    response_method = "predict_proba"

    def build(self, prediction, classes):
        """Tabulate the loss.

        Parameters
        ----------
        prediction : ndarray of shape (n_samples, n_classes) or (n_samples,)
            Probabilities in the order of `classes`, or predicted labels, as
            ``response_method`` says.
        classes : ndarray of shape (n_classes,)

        Returns
        -------
        loss : LossTable
        """
        return LossTable(self._table(prediction, classes), classes)


class LogLoss(_ClassificationLoss):
    """Negative log-likelihood of the label, ``-log f(x)_y``.

    Parameters
    ----------
    eps : float, default=float32's machine epsilon
        Probabilities are clipped to ``[eps, 1]``; a class the model rules out
        costs ``-log(eps)``, 15.9 by default.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.losses import LogLoss
    >>> loss = LogLoss().build(np.array([[0.8, 0.2]]), np.array(["cat", "dog"]))
    >>> loss.values.round(2)
    array([[0.22, 1.61]])
    """

    def __init__(self, eps=_FLOAT32_EPS):
        self.eps = eps

    def _table(self, proba, classes):
        if not 0 < self.eps < 1:
            raise ValueError(f"eps={self.eps} must lie strictly between 0 and 1.")
        return -np.log(np.clip(proba, self.eps, 1.0))


class ZeroOne(_ClassificationLoss):
    """Error: 1 where the predicted label is wrong (accuracy is 1 minus the risk).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.losses import ZeroOne
    >>> ZeroOne().build(np.array(["dog"]), np.array(["cat", "dog"])).values
    array([[1., 0.]])
    """

    response_method = "predict"

    def _table(self, label, classes):
        return (label[:, None] != classes[None, :]).astype(float)


class Brier(_ClassificationLoss):
    """Squared distance of the probabilities from the label's one-hot vector.

    Parameters
    ----------
    scale_by_half : bool or "auto", default="auto"
        Halve the value, so that it lies between 0 and 1. As in
        :func:`sklearn.metrics.brier_score_loss`, "auto" does so for two classes,
        where it is the squared error of the probability of one of them. Decide
        yourself where a third class may turn up on the way.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.losses import Brier
    >>> Brier().build(np.array([[0.8, 0.2]]), np.array(["cat", "dog"])).values.round(2)
    array([[0.04, 0.64]])
    """

    def __init__(self, scale_by_half="auto"):
        self.scale_by_half = scale_by_half

    def _table(self, proba, classes):
        # |p - onehot(c)|² = |p|² - 2 p_c + 1
        square = np.einsum("nc,nc->n", proba, proba)[:, None]
        table = np.maximum(square - 2.0 * proba + 1.0, 0.0)
        half = self.scale_by_half
        half = len(classes) == 2 if half == "auto" else half
        return table / 2.0 if half else table
