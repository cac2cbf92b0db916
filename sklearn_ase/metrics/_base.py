"""The base class of the metrics: a function of means over the pool."""

from __future__ import annotations

import re
import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length

from sklearn_ase._data._rows import RowOrder
from sklearn_ase._utils._checks import is_number, shown
from sklearn_ase._utils._typing import Floats, Response, Task
from sklearn_ase.metrics._pool_metric import PoolMetric
from sklearn_ase.metrics._row_values import FunctionValues, TableValues

if TYPE_CHECKING:
    from sklearn_ase.losses import BaseLoss
    from sklearn_ase.metrics._ratios import ClassMean


# Weights of the rows.


def pool_weight(
    prediction: np.ndarray | None,
    weight: np.ndarray | None,
    n_samples: int | None = None,
) -> np.ndarray:
    """Weight of each row of a pool: what is given, else 1."""
    if weight is not None:
        return np.asarray(weight, dtype=float)
    if prediction is not None:
        n_samples = len(prediction)
    if n_samples is None:
        raise ValueError(
            "The size of the pool is not known, for there are no predictions. Pass "
            "n_samples=..."
        )
    return np.ones(n_samples)


# The base class.


# Steps of the gradient: of finite differences, relative to the size of a mean, and in
# the complex plane, where none is too small.
_STEP, _COMPLEX_STEP = 1e-6, 1e-30
# Distances from the prediction at which a mean is tried that may not depend on labels.
_TRIALS = (0.0, 1.0, -2.5)


class BaseMetric(BaseEstimator, metaclass=ABCMeta):
    """Base class of the metrics: a function of pool means of values at each row.

    A subclass sets `task` and writes two methods: :meth:`row_values`, the numbers that
    are averaged over the pool, and :meth:`value`, what is made of their means. Labels
    of the pool that are not known are replaced by what the surrogate believes, and
    corrected by those that are. :func:`sklearn_ase.testing.check_metric` checks the
    result.

    Attributes
    ----------
    task : {"classification", "regression"} or None
        What the labels are. None means either.
    response_method : {"predict", "predict_proba"} or None
        What `y_pred` is: predicted labels (or values), or probabilities. None means
        that the metric needs no model.
    bounds : tuple of two float
        Least and greatest value of the metric; infinite if there is none.
    greater_is_better : bool
        False for losses and errors.
    scale : {"linear", "log", "log_complement", "atanh"}
        Scale on which the estimate is closest to normal, for intervals of functions of
        more than two means: the value itself, its logarithm (values > 0), the
        logarithm of 1 minus the value, or Fisher's scale for correlations (values
        between -1 and 1).
    surrogate_worth : float
        Number of labels that the surrogate's estimate of a mean is worth at most in
        :class:`GuardedASE`. Less where the metric depends much on errors of the
        surrogate.
    power : float
        If the metric depends on one mean: the power of the mean that it is a straight
        line of. 0.5 for a root. Its interval then comes from that of the mean.
    class_mean : ClassMean or None
        For a metric that is the mean over classes of a ratio of counts: how classes are
        averaged. Its interval then comes from one interval for each class.
    flags : tuple of str
        Names of the class attributes that the package reads.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.metrics import BaseMetric
    >>> class FalseAlarms(BaseMetric):
    ...     task, bounds = "classification", (0.0, 1.0)
    ...
    ...     def row_values(self, y_true, y_pred):
    ...         negative = y_true == 0
    ...         return np.column_stack([negative & (y_pred == 1), negative])
    ...
    ...     def value(self, means):
    ...         return means[0] / means[1]
    >>> metric = FalseAlarms()
    >>> y_true, y_pred = np.array([0, 0, 0, 1]), np.array([0, 1, 0, 1])
    >>> round(metric(y_true, y_pred), 3)
    0.333
    >>> metric.gradient(np.array([0.25, 0.75])).round(3)
    array([ 1.333, -0.444])
    """

    flags = (
        "task",
        "response_method",
        "bounds",
        "greater_is_better",
        "scale",
        "surrogate_worth",
    )
    task: Task | None = None
    response_method: Response | None = "predict"
    bounds: tuple[float, float] = (-np.inf, np.inf)
    greater_is_better: bool = True
    scale: str = "linear"
    surrogate_worth: float = np.inf
    power: float = 1.0
    class_mean: ClassMean | None = None

    @property
    def name(self) -> str:
        """Name of the metric, for messages and tables."""
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(self).__name__).lower()
        average = getattr(self, "average", "binary")
        return words if average == "binary" else f"{words} ({average})"

    def validate(self) -> None:
        """Check the parameters; called at the start, before a label is bought."""

    @abstractmethod
    def row_values(self, y_true: np.ndarray, y_pred: np.ndarray) -> ArrayLike:
        """Values of each row, of which the metric knows the means.

        The values of a row must not depend on other rows.

        Parameters
        ----------
        y_true : ndarray of shape (n_rows,)
            Labels.
        y_pred : ndarray of shape (n_rows,) or (n_rows, n_classes)
            Predictions, as `response_method` says.

        Returns
        -------
        values : array-like of shape (n_rows, n_means)
        """

    @abstractmethod
    def value(self, means: np.ndarray) -> float:
        """Value of the metric, given the means of the row values.

        Parameters
        ----------
        means : ndarray of shape (n_means,)

        Returns
        -------
        value : float
            NaN where the metric is not defined, as 0 / 0.
        """

    def gradient(self, means: np.ndarray) -> Floats:
        """Derivative of :meth:`value` with respect to each mean.

        The default takes a complex step, which is exact, if :meth:`value` takes complex
        means, and finite differences if it does not. Write it if `value` takes absolute
        values: those of complex numbers have another derivative.

        Parameters
        ----------
        means : ndarray of shape (n_means,)

        Returns
        -------
        gradient : ndarray of shape (n_means,)
        """
        return slopes_of(self._values, means)

    def _values(self, means: np.ndarray) -> np.ndarray:
        """Values at many points, real or complex, (..., n_means) -> (...)."""
        return _at_each(self.value, means)

    def _gradients(self, means: np.ndarray) -> Floats:
        """Gradients at many points, (..., n_means) -> (..., n_means)."""
        return _at_each(self.gradient, means)

    def of_mean_loss(self, loss: BaseLoss) -> tuple[float, float, float] | None:
        """How the metric follows from the mean of a loss, if it does.

        An evaluation of this loss then answers from what it has recorded.

        Parameters
        ----------
        loss : BaseLoss

        Returns
        -------
        curve : tuple of three float, or None
            Start, slope and power: the metric is ``start + slope * mean ** power``.
        """
        return None

    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Value of the metric if all labels are known."""
        check_consistent_length(y_true, y_pred, sample_weight)
        if not np.size(y_true):
            raise ValueError("y_true is empty. Give at least one row.")
        RowOrder.of(y_true=y_true).check(y_pred=y_pred, sample_weight=sample_weight)
        y_pred = None if y_pred is None else np.asarray(y_pred)
        weight = None if sample_weight is None else np.asarray(sample_weight)
        values = np.asarray(self._all_values(np.asarray(y_true), y_pred), dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            means = np.average(values, axis=0, weights=weight)
            return float(self.value(means))

    def _all_values(self, y_true, y_pred):
        """Row values of a pool that has no other rows."""
        return self.row_values(y_true, y_pred)

    def on_pool(
        self,
        prediction: np.ndarray | None,
        classes: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        n_samples: int | None = None,
    ) -> PoolMetric:
        """Apply the metric to the predictions for a pool.

        Override it where the means can be computed faster than by one call of
        :meth:`row_values` per class.

        Parameters
        ----------
        prediction : ndarray of shape (n_samples,) or (n_samples, n_classes), or None
            None for a metric that needs no model.
        classes : ndarray of shape (n_classes,), default=None
            Sorted labels. None for regression.
        weight : ndarray of shape (n_samples,), default=None
            Weight of each row, with mean 1. None means equal weights.
        n_samples : int, default=None
            Size of the pool, needed if there is neither a prediction nor a weight.

        Returns
        -------
        pool_metric : PoolMetric
        """
        weight = pool_weight(prediction, weight, n_samples)
        if classes is None:
            return self._with_value(self._on_numbers(prediction, weight))
        values = np.stack(
            [self._checked(np.full(len(weight), one), prediction) for one in classes],
            axis=1,
        )
        parts, known, known_rows = [], np.full(values.shape[2], np.nan), {}
        for place in range(values.shape[2]):
            table = weight[:, None] * values[:, :, place]
            if (table == table[:, :1]).all():  # No label changes it.
                known[place], known_rows[place] = table[:, 0].mean(), table[:, 0]
            else:
                parts.append(TableValues(table, classes))
        return self._with_value(PoolMetric(self, tuple(parts), known, known_rows))

    def _on_numbers(self, prediction, weight):
        centre = np.zeros(len(weight)) if prediction is None else prediction
        trials = [self._checked(centre + gap, prediction) for gap in _TRIALS]
        parts, known, known_rows = [], np.full(trials[0].shape[1], np.nan), {}
        for place in range(len(known)):
            columns = [trial[:, place] for trial in trials]
            if all(np.array_equal(columns[0], other) for other in columns[1:]):
                known_rows[place] = weight * columns[0]
                known[place] = known_rows[place].mean()
                continue

            def function(y_true, y_pred, place=place):
                y_pred = None if prediction is None else y_pred
                return self._checked(y_true, y_pred)[:, place]

            parts.append(FunctionValues(function, centre, weight))
        return PoolMetric(self, tuple(parts), known, known_rows)

    def _with_value(self, pool_metric):
        """The metric, refused if value or gradient are not numbers of that shape."""
        means = np.full(len(pool_metric.known), 0.5)
        name = type(self).__name__
        with np.errstate(all="ignore"):
            value = self.value(means)
            if np.ndim(value) or not is_number(value):
                raise ValueError(
                    f"{name}.value must return one number, but returned {shown(value)}."
                )
            shape = np.shape(self.gradient(means))
        if shape != means.shape:
            raise ValueError(
                f"{name}.gradient must return one number per mean, shape "
                f"{means.shape}, but returned shape {shape}."
            )
        return pool_metric

    def _checked(self, y_true, y_pred):
        """Row values, refused if they are not a table of finite numbers."""
        name = f"{type(self).__name__}.row_values"
        values = np.asarray(self.row_values(y_true, y_pred))
        if values.ndim != 2 or len(values) != len(y_true):
            raise ValueError(
                f"{name} must return an array of shape (n_rows, n_means), here "
                f"({len(y_true)}, n_means), but returned shape {values.shape}."
            )
        if values.dtype.kind not in "biuf" or not np.isfinite(values).all():
            raise ValueError(f"{name} must return finite numbers.")
        return values.astype(float)


def _at_each(function: Callable, means: np.ndarray) -> np.ndarray:
    """A function of one point at many points."""
    flat = means.reshape(-1, means.shape[-1])
    found = np.array([function(point) for point in flat])
    return found.reshape(*means.shape[:-1], *found.shape[1:])


def slopes_of(values: Callable, means: np.ndarray) -> Floats:
    """Derivatives of a function of means, (..., n_means) -> (..., n_means).

    A complex step is exact: the imaginary part of the value is the slope times the
    step, however small the step is.
    """
    means = np.asarray(means, dtype=float)
    moved = means[..., None, :] + 1j * _COMPLEX_STEP * np.eye(means.shape[-1])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            found = np.asarray(values(moved))
    except (TypeError, ValueError, np.exceptions.ComplexWarning):
        found = np.empty(0)  # It takes real numbers only.
    if not np.iscomplexobj(found):
        return _differences(values, means)
    return np.where(np.isnan(found.real), np.nan, found.imag / _COMPLEX_STEP)


def _differences(values: Callable, means: np.ndarray) -> Floats:
    """The same by finite differences."""
    size = _STEP * np.maximum(np.abs(means), 1e-3)
    steps = size[..., None] * np.eye(means.shape[-1])
    ends = (values(means[..., None, :] + sign * steps) for sign in (1.0, -1.0))
    return np.subtract(*ends) / (2.0 * size)
