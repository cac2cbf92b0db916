"""The columns of a pool in the memory of this process."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._data._on_demand import Survey, chunks_with
from sklearn_ase._data._rows import n_rows
from sklearn_ase._data._sources import ViewSource
from sklearn_ase._inference._steps import step_limits
from sklearn_ase._pool._columns import (
    MEMBER_COLUMNS,
    AskedColumns,
    KeptBelief,
    LossOnDemand,
    ReadBelief,
    Reading,
    reduce_chunk,
)
from sklearn_ase._pool._scores import (
    Recipe,
    draw_from,
    prospects_of,
    scores_of,
    stats_of,
    totals_of,
)
from sklearn_ase._state import Picks
from sklearn_ase._utils._display import progress
from sklearn_ase.belief._kernels import check_members
from sklearn_ase.selection import ScoreStats

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sklearn_ase._data._on_demand import PredictionsOnDemand
    from sklearn_ase._evaluation._plan import Plan
    from sklearn_ase._state import PoolState
    from sklearn_ase.surrogate._base import BaseSurrogate

# Rows of the columns that are worked on at a time: they and what is made of them stay
# in the cache of the processor.
_BLOCK = 2**14


class LocalParts:
    """Parts of a pool, one after the other in this process.

    Parameters
    ----------
    source : RowSource
    given : array-like, frame or None
        Predictions of the model for the whole pool, if they are known.
    verbose : int, default=0
        1 to say when the pool is read for a question, 2 to show a progress bar for each
        pass.
    """

    is_local = True

    def __init__(self, source, given=None, verbose=0):
        self.source = source
        self.given = given
        self.verbose = verbose

    @property
    def n_samples(self):
        """Size of the pool."""
        return len(self.source)

    def survey(self, asking):
        """Ask the model about all rows once; see :class:`Survey`."""
        found = None
        for rows, given in self._chunks(1, "asking the model"):
            found = Survey.of(asking(rows, given)).plus(found)
        return found

    def collect(self, function: Callable, label: str) -> np.ndarray:
        """Return what a function gives for all rows, put together."""
        found = [function(rows, given) for rows, given in self._chunks(1, label)]
        return np.concatenate(found)

    def loss_ends(self, reading):
        """Return the least and the greatest entry of the loss table."""
        chunks = self._chunks(len(reading.classes), "losses of the pool")
        found = (reading.loss_of(reading.asking(*chunk)).values for chunk in chunks)
        least, most = zip(*((each.min(), each.max()) for each in found), strict=True)
        return float(min(least)), float(max(most))

    def reduce(self, reading, surrogate):
        """Ask model and surrogate about all rows, and keep a few numbers of each."""
        n_classes = 1 if reading.classes is None else len(reading.classes)
        columns, sums, start = None, None, 0
        for rows, given in self._chunks(4 * n_classes, "surrogate on the pool"):
            stop = start + n_rows(rows)
            here = reading.at(slice(start, stop))
            values, found = reduce_chunk(rows, given, here, surrogate)
            if columns is None:
                columns = {name: np.empty(self.n_samples) for name in reading.names}
            for column, part in zip(columns.values(), values, strict=True):
                column[start:stop] = part
            sums, start = found.plus(sums), stop
        for column in columns.values():
            column.setflags(write=False)  # Strategies of users get them.
        return columns, sums

    def map(
        self, function: Callable, columns: dict[str, np.ndarray], *arguments
    ) -> list:
        """Return what a function gives for each part of the columns."""
        return [
            self.apply(function, columns, part, *arguments)
            for part in range(-(-self.n_samples // _BLOCK))
        ]

    def apply(self, function, columns, part, *arguments):
        """Return what a function gives for one part; see :meth:`map`."""
        start = part * _BLOCK
        rows = slice(start, start + _BLOCK)
        inside = {name: column[rows] for name, column in columns.items()}
        return function(start, inside, *arguments)

    def _chunks(self, n_columns, label):
        """Chunks of rows and given predictions, with a progress bar."""
        size, done = self.source.chunk_size(n_columns), 0
        with progress(self.n_samples, label, self.verbose > 1, keep=False) as show:
            for rows, given in chunks_with(self.source, self.given, size):
                done += n_rows(rows)
                check_length(done, self.n_samples, is_end=False)
                yield rows, given
                show(done)
        check_length(done, self.n_samples)


def check_length(found: int, n_samples: int, is_end: bool = True) -> None:
    """Refuse a pool that has another number of rows than at the start."""
    if found > n_samples or (is_end and found < n_samples):
        raise ValueError(
            f"The pool had {n_samples} rows at the start, and a pass over it found "
            f"{found}{'' if is_end else ' or more'}. Rows, and their order, must stay "
            "the same as long as an evaluation lasts."
        )


# A pool that is read in chunks: what the loop of an evaluation needs of it.


class PartedPool:
    """A pool in parts, each with a few columns and never a table.

    Parameters
    ----------
    parts : LocalParts or DaskParts
        Where the rows are read and the columns kept.
    predictions : PredictionsOnDemand
    """

    def __init__(self, parts, predictions):
        self.parts = parts
        self.predictions = predictions
        self._loss_ends = {}  # Of the loss table, by classes.
        self._member_risk = None  # Sums over the pool, at the last fit.
        self.asked = AskedColumns(parts)
        self._members = {}  # Columns of the last fit.
        self._keeps_for = None  # What a pass keeps for questions.

    @property
    def n_samples(self):
        """Size of the pool."""
        return self.parts.n_samples

    def keeping(self, keeps_for: Callable) -> PartedPool:
        """The same pool, whose passes keep more columns."""
        found = copy(self)
        found._keeps_for = keeps_for
        return found

    def of_model(self, predictions: PredictionsOnDemand) -> PartedPool:
        """The same rows with the predictions of another model."""
        parts, given = copy(self.parts), predictions.given
        if given is not None:  # Nothing is read but these.
            rows = ViewSource(np.arange(self.n_samples))
            parts = LocalParts(rows, given, self.parts.verbose)
        elif parts.is_local:
            parts.given = None
        return PartedPool(parts, predictions)

    def loss_for(self, classes):
        """Loss at every sample, built when it is asked for."""
        return LossOnDemand(self, Reading(self.predictions.asking, classes))

    def loss_ends(self, reading):
        """Least and greatest entry of the loss table; a pass if none has found them."""
        key = tuple(reading.classes.tolist())
        if key not in self._loss_ends:
            self._loss_ends[key] = self.parts.loss_ends(reading)
        return self._loss_ends[key]

    def belief(
        self,
        surrogate: BaseSurrogate,
        classes,
        acquisition,
        members: dict[str, np.ndarray] | None = None,
    ):
        """Ask the surrogate, as it is now, about the pool."""
        reads = {name for one in acquisition.local_parts() for name in one.reads}
        risk = None
        if members:
            reads -= members.keys()
        elif reads & set(MEMBER_COLUMNS):  # A pass of its own.
            _, sums = self.parts.reduce(
                Reading(self.predictions.asking, classes), surrogate
            )
            risk = sums.member_risk / sums.n_rows
            check_members(risk)
        asked = None if self._keeps_for is None else self._keeps_for()
        keeps, responses = (None, None) if asked is None else asked
        how = classes, tuple(sorted(reads)), keeps, responses, risk
        columns, sums = self.parts.reduce(
            Reading(self.predictions.asking, *how), surrogate
        )
        columns.update(members or {})
        self._members = {n: columns[n] for n in MEMBER_COLUMNS if n in columns}
        if classes is not None:
            self._loss_ends[tuple(classes.tolist())] = sums.loss_ends
        self._member_risk = sums.member_risk
        belief = KeptBelief(columns, sums)
        if keeps is not None:
            kept = ReadBelief.of(keeps, columns, belief.training_worth)
            belief = replace(belief, asked=kept)
        return belief

    def updated(self, surrogate, features, loss, rows, y, classes, acquisition):
        """Tell the surrogate labels that came after its last fit, and ask it again."""
        # After a withdrawal there may be no label; a belief needs some row.
        at = rows if len(rows) else np.zeros(1, dtype=int)
        expert, loss = self.predictions.at(at).expert_for(classes), loss.take(at)
        belief = surrogate.belief(features.take(at), loss, expert)
        surrogate.update(belief, loss, np.arange(len(rows)), y, expert)
        of_fit = self._member_risk
        found = self.belief(surrogate, classes, acquisition, self._members)
        self._member_risk = of_fit
        return replace(found, sums=replace(found.sums, member_risk=of_fit))

    def scores(self, plan: Plan, state: PoolState, cost: np.ndarray | None):
        """Say how every row of the pool is scored."""
        acquisition, belief = plan.acquisition, state.belief
        local = acquisition.local_parts()
        if "totals" not in belief.cache:
            totals = self.parts.map(totals_of, belief.columns, local)
            belief.cache["totals"] = np.sum(totals, axis=0)
        weights, constant = acquisition.blend(state, belief.cache["totals"])
        if cost is None or acquisition.is_uniform:
            return Recipe(local, weights, constant)
        return Recipe(local, weights, constant, cost, plan.selection.cost_power)

    def score_all(self, plan, state, cost):
        """Scores of all rows, of shape (n_samples,); see :meth:`scores`."""
        recipe = self.scores(plan, state, cost)
        return np.concatenate(self.parts.map(scores_of, state.belief.columns, recipe))

    def pick(
        self,
        plan: Plan,
        state: PoolState,
        recipe: Recipe | None,
        n_queries: int,
        seed: int,
    ) -> Picks:
        """Pick free rows; see :func:`pick_rows`."""
        taken = np.sort(state.picks.indices)
        # Each query has its own stream, so a replayed evaluation picks the same.
        rng = np.random.default_rng([seed, len(taken)])
        found = []
        for _ in range(n_queries):
            if recipe is None:
                found.append(self._uniform(taken, rng))
            else:
                found.append(self._one(plan.selection, state, recipe, taken, rng))
            taken = np.insert(taken, np.searchsorted(taken, found[-1][0]), found[-1][0])
        return Picks.unanswered(*np.transpose(found))

    def _one(self, selection, state, recipe, taken, rng):
        """One pick and what was known before its label, as RECORDED names it."""
        parts, columns = self.parts, state.belief.columns
        of_parts = parts.map(stats_of, columns, recipe, taken)
        stats, free_expected = map(list, zip(*of_parts, strict=True))
        stats, free_expected = ScoreStats.joined(stats), np.sum(free_expected)
        arguments = recipe, taken, selection, stats
        each = parts.map(prospects_of, columns, *arguments)
        mass, moments, limits = map(np.array, zip(*each, strict=True))
        ends = np.cumsum(mass)
        target = rng.random() * ends[-1]
        part = np.searchsorted(ends, target, side="right")
        part = int(min(part, np.flatnonzero(mass)[-1]))
        target -= ends[part] - mass[part]
        row, proba, expected = parts.apply(draw_from, columns, part, *arguments, target)
        known = [row, proba, expected, free_expected]
        if not selection.has_query_proba:
            return [row, np.nan, expected, free_expected, *[np.nan] * 4]
        return [*known, *moments.sum(axis=0), *limits.max(axis=0)]

    def _uniform(self, taken, rng):
        """One pick of a plain random sample, when nothing is expected yet."""
        n_free = self.n_samples - len(taken)
        place = min(int(rng.random() * n_free), n_free - 1)
        # Row number `place` among the free ones: every taken row before it shifts it.
        before = taken - np.arange(len(taken))
        row = place + int(np.searchsorted(before, place, side="right"))
        proba = np.full(1, 1.0 / n_free)
        limits = step_limits(proba, np.zeros(1))
        return [row, proba[0], 0.0, 0.0, np.nan, np.nan, *limits]


# Whether an evaluation can read its pool in chunks.


def chunks_obstacle(plan: Plan, experts: Any, has_model: bool = True) -> str:
    """Say why an evaluation needs tables; empty if it can be done in chunks."""
    if not has_model:
        return f"metric={plan.metric!r} without a model"
    if experts is not None:
        return "experts"
    if plan.surrogate.uses_experts:
        return f"surrogate={type(plan.surrogate).__name__}"
    # Strategies need not inherit from the base classes.
    parts_of = getattr(plan.acquisition, "local_parts", lambda: None)
    if parts_of() is None:
        return f"acquisition={type(plan.acquisition).__name__}"
    if not getattr(plan.selection, "is_local", False):
        return f"selection={type(plan.selection).__name__}"
    return ""
