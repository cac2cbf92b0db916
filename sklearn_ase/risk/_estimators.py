"""Guarded ASE: the surrogate's estimate and the corrected one, weighted by evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._inference._evidence import WORTH, weigh_evidence
from sklearn_ase._inference._limits import min_loss
from sklearn_ase._inference._steps import tuned_steps
from sklearn_ase._utils._checks import check_number
from sklearn_ase.risk._ase import ASE
from sklearn_ase.risk._base import BaseRisk, mean_of_steps

if TYPE_CHECKING:
    from sklearn_ase._inference._steps import Steps
    from sklearn_ase._state import PoolState
    from sklearn_ase.risk._estimate import RiskEstimate

_ZERO_SHOT = (
    "No interval: there is no label yet to compare the surrogate's estimate with. "
    "Label some rows: 2 for a loss with a greatest value, 25 for any other."
)
_ALL_WAIT = (
    "No interval: the labels cannot be used before the first row that was asked for "
    "is answered."
)


class GuardedASE(BaseRisk):
    """Surrogate estimate, corrected as far as the labels contradict it.

    There are two estimates. A, the surrogate's, may be very close or far off. C, the
    corrected one, is unbiased whatever the surrogate. A counts as if it came from a
    number of labels: many if the surrogate is accurate, few if it is inaccurate, almost
    none if it is useless. Bayes' rule weighs these three hypotheses by the distance
    between A and C. For an uncalibrated surrogate the error on training rows that it
    did not learn from is expected of A, too. C uses the expected losses only as far as
    they have been of use so far.

    The interval is that of C, which does not rely on the surrogate. Before the first
    label the estimate is A, without an interval. Once a row could not be labelled it is
    C, because C then refers to the rows that can be labelled and A to the whole pool.

    Parameters
    ----------
    worth : float, default=400
        Number of labels that A is worth if the surrogate is accurate; a fortieth of
        that if it is inaccurate. An uncalibrated surrogate is worth a fourth if it is
        accurate. If it could not be compared with training rows either, it is more
        likely inaccurate, and then worth a four hundredth. 0 gives the corrected
        estimate, infinity the surrogate's (minus its error on training rows). The trust
        of :class:`TrustWeighted` and ``diagnose`` uses the default.

    See Also
    --------
    CorrectedASE : Never trusts the surrogate.
    ASE : Always trusts the surrogate.

    Examples
    --------
    >>> from sklearn_ase.risk import GuardedASE
    >>> GuardedASE()
    GuardedASE()
    """

    needs_query_proba = True
    allows_skips = True
    leans_on_surrogate = True

    def __init__(self, worth: float = WORTH) -> None:
        self.worth = worth

    def validate(self) -> None:
        check_number(self.worth, "worth", 0, infinite=True, note=", worth in labels")

    def obstacle(self, state: PoolState) -> str:
        if state.belief is not None and state.settled.n_labels == 0:
            return ""  # The surrogate's estimate needs no label.
        return super().obstacle(state)

    def estimate(self, state: PoolState) -> RiskEstimate:
        self.validate()
        self.check(state)
        if state.settled.n_labels == 0:
            return self._without_labels(state)
        corrected = mean_of_steps(self.steps(state), state)
        if state.belief is None:
            return corrected
        value = corrected.value
        is_compared = not (state.settled.n_skipped or state.is_cross_fitted)
        if self.worth > 0 and is_compared:
            evidence = weigh_evidence(state, self.worth)
            value = evidence.surrogate - evidence.bias
        # Between what the labels prove, as every mean of losses.
        most = min(corrected.most, corrected.max_loss)
        value = min(max(value, corrected.least), most)
        return replace(corrected, value=value, centre=corrected.value)

    def steps(self, state: PoolState) -> Steps | None:
        return tuned_steps(state)

    def _without_labels(self, state):
        refusal = _ALL_WAIT if state.n_labels else _ZERO_SHOT
        surrogate = ASE().estimate(state)
        value = surrogate.value - np.nan_to_num(state.training_gap)
        value = max(value, min_loss(state.loss))
        return replace(surrogate, value=float(value), refusal=refusal, n_labels=0)
