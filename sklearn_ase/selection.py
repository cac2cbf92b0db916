"""Selections: from scores to queries with their probabilities."""

from abc import ABCMeta, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_ase._state import Query

__all__ = ["ArgMax", "BaseSelection", "Proportional", "UniformMixed"]


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
    uniform_share : float, default=0.2
        Share of uniform sampling, in [0, 1]. It bounds the weight of a label whose
        score was mistakenly small: ``1 / (n q) <= 1 / uniform_share``. With 0 a row
        that scores 0 is never picked, and weighted risks are biased by its loss.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.selection import Proportional
    >>> Proportional(uniform_share=0.2).distribution(np.array([0.0, 1.0, 3.0, 0.0]))
    array([0.05, 0.25, 0.65, 0.05])
    """

    def __init__(self, uniform_share=0.2):
        self.uniform_share = uniform_share

    def distribution(self, scores):
        _check_share("uniform_share", self.uniform_share)
        n_candidates = len(scores)
        top = scores.max()
        if not top > 0:
            return np.full(n_candidates, 1.0 / n_candidates)
        share = scores / top  # Tiny or huge scores must not under- or overflow.
        return (
            1 - self.uniform_share
        ) * share / share.sum() + self.uniform_share / n_candidates


class UniformMixed(BaseSelection):
    """Another selection, with a share of uniform picks to audit it.

    Parameters
    ----------
    selection : selection, default=None
        The selection that is audited; None means :class:`ArgMax`.
    uniform_share : float, default=0.2
        Probability of a uniform pick, in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.selection import ArgMax, UniformMixed
    >>> UniformMixed(ArgMax(), uniform_share=0.5).distribution(np.array([1.0, 3.0]))
    array([0.25, 0.75])
    """

    def __init__(self, selection=None, uniform_share=0.2):
        self.selection = selection
        self.uniform_share = uniform_share

    @property
    def has_query_proba(self):
        """Without a share of uniform picks, as the audited selection."""
        return self.uniform_share > 0 or self._audited().has_query_proba

    @property
    def cost_power(self):
        """As the audited selection."""
        return self._audited().cost_power

    def distribution(self, scores):
        _check_share("uniform_share", self.uniform_share)
        uniform = self.uniform_share / len(scores)
        return (1 - self.uniform_share) * self._audited().distribution(scores) + uniform

    def _audited(self):
        return ArgMax() if self.selection is None else self.selection


def _check_share(name, value):
    if not 0 <= value <= 1:
        raise ValueError(f"{name}={value} must lie between 0 and 1.")


def _draw(distribution, rng):
    cumulative = np.cumsum(distribution)
    place = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
    # rng.random() < 1, but the product may round up to the total.
    return min(place, np.flatnonzero(distribution)[-1])
