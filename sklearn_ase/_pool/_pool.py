"""A pool that is read in chunks: what the loop of an evaluation needs of it."""

from copy import copy
from dataclasses import replace

import numpy as np

from sklearn_ase._data._row_source import ViewSource
from sklearn_ase._inference._kernels import step_limits
from sklearn_ase._pool._keeps import ReadBelief
from sklearn_ase._pool._kept import KeptBelief, LossOnDemand
from sklearn_ase._pool._local import LocalParts
from sklearn_ase._pool._reduction import MEMBER_COLUMNS, Reading
from sklearn_ase._pool._responses import AskedColumns
from sklearn_ase._pool._scores import (
    Recipe,
    draw_from,
    prospects_of,
    scores_of,
    stats_of,
    totals_of,
)
from sklearn_ase._state import Picks
from sklearn_ase.belief._kernels import check_members
from sklearn_ase.selection import ScoreStats


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

    def keeping(self, keeps_for):
        """The same pool, whose passes keep more columns.

        Parameters
        ----------
        keeps_for : callable
            Returns Keeps and ReadResponse, or None to keep nothing more.

        Returns
        -------
        pool : PartedPool
            Its passes do not change this one.
        """
        found = copy(self)
        found._keeps_for = keeps_for
        return found

    def of_model(self, predictions):
        """The same rows with the predictions of another model.

        Parameters
        ----------
        predictions : PredictionsOnDemand

        Returns
        -------
        pool : PartedPool
        """
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

    def belief(self, surrogate, classes, acquisition, members=None):
        """Ask the surrogate, as it is now, about the pool.

        Parameters
        ----------
        surrogate : BaseSurrogate
            Fitted.
        classes : ndarray of shape (n_classes,) or None
        acquisition : BaseAcquisition
        members : dict of str to ndarray of shape (n_samples,), default=None
            Columns about the members of the last fit, which stay as they were.

        Returns
        -------
        belief : KeptBelief
        """
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
        """Tell the surrogate labels that came after its last fit, and ask it again.

        Parameters
        ----------
        surrogate : BaseSurrogate
            Its calibration is fitted again, in place.
        features : RowSource
            The pool as the surrogate sees it.
        loss : LossOnDemand
        rows : ndarray of int of shape (n_rows,)
        y : ndarray of shape (n_rows,)
        classes : ndarray of shape (n_classes,) or None
        acquisition : BaseAcquisition

        Returns
        -------
        belief : KeptBelief
            Its `member_risk` is that of the last fit, as with tables.
        """
        # After a withdrawal there may be no label; a belief needs some row.
        at = rows if len(rows) else np.zeros(1, dtype=int)
        expert, loss = self.predictions.at(at).expert_for(classes), loss.take(at)
        belief = surrogate.belief(features.take(at), loss, expert)
        surrogate.update(belief, loss, np.arange(len(rows)), y, expert)
        of_fit = self._member_risk
        found = self.belief(surrogate, classes, acquisition, self._members)
        self._member_risk = of_fit
        return replace(found, sums=replace(found.sums, member_risk=of_fit))

    def scores(self, plan, state, cost):
        """Say how every row of the pool is scored.

        Parameters
        ----------
        plan : Plan
        state : PoolState
            With a belief.
        cost : ndarray of shape (n_samples,) or None

        Returns
        -------
        recipe : Recipe
        """
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

    def pick(self, plan, state, recipe, n_queries, seed):
        """Pick free rows; see :func:`pick_rows`.

        Parameters
        ----------
        plan : Plan
        state : PoolState
        recipe : Recipe or None
            None before the first fit of the surrogate: a plain random sample.
        n_queries : int
        seed : int

        Returns
        -------
        picks : Picks
        """
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
