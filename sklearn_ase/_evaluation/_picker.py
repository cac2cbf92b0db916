"""Draw rows in proportion to their scores, without a sum over all of them.

The probability of a free row is a straight line of its score, ``q = α + β s``, and the
line changes with every pick. Sums of the scores are kept by blocks of rows, so that a
pick renews one block only. These sums are computed again, not updated, so rounding
errors do not add up.
"""

import numpy as np
from scipy.interpolate import BarycentricInterpolator

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

    def take(self, rows):
        """Mark the rows that were picked as taken; those marked before are skipped.

        Parameters
        ----------
        rows : ndarray of int of shape (n_picks,)
            All picks so far.
        """
        new = rows[self._n_taken :]
        self._n_taken = len(rows)
        self._free[new] = False
        for number in np.unique(new // _BLOCK):
            self._renew(number)

    def draw(self, scale, shift, uniform_share, n_queries, rng):
        """Draw free rows one after the other, without replacement.

        Parameters
        ----------
        scale, shift : float
            The score of a row is ``scale * s + shift``; both are non-negative.
        uniform_share : float
            See :class:`~sklearn_ase.selection.Proportional`.
        n_queries : int
        rng : numpy.random.Generator

        Returns
        -------
        rows : ndarray of int of shape (n_queries,)
        columns : ndarray of shape (7, n_queries)
            Other columns of ``Picks.unanswered``.
        """
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
