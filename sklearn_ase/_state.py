"""What strategies see: queries, picks and the state of the pool."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._data._rows import to_frame
from sklearn_ase._utils._typing import Bools, Floats, Ints, Rows

if TYPE_CHECKING:
    from pandas import DataFrame


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

    indices: Ints
    proba: Floats

    def __len__(self) -> int:
        return len(self.indices)

    def to_frame(self, X: Rows, predictions: ArrayLike | None = None) -> DataFrame:
        """Return the rows that were asked for as a table, for those who label them.

        Parameters
        ----------
        X : array, frame or list of shape (n_samples, ...)
            The pool.
        predictions : array-like of shape (n_samples,), default=None
            Predictions of the model for the pool.

        Returns
        -------
        frame : pandas.DataFrame
            With the columns ``row``, the features (or ``text``), ``prediction`` if
            given, and ``query_proba``.
        """
        return to_frame(self, X, predictions)


@dataclass(frozen=True, eq=False, repr=False)
class Picks:
    """What was asked for, in order, with what was known before each answer.

    All arrays have one entry per pick. What the surrogate expected of a pick may be a
    vector, one number for each quantity that is estimated; its arrays then have the
    shape (n_picks, n_quantities).

    Attributes
    ----------
    indices : ndarray of shape (n_picks,)
        Rows of the pool.
    query_proba : ndarray of shape (n_picks,)
        Probability of each pick given the ones before it; NaN where it had none.
    expected_loss : ndarray of shape (n_picks,)
        ``g`` at the picked row when it was picked; 0 before the surrogate's first fit.
    free_expected_loss : ndarray of shape (n_picks,)
        Sum of ``g`` over the rows that were free, the picked one included.
    residual_moment, loss_moment : ndarray of shape (n_picks,)
        Mean of ``((l - g) / q)²`` and of ``(l / q)²`` over pick and label, as the
        belief had it. NaN before the first fit and without `query_proba`.
    max_inverse_proba, max_expected_ratio : ndarray of shape (n_picks,)
        Greatest ``1 / q`` and ``g / q`` of any row that could have been picked. They
        bound what a pick can do to an estimate. NaN where nothing is known of them.
    losses : ndarray of shape (n_picks,)
        Observed losses; 0 where there is no label.
    answered : ndarray of shape (n_picks,), dtype bool
        Whether there is a label.
    skipped : ndarray of shape (n_picks,), dtype bool
        Whether nobody could label the row. Picks that are neither answered nor skipped
        are open.

    Examples
    --------
    >>> from sklearn_ase.testing import make_state
    >>> picks = make_state(n_labels=12).picks
    >>> len(picks), picks.n_labels, picks.n_skipped
    (12, 12, 0)
    """

    indices: np.ndarray
    query_proba: np.ndarray
    expected_loss: np.ndarray
    free_expected_loss: np.ndarray
    residual_moment: np.ndarray
    loss_moment: np.ndarray
    max_inverse_proba: np.ndarray
    max_expected_ratio: np.ndarray
    losses: np.ndarray
    answered: np.ndarray
    skipped: np.ndarray

    @classmethod
    def unanswered(
        cls,
        indices: ArrayLike,
        query_proba: ArrayLike,
        expected_loss: ArrayLike,
        free_expected_loss: ArrayLike,
        residual_moment: ArrayLike,
        loss_moment: ArrayLike,
        max_inverse_proba: ArrayLike | None = None,
        max_expected_ratio: ArrayLike | None = None,
    ) -> Self:
        """Make picks that nobody has answered yet; see the attributes.

        The last two may be left out. Ledgers of older versions lack them.

        Returns
        -------
        picks : Picks
        """
        rows = np.asarray(indices, dtype=int)
        none, unknown = (np.full(len(rows), v) for v in (False, np.nan))
        known = query_proba, expected_loss, free_expected_loss, residual_moment
        limits = (max_inverse_proba, max_expected_ratio)
        found = (unknown if limit is None else limit for limit in limits)
        columns = (np.asarray(v, dtype=float) for v in (*known, loss_moment, *found))
        return cls(*[rows, *columns, np.zeros(len(rows)), none, none])

    def __len__(self) -> int:
        return len(self.indices)

    def followed_by(self, other: Picks) -> Picks:
        """Return these picks and later ones.

        Parameters
        ----------
        other : Picks

        Returns
        -------
        picks : Picks
        """
        if not len(self):
            return other
        names = [f.name for f in fields(self)]
        columns = ([getattr(each, name) for each in (self, other)] for name in names)
        return Picks(*map(np.concatenate, columns))

    @cached_property
    def n_labels(self) -> int:
        """Number of picks with a label."""
        return int(self.answered.sum())

    @cached_property
    def n_skipped(self) -> int:
        """Number of picks that nobody could label."""
        return int(self.skipped.sum())

    @cached_property
    def has_query_proba(self) -> bool:
        """Whether every pick had a probability."""
        return not np.isnan(self.query_proba).any()

    def take(self, places: slice | np.ndarray) -> Picks:
        """Return some of the picks.

        Parameters
        ----------
        places : slice or ndarray
            Places among the picks, not rows of the pool.

        Returns
        -------
        picks : Picks
        """
        columns = {f.name: getattr(self, f.name)[places] for f in fields(self)}
        for column in columns.values():
            column.setflags(write=False)  # Strategies of users get them.
        return Picks(**columns)


# Fields of `Picks` that are known before an answer; the ledger keeps these.
RECORDED = (
    "indices",
    "query_proba",
    "expected_loss",
    "free_expected_loss",
    "residual_moment",
    "loss_moment",
    "max_inverse_proba",
    "max_expected_ratio",
)


@dataclass(frozen=True, eq=False, repr=False)
class PoolState:
    """Everything that is known about the pool at one moment of an evaluation.

    Each label comes with what was known *before* it was seen, so that every risk
    estimator is a pure function of the state.

    Attributes
    ----------
    loss : LossTable, PointLoss or RowValues
        Loss of the model at each sample, for each possible label; or the values that
        take its place.
    belief : CategoricalBelief, GaussianBelief or None
        What the surrogate believes about the pool; None before its first fit.
    expected_loss : ndarray of shape (n_samples,) or None
        ``g(x)``, the loss that the belief expects at each sample.
    picks : Picks
        What was asked for, in order, and what became of it.
    labels : ndarray of shape (n_labels,)
        Labels in the order of `picks`.
    is_calibrated : bool
        Whether the surrogate was calibrated on at least 25 rows for which the model
        has predictions.
    training_gap : float
        For an uncalibrated surrogate: mean of expected minus observed loss on training
        rows that it did not learn from, shrunk towards 0 by two standard errors. NaN if
        unavailable.
    training_tail : float
        How heavy the tail of an unbounded loss is at training rows; NaN if unavailable.
    variance : ndarray of shape (n_samples,) or None
        Of the values that take the place of the loss; None for a loss, whose variance
        the belief knows. See :attr:`loss_variance`.
    weight : ndarray of shape (n_samples,) or None
        How much each row counts, with mean 1; the values are multiplied by it. None
        means that all count the same.
    epochs : tuple of Epoch
        Which rows could have been picked when, and with what probability; empty for
        the loss, of which `picks` say all.
    is_question : bool
        Whether values of another question take the place of the loss. They may be
        negative.
    is_part : bool
        Whether these values are one of several means of a metric. Nobody asks for the
        interval of such a mean.
    is_cross_fitted : bool
        Whether what was expected of each pick is what the surrogate believes now, as if
        the row had no label. It then knows labels of later picks.
    models : ModelsView or None
        Several models that are compared; None for one model.
    inclusion_proba : ndarray of shape (n_samples,) or None
        Probability with which each row of the pool was drawn from a larger source.
        None if the pool is all there is.

    Examples
    --------
    >>> from sklearn_ase.testing import make_state
    >>> state = make_state("regression", n_samples=40, n_labels=12)
    >>> state.n_labels, int(state.free.sum())
    (12, 28)
    """

    loss: Any
    belief: Any
    expected_loss: np.ndarray | None
    picks: Picks
    labels: np.ndarray
    is_calibrated: bool = False
    training_gap: float = np.nan
    training_tail: float = np.nan
    is_question: bool = False
    is_part: bool = False
    is_cross_fitted: bool = False
    models: Any = None
    inclusion_proba: Floats | None = None
    variance: Floats | None = None
    weight: Floats | None = None
    epochs: tuple[Any, ...] = ()

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """What was computed from this state alone, by name; a dict."""
        return {}

    @cached_property
    def n_samples(self) -> int:
        """Size of the pool."""
        return self.loss.n_samples

    @cached_property
    def loss_variance(self) -> Floats:
        """Variance of the loss at each sample under the belief, (n_samples,)."""
        if self.variance is not None:
            return self.variance
        return self.belief.loss_variance(self.loss)

    @cached_property
    def distance(self) -> Floats:
        """How much the label of each sample may matter, of shape (n_samples,).

        The expected loss; for other values, how far they are expected to be from their
        mean over the pool.
        """
        expected: Any = self.expected_loss
        if not self.is_question:
            return expected
        return np.sqrt((expected - expected.mean()) ** 2 + self.loss_variance)

    def weighted_disagreement(self) -> Floats:
        """XWED: disagreement of the members, weighted by loss or distance.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        if not self.is_question:
            return self.belief.weighted_disagreement(self.loss)
        table, expected = getattr(self.loss, "values", None), self.expected_loss
        if table is None or expected is None:
            return self.belief.disagreement() * self.distance
        gap = np.abs(table - expected.mean())
        return np.einsum("nc,nc->n", self.belief.class_disagreement, gap)

    @property
    def n_labels(self) -> int:
        """Number of labels known."""
        return len(self.labels)

    @property
    def n_free(self) -> int:
        """Number of samples that have not been asked for."""
        return self.n_samples - len(self.picks)

    @cached_property
    def free(self) -> Bools:
        """Samples that have not been asked for, a mask of shape (n_samples,)."""
        free = np.ones(self.n_samples, dtype=bool)
        free[self.picks.indices] = False
        free.setflags(write=False)  # It decides which rows may be picked.
        return free

    @cached_property
    def labelled(self) -> Picks:
        """The picks that have a label, in order."""
        return self.picks.take(self.picks.answered)

    @cached_property
    def settled(self) -> Picks:
        """The picks before the first open one. Weighted estimates use these."""
        picks = self.picks
        is_open = ~(picks.answered | picks.skipped)
        return picks.take(slice(int(np.argmax(is_open)))) if is_open.any() else picks

    @property
    def indices(self) -> Ints:
        """Rows that have a label, in the order of the picks."""
        return self.labelled.indices

    @property
    def losses(self) -> Floats:
        """Observed losses, in the order of the picks."""
        return self.labelled.losses
