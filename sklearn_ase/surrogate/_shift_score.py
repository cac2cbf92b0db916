"""How much more common rows like a given one are in the pool than in training."""

import math

import numpy as np
from scipy import sparse
from scipy.special import logit
from sklearn.ensemble import ExtraTreesClassifier

from sklearn_ase._data._row_source import RowSource
from sklearn_ase._data._rows import is_frame, n_rows, stack_rows, take_rows

# Rows of each kind that are compared; more would take longer and tell little more.
_MOST_ROWS = 5000
_N_TREES = 30
# Leaves this large hardly remember single rows, so that rows need not be held out: a
# share of all rows, but at least so many.
_LEAF_SHARE, _LEAST_LEAF = 0.03, 20
_LEAST_ROWS = 50
# Beyond this logarithm of a ratio the number of rows is all that it shows.
_GREATEST = 2.0


class ShiftScore:
    """Logarithm of the ratio of two densities: rows of the pool to training rows.

    Trees learn to tell rows of the pool from training rows, without any labels. Where
    nothing has shifted the score is close to 0 everywhere.

    Parameters
    ----------
    X : ndarray, sparse matrix or frame of numbers, shape (n_samples, n_features)
        The pool, or a :class:`RowSource` of such rows.
    X_train : same kind as X, shape (n_training, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.surrogate._shift_score import ShiftScore
    >>> X_train, X = np.linspace([0.0], [1.0], 200), np.linspace([0.0], [2.0], 400)
    >>> score = ShiftScore(X, X_train).score(np.array([[0.5], [1.5]]))
    >>> bool(score[1] > score[0] + 1.0)
    True
    """

    def __init__(self, X, X_train):
        rng = np.random.default_rng(0)
        pool, training = (_numbers(_some_rows(rows, rng)) for rows in (X, X_train))
        n_pool, n_training = pool.shape[0], training.shape[0]
        is_pool = np.repeat([True, False], [n_pool, n_training])
        leaf = max(_LEAST_LEAF, math.ceil(_LEAF_SHARE * len(is_pool)))
        self._trees = ExtraTreesClassifier(
            _N_TREES, max_features=0.3, min_samples_leaf=leaf, random_state=0
        )
        self._trees.fit(stack_rows(pool, training), is_pool)
        equal = np.log(n_pool / n_training)
        gap = np.clip(self._log_odds(training) - equal, -_GREATEST, _GREATEST)
        self._offset = equal + gap.mean()

    def score(self, X):
        """Return the score of each row, of shape (n_rows,).

        It is 0 for training rows on average.
        """
        rows = _numbers(X)
        rows = np.asarray(X, dtype=float) if rows is None else rows
        return np.clip(self._log_odds(rows) - self._offset, -_GREATEST, _GREATEST)

    def _log_odds(self, rows):
        share = self._trees.predict_proba(rows)[:, 1]
        return logit(np.clip(share, 0.01, 0.99))


def can_compare(X, X_train):
    """Whether both are tables of numbers, with sufficient rows to compare them."""
    if X_train is None or min(n_rows(X), n_rows(X_train)) < _LEAST_ROWS:
        return False
    tables = (X.head() if isinstance(X, RowSource) else X), X_train
    return all(rows is not None and rows.ndim == 2 for rows in map(_numbers, tables))


def _numbers(rows):
    """The rows as an array or sparse matrix of numbers; None if they are not."""
    if is_frame(rows):
        rows = np.asarray(rows)
    is_array = isinstance(rows, np.ndarray) or sparse.issparse(rows)
    if not is_array or rows.dtype.kind not in "biuf":
        return None
    values = rows.data if sparse.issparse(rows) else rows
    # Trees compute in single precision and refuse what is too large for it.
    greatest = np.finfo(np.float32).max
    if rows.dtype == np.float64 and np.any(np.abs(values) > greatest):
        rows = rows.copy()
        values = rows.data if sparse.issparse(rows) else rows
        np.clip(values, -greatest, greatest, out=values)
    return rows


def _some_rows(rows, rng):
    size = n_rows(rows)
    if size <= _MOST_ROWS and not isinstance(rows, RowSource):
        return rows
    chosen = np.arange(size)
    if size > _MOST_ROWS:
        chosen = rng.choice(size, _MOST_ROWS, replace=False)
    is_source = isinstance(rows, RowSource)
    return rows.take_once(chosen) if is_source else take_rows(rows, chosen)
