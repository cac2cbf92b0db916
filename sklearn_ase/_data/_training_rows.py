"""Training rows that cross-validation does not split."""

from __future__ import annotations

from numpy.typing import ArrayLike

from sklearn_ase._utils._typing import Rows


class TrainingRows:
    """Training rows for the surrogate that cross-validation leaves whole.

    Cross-validation splits every fit parameter that has as many rows as the pool. Rows
    in this container are passed on whole; ``clone`` does not copy them.

    Parameters
    ----------
    X : array, sparse matrix, frame or list of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)

    Examples
    --------
    >>> from sklearn_ase import TrainingRows
    >>> TrainingRows([[0.0], [1.0]], ["cat", "dog"])
    TrainingRows(2 rows)
    """

    def __init__(self, X: Rows, y: ArrayLike) -> None:
        self.X = X
        self.y = y

    def __sklearn_clone__(self):
        return self

    def __repr__(self):
        return f"TrainingRows({len(self.y)} rows)"
