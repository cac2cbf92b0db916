"""From a chunk of rows to the few numbers per row that stay."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sklearn_ase._data._built_loss import build_loss
from sklearn_ase._data._on_demand import Asking
from sklearn_ase.belief import TrainingWorth

# Covariance of the loss at a row with the pool risk over the members, and the variance
# of that loss.
MEMBER_COLUMNS = ("risk_covariance", "member_variance")


@dataclass(frozen=True, eq=False)
class Reading:
    """How rows are read: which model is asked, and what is kept.

    Attributes
    ----------
    asking : Asking
    classes : ndarray of shape (n_classes,) or None
    reads : tuple of str
        Further columns: "disagreement", "weighted_disagreement" and those of the
        members, `MEMBER_COLUMNS`.
    keeps : Keeps or None
        What questions need besides.
    responses : ReadResponse or None
        With `keeps`: what metrics read of the predictions.
    member_risk : ndarray of shape (n_members,) or None
        Pool risk that each member expects, for the columns of the members.
    """

    asking: Asking
    classes: np.ndarray | None
    reads: tuple = ()
    keeps: object = None
    responses: object = None
    member_risk: np.ndarray | None = None

    @property
    def names(self):
        """Names of all columns that are kept."""
        asked = () if self.keeps is None else self.keeps.names
        return ("expected", "variance", *self.reads, *asked)

    def at(self, rows):
        """The same for some rows of the pool.

        Parameters
        ----------
        rows : slice
        """
        if self.keeps is None:
            return self
        return replace(self, keeps=self.keeps.at(rows))

    def loss_of(self, predictions):
        """Loss of the model at some rows, given its predictions."""
        return build_loss(self.asking.loss, predictions, self.classes)


@dataclass(frozen=True, eq=False)
class PoolSums:
    """Sums over rows, from which everything that belongs to the whole pool is made.

    Attributes
    ----------
    n_rows : int
    member_risk : ndarray of shape (n_members,)
        Sum of the loss that each member expects.
    by_class : ndarray of shape (n_classes,) or None
        Sum of the expected loss that comes from each class.
    loss_ends : tuple of two float
        Least and greatest entry of the loss table; 0 for regression.
    worth : TrainingWorth or None
        Its risk is a sum.
    is_gaussian : bool
        Whether the belief is about numbers.
    """

    n_rows: int
    member_risk: np.ndarray
    by_class: np.ndarray | None
    loss_ends: tuple
    worth: TrainingWorth | None
    is_gaussian: bool

    @classmethod
    def of(cls, belief, loss):
        """Sums over the rows of one chunk."""
        n_rows, worth, by_class, ends = belief.n_samples, None, None, (0.0, 0.0)
        if belief.training_worth is not None:
            worth = belief.training_worth.plus(None, n_rows)
        if not belief.is_gaussian:
            by_class = belief.risk_by_class(loss)
            ends = float(loss.values.min()), float(loss.values.max())
        members = n_rows * np.asarray(belief.member_risk)
        return cls(n_rows, members, by_class, ends, worth, belief.is_gaussian)

    def plus(self, other):
        """Sums over the rows of both."""
        if other is None:
            return self
        by_class = None if self.by_class is None else self.by_class + other.by_class
        worth = None if self.worth is None else self.worth.plus(other.worth, 1.0)
        (least, most), (low, high) = self.loss_ends, other.loss_ends
        ends = min(least, low), max(most, high)
        return PoolSums(
            self.n_rows + other.n_rows,
            self.member_risk + other.member_risk,
            by_class,
            ends,
            worth,
            self.is_gaussian,
        )


def reduce_chunk(rows, given, reading, surrogate):
    """Ask model and surrogate about some rows, and keep a few numbers of each.

    Parameters
    ----------
    rows : array, sparse matrix, frame, list or torch dataset
    given : array-like, frame or None
        Predictions of the model for these rows, if they are known.
    reading : Reading
    surrogate : BaseSurrogate
        Fitted.

    Returns
    -------
    columns : list of ndarray of shape (n_rows,)
        In the order of ``reading.names``.
    sums : PoolSums
    """
    predictions = reading.asking(rows, given)
    loss = reading.loss_of(predictions)
    expert, risk = predictions.expert_for(reading.classes), reading.member_risk
    belief = surrogate.belief(
        surrogate.prepare_other(rows), loss, expert, keep_member_loss=risk is not None
    )
    columns = [*moments_of(belief, loss, type(surrogate).__name__)]
    if "disagreement" in reading.reads:
        columns.append(belief.disagreement())
    if "member_variance" in reading.reads:
        columns.append(belief.member_loss.var(axis=0))
    if "risk_covariance" in reading.reads:
        columns.append((risk - risk.mean()) @ belief.member_loss / len(risk))
    if "weighted_disagreement" in reading.reads:
        columns.append(belief.weighted_disagreement(loss))
    if reading.keeps is not None:
        response_of = partial(reading.responses.of, rows, predictions)
        columns.extend(reading.keeps.columns(belief, reading.classes, response_of))
    return columns, PoolSums.of(belief, loss)


def moments_of(belief, loss, name):
    """Mean and variance of the loss at each row, checked.

    Parameters
    ----------
    belief : CategoricalBelief or GaussianBelief
        It may come from a user's surrogate.
    loss : LossTable or PointLoss
    name : str
        Of the surrogate, for the message.

    Returns
    -------
    expected, variance : ndarray of shape (n_samples,)
    """
    if not hasattr(belief, "expected_loss"):
        raise TypeError(
            f"{name}.belief must return a CategoricalBelief or a GaussianBelief, but "
            f"returned {belief!r}."
        )
    moments = belief.expected_loss(loss), belief.loss_variance(loss)
    for values in map(np.asarray, moments):
        shape = (loss.n_samples,)
        if values.shape != shape or not np.isfinite(values).all():
            raise ValueError(
                f"{name}.belief must expect a finite loss at each row of the pool, "
                f"shape {shape}, but has shape {values.shape} with "
                f"{np.sum(~np.isfinite(values))} values that are not finite. Look at "
                "what the surrogate predicts."
            )
    return moments
