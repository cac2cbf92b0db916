"""Scores of rows and probabilities of picks, one part of the pool at a time.

Each function takes the columns of a part and returns a few numbers, so it can run where
the part lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._inference import _steps as _kernels
from sklearn_ase._pool._columns import KeptBelief, RowCount
from sklearn_ase._state import Picks, PoolState
from sklearn_ase._utils._checks import shown
from sklearn_ase.selection import ScoreStats

if TYPE_CHECKING:
    from typing import Any

    from sklearn_ase.acquisition._base import BaseAcquisition
    from sklearn_ase.selection import BaseSelection

_NO_PICKS = Picks.unanswered(*[np.empty(0)] * 6)


@dataclass(frozen=True, eq=False)
class Recipe:
    """How rows are scored: a sum of scores that each need one row only.

    Attributes
    ----------
    acquisitions : list of BaseAcquisition
    weights : sequence of float of shape (n_acquisitions,)
    constant : float
    cost : ndarray of shape (n_samples,) or None
        Of the whole pool.
    cost_power : float
    """

    acquisitions: list
    weights: tuple = ()
    constant: float = 0.0
    cost: np.ndarray | None = None
    cost_power: float = 0.0

    def scores(self, start: int, columns: dict[str, np.ndarray]):
        """Scores of all rows of a part, of shape (n_rows,)."""
        n_rows = len(columns["expected"])
        scores = np.full(n_rows, self.constant)
        for acquisition, weight in zip(self.acquisitions, self.weights, strict=True):
            if weight:
                scores += weight * acquisition.score_samples(part_state(columns))
        if self.cost is not None:
            scores /= self.cost[start : start + n_rows] ** self.cost_power
        return scores


def scores_of(start, columns, recipe):
    """Scores of all rows of a part; see :meth:`Recipe.scores`."""
    return recipe.scores(start, columns)


def part_state(columns):
    """The state of a part of the pool, for acquisitions that need one row only."""
    expected = columns["expected"]
    return PoolState(
        loss=RowCount(len(expected)),
        belief=KeptBelief(columns),
        expected_loss=expected,
        picks=_NO_PICKS,
        labels=np.empty(0),
    )


def totals_of(start, columns, acquisitions):
    """Sum of the scores of each acquisition over a part, checked."""
    totals = []
    for acquisition in acquisitions:
        scores = acquisition.score_samples(part_state(columns))
        scores = check_scores(scores, len(columns["expected"]), acquisition)
        totals.append(scores.sum())
    return totals


def check_scores(
    scores: Any, n_samples: int, acquisition: BaseAcquisition
) -> np.ndarray:
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


def stats_of(start, columns, recipe, taken: np.ndarray) -> tuple[ScoreStats, float]:
    """Statistics of the scores of a part's free rows, and their sum of g."""
    scores, expected = _free(start, columns, recipe, taken)
    return ScoreStats.of(scores), expected.sum()


def prospects_of(
    start, columns, recipe, taken, selection: BaseSelection, stats: ScoreStats
) -> tuple[float, tuple[float, ...], tuple[float, ...]]:
    """What a pick among a part's free rows can show."""
    scores, expected = _free(start, columns, recipe, taken)
    if not len(scores):
        return 0.0, (0.0, 0.0), (0.0, 0.0)
    proba = selection.row_proba(scores, stats)
    variance = _without(columns["variance"], start, taken)
    moments = _kernels.step_moments(proba, expected, variance)
    return proba.sum(), moments, _kernels.step_limits(proba, expected)


def draw_from(
    start, columns, recipe, taken, selection, stats, target: float
) -> tuple[int, float, float]:
    """Draw one of a part's free rows."""
    scores, expected = _free(start, columns, recipe, taken)
    rows = _without(np.arange(start, start + len(columns["expected"])), start, taken)
    proba = selection.row_proba(scores, stats)
    place = np.searchsorted(np.cumsum(proba), target, side="right")
    place = min(place, np.flatnonzero(proba)[-1])  # The target may have rounded up.
    return int(rows[place]), float(proba[place]), float(expected[place])


def _free(start, columns, recipe, taken):
    """Scores and g of the free rows of a part."""
    values = recipe.scores(start, columns), columns["expected"]
    return [_without(column, start, taken) for column in values]


def _without(column, start, taken):
    """A column without the rows that were asked for."""
    first, last = np.searchsorted(taken, [start, start + len(column)])
    return column if first == last else np.delete(column, taken[first:last] - start)
