"""Selections: from scores to queries with their probabilities."""

from abc import ABCMeta, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_ase._state import Query

__all__ = ["ArgMax", "Audited", "BaseSelection", "Proportional"]


class BaseSelection(BaseEstimator, metaclass=ABCMeta):
    """Base class of the selections: a distribution over the candidates.

    Attributes
    ----------
    has_query_proba : bool
        Whether every candidate has a chance, so that labels can be weighed by the
        probability of their pick.
    cost_power : float
        Scores are divided by this power of what a label costs: ½ where rows are
        drawn, which makes a weighted estimate most precise for its cost, and 1 where
        the best is taken.
    """

    has_query_proba = True
    cost_power = 0.5

    @abstractmethod
    def distribution(self, scores):
        """Distribution of the next pick.

        Parameters
        ----------
        scores : ndarray of shape (n_candidates,)
            Finite and non-negative.

        Returns
        -------
        proba : ndarray of shape (n_candidates,)
            Sums to 1.
        """

    def pick(self, scores, candidates, n_queries, rng):
        """Pick candidates one after the other, without replacement.

        Parameters
        ----------
        scores : ndarray of shape (n_samples,)
            Scores of the whole pool.
        candidates : ndarray of shape (n_candidates,)
            Indices that may be picked.
        n_queries : int
        rng : numpy.random.Generator

        Returns
        -------
        query : Query
            Each probability is that of the pick given the picks before it.
        """
        indices, proba = [], []
        for _ in range(n_queries):
            distribution = self.distribution(scores[candidates])
            place = _draw(distribution, rng)
            indices.append(candidates[place])
            proba.append(distribution[place] if self.has_query_proba else np.nan)
            candidates = np.delete(candidates, place)
        return Query(np.array(indices, dtype=int), np.array(proba, dtype=float))


class ArgMax(BaseSelection):
    """The candidate with the greatest score; ties are broken at random.

    A deterministic pick has no usable probability, so risks that weigh labels by it
    (:class:`LURE`, :class:`CorrectedASE`) cannot be had from such labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.selection import ArgMax
    >>> ArgMax().distribution(np.array([1.0, 3.0, 3.0]))
    array([0. , 0.5, 0.5])
    """

    has_query_proba = False
    cost_power = 1.0

    def distribution(self, scores):
        best = scores == scores.max()
        return best / best.sum()


class Proportional(BaseSelection):
    """Sampling in proportion to the score, mixed with uniform sampling.

    Parameters
    ----------
    defensive : float, default=0.2
        Share of uniform sampling, in [0, 1]. It bounds the weight of a label whose
        score was mistakenly small: ``1 / (n q) <= 1 / defensive``. With 0 a row
        that scores 0 is never picked, and weighted risks are biased by its loss.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.selection import Proportional
    >>> Proportional(defensive=0.2).distribution(np.array([0.0, 1.0, 3.0, 0.0]))
    array([0.05, 0.25, 0.65, 0.05])
    """

    def __init__(self, defensive=0.2):
        self.defensive = defensive

    def distribution(self, scores):
        _check_share("defensive", self.defensive)
        n_candidates = len(scores)
        top = scores.max()
        if not top > 0:
            return np.full(n_candidates, 1.0 / n_candidates)
        share = scores / top  # Tiny or huge scores must not under- or overflow.
        return (
            1 - self.defensive
        ) * share / share.sum() + self.defensive / n_candidates


class Audited(BaseSelection):
    """Another selection, with a share of uniform picks to audit it.

    Parameters
    ----------
    selection : selection, default=None
        The selection that is audited; None means :class:`ArgMax`.
    share : float, default=0.2
        Probability of a uniform pick, in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.selection import ArgMax, Audited
    >>> Audited(ArgMax(), share=0.5).distribution(np.array([1.0, 3.0]))
    array([0.25, 0.75])
    """

    def __init__(self, selection=None, share=0.2):
        self.selection = selection
        self.share = share

    @property
    def has_query_proba(self):
        """Without a share of uniform picks, as the audited selection."""
        return self.share > 0 or self._audited().has_query_proba

    @property
    def cost_power(self):
        """As the audited selection."""
        return self._audited().cost_power

    def distribution(self, scores):
        _check_share("share", self.share)
        uniform = self.share / len(scores)
        return (1 - self.share) * self._audited().distribution(scores) + uniform

    def _audited(self):
        return ArgMax() if self.selection is None else self.selection


def pick_apart(scores, candidates, n_queries, embedding, taken=()):
    """Pick rows that score high and lie far from each other.

    Each has the greatest product of score and distance to the nearest row that was
    taken before it, so that copies are never taken as long as there is anything else.
    The first of all has the greatest score. Ties go to the first row.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
    candidates : ndarray of shape (n_candidates,)
    n_queries : int
    embedding : ndarray of shape (n_samples, n_dimensions)
    taken : sequence of int, default=()
        Rows that are open already.

    Returns
    -------
    query : Query
        Without probabilities.
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


def _check_share(name, value):
    if not 0 <= value <= 1:
        raise ValueError(f"{name}={value} must lie between 0 and 1.")


def _draw(distribution, rng):
    cumulative = np.cumsum(distribution)
    place = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
    # rng.random() < 1, but the product may round up to the total.
    return min(place, np.flatnonzero(distribution)[-1])
