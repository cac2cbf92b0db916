"""What stays of a pool that is read in chunks, in the place of loss and belief."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sklearn_ase._pool._keeps import ReadBelief
from sklearn_ase._pool._reduction import PoolSums

_ADVICE = (
    "The pool is read in chunks (store='chunks'), which keeps a few numbers of each "
    "row and no table of its classes or members. Use store='tables'; labels "
    "that were bought are not lost: start(X, ..., ledger=evaluation.ledger)."
)


class TablesNeededError(ValueError, AttributeError):
    """Raised for what a pool that is read in chunks does not have."""


def tables_needed(what):
    """Return the error for something that needs tables with all rows.

    Parameters
    ----------
    what : str
        Begins a sentence, such as "compare()".

    Returns
    -------
    error : TablesNeededError
    """
    return TablesNeededError(
        f"{what} needs a table with a row for each sample. {_ADVICE}"
    )


class _Kept:
    """An object that says what to do if it is asked for what was not kept."""

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        raise tables_needed(f"{type(self).__name__}.{name}")


@dataclass(frozen=True, eq=False)
class KeptBelief(_Kept):
    """What stays of a belief.

    Attributes
    ----------
    columns : dict of str to column of shape (n_samples,)
        "expected" and "variance" of the loss, and further ones that the acquisition
        reads. A column is an array or, on a cluster, a :class:`PartedColumn`.
    sums : PoolSums or None
        None for a part of the pool.
    asked : ReadBelief or None
        What the pass kept for questions.
    cache : dict
        What was computed from the columns once.
    """

    columns: dict
    sums: PoolSums | None = None
    asked: ReadBelief | None = None
    member_loss: None = field(default=None, init=False)
    cache: dict = field(default_factory=dict, init=False)

    @property
    def n_samples(self):
        """Number of samples the belief is about."""
        return len(self.columns["expected"])

    @property
    def is_gone(self):
        """Whether the columns lay on a cluster that has forgotten them."""
        return getattr(self.columns, "is_gone", False)

    @property
    def is_gaussian(self):
        """Whether it is about numbers."""
        return self.sums.is_gaussian

    @cached_property
    def member_risk(self):
        """Pool risk expected by each member, of shape (n_members,)."""
        return self.sums.member_risk / self.sums.n_rows

    @cached_property
    def training_worth(self):
        """How much the training rows count; None without a calibration."""
        worth = self.sums.worth
        return None if worth is None else worth.plus(None, 1.0 / self.sums.n_rows)

    def expected_loss(self, loss=None):
        """``g(x)``, of shape (n_samples,)."""
        return self.columns["expected"]

    def loss_variance(self, loss=None):
        """Variance of the loss over the belief, of shape (n_samples,)."""
        return self.columns["variance"]

    def disagreement(self):
        """BALD, of shape (n_samples,), if the acquisition reads it."""
        return self._column("disagreement")

    def weighted_disagreement(self, loss=None):
        """XWED, of shape (n_samples,), if the acquisition reads it."""
        return self._column("weighted_disagreement")

    def risk_covariance(self):
        """Covariance of the pool risk with the loss at each row, over the members."""
        return self._column("risk_covariance")

    def member_variance(self):
        """Variance over the members of the loss that they expect, (n_samples,)."""
        return self._column("member_variance")

    def risk_by_class(self, loss=None):
        """Sum of the expected loss that comes from each class, (n_classes,)."""
        return self.sums.by_class

    def _column(self, name):
        if name not in self.columns:
            raise tables_needed(f"belief.{name}()")
        return self.columns[name]


class LossOnDemand(_Kept):
    """Loss of the model at rows of a pool, built when it is asked for.

    It takes the place of a :class:`LossTable` or a :class:`PointLoss`.

    Parameters
    ----------
    pool : PartedPool
    reading : Reading
    """

    def __init__(self, pool, reading):
        self._pool, self._reading = pool, reading
        self.n_samples = pool.n_samples
        probe = self.take(np.zeros(1, dtype=int))
        self.is_bounded = probe.is_bounded
        self._is_table = hasattr(probe, "values")
        if not (self._is_table and self.is_bounded and probe.min_loss > 0):
            self.min_loss = 0.0
        if not self._is_table:
            self.loss = probe.loss
        if self.is_bounded or not self._is_table:
            self.max_loss = probe.max_loss

    @cached_property
    def max_loss(self):
        """The greatest value of the loss, or of the table if there is none."""
        return self._pool.loss_ends(self._reading)[1]

    @cached_property
    def min_loss(self):
        """The least value of the table if the loss has a greatest value, else 0."""
        return self._pool.loss_ends(self._reading)[0]

    def take(self, rows):
        """The loss of some of the samples, a LossTable or a PointLoss."""
        return self._reading.loss_of(self._pool.predictions.at(rows))

    def observed(self, indices, labels):
        """Loss at the given samples once their labels are known."""
        places = np.arange(len(indices))
        return self.take(np.asarray(indices)).observed(places, labels)


class RowCount(_Kept):
    """Stands for the loss at a part of the pool.

    Parameters
    ----------
    n_samples : int
    """

    def __init__(self, n_samples):
        self.n_samples = n_samples
