"""Frozen bundles of arrays that travel between the rooms."""

from dataclasses import dataclass

import numpy as np

from sklearn_ase._data._columns import to_frame


@dataclass(frozen=True, eq=False)
class Query:
    """Samples to be labelled.

    Attributes
    ----------
    indices : ndarray of shape (n_queries,)
        Rows of the pool, in the order in which they were picked.
    proba : ndarray of shape (n_queries,)
        Probability of each pick given the ones before it; NaN where the selection
        has none (``ArgMax``).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase import Query
    >>> len(Query(indices=np.array([4, 2]), proba=np.array([0.1, 0.3])))
    2
    """

    indices: np.ndarray
    proba: np.ndarray

    def __len__(self):
        return len(self.indices)

    def to_frame(self, X, predictions=None):
        """The rows that were asked for, for those who label them.

        Parameters
        ----------
        X : array, frame or list of shape (n_samples, ...)
            The pool.
        predictions : array-like of shape (n_samples,), default=None
            What the model says about the pool.

        Returns
        -------
        frame : pandas.DataFrame
            With the columns ``row``, the features (or ``text``), ``prediction`` if
            given, and ``query_proba``.
        """
        return to_frame(self, X, predictions)


@dataclass(frozen=True, eq=False)
class Skips:
    """Picks that nobody could label, in the order in which they were asked for.

    Attributes
    ----------
    place : ndarray of shape (n_skips,)
        Number of labels before each of them.
    query_proba, query_expected_loss, free_expected_loss, residual_moment, \
loss_moment : ndarray of shape (n_skips,)
        As in :class:`PoolState`.
    """

    place: np.ndarray
    query_proba: np.ndarray
    query_expected_loss: np.ndarray
    free_expected_loss: np.ndarray
    residual_moment: np.ndarray
    loss_moment: np.ndarray


@dataclass(frozen=True, eq=False)
class PoolState:
    """All that is known about the pool at one moment of an evaluation.

    Arrays over labels are in the order in which their rows were asked for. Each
    label comes with what was known *before* it was seen, so that every risk is a
    pure function of the state.

    Attributes
    ----------
    loss : LossTable or PointLoss
        Loss of the model at each sample, for each possible label.
    belief : CategoricalBelief, GaussianBelief or None
        What the surrogate believes about the pool; None before its first fit.
    expected_loss : ndarray of shape (n_samples,) or None
        ``g(x)``, the loss the belief expects at each sample.
    free : ndarray of shape (n_samples,), dtype bool
        Samples that have not been asked for.
    indices : ndarray of shape (n_labels,)
    labels : ndarray of shape (n_labels,)
    losses : ndarray of shape (n_labels,)
        Observed losses.
    query_proba : ndarray of shape (n_labels,)
    query_expected_loss : ndarray of shape (n_labels,)
        ``g`` at the picked sample when it was picked (0 before the first fit).
    free_expected_loss : ndarray of shape (n_labels,)
        Sum of ``g`` over the samples that were free when it was picked.
    residual_moment, loss_moment : ndarray of shape (n_labels,)
        Mean of ``((l - g) / q)²`` and of ``(l / q)²`` over pick and label, as the
        belief had it (NaN before the first fit and without query_proba).
    n_in_order : int
        How many labels from the first one on have no unanswered query before them.
        Design-based risks use these.
    skips : Skips or None
        Picks before the first unanswered one that nobody could label.
    is_calibrated : bool
        Whether the surrogate was calibrated on enough rows that vouch for it.
    training_gap : float
        Of one that was not: loss that it expected too much (if negative, too little) at
        training rows it had not learned from, beyond what chance explains. NaN if
        there are none.

    Examples
    --------
    >>> from sklearn_ase.testing import make_state
    >>> state = make_state("regression", n_samples=40, n_labels=12)
    >>> state.n_labels, int(state.free.sum())
    (12, 28)
    """

    loss: object
    belief: object
    expected_loss: np.ndarray | None
    free: np.ndarray
    indices: np.ndarray
    labels: np.ndarray
    losses: np.ndarray
    query_proba: np.ndarray
    query_expected_loss: np.ndarray
    free_expected_loss: np.ndarray
    residual_moment: np.ndarray
    loss_moment: np.ndarray
    n_in_order: int
    skips: Skips | None = None
    is_calibrated: bool = False
    training_gap: float = np.nan

    @property
    def n_samples(self):
        """Size of the pool."""
        return len(self.free)

    @property
    def n_labels(self):
        """Number of labels known."""
        return len(self.indices)
