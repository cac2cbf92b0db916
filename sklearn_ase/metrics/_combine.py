"""Sums of row values."""

from functools import partial

import numpy as np

from sklearn_ase.metrics._class_sums import ClassSums
from sklearn_ase.metrics._read_table import ReadTable
from sklearn_ase.metrics._row_values import (
    ClassValues,
    FixedValues,
    FunctionValues,
    LossValues,
    QuadraticValues,
    TableValues,
)


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
    first = next(part for part in parts if not isinstance(part, FixedValues))
    if isinstance(first, ReadTable) and len(parts) == 1:
        return first.scaled(coefficients[0])
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
