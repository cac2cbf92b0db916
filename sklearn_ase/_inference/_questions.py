"""The state of the pool for a question that was asked after rows were picked.

Rows were picked with known probabilities, whatever is asked of their labels. So the
mean of any values at the rows has unbiased one-step estimates, as the mean loss has.
The surrogate's part in a step may be any belief from labels before it. A few such
beliefs are kept, each for a run of picks: an epoch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_ase._inference._steps import with_several_answers
from sklearn_ase._inference._tails import tail_for
from sklearn_ase._state import Picks, PoolState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn_ase.metrics._row_values import RowValues

# The arrays of this file. N rows of the pool, M picks, L labels.
#
#   observed (L,)            values at the rows that have a label
#   expected, variance (N,)  mean and variance of the values under a belief
#   inverse_proba (N,)       1 / q of each row as the next pick; 0 if it cannot be one
#   weight (N,)              how much each row counts, with mean 1

# Labels that the believed variance counts for.
_DISPERSION_LABELS = 5.0


def question_state(
    state: PoolState,
    values: RowValues,
    epochs: Sequence[Epoch],
    observed: np.ndarray,
    with_labels: bool = True,
    weight: np.ndarray | None = None,
    cache: dict | None = None,
    noise: tuple[np.ndarray, np.ndarray] | None = None,
) -> PoolState:
    """State of the pool for other values than the loss."""
    picks, expected, variance = state.picks, None, None
    losses = np.zeros(len(picks))
    losses[picks.answered] = observed
    if state.belief is not None:
        if with_labels:
            expected, variance = moments_with_labels(state, values, observed)
        else:
            expected, variance = values.moments(state.belief)
    columns = _columns_of_picks(picks, values, epochs, {} if cache is None else cache)
    if state.is_cross_fitted and epochs:
        # The belief is that of today, so the labels say whether its variance is right.
        belief: Any = epochs[0].belief
        believed = values.moments(belief)[1][picks.indices]
        columns["residual_moment"] *= _dispersion(
            (losses - columns["expected_loss"])[picks.answered],
            believed[picks.answered],
        )
    picks = Picks(
        indices=picks.indices,
        query_proba=picks.query_proba,
        max_inverse_proba=picks.max_inverse_proba,
        losses=losses,
        answered=picks.answered,
        skipped=picks.skipped,
        **columns,
    )
    return PoolState(
        loss=values,
        belief=state.belief,
        expected_loss=expected,
        variance=variance,
        weight=weight,
        epochs=tuple(epochs),
        picks=with_several_answers(picks, noise),
        labels=state.labels,
        is_calibrated=state.is_calibrated,
        is_question=True,
        is_cross_fitted=state.is_cross_fitted,
        training_tail=tail_for(values, state),
        inclusion_proba=state.inclusion_proba,
    )


@dataclass(frozen=True, eq=False)
class StateOf:
    """A function from values at each row to the state of the pool for their mean.

    Attributes
    ----------
    state : PoolState
        Of the loss of the evaluation.
    epochs : list of Epoch
        With a column for each class.
    more_labels : dict of int to list
        Further answers for some rows.
    weight : ndarray of shape (n_samples,) or None
        How much each row counts.
    with_labels : bool
        Whether the belief knows the labels.
    cache : dict or None
        Keeps what was computed for epochs that have ended.
    """

    state: PoolState
    epochs: Sequence[Epoch]
    more_labels: dict[int, list]
    weight: np.ndarray | None = None
    with_labels: bool = True
    cache: dict | None = None

    def observed(self, values: RowValues) -> np.ndarray:
        """Values at the rows that have a label."""
        state = self.state
        return observed_values(values, state.indices, state.labels, self.more_labels)

    def expected(self, values: RowValues) -> np.ndarray | None:
        """Expected values at each row, (n_samples,); None without a belief."""
        if self.state.belief is None:
            return None
        if not self.with_labels:
            return values.moments(self.state.belief)[0]
        return moments_with_labels(self.state, values, self.observed(values))[0]

    def __call__(self, values: RowValues) -> PoolState:
        state = self.state
        noise = answer_noise(values, state.indices, state.labels, self.more_labels)
        return question_state(
            state,
            values,
            self.epochs,
            self.observed(values),
            with_labels=self.with_labels,
            weight=self.weight,
            cache=self.cache,
            noise=noise,
        )


def observed_values(
    loss, indices: np.ndarray, labels: np.ndarray, more_labels: dict[int, list]
) -> np.ndarray:
    """Value at each labelled row, the mean over its answers."""
    if not len(indices):
        return np.empty(0)
    losses = np.array(loss.observed(indices, labels))
    for place, others in _further(loss, indices, more_labels):
        losses[place] = (losses[place] + others.sum()) / (len(others) + 1)
    return losses


def answer_noise(
    loss, indices, labels, more_labels
) -> tuple[np.ndarray, np.ndarray] | None:
    """Number of answers at each labelled row, and how much their values differ."""
    if not any(more_labels.values()) or not len(indices):
        return None
    first = np.asarray(loss.observed(indices, labels))
    counts, within = np.ones(len(indices)), np.zeros(len(indices))
    for place, others in _further(loss, indices, more_labels):
        counts[place] = len(others) + 1
        within[place] = np.var([first[place], *others], ddof=1)
    return counts, within


def _further(loss, indices, more_labels):
    """Place of each row with several answers, and the values of the further ones."""
    places = {index: place for place, index in enumerate(indices.tolist())}
    for index, more in more_labels.items():
        if more and index in places:
            rows = np.full(len(more), index)
            yield places[index], np.asarray(loss.observed(rows, np.array(more)))


# Columns of `Picks` that depend on the question.
_COLUMNS = (
    "expected_loss",
    "free_expected_loss",
    "residual_moment",
    "loss_moment",
    "max_expected_ratio",
)


def moments_with_labels(
    state: PoolState, values: RowValues, observed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of values under the belief, known where there is a label."""
    expected, variance = (np.array(part) for part in values.moments(state.belief))
    expected[state.indices], variance[state.indices] = observed, 0.0
    return expected, variance


def _columns_of_picks(picks, values, epochs, cache):
    """What was expected of each pick, as if the question had been asked before."""
    n_picks = len(picks)
    starts = [epoch.start for epoch in epochs]
    n_before = min(*starts, n_picks) if starts else n_picks
    none, unknown = np.zeros(n_before), np.full(n_before, np.nan)
    found = [[none, none, unknown, unknown, none]]
    for epoch, end in zip(epochs, [*starts[1:], n_picks], strict=False):
        key = values, epoch.belief, epoch.start, end
        part = cache.get(key)
        if part is None:
            part = _columns_of_epoch(picks, values, epoch, end)
        if end < n_picks:
            cache[key] = part
        found.append(part)
    columns = [np.concatenate(column) for column in zip(*found, strict=True)]
    for column in columns[2:4]:
        column[np.isnan(picks.query_proba)] = np.nan
    return dict(zip(_COLUMNS, columns, strict=True))


def _columns_of_epoch(picks, values, epoch, end):
    """What was expected of each pick of one epoch, in the order of `_COLUMNS`."""
    expected, variance = values.moments(epoch.belief)
    free = np.ones(values.n_samples)
    free[picks.indices[: epoch.start]] = 0.0
    inverse = free * epoch.inverse_proba
    here = slice(epoch.start, end)
    rows = picks.indices[here]
    square = variance * inverse
    # The exact g / q is not known for all rows, but it is never greater.
    greatest = np.max(expected, where=free > 0, initial=0.0)
    return [
        expected[rows],
        _left(expected, free, rows),
        _left(square, free, rows),
        _left(square + expected**2 * inverse, free, rows),
        greatest * picks.max_inverse_proba[here],
    ]


def _dispersion(residuals, variance):
    """How great squared residuals are beside what is believed, at most 1."""
    before = _DISPERSION_LABELS * variance.max(initial=0.0)
    total = variance.sum() + before
    return min((residuals @ residuals + before) / total, 1.0) if total > 0 else 1.0


def _left(values, free, rows):
    """Sum over the free rows before each of some picks; `free` is 1 or 0."""
    picked = values[rows]
    return values @ free - (np.cumsum(picked) - picked)


# Epochs: beliefs of the past, each for a run of picks.


_MANY = 2**20


@dataclass(frozen=True, eq=False)
class BeliefColumns:
    """What a surrogate believed about each row: the part that questions need.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,) or None
        None for regression.
    proba : ndarray of shape (n_samples, n_classes) or None
    mean, variance : ndarray of shape (n_samples,) or None
    """

    classes: np.ndarray | None = None
    proba: np.ndarray | None = None
    mean: np.ndarray | None = None
    variance: np.ndarray | None = None

    @classmethod
    def of(cls, belief, classes):
        """Keep the columns of a belief."""
        if classes is None:
            return cls(mean=belief.mean, variance=belief.variance)
        proba = belief.proba
        # Single precision is enough where it saves much memory.
        return cls(
            classes, proba=proba.astype(np.float32) if proba.size > _MANY else proba
        )

    @property
    def nbytes(self):
        """Bytes that the columns take."""
        columns = self.proba, self.mean, self.variance
        return sum(column.nbytes for column in columns if column is not None)

    def proba_of(self, target):
        """Probability of one class for each row, of shape (n_samples,)."""
        return self.proba[np.arange(len(target)), target]

    def proba_at(self, rows):
        """Probabilities of all classes at some rows."""
        return self.proba[rows]

    def at(self, rows: np.ndarray, *columns) -> BeliefColumns:
        """What was believed, with other values at some rows."""
        names = ("mean", "variance") if self.classes is None else ("proba",)
        changed = {}
        for name, values in zip(names, columns, strict=True):
            changed[name] = np.array(getattr(self, name))
            changed[name][rows] = values
        return replace(self, **changed)

    def aligned(self, classes):
        """What was believed, with a column for each of `classes`; new ones have 0."""
        if classes is None or classes is self.classes:
            return self
        proba = np.zeros((len(self.proba), len(classes)))
        # A class may be gone: its only label was a mistake.
        stays = np.isin(self.classes, classes)
        places = np.searchsorted(classes, self.classes[stays])
        proba[:, places] = self.proba[:, stays]
        return BeliefColumns(classes, proba=proba)


@dataclass(frozen=True, eq=False)
class Epoch:
    """A run of picks for which one belief is used.

    Attributes
    ----------
    start : int
        Number of picks before it. The belief knows no label of a later pick.
    belief : BeliefColumns
    query_proba : ndarray of shape (n_samples,)
        Probability of each row to be the next pick; 0 for rows that were picked.
    """

    start: int
    belief: BeliefColumns
    query_proba: np.ndarray

    @cached_property
    def inverse_proba(self):
        """``1 / q`` of each row, 0 where a row cannot be picked."""
        q = self.query_proba
        return np.divide(1.0, q, out=np.zeros(len(q)), where=q > 0)


def cross_fitted_epochs(epochs: list[Epoch], belief) -> list[Epoch]:
    """Epochs with the belief of now, and one for the picks before the first fit."""
    found = [replace(epoch, belief=belief) for epoch in epochs]
    if found and not found[0].start:
        return found
    # Before the first fit all rows are alike.
    n_samples = len(belief.mean if belief.classes is None else belief.proba)
    return [Epoch(0, belief, np.full(n_samples, 1.0 / n_samples)), *found]
