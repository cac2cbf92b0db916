"""Values at each row of a pool that depend on the label of the row.

They take the place of a loss: their mean over the pool is estimated. All kinds have the
same methods, so that an estimate need not know which kind it is about.
"""

from abc import ABCMeta, abstractmethod
from dataclasses import dataclass

import numpy as np

# Gauss-Hermite quadrature for functions of a real label.
_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
_NODE_WEIGHTS = _NODE_WEIGHTS / _NODE_WEIGHTS.sum()


class RowValues(metaclass=ABCMeta):
    """A number at each row of a pool, as a function of the label of that row."""

    @property
    @abstractmethod
    def n_samples(self):
        """Size of the pool."""

    @abstractmethod
    def observed(self, indices, labels):
        """Values at some rows whose labels are known.

        Parameters
        ----------
        indices : ndarray of shape (n_rows,)
        labels : ndarray of shape (n_rows,)

        Returns
        -------
        values : ndarray of shape (n_rows,)
        """

    @abstractmethod
    def moments(self, belief):
        """Mean and variance of the values under a belief about the labels.

        Parameters
        ----------
        belief : CategoricalBelief or GaussianBelief

        Returns
        -------
        expected, variance : ndarrays of shape (n_samples,)
        """

    @abstractmethod
    def limits(self):
        """Least and greatest value at each row over all labels.

        Returns
        -------
        least, most : ndarrays of shape (n_samples,)
            Infinite where there is no limit.
        """


@dataclass(frozen=True, eq=False)
class TableValues(RowValues):
    """Values for each class.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_classes)
    classes : ndarray of shape (n_classes,)
        Sorted.
    """

    values: np.ndarray
    classes: np.ndarray

    @property
    def n_samples(self):
        return len(self.values)

    def observed(self, indices, labels):
        return self.values[indices, np.searchsorted(self.classes, labels)]

    def moments(self, belief):
        expected = np.einsum("nc,nc->n", belief.proba, self.values)
        gap = self.values - expected[:, None]
        return expected, np.einsum("nc,nc,nc->n", belief.proba, gap, gap)

    def limits(self):
        return self.values.min(axis=1), self.values.max(axis=1)


@dataclass(frozen=True, eq=False)
class ClassValues(RowValues):
    """A weight where the label is the target of the row, else 0.

    Attributes
    ----------
    target : ndarray of int of shape (n_samples,)
        Place of a class in `classes`, for each row.
    weight : ndarray of shape (n_samples,)
    classes : ndarray of shape (n_classes,)
        Sorted.
    """

    target: np.ndarray
    weight: np.ndarray
    classes: np.ndarray

    @property
    def n_samples(self):
        return len(self.weight)

    def observed(self, indices, labels):
        is_target = np.searchsorted(self.classes, labels) == self.target[indices]
        return self.weight[indices] * is_target

    def moments(self, belief):
        proba = belief.proba[np.arange(self.n_samples), self.target]
        return self.weight * proba, self.weight**2 * proba * (1.0 - proba)

    def limits(self):
        return np.minimum(self.weight, 0.0), np.maximum(self.weight, 0.0)


@dataclass(frozen=True, eq=False)
class QuadraticValues(RowValues):
    """``a + b y + c y²`` for a real label y.

    Attributes
    ----------
    constant, linear, square : ndarrays of shape (n_samples,)
        a, b and c of each row.
    """

    constant: np.ndarray
    linear: np.ndarray
    square: np.ndarray

    @property
    def n_samples(self):
        return len(self.constant)

    def observed(self, indices, labels):
        a, b, c = (part[indices] for part in self._parts)
        return a + (b + c * labels) * labels

    def moments(self, belief):
        a, b, c = self._parts
        mean, variance = belief.mean, belief.variance
        expected = a + b * mean + c * (mean**2 + variance)
        slope = b + 2.0 * c * mean
        return expected, slope**2 * variance + 2.0 * (c * variance) ** 2

    def limits(self):
        a, b, c = self._parts
        with np.errstate(divide="ignore", invalid="ignore"):
            vertex = a - b**2 / (4.0 * c)
        is_flat = (b == 0) & (c == 0)
        least = np.where(c > 0, vertex, np.where(is_flat, a, -np.inf))
        most = np.where(c < 0, vertex, np.where(is_flat, a, np.inf))
        return least, most

    @property
    def _parts(self):
        return self.constant, self.linear, self.square


@dataclass(frozen=True, eq=False)
class FunctionValues(RowValues):
    """Any function of a real label and the prediction.

    Attributes
    ----------
    function : callable
        ``(y_true, y_pred) -> values``, arrays of one shape in, the same shape out.
    prediction : ndarray of shape (n_samples,)
    weight : ndarray of shape (n_samples,)
    """

    function: object
    prediction: np.ndarray
    weight: np.ndarray

    @property
    def n_samples(self):
        return len(self.prediction)

    def observed(self, indices, labels):
        values = self.function(labels, self.prediction[indices])
        return self.weight[indices] * values

    def moments(self, belief):
        deviation, shape = np.sqrt(belief.variance), (len(_NODES), self.n_samples)
        labels = belief.mean + deviation * _NODES[:, None]
        prediction = np.broadcast_to(self.prediction, shape)
        values = self.function(labels.ravel(), prediction.ravel()).reshape(shape)
        expected = _NODE_WEIGHTS @ values
        variance = _NODE_WEIGHTS @ (values - expected) ** 2
        return self.weight * expected, self.weight**2 * variance

    def limits(self):
        unknown = np.full(self.n_samples, np.inf)
        return -unknown, unknown


def combine(parts, coefficients):
    """Sum of row values of one kind of task, each with a coefficient.

    Parameters
    ----------
    parts : sequence of RowValues
    coefficients : ndarray of shape (n_parts,)

    Returns
    -------
    values : RowValues
    """
    first = parts[0]
    if isinstance(first, TableValues | ClassValues):
        return _combined_table(parts, coefficients)
    if all(isinstance(part, QuadraticValues) for part in parts):
        columns = [
            sum(k * column for k, column in zip(coefficients, each, strict=True))
            for each in zip(*(part._parts for part in parts), strict=True)
        ]
        return QuadraticValues(*columns)
    rows = np.arange(first.n_samples)

    def function(y_true, y_pred):
        # Weights and coefficients belong to rows, so rows are told by their number.
        return sum(
            k * part.observed(y_pred.astype(int), y_true)
            for k, part in zip(coefficients, parts, strict=True)
        )

    return FunctionValues(function, rows.astype(float), np.ones(first.n_samples))


def _combined_table(parts, coefficients):
    first = parts[0]
    total = np.zeros((first.n_samples, len(first.classes)))
    rows = np.arange(first.n_samples)
    for part, coefficient in zip(parts, coefficients, strict=True):
        if isinstance(part, ClassValues):
            total[rows, part.target] += coefficient * part.weight
        else:
            total += coefficient * part.values
    return TableValues(total, first.classes)
