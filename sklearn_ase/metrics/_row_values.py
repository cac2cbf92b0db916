"""Row values: a number at each row of a pool, as a function of the row's label.

They take the place of a loss, and their mean is estimated. All have the same methods.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._utils._typing import Floats

if TYPE_CHECKING:
    from sklearn_ase.belief import Belief

# Gauss-Hermite quadrature for functions of a real label.
_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
_NODE_WEIGHTS = _NODE_WEIGHTS / _NODE_WEIGHTS.sum()
# Rows whose labels are integrated over at a time.
_BLOCK = 2**14


class RowValues(metaclass=ABCMeta):
    """A number at each row of a pool, as a function of the label of that row.

    Attributes
    ----------
    has_bound : bool
        Whether limits of the values hold whatever the predictions.
    has_tail : bool
        Whether a heavy tail of the values makes intervals of their function invalid.
    """

    has_bound: bool = True
    has_tail: bool = False

    @cached_property
    def min_loss(self) -> float:
        """Least value at any row; unlike a loss, it may be negative."""
        return float(self.limits()[0].min())

    @cached_property
    def max_loss(self) -> float:
        """Greatest value at any row; infinite if there is none."""
        return float(self.limits()[1].max())

    @cached_property
    def is_bounded(self) -> bool:
        """Whether the values are between 0 and a greatest value, which is not 0."""
        least, most = self.limits()
        has_limits = least.min() >= 0 and np.isfinite(most).all() and most.any()
        return bool(has_limits and self.has_bound)

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """Size of the pool."""

    @abstractmethod
    def observed(self, indices: np.ndarray, labels: np.ndarray) -> Floats:
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
    def moments(self, belief: Belief) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the values under a belief about the labels.

        Parameters
        ----------
        belief : CategoricalBelief or GaussianBelief

        Returns
        -------
        expected, variance : ndarrays of shape (n_samples,)
        """

    @abstractmethod
    def limits(self) -> tuple[np.ndarray, np.ndarray]:
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
    has_bound : bool, default=True
        Whether the values have a greatest one whatever the predictions.
    """

    values: np.ndarray
    classes: np.ndarray
    has_bound: bool = True

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
        return self._limits

    @cached_property
    def _limits(self):
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
        proba = belief.proba_of(self.target)
        return self.weight * proba, self.weight**2 * proba * (1.0 - proba)

    def limits(self):
        return np.minimum(self.weight, 0.0), np.maximum(self.weight, 0.0)


@dataclass(frozen=True, eq=False)
class FixedValues(RowValues):
    """Values that no label changes.

    Their mean is not known all the same if some rows cannot be labelled, and the mean
    is that over the others.

    Attributes
    ----------
    fixed : ndarray of shape (n_samples,)
    """

    fixed: np.ndarray

    @property
    def n_samples(self):
        return len(self.fixed)

    def observed(self, indices, labels):
        return self.fixed[indices]

    def moments(self, belief):
        return self.fixed, np.zeros(len(self.fixed))

    def limits(self):
        return self.fixed, self.fixed


@dataclass(frozen=True, eq=False)
class QuadraticValues(RowValues):
    """``a + b z + c z²`` for a real label y and ``z = y - centre``.

    A centre near the labels keeps the digits of labels that are far from 0.

    Attributes
    ----------
    constant, linear, square : ndarrays of shape (n_samples,)
        a, b and c of each row.
    centre : float or ndarray of shape (n_samples,), default=0.0
    """

    constant: np.ndarray
    linear: np.ndarray
    square: np.ndarray
    centre: float | np.ndarray = 0.0

    @property
    def n_samples(self):
        return len(self.constant)

    def observed(self, indices, labels):
        a, b, c = (part[indices] for part in self._parts)
        z = labels - np.broadcast_to(self.centre, self.n_samples)[indices]
        return a + (b + c * z) * z

    def moments(self, belief):
        a, b, c = self._parts
        mean, variance = belief.mean - self.centre, belief.variance
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

    def around(self, centre):
        """These values as a quadratic function around another centre."""
        a, b, c = self._parts
        gap = centre - self.centre
        return QuadraticValues(a + (b + c * gap) * gap, b + 2.0 * c * gap, c, centre)

    @property
    def _parts(self):
        return self.constant, self.linear, self.square


@dataclass(frozen=True, eq=False)
class LossValues(RowValues):
    """A loss of a real label, with the moments that the loss itself gives.

    Attributes
    ----------
    loss : PointLoss
    weight : ndarray of shape (n_samples,)
    """

    loss: object
    weight: np.ndarray

    @property
    def n_samples(self):
        return len(self.weight)

    def observed(self, indices, labels):
        return self.weight[indices] * self.loss.observed(indices, labels)

    def moments(self, belief):
        expected = self.loss.expected(belief.mean, belief.variance)
        variance = self.loss.variance(belief.mean, belief.variance)
        return self.weight * expected, self.weight**2 * variance

    def limits(self):
        most = np.full(self.n_samples, np.inf)
        if self.loss.is_bounded:
            most = np.abs(self.weight) * self.loss.max_loss
        return np.where(self.weight < 0, -most, 0.0), np.where(
            self.weight > 0, most, 0.0
        )


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
        found = np.empty((2, self.n_samples))
        for start in range(0, self.n_samples, _BLOCK):
            rows = slice(start, start + _BLOCK)
            found[:, rows] = self._moments(rows, belief.mean, belief.variance)
        return self.weight * found[0], self.weight**2 * found[1]

    def _moments(self, rows, mean, variance):
        labels = mean[rows] + np.sqrt(variance[rows]) * _NODES[:, None]
        prediction = np.broadcast_to(self.prediction[rows], labels.shape)
        values = self.function(labels.ravel(), prediction.ravel()).reshape(labels.shape)
        expected = _NODE_WEIGHTS @ values
        return expected, _NODE_WEIGHTS @ (values - expected) ** 2

    def limits(self):
        unknown = np.full(self.n_samples, np.inf)
        return -unknown, unknown


@dataclass(frozen=True, eq=False)
class ClassSums(RowValues):
    """A sum of :class:`ClassValues`, each with a coefficient.

    Attributes
    ----------
    parts : tuple of ClassValues
    coefficients : ndarray of shape (n_parts,)
    fixed : ndarray of shape (n_samples,) or float, default=0.0
        Added whatever the label.
    """

    parts: tuple
    coefficients: np.ndarray
    fixed: np.ndarray | float = 0.0

    @property
    def n_samples(self):
        return self.parts[0].n_samples

    @property
    def classes(self):
        """Labels that the values are for, sorted."""
        return self.parts[0].classes

    @cached_property
    def values(self):
        """The values of all classes, of shape (n_samples, n_classes)."""
        total = np.zeros((self.n_samples, len(self.classes)))
        rows = np.arange(self.n_samples)
        for part, coefficient in zip(self.parts, self.coefficients, strict=True):
            total[rows, part.target] += coefficient * part.weight
        return total + np.reshape(self.fixed, (-1, 1))

    def observed(self, indices, labels):
        pairs = zip(self.parts, self.coefficients, strict=True)
        found = sum(k * part.observed(indices, labels) for part, k in pairs)
        return found + np.broadcast_to(self.fixed, self.n_samples)[indices]

    def moments(self, belief):
        if getattr(belief, "proba", None) is not None:
            return TableValues(self.values, self.classes).moments(belief)
        slots, is_rest = self._slots
        proba = [is_own * belief.proba_of(target) for target, _, is_own in slots]
        # Without a target the label adds nothing.
        rest = np.where(is_rest, np.maximum(1.0 - sum(proba), 0.0), 0.0)
        mean = sum(p * slot[1] for p, slot in zip(proba, slots, strict=True))
        variance = rest * mean**2
        for p, (_, value, _) in zip(proba, slots, strict=True):
            variance += p * (value - mean) ** 2
        return self.fixed + mean, variance

    def weighted_disagreement(self, belief, centre: float) -> np.ndarray:
        """Disagreement on each class, weighted by its distance from a centre."""
        table = getattr(belief, "class_disagreement", None)
        if table is not None:
            return np.einsum("nc,nc->n", table, np.abs(self.values - centre))
        score, rest = np.zeros(self.n_samples), np.array(belief.disagreement())
        slots, is_rest = self._slots
        for target, value, is_own in slots:
            part = is_own * belief.disagreement_of(target)
            score += part * np.abs(self.fixed + value - centre)
            rest -= part
        distance = np.abs(np.broadcast_to(self.fixed, self.n_samples) - centre)
        return score + np.where(is_rest, np.maximum(rest, 0.0), 0.0) * distance

    def limits(self):
        slots, is_rest = self._slots
        # A class without a target adds nothing, if there is one.
        least = np.where(is_rest, 0.0, np.inf)
        most = np.where(is_rest, 0.0, -np.inf)
        for _, value, is_own in slots:
            least = np.where(is_own, np.minimum(least, value), least)
            most = np.where(is_own, np.maximum(most, value), most)
        return self.fixed + least, self.fixed + most

    @cached_property
    def _slots(self):
        """Targets that differ at each row, and whether there are other classes.

        Each slot has targets, the value at them, and a mask of the rows where no slot
        before has the same target.
        """
        slots = []
        for part, coefficient in zip(self.parts, self.coefficients, strict=True):
            value, is_own = coefficient * part.weight, np.ones(self.n_samples, bool)
            for target, total, was_own in slots:
                is_same = is_own & was_own & (target == part.target)
                total[is_same] += value[is_same]
                is_own &= ~is_same
            if is_own.any():
                slots.append((part.target, np.where(is_own, value, 0.0), is_own))
        count = sum(is_own.astype(int) for *_, is_own in slots)
        return slots, count < len(self.classes)


# Values as distances from an end.


@dataclass(frozen=True, eq=False)
class FromEndValues(RowValues):
    """How much more than the least value, or less than the greatest, a row has.

    Attributes
    ----------
    values_of : RowValues
    end : ndarray of shape (n_samples,)
        The least or the greatest value of each row.
    sign : {1.0, -1.0}
        1 if it is the least.
    """

    values_of: RowValues
    end: np.ndarray
    sign: float

    # The same values from the same end are the same, so they are found in caches.
    def __eq__(self, other):
        return (
            isinstance(other, type(self))
            and other.values_of is self.values_of
            and other.sign == self.sign
            and np.array_equal(other.end, self.end)
        )

    def __hash__(self):
        return hash((type(self), id(self.values_of), self.sign))

    @property
    def n_samples(self):
        return self.values_of.n_samples

    @property
    def has_bound(self):
        """Whether limits of the other values hold whatever the predictions."""
        return self.values_of.has_bound

    def observed(self, indices, labels):
        values = self.values_of.observed(indices, labels)
        return self.sign * (values - self.end[indices])

    def moments(self, belief):
        expected, variance = self.values_of.moments(belief)
        return self.sign * (expected - self.end), variance

    def limits(self):
        least, most = (self.sign * (x - self.end) for x in self.values_of.limits())
        return (least, most) if self.sign > 0 else (most, least)


# Sums of row values.


def combine(parts, coefficients):
    """Sum of row values of one kind of task, each with a coefficient."""
    first = next(part for part in parts if not isinstance(part, FixedValues))
    if all(isinstance(part, ClassValues | ClassSums | FixedValues) for part in parts):
        return _class_sums(parts, coefficients)
    if isinstance(first, TableValues | ClassValues | ClassSums):
        return _combined_table(first, parts, coefficients)
    if all(isinstance(part, QuadraticValues) for part in parts):
        moved = [part.around(first.centre)._parts for part in parts]
        columns = [
            sum(k * column for k, column in zip(coefficients, each, strict=True))
            for each in zip(*moved, strict=True)
        ]
        return QuadraticValues(*columns, first.centre)
    if len(parts) == 1 and isinstance(first, LossValues):
        return LossValues(first.loss, coefficients[0] * first.weight)
    # Weights and coefficients belong to rows, so rows are told by their number.
    rows, function = np.arange(first.n_samples), partial(_sum_at, parts, coefficients)
    return FunctionValues(function, rows.astype(float), np.ones(first.n_samples))


def _sum_at(parts, coefficients, y_true, rows):
    """Sum of row values at some rows; it can be pickled, unlike a closure."""
    return sum(
        k * part.observed(rows.astype(int), y_true)
        for k, part in zip(coefficients, parts, strict=True)
    )


def _class_sums(parts, coefficients):
    counted, factors, fixed = [], [], 0.0
    for part, coefficient in zip(parts, coefficients, strict=True):
        if isinstance(part, ClassValues):
            counted.append(part)
            factors.append(coefficient)
            continue
        fixed = fixed + coefficient * part.fixed
        if isinstance(part, ClassSums):
            counted.extend(part.parts)
            factors.extend(coefficient * part.coefficients)
    return ClassSums(tuple(counted), np.array(factors), fixed)


def _combined_table(first, parts, coefficients):
    total = np.zeros((first.n_samples, len(first.classes)))
    rows = np.arange(first.n_samples)
    for part, coefficient in zip(parts, coefficients, strict=True):
        if isinstance(part, ClassValues):
            total[rows, part.target] += coefficient * part.weight
        elif isinstance(part, FixedValues):
            total += coefficient * part.fixed[:, None]
        else:
            total += coefficient * part.values
    return TableValues(total, first.classes)
