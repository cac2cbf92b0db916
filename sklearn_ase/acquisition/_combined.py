"""Acquisitions made of others, and the one for a choice between models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._inference._evidence import has_evidence, weigh_evidence
from sklearn_ase._utils._checks import check_integer, check_number, shown
from sklearn_ase._utils._typing import Floats
from sklearn_ase.acquisition._base import BaseAcquisition, check_part, checked_scores
from sklearn_ase.acquisition._scores import XWED, LossSpread

if TYPE_CHECKING:
    from sklearn_ase._state import PoolState


class Mixture(BaseAcquisition):
    """Weighted mean of several acquisitions, each scaled to sum to 1 over the pool.

    With :class:`Proportional` each of them makes its share of the picks. The default is
    half :class:`XWED`, which improves the surrogate, and half :class:`LossSpread`,
    which keeps the variance of the corrected estimate small.

    Parameters
    ----------
    acquisitions : sequence of BaseAcquisition, default=None
        None means XWED and LossSpread.
    shares : array-like of shape (n_acquisitions,), default=None
        Share of each. None means equal shares.

    Examples
    --------
    >>> from sklearn_ase.acquisition import BALD, ExpectedLoss, Mixture
    >>> from sklearn_ase.testing import make_state
    >>> mixture = Mixture([BALD(), ExpectedLoss()], shares=[0.7, 0.3])
    >>> float(mixture.score_samples(make_state()).sum().round(6))
    1.0
    """

    def __init__(
        self,
        acquisitions: Sequence[BaseAcquisition] | None = None,
        shares: ArrayLike | None = None,
    ) -> None:
        self.acquisitions = acquisitions
        self.shares = shares

    def validate(self) -> None:
        self._shares(len(self._parts()))

    @property
    def is_uniform(self) -> bool:
        """Whether all parts are uniform."""
        return all(part.is_uniform for part in self._parts())

    @property
    def needs_member_loss(self) -> bool:
        """Whether any part needs it."""
        return any(part.needs_member_loss for part in self._parts())

    def score_samples(self, state: PoolState) -> Floats:
        """Weighted mean of the scaled scores, which sums to 1."""
        parts = self._parts()
        scores = np.zeros(state.n_samples)
        for part, share in zip(parts, self._shares(len(parts)), strict=True):
            values = checked_scores(part, state)
            total = values.sum()
            # A part that scores 0 everywhere asks for uniform picks.
            scores += share * (values / total if total > 0 else 1.0 / len(values))
        return scores

    def _parts(self):
        if self.acquisitions is None:
            return [XWED(), LossSpread()]
        if not isinstance(self.acquisitions, (list, tuple)) or not self.acquisitions:
            raise ValueError(
                "acquisitions of Mixture must be a list with at least one acquisition, "
                f"got {shown(self.acquisitions)}."
            )
        return [check_part(part, self, "acquisitions") for part in self.acquisitions]

    def _shares(self, n_parts):
        """Shares that sum to 1, of shape (n_parts,)."""
        shares = np.ones(n_parts)
        if self.shares is not None:
            shares = np.array(self.shares)
        is_valid = shares.dtype.kind in "biuf" and shares.shape == (n_parts,)
        is_valid = is_valid and np.isfinite(shares).all() and (shares >= 0).all()
        if not is_valid or not shares.any():
            raise ValueError(
                f"shares={shown(self.shares)} must be {n_parts} non-negative numbers, "
                "one for each acquisition, not all 0."
            )
        return shares / shares.sum()


class TrustWeighted(BaseAcquisition):
    """Another acquisition, mixed with uniform scores as trust in the surrogate falls.

    The trust is the probability that the surrogate's estimate of the risk is off by
    less than a standard error of the corrected one. If the surrogate has lost all
    trust, :class:`~sklearn_ase.selection.Proportional` picks a plain random sample. If
    picks have no probabilities, or once a row could not be labelled, there is no
    evidence, and the scores are those of the other acquisition.

    Parameters
    ----------
    acquisition : acquisition, default=None
        None means :class:`Mixture`.

    Examples
    --------
    >>> from sklearn_ase.acquisition import XWED, TrustWeighted
    >>> TrustWeighted(XWED())
    TrustWeighted(acquisition=XWED())
    """

    def __init__(self, acquisition: BaseAcquisition | None = None) -> None:
        self.acquisition = acquisition

    def validate(self) -> None:
        self.part.validate()

    @property
    def is_uniform(self) -> bool:
        """Whether the other acquisition scores all rows alike."""
        return self.part.is_uniform

    @property
    def needs_member_loss(self) -> bool:
        """Whether the other acquisition reads the expected loss under each member."""
        return self.part.needs_member_loss

    def score_samples(self, state: PoolState) -> Floats:
        scores = checked_scores(self.part, state)
        total = scores.sum()
        if not total > 0 or not has_evidence(state):
            return scores
        trust = weigh_evidence(state).trust
        return trust / total * scores + (1.0 - trust) / state.n_samples

    @property
    def part(self) -> BaseAcquisition:
        """The other acquisition."""
        if self.acquisition is None:
            return Mixture()
        return check_part(self.acquisition, self)


# After this many labels the share of the gain has fallen by two thirds of its range.
_EARLY_LABELS = 25.0


class BestModel(BaseAcquisition):
    """Rows on which models that may be the best differ.

    Two parts have a share each: the spread of the differences between the leading model
    and its likeliest challengers, and what a label is expected to tell about which
    model is right most often. Rows on which all models agree score 0. A third part may
    be for the level of the leading model.

    Parameters
    ----------
    gain_share, late_gain_share : float, default=0.6 and 0.3
        Share of the second part at the start, and with many labels; some 25 labels are
        between the two. It helps to choose early, and makes intervals of differences
        wider. With two models only their difference counts, so the share is 0.
    temperature : float, default=30
        How sharply rows with the greatest gain are preferred.
    level_share : float, default=0
        Share of the third part: rows where the loss of the leading model is uncertain.
    n_challengers : int, default=8

    Notes
    -----
    For a single model, in an evaluation, it is :class:`LossSpread`.

    Examples
    --------
    >>> from sklearn_ase.acquisition import BestModel
    >>> from sklearn_ase.testing import make_state
    >>> BestModel().score_samples(make_state(n_samples=40)).shape
    (40,)
    """

    def __init__(
        self,
        gain_share: float = 0.6,
        late_gain_share: float = 0.3,
        temperature: float = 30.0,
        level_share: float = 0.0,
        n_challengers: int = 8,
    ) -> None:
        self.gain_share = gain_share
        self.late_gain_share = late_gain_share
        self.temperature = temperature
        self.level_share = level_share
        self.n_challengers = n_challengers

    @property
    def bought_for(self) -> str:
        """What the labels are bought for, as a note on estimates of one model."""
        text = "The labels were bought to tell the models apart"
        if self.level_share:
            share = f"a share of {self.level_share:g} for the best model by itself"
            return f"{text}, and {share}."
        return (
            f"{text}. They say less about one model by itself than labels bought for "
            "it: level_share=0.2 spends a share of them on that."
        )

    def validate(self) -> None:
        check_number(self.gain_share, "gain_share", 0, 1)
        check_number(self.late_gain_share, "late_gain_share", 0, 1)
        check_number(self.temperature, "temperature", 0, ends="()")
        check_number(self.level_share, "level_share", 0, 1)
        check_integer(self.n_challengers, "n_challengers", 1)

    def score_samples(self, state: PoolState) -> Floats:
        """Shares of the parts, each scaled to sum to 1 over the free rows."""
        spread = np.sqrt(np.maximum(state.loss_variance, 0.0))
        if state.models is None:
            return spread
        free, models = state.free, state.models
        rows = np.flatnonzero(free & models.apart)
        scores = np.zeros(state.n_samples)
        if len(rows):
            share = self._share_of_gain(state)
            between = models.difference_spread(self.n_challengers)
            scores[rows] = (1.0 - share) * _scaled(between[rows])
            if share:
                scores[rows] += share * _scaled(self._sharpened(models.gain(rows)))
        if self.level_share:
            level = np.zeros(state.n_samples)
            level[free] = _scaled(spread[free])
            scores = (1.0 - self.level_share) * scores + self.level_share * level
        return scores

    def _share_of_gain(self, state):
        if len(state.models.best_proba) == 2:
            return 0.0
        early, late = self.gain_share, self.late_gain_share
        return late + np.exp(-state.n_labels / _EARLY_LABELS) * (early - late)

    def _sharpened(self, gain):
        deviation = gain.std()
        if not deviation > 0:
            return np.ones(len(gain))
        return np.exp(self.temperature * (gain - gain.max()) / deviation)


def _scaled(values):
    total = values.sum()
    return values / total if total > 0 else np.full(len(values), 1.0 / len(values))
