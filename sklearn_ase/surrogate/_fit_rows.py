"""The labelled rows of one fit of a surrogate."""

from dataclasses import dataclass

import numpy as np

from sklearn_ase._data._rows import n_rows


@dataclass(frozen=True, eq=False)
class FitRows:
    """Labelled rows for one fit: training rows first, then rows of the pool.

    Attributes
    ----------
    X : array, sparse matrix or frame of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
    classes : ndarray of shape (n_classes,) or None
        All possible labels, sorted. None for regression.
    expert : ndarray of shape (n_rows, n_classes) or (n_rows,), or None
        Out-of-fold predictions of the model under test; NaN for rows without one.
    model_classes : ndarray of shape (n_classes,), dtype bool, or None
        Classes that the model under test knows.
    n_acquired : int
        How many of the last rows were acquired from the pool.
    """

    X: object
    y: np.ndarray
    classes: np.ndarray | None = None
    expert: np.ndarray | None = None
    model_classes: np.ndarray | None = None
    n_acquired: int = 0

    @property
    def n_rows(self):
        """Number of rows, training rows and acquired rows together."""
        return n_rows(self.X)

    @property
    def is_acquired(self):
        """Which rows were acquired from the pool, a mask."""
        return np.arange(self.n_rows) >= self.n_rows - self.n_acquired

    def fit_weight(self, pool_weight):
        """Return the weight of each row in the fit of the estimator.

        Parameters
        ----------
        pool_weight : float
            Weight of an acquired row; a training row has weight 1.

        Returns
        -------
        weight : ndarray of shape (n_rows,) or None
            None if all rows weigh the same.
        """
        if pool_weight == 1.0 or self.n_acquired in (0, self.n_rows):
            return None
        n_training = self.n_rows - self.n_acquired
        return np.repeat([1.0, float(pool_weight)], [n_training, self.n_acquired])

    def training_weight(self, rows_per_acquired, labels_are_drawn):
        """Return the weight of a training row where training rows say less.

        Parameters
        ----------
        rows_per_acquired : float
            All training rows together weigh as much as so many acquired rows, if there
            are more of them.
        labels_are_drawn : bool
            Whether rows were acquired with known probabilities.

        Returns
        -------
        weight : float
            An acquired row has weight 1.
        """
        if not rows_per_acquired > 0:
            raise ValueError(f"rows_per_acquired={rows_per_acquired} must be > 0.")
        # Acquired rows are few, but only they come from the population that is
        # evaluated. Without this weight many training rows would decide alone.
        n_training = max(self.n_rows - self.n_acquired, 1)
        n_worth = rows_per_acquired
        if not labels_are_drawn:
            # Rows that were chosen for their scores are unlike the rest of the pool.
            # The more of them there are, the more is the rest like training rows.
            n_worth = 2.0 * self.n_acquired**2 / rows_per_acquired
        return min(1.0, n_worth / n_training)


def take_columns(columns, rows):
    """Some rows of several columns, of which some may be None."""
    return [None if column is None else column[rows] for column in columns]
