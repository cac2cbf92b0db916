"""BestModel: rows whose labels tell which of several models is the best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._utils._checks import check_integer, check_number
from sklearn_ase._utils._typing import Floats
from sklearn_ase.acquisition._base import BaseAcquisition

if TYPE_CHECKING:
    from sklearn_ase._state import PoolState

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

    follows_labels = True

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
        spread = np.sqrt(np.maximum(state.belief.loss_variance(state.loss), 0.0))
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
