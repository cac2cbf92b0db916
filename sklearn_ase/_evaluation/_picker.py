"""Score the rows of the pool."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.interpolate import BarycentricInterpolator

from sklearn_ase._data._rows import read_numbers
from sklearn_ase._inference import _steps as _kernels
from sklearn_ase._state import Picks, Query
from sklearn_ase._utils._checks import shown
from sklearn_ase.acquisition._combined import TrustWeighted, trust_weights
from sklearn_ase.selection import Proportional

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


@dataclass(frozen=True, eq=False)
class PoolScores:
    """Scores of all rows, ``scale * base + shift``.

    Attributes
    ----------
    base : ndarray of shape (n_samples,)
        Finite and non-negative.
    scale, shift : float, default=1 and 0
    made_of : tuple
        Belief and loss that `base` depends on; empty if it depends on labels, too.
    """

    base: np.ndarray
    scale: float = 1.0
    shift: float = 0.0
    made_of: tuple = ()

    @cached_property
    def values(self):
        """The scores, of shape (n_samples,)."""
        is_plain = self.scale == 1.0 and self.shift == 0.0
        return self.base if is_plain else self.scale * self.base + self.shift

    def is_made_of(self, belief, loss):
        """Whether `base` depends on this belief and this loss alone."""
        return (
            len(self.made_of) and self.made_of[0] is belief and self.made_of[1] is loss
        )


def score_pool(plan, state, cost, before=None):
    """Score every row of the pool."""
    acquisition, made_of = plan.acquisition, (state.belief, state.loss)
    # Trust follows the labels, but what it weighs need not.
    is_weighted = type(acquisition) is TrustWeighted
    part = acquisition.part if is_weighted else acquisition
    if before is not None and before.is_made_of(*made_of):
        base = before.base
    else:
        base = check_scores(part.score_samples(state), state.n_samples, part)
    made_of = () if part.follows_labels else made_of
    weights = trust_weights(state, base.sum()) if is_weighted else (1.0, 0.0)
    scores = PoolScores(base, *weights, made_of)
    if cost is not None and not acquisition.is_uniform:
        return PoolScores(scores.values / cost**plan.selection.cost_power)
    return scores


def check_scores(scores: Any, n_samples: int, acquisition) -> np.ndarray:
    """Check what an acquisition, which may be a user's, returned."""
    scores, name = np.asarray(scores), type(acquisition).__name__
    if scores.dtype.kind not in "biuf":
        raise ValueError(
            f"{name}.score_samples must return numbers, but returned {shown(scores)}."
        )
    scores = scores.astype(float)
    if scores.shape != (n_samples,):
        raise ValueError(
            f"{name}.score_samples must return one score per row, shape ({n_samples},),"
            f" but returned shape {scores.shape}."
        )
    if not np.isfinite(scores).all() or scores.min() < 0:
        raise ValueError(
            f"{name}.score_samples must return finite scores >= 0, but they go from "
            f"{scores.min()} to {scores.max()}."
        )
    return scores


# Draw rows in proportion to their scores, without a sum over all of them.


# Rows of a block: the arrays of one block fit into the cache.
_BLOCK = 2**14
# Digits to which moments of a batch are interpolated, as a logarithm.
_LOG_ACCURACY = 37.0


class BlockedPool:
    """Rows that can be picked, with the sums that picks need.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Finite and non-negative.
    expected : ndarray of shape (n_samples,)
        Loss that is expected at each row.
    variance : ndarray of shape (n_samples,) or None
        Variance of the loss; None before the first fit of the surrogate.
    """

    def __init__(self, scores, expected, variance):
        self._given = scores, expected
        self._scores, self._expected, self._variance = scores, expected, variance
        # Tiny or huge scores must not under- or overflow in their sum.
        greatest = scores.max(initial=0.0)
        self._unit = 1.0
        if greatest > 0 and not 1e-100 < greatest < 1e100:
            self._scores, self._unit = scores / greatest, greatest
        n_samples = len(scores)
        self._blocks = [
            slice(begin, min(begin + _BLOCK, n_samples))
            for begin in range(0, n_samples, _BLOCK)
        ]
        self._free = np.ones(n_samples, dtype=bool)
        self._n_taken = 0
        self._counts = np.array([rows.stop - rows.start for rows in self._blocks])
        self._sums = np.array(
            [[values[rows].sum() for rows in self._blocks] for values in self._summed]
        )

    @property
    def _summed(self):
        return self._scores, self._expected

    def belongs_to(self, scores, expected):
        """Whether it was made of these arrays."""
        return self._given[0] is scores and self._given[1] is expected

    def take(self, rows: np.ndarray) -> None:
        """Mark the rows that were picked as taken; those marked before are skipped."""
        new = rows[self._n_taken :]
        self._n_taken = len(rows)
        self._free[new] = False
        for number in np.unique(new // _BLOCK):
            self._renew(number)

    def draw(self, scale, shift, uniform_share, n_queries, rng):
        """Draw free rows one after the other, without replacement."""
        rows, lines = np.empty(n_queries, dtype=int), np.empty((n_queries, 2))
        free_expected = np.empty(n_queries)
        for place in range(n_queries):
            lines[place] = self._line(scale * self._unit, shift, uniform_share)
            free_expected[place] = self._sums[1].sum()
            rows[place] = row = self._draw(*lines[place], rng.random())
            self._free[row] = False
            self._renew(row // _BLOCK)
        self._n_taken += n_queries
        proba = lines[:, 0] + lines[:, 1] * self._scores[rows]
        expected = self._expected[rows]
        prospects = self._prospects(lines, rows)
        return rows, np.vstack([proba, expected, free_expected, prospects])

    def _renew(self, number):
        """Sum a block again over its free rows."""
        rows = self._blocks[number]
        free = self._free[rows]
        self._counts[number] = np.count_nonzero(free)
        self._sums[:, number] = [values[rows] @ free for values in self._summed]

    def _line(self, scale, shift, uniform_share):
        """The numbers α and β of the next pick."""
        n_free, total = self._counts.sum(), self._sums[0].sum()
        # Only their ratio counts, and one of them may be huge.
        unit = max(scale, shift)
        scale, shift = (scale / unit, shift / unit) if unit > 0 else (scale, shift)
        total = scale * total + shift * n_free
        if not total > 0:
            return 1.0 / n_free, 0.0
        share = (1.0 - uniform_share) / total
        return share * shift + uniform_share / n_free, share * scale

    def _draw(self, alpha, beta, chance):
        """The row at which the summed probability passes a number between 0 and 1."""
        mass = np.maximum(alpha * self._counts + beta * self._sums[0], 0.0)
        before = np.cumsum(mass)
        target = chance * before[-1]
        number = _place(before, target, mass)
        rows = self._blocks[number]
        inside = (alpha + beta * self._scores[rows]) * self._free[rows]
        target -= before[number] - mass[number]
        return rows.start + _place(np.cumsum(inside), target, inside)

    def _prospects(self, lines, rows):
        """What each pick and its label can show, of shape (4, n_queries).

        Two moments that are expected, and the greatest 1 / q and g / q of any row that
        was free. First over the rows that are free still, then over those picked.
        """
        found = self._over_free(lines)
        expected, moments = self._expected[rows], self._moments_at(rows)
        for place, (alpha, beta) in enumerate(lines):
            inverse = _inverse(alpha + beta * self._scores[rows[place:]])
            found[:2, place] += moments[:, place:] @ inverse
            limits = inverse.max(), (expected[place:] * inverse).max()
            found[2:, place] = np.maximum(found[2:, place], limits)
        if self._variance is None:
            found[:2] = np.nan
        return found

    def _moments_at(self, rows):
        variance = 0.0 if self._variance is None else self._variance[rows]
        square = self._expected[rows] ** 2
        return np.array([variance + 0.0 * square, variance + square])

    def _over_free(self, lines):
        """Moments and limits for each line, over the rows that are free now."""
        if not self._counts.any():
            return np.array([[0.0, 0.0, -np.inf, -np.inf]] * len(lines)).T
        alpha, beta = lines.T
        if (beta == 0).all():  # All rows are equally probable.
            return np.array(self._pass(1.0, 0.0))[:, None] / alpha
        if (beta == 0).any():
            return np.array([self._pass(*line) for line in lines]).T
        ratio = alpha / beta
        nodes = _nodes(ratio)
        if len(nodes) >= len(lines):
            return np.array([self._pass(*line) for line in lines]).T
        moments = np.array([self._pass(node, 1.0)[:2] for node in nodes])
        if len(nodes) > 1:
            moments = BarycentricInterpolator(np.log(nodes), moments)(np.log(ratio))
        limits = self._limits(ratio)
        return np.vstack([np.broadcast_to(moments.T, limits.shape), limits]) / beta

    def _pass(self, alpha, beta):
        """Two moments, and the greatest 1 / q and g / q, of all free rows."""
        first, second, top, most = 0.0, 0.0, 0.0, -np.inf
        buffer = np.empty(_BLOCK)
        for number, rows in enumerate(self._blocks):
            expected, inverse = self._expected[rows], buffer[: rows.stop - rows.start]
            np.multiply(self._scores[rows], beta, out=inverse)
            inverse += alpha
            if alpha > 0:
                np.divide(1.0, inverse, out=inverse)
            else:
                inverse[:] = _inverse(inverse)
            taken = slice(0, 0)
            if self._counts[number] < len(inverse):
                taken = np.flatnonzero(~self._free[rows])
                inverse[taken] = 0.0
            if self._variance is not None:
                first += self._variance[rows] @ inverse
            top = max(top, inverse.max())
            inverse *= expected
            second += inverse @ expected
            inverse[taken] = -np.inf
            most = max(most, inverse.max())
        return first, first + second, top, most

    def _limits(self, ratio):
        """Greatest 1 / q and g / q of the free rows for ``q = ratio + s``."""
        scores, expected = (values[self._free] for values in self._summed)
        ends = np.array([_inverse(end + scores) for end in (ratio.min(), ratio.max())])
        # A row that is less at its best than another at its worst is never greatest.
        ends = np.sort(ends * expected, axis=0)
        rivals = ends[1] >= ends[0].max()
        most = [
            (_inverse(one + scores[rivals]) * expected[rivals]).max() for one in ratio
        ]
        if not ratio.all():  # Rows that score 0 cannot be picked.
            scores = scores[scores > 0]
        return np.array([1.0 / (ratio + scores.min(initial=np.inf)), most])


def _place(cumulated, target, mass):
    """First place beyond the target, among those with any mass."""
    place = np.searchsorted(cumulated, target, side="right")
    # Rounding may leave the target beyond the end, or at a place without mass.
    return int(min(place, np.flatnonzero(mass)[-1]))


def _inverse(proba):
    """Inverse probabilities; 0 for rows that cannot be picked."""
    return np.divide(1.0, proba, out=np.zeros_like(proba), where=proba > 0)


def _nodes(ratio):
    """Ratios from which a smooth function of the logarithm of all is interpolated."""
    low, high = ratio.min(), ratio.max()
    if low == high:
        return ratio[:1]
    # Chebyshev's nodes. Sums of 1 / (ratio + s) have no pole within π of real numbers.
    half = 0.5 * np.log(high / low)
    far = np.pi / half
    count = int(np.ceil(_LOG_ACCURACY / np.log(far + np.hypot(far, 1.0)))) + 2
    angles = np.pi * (np.arange(count) + 0.5) / count
    return np.exp(0.5 * np.log(high * low) + half * np.cos(angles))


# Pick rows, and record what is known of each before its label.


class Picker:
    """Picks free rows, and keeps what the next pick can use again."""

    def __init__(self):
        self._pool = None

    def pick(self, plan, state, learned, scores, n_queries, seed, embedding=None):
        """Pick free rows."""
        selection = plan.selection
        if scores is None:
            selection = Proportional()
            scores = PoolScores(np.broadcast_to(0.0, state.n_samples), shift=1.0)
        expected = learned.expected_loss
        if expected is None:
            expected = np.broadcast_to(0.0, state.n_samples)
        # Each query has its own stream, so a replayed evaluation picks the same.
        rng = np.random.default_rng([seed, len(state.picks)])
        if type(selection) is Proportional and embedding is None:
            pool = self._blocks(scores.base, expected, learned.loss_variance)
            pool.take(state.picks.indices)
            given = scores.scale, scores.shift, selection.uniform_share
            rows, columns = pool.draw(*given, n_queries, rng)
            return Picks.unanswered(rows, *columns)
        candidates = np.flatnonzero(state.free)
        if embedding is not None:
            picks = state.picks
            open_rows = picks.indices[~(picks.answered | picks.skipped)]
            given = scores.values, candidates, n_queries, embedding
            query = pick_apart(*given, open_rows)
        else:
            query = selection.pick(scores.values, candidates, n_queries, rng)
            _check_query(query, candidates, n_queries, selection)
        moments = expected, learned.loss_variance
        return _with_prospects(query, candidates, *moments, selection, scores.values)

    def _blocks(self, base, expected, variance):
        if self._pool is None or not self._pool.belongs_to(base, expected):
            self._pool = BlockedPool(base, expected, variance)
        return self._pool


def _with_prospects(query, candidates, expected, variance, selection, scores):
    """The picks, each with what was known before its label."""
    picked = expected[query.indices]
    picked_before = np.cumsum(picked) - picked
    free_expected = expected[candidates].sum() - picked_before
    prospects = np.full((4, len(query)), np.nan)
    for place, index in enumerate(query.indices):
        if not selection.has_query_proba:
            break
        proba, of_free = (
            selection.distribution(scores[candidates]),
            expected[candidates],
        )
        prospects[2:, place] = _kernels.step_limits(proba, of_free)
        if variance is not None:
            moments = _kernels.step_moments(proba, of_free, variance[candidates])
            prospects[:2, place] = moments
        candidates = candidates[candidates != index]
    return Picks.unanswered(
        query.indices, query.proba, picked, free_expected, *prospects
    )


def pick_apart(
    scores,
    candidates: np.ndarray,
    n_queries: int,
    embedding: np.ndarray,
    taken: Sequence[int] = (),
) -> Query:
    """Pick rows that score high and lie far from each other.

    Each has the greatest product of score and distance to the nearest row that was
    taken before it, so that copies are never taken as long as there is anything else.
    The first of all has the greatest score. Ties go to the first row.
    """
    # Where all score 0, near and far still differ.
    worth = scores[candidates] + np.finfo(float).tiny
    indices, left = [], np.ones(len(candidates), dtype=bool)
    nearest = np.full(len(candidates), np.inf)

    def keep_away(row):
        distance = np.linalg.norm(embedding[candidates] - embedding[row], axis=1)
        np.minimum(nearest, distance, out=nearest)

    for row in taken:
        keep_away(row)
    for _ in range(n_queries):
        product = worth * nearest if np.isfinite(nearest).any() else worth
        best = int(np.argmax(np.where(left, product, -1.0)))
        indices.append(candidates[best])
        left[best] = False
        keep_away(candidates[best])
    return Query(np.array(indices, dtype=int), np.full(n_queries, np.nan))


def check_embedding(embedding, problem, selection):
    """Check a space in which the rows of a batch are kept apart."""
    if selection.has_query_proba:
        raise ValueError(
            f"embedding= keeps rows apart by choice, but {type(selection).__name__}() "
            "draws them with probabilities that estimates rely on. Use "
            "selection=ArgMax(), or leave embedding out."
        )
    problem.order.check(embedding=embedding)
    embedding, n_samples = read_numbers(embedding, "embedding"), problem.n_samples
    if embedding.ndim != 2 or len(embedding) != n_samples:
        raise ValueError(
            f"embedding must be of shape ({n_samples}, n_dimensions), one row for each "
            f"of the pool, but has shape {embedding.shape}."
        )
    if not np.isfinite(embedding).all():
        raise ValueError("embedding must be finite, but has NaN or infinite entries.")
    return embedding


def _check_query(query, candidates, n_queries, selection):
    """Check the picks of a selection, which may be a user's."""
    name = f"{type(selection).__name__}.pick"
    rows, proba = (np.asarray(getattr(query, n, None)) for n in ("indices", "proba"))
    is_pick = rows.shape == proba.shape == (n_queries,)
    is_pick = is_pick and len({*rows.tolist()}) == n_queries
    if not is_pick or not np.isin(rows, candidates).all():
        raise ValueError(
            f"{name} must return a Query of {n_queries} different rows among the "
            f"candidates, each with a probability, but returned {shown(query)}."
        )
    if selection.has_query_proba and not ((proba > 0) & (proba <= 1)).all():
        raise ValueError(
            f"{name} must return probabilities > 0 and <= 1, but returned "
            f"{shown(proba)}. Set has_query_proba = False if there are none."
        )
