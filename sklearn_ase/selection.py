"""Selections: which rows to label next, given their scores."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_ase._state import Query
from sklearn_ase._utils._checks import check_number, check_strategy
from sklearn_ase._utils._typing import Floats

__all__ = ["ArgMax", "BaseSelection", "Proportional", "UniformMixed"]


class BaseSelection(BaseEstimator, metaclass=ABCMeta):
    """Base class of the selections. One method is needed, :meth:`distribution`.

    A selection turns the scores of an acquisition into queries.
    :func:`sklearn_ase.testing.check_selection` checks whether a selection works.

    Attributes
    ----------
    has_query_proba : bool
        Whether every candidate can be picked. Only then labels can be weighted by the
        probability of their pick, as most risk estimators do.
    cost_power : float
        Scores are divided by this power of the cost of a label. 0.5 suits a selection
        that draws at random: it makes a weighted estimate most precise for its cost.
        1 suits a selection that takes the best candidate.
    flags : tuple of str
        Names of the class attributes that the package reads.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import rankdata
    >>> from sklearn_ase.selection import BaseSelection
    >>> class ByRank(BaseSelection):
    ...     def distribution(self, scores):
    ...         ranks = rankdata(scores)
    ...         return ranks / ranks.sum()
    >>> ByRank().distribution(np.array([0.0, 9.0, 0.5, 0.5])).round(2)
    array([0.1 , 0.4 , 0.25, 0.25])
    """

    flags: tuple[str, ...] = ("has_query_proba", "cost_power")
    has_query_proba: bool = True
    cost_power: float = 0.5

    def validate(self) -> None:
        """Check the parameters; called at the start, before a label is bought."""

    @abstractmethod
    def distribution(self, scores: np.ndarray) -> Floats:
        """Probability of each candidate to be picked next.

        Parameters
        ----------
        scores : ndarray of shape (n_candidates,)
            Finite and non-negative. They may all be 0.

        Returns
        -------
        proba : ndarray of shape (n_candidates,)
            Sums to 1.
        """

    def pick(
        self,
        scores: np.ndarray,
        candidates: np.ndarray,
        n_queries: int,
        rng: np.random.Generator,
    ) -> Query:
        """Pick candidates one after the other, without replacement.

        Parameters
        ----------
        scores : ndarray of shape (n_samples,)
            Scores of the whole pool.
        candidates : ndarray of shape (n_candidates,)
            Rows of the pool that may be picked.
        n_queries : int
            At most `n_candidates`.
        rng : numpy.random.Generator

        Returns
        -------
        query : Query
            Each probability is that of the pick given the picks before it. It is NaN
            if `has_query_proba` is False.
        """
        indices, proba = [], []
        for _ in range(n_queries):
            distribution = self.checked_distribution(scores[candidates])
            place = _draw(distribution, rng)
            indices.append(candidates[place])
            proba.append(distribution[place] if self.has_query_proba else np.nan)
            candidates = np.delete(candidates, place)
        return Query(np.array(indices, dtype=int), np.array(proba, dtype=float))

    def checked_distribution(self, scores: np.ndarray) -> Floats:
        """Return the distribution, or raise if it is none.

        Parameters
        ----------
        scores : ndarray of shape (n_candidates,)

        Returns
        -------
        proba : ndarray of shape (n_candidates,)
        """
        proba = np.asarray(self.distribution(scores))
        name = f"{type(self).__name__}.distribution"
        if proba.dtype.kind not in "biuf" or proba.shape != scores.shape:
            raise ValueError(
                f"{name} must return one probability per candidate, shape "
                f"{scores.shape}, but returned {proba.dtype} of shape {proba.shape}."
            )
        if not abs(proba.sum() - 1.0) < 1e-6 or proba.min() < 0:
            raise ValueError(
                f"{name} must return probabilities >= 0 that sum to 1, but the least "
                f"is {proba.min():.3g} and they sum to {proba.sum():.6g}."
            )
        return proba


class ArgMax(BaseSelection):
    """Pick the candidate with the greatest score. Ties are broken at random.

    Such a pick has no usable probability. Risk estimators that weight labels by it
    (:class:`LURE`, :class:`CorrectedASE`) do not work with these labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.selection import ArgMax
    >>> ArgMax().distribution(np.array([1.0, 3.0, 3.0]))
    array([0. , 0.5, 0.5])
    """

    has_query_proba = False
    cost_power = 1.0

    def distribution(self, scores: np.ndarray) -> Floats:
        """Equal probabilities for the candidates with the greatest score."""
        is_top = scores == scores.max()
        return is_top / np.count_nonzero(is_top)


class Proportional(BaseSelection):
    """Draw candidates in proportion to their scores, mixed with uniform sampling.

    Parameters
    ----------
    uniform_share : float, default=0.3
        Share of uniform sampling, between 0 and 1. It limits the weight of a label
        whose score was too small by mistake: ``1 / (n q) <= 1 / uniform_share``. With
        0, a row that scores 0 is never picked, and weighted estimates miss its loss.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.selection import Proportional
    >>> Proportional(uniform_share=0.2).distribution(np.array([0.0, 1.0, 3.0, 0.0]))
    array([0.05, 0.25, 0.65, 0.05])
    """

    def __init__(self, uniform_share: float = 0.3) -> None:
        self.uniform_share = uniform_share

    def validate(self) -> None:
        _check_share(self.uniform_share)

    def distribution(self, scores: np.ndarray) -> Floats:
        """Scores scaled to sum to 1, mixed with the uniform distribution."""
        self.validate()
        n_candidates = len(scores)
        top = scores.max()
        if not top > 0:
            return np.full(n_candidates, 1.0 / n_candidates)
        share = scores / top  # Tiny or huge scores must not under- or overflow.
        return (
            1 - self.uniform_share
        ) * share / share.sum() + self.uniform_share / n_candidates


class UniformMixed(BaseSelection):
    """Another selection, with a share of uniform picks.

    The uniform picks give every candidate a probability, so that risk estimators which
    weight labels work even if the other selection is :class:`ArgMax`.

    Parameters
    ----------
    selection : BaseSelection, default=None
        The other selection; None means :class:`ArgMax`.
    uniform_share : float, default=0.2
        Probability of a uniform pick, between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase.selection import ArgMax, UniformMixed
    >>> UniformMixed(ArgMax(), uniform_share=0.5).distribution(np.array([1.0, 3.0]))
    array([0.25, 0.75])
    """

    def __init__(
        self, selection: BaseSelection | None = None, uniform_share: float = 0.2
    ) -> None:
        self.selection = selection
        self.uniform_share = uniform_share

    def validate(self) -> None:
        _check_share(self.uniform_share)
        self._inner()

    @property
    def has_query_proba(self) -> bool:
        """True with a share of uniform picks, else that of the other selection."""
        return self.uniform_share > 0 or self._inner().has_query_proba

    @property
    def cost_power(self) -> float:
        """Power of the costs in the other selection."""
        return self._inner().cost_power

    def distribution(self, scores: np.ndarray) -> Floats:
        """Mixture of the other distribution and the uniform one."""
        self.validate()
        uniform = self.uniform_share / len(scores)
        return (1 - self.uniform_share) * self._inner().distribution(scores) + uniform

    def _inner(self):
        if self.selection is None:
            return ArgMax()
        verbs, name = ("distribution", "pick"), "selection of UniformMixed"
        return check_strategy(self.selection, BaseSelection, verbs, name)


def _check_share(uniform_share):
    check_number(uniform_share, "uniform_share", 0, 1)


def _draw(distribution, rng):
    """Place of one draw from a distribution."""
    cumulative = np.cumsum(distribution)
    place = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
    # rng.random() < 1, but the product may round up to the total.
    return min(place, np.flatnonzero(distribution)[-1])
