"""Training rows that cross-validation does not cut."""


class TrainingRows:
    """Rows the surrogate may also learn from, safe from being cut.

    Cross-validation slices every fit parameter that is as long as the pool. What is
    in this holder stays whole, also under ``clone``.

    Parameters
    ----------
    X : array, sparse matrix, frame or list
    y : array-like

    Examples
    --------
    >>> from sklearn_ase import TrainingRows
    >>> TrainingRows([[0.0], [1.0]], ["cat", "dog"])
    TrainingRows(2 rows)
    """

    def __init__(self, X, y):
        self.X = X
        self.y = y

    def __sklearn_clone__(self):
        return self

    def __repr__(self):
        return f"TrainingRows({len(self.y)} rows)"
