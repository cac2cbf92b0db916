"""What a start is given: rows, predictions, costs and weights, checked once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_ase._data._problem import TrainingRows
from sklearn_ase._data._rows import RowOrder, n_rows
from sklearn_ase._data._validation import (
    check_cost,
    check_rows,
    check_same_kind,
    check_weight,
    row_numbers,
)

if TYPE_CHECKING:
    from sklearn_ase._data._sampling import PoolSample


@dataclass(frozen=True, eq=False)
class Inputs:
    """The data of an evaluation or a choice, as they were given.

    Attributes
    ----------
    X : array, sparse matrix, frame or list
        The pool; numbers of rows if there are no features.
    has_features : bool
    X_train, y_train : rows the surrogate may also learn from, or None
    predictions : array-like, frame or None; or dict of str to these, or None
        Of the model under test, or of several by their names.
    train_predictions : array-like or None
    experts : array-like, or dict of str to array-like, or None
    cost, sample_weight : ndarray of shape (n_samples,) or None
        The weights count the rows of the source, if the pool is a sample of it.
    order : RowOrder
        Of the rows of X, as the index of the given X says it.
    sample : PoolSample or None
    """

    X: Any
    has_features: bool
    X_train: Any
    y_train: Any
    predictions: Any
    train_predictions: Any
    experts: Any
    cost: np.ndarray | None
    sample_weight: np.ndarray | None
    order: RowOrder
    sample: PoolSample | None

    @classmethod
    def of(
        cls,
        owner: Any,
        X: Any,
        sample: PoolSample | None = None,
        *,
        X_train: Any = None,
        y_train: Any = None,
        predictions: Any = None,
        train_predictions: Any = None,
        experts: Any = None,
        cost: Any = None,
        sample_weight: Any = None,
        number_rows: Callable[..., np.ndarray] = row_numbers,
    ) -> Inputs:
        """Check that everything has an entry for each row, in the same order."""
        if sample is not None:
            predictions = sample.entries_of(predictions, "predictions")
            experts = sample.entries_of(experts, "experts")
            cost = sample.entries_of(cost, "cost")
            sample_weight = sample.entries_of(sample_weight, "sample_weight")
        check_same_kind(X_train, X)
        has_features = X is not None
        about = {"predictions": predictions, "experts": experts}
        if not has_features:
            X = number_rows(experts, predictions)
        order = RowOrder.of(**({"X": X} if has_features else about))
        order.check(**about, cost=cost, sample_weight=sample_weight)
        # Several models without features leave no trace of any on their owner.
        if has_features or not isinstance(predictions, Mapping):
            X = check_rows(owner, X, reset=True)
        weight = check_weight(sample_weight, n_rows(X))
        if isinstance(X_train, TrainingRows):
            X_train, y_train = X_train.X, X_train.y
        training_order = RowOrder.of(X_train=X_train)
        training_order.check(y_train=y_train, train_predictions=train_predictions)
        return cls(
            X=X,
            has_features=has_features,
            X_train=X_train,
            y_train=y_train,
            predictions=predictions,
            train_predictions=train_predictions,
            experts=experts,
            cost=check_cost(cost, n_rows(X)),
            sample_weight=weight if sample is None else sample.weighted(weight),
            order=order,
            sample=sample,
        )

    @property
    def n_samples(self) -> int:
        """Size of the pool."""
        return n_rows(self.X)

    @property
    def n_named(self) -> int:
        """Number of rows that have names: those of the source of a sample."""
        return self.n_samples if self.sample is None else self.sample.n_source_rows
