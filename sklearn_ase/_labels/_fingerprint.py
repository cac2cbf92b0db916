"""Fingerprints of data and loss, so that no journal is continued with others."""

from __future__ import annotations

import hashlib
import warnings
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from sklearn_ase._data._rows import (
    is_dataset,
    is_frame,
    n_rows,
    read_dataset,
    take_rows,
)

if TYPE_CHECKING:
    from typing import Any

    from sklearn_ase._data._problem import Problem
    from sklearn_ase._utils._typing import Rows

_ROWS_AT_A_TIME = 4096


def fingerprint(X: Rows) -> str:
    """Return a short text that changes when the values, their order or shape change.

    It depends on the values and not on how they are stored: a memory map and an array
    of the same values have the same fingerprint.
    """
    digest = hashlib.sha256()
    if is_frame(X):
        for name in X.columns:
            digest.update(str(name).encode())
            _add(digest, X[name])
    elif sparse.issparse(X):
        X = X.tocsr(copy=True)
        X.sum_duplicates()  # Sorts too: one matrix has many forms.
        X.eliminate_zeros()
        digest.update(repr(X.shape).encode())
        for part in (X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data):
            _add(digest, part)
    else:
        for start in range(0, n_rows(X), _ROWS_AT_A_TIME):
            rows = take_rows(X, slice(start, start + _ROWS_AT_A_TIME))
            _add(digest, read_dataset(rows) if is_dataset(rows) else rows)
    return digest.hexdigest()[:32]


def fingerprint_of_pool(problem: Problem, rows: str | None) -> str | None:
    """Return what tells the rows of a pool apart; None if it is not in memory.

    `rows` is the fingerprint of the rows themselves. Where they have no features but
    their numbers, what is known of them stands in.
    """
    X = problem.X
    if is_dataset(X):
        return None
    numbers = np.arange(n_rows(X))
    if not (isinstance(X, np.ndarray) and np.array_equal(X, numbers[:, None])):
        return rows
    known = [] if problem.experts is None else problem.experts.each
    known = [one.values for one in known] or [problem.predictions.response]
    return fingerprint(np.column_stack([numbers, *known]))


def _add(digest: Any, values: Any) -> None:
    """Add values to a digest, however they are stored."""
    values = np.asarray(values)
    digest.update(repr(values.shape[1:]).encode())
    if values.dtype.kind in "OUSTMm":  # Text and mixed columns: as they are printed.
        digest.update(repr(values.tolist()).encode())
        return
    if values.dtype.kind in "iu":
        values = values.astype(np.int64)  # How wide integers are depends on the system.
    if values.dtype.kind == "f":
        values = values + values.dtype.type(0)  # -0.0 equals 0.0.
    values = np.ascontiguousarray(values)
    digest.update(values.dtype.newbyteorder("<").str.encode())
    digest.update(values.astype(values.dtype.newbyteorder("<"), copy=False).tobytes())


def sketch(values: np.ndarray) -> list[list[float]]:
    """Return a few numbers that are close for predictions that are close.

    Networks do not repeat their predictions to the last bit on another machine, so
    predictions have no fingerprint.
    """
    if values.dtype.kind in "OUS":  # Each label as a number of its own.
        texts, places = np.unique(values.astype(str), return_inverse=True)
        digests = [hashlib.sha256(text.encode()).digest()[:4] for text in texts]
        values = np.array([int.from_bytes(d, "big") / 2**32 for d in digests])[places]
    values = np.nan_to_num(values.reshape(len(values), -1).astype(float))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(4, len(values)))
    mean, spread = values.mean(axis=0), values.std(axis=0)
    sums = signs @ (values - mean) / len(values) ** 0.5
    return np.vstack([mean, spread, sums]).T.tolist()


def same_sketch(first: Any, second: Any, tolerance: float = 0.0001) -> bool:
    """Whether two sketches may be of the same predictions, but for rounding."""
    first, second = np.array(first, dtype=float), np.array(second, dtype=float)
    if first.shape != second.shape or not first.size:
        return first.shape == second.shape
    mean, spread = np.abs(second[:, 0]), second[:, 1]
    # What matters is how predictions differ from row to row, wherever they lie.
    allowed = tolerance * (spread + 1e-2 * mean)
    return bool((np.abs(first - second) <= allowed[:, None]).all())


def same_experts(first: dict | None, second: dict | None) -> bool:
    """Whether the sketches of experts, by name, may be of the same experts."""
    if first is None or second is None:
        return first is second
    same_names = list(first) == list(second)
    return same_names and all(same_sketch(first[name], second[name]) for name in first)


# What a loss computes at a few rows.


_N_ROWS = 20
# Distances of labels from the prediction, in units of how predictions spread.
_DISTANCES = (-3.0, -1.0, -0.3, 0.0, 0.3, 1.0, 3.0)
# Predictions may differ by rounding, and the loss by some more.
_TOLERANCE = 1e-3


def sketch_loss(problem: Problem) -> list[list[float]]:
    """Return a few numbers that differ for losses that compute different values."""
    rows = np.unique(np.linspace(0, problem.n_samples - 1, _N_ROWS).astype(int))
    loss = problem.loss_for(problem.classes, rows)
    places = np.arange(len(rows))
    if problem.classes is not None:
        labels = [np.repeat(label, len(rows)) for label in problem.classes]
    else:
        labels = _labels_around(problem.predictions.at(rows).response)
    values = [_values(loss, places, some) for some in labels]
    return sketch(np.concatenate(values))


def same_loss_values(first: list, second: list) -> bool:
    """Whether two sketches may be of the same loss."""
    return same_sketch(first, second, _TOLERANCE)


def _labels_around(prediction: np.ndarray) -> list[np.ndarray]:
    """Labels for each row that are near its prediction and further away."""
    mean, spread = np.abs(prediction.mean()), prediction.std()
    if spread <= 1e-6 * mean or spread == 0:  # Equal but for rounding.
        spread = mean or 1.0
    return [prediction + distance * spread for distance in _DISTANCES]


def _values(loss: Any, places: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The loss at some rows; NaN if it has no value for one of these labels."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(loss.observed(places, labels), dtype=float)
    except Exception:  # The user's function may fail at labels that nobody has given.
        return np.full(len(places), np.nan)
