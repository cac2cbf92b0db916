"""GuardedASE: ASE for as many labels as it is worth, corrected by those there are."""

from dataclasses import replace

import numpy as np

from sklearn_ase._inference._evidence import (
    WORTH,
    has_evidence,
    tuned_steps,
    weigh_evidence,
)
from sklearn_ase.risk._ase import ASE
from sklearn_ase.risk._base import BaseRisk, check_design, mean_of_steps

_ZERO_SHOT = (
    "No interval: there is no label yet to judge the surrogate's estimate by. Label at "
    "least 25 rows."
)
_ALL_WAIT = (
    "No interval: the labels there are cannot be used before the first row that was "
    "asked for is answered."
)


class GuardedASE(BaseRisk):
    """ASE for as many labels as it is worth, corrected by those there are.

    A, the surrogate's estimate, may be very close or far off; C, the corrected one, is
    unbiased whatever the surrogate. Weighed as estimates from samples are, A counts as
    much as the number of labels that it is worth: many if the surrogate is right, few
    if it is wrong, none if it is worthless. Which of these it is the labels tell, by
    the distance between A and C; what an uncalibrated surrogate was off by on
    training rows that it had not learned from is expected of A too. In C the expected
    losses are used only as far as they have been of use so far.

    The interval is that of C, which does not rely on the surrogate. Before the first
    label this is A, without an interval. Once a row could not be labelled it is
    C: that is then of the rows that can be labelled, A of the whole pool.

    Parameters
    ----------
    worth : float, default=300
        Labels that A is worth if the surrogate is right; if it is wrong, a thirtieth
        of that. An uncalibrated surrogate is worth a third if it is right; one that
        could not be held against training rows either is more likely wrong, and then
        worth a three hundredth. 0 is the corrected estimate, infinity the surrogate's
        (less what training rows showed). The trust of :class:`TrustWeighted` and
        ``diagnose`` has the default.

    See Also
    --------
    CorrectedASE : Never trusts the surrogate.
    ASE : Always does.

    Examples
    --------
    >>> from sklearn_ase.risk import GuardedASE
    >>> GuardedASE()
    GuardedASE()
    """

    needs_query_proba = True
    allows_skips = True
    leans_on_surrogate = True

    def __init__(self, worth=WORTH):
        self.worth = worth

    def estimate(self, state):
        if not self.worth >= 0:
            raise ValueError(f"worth={self.worth} must be a number of labels, >= 0.")
        if state.belief is not None and state.n_in_order == 0:
            refusal = _ALL_WAIT if state.n_labels else _ZERO_SHOT
            surrogate = ASE().estimate(state)
            value = max(surrogate.value - np.nan_to_num(state.training_gap), 0.0)
            return replace(surrogate, value=float(value), refusal=refusal)
        design = check_design(state, "GuardedASE")
        corrected = mean_of_steps(*tuned_steps(state), design)
        if state.belief is None:
            return corrected
        value = corrected.value
        if self.worth > 0 and has_evidence(state):
            evidence = weigh_evidence(state, self.worth)
            value = evidence.surrogate - evidence.bias
        value = min(max(value, 0.0), design.greatest_loss)  # As every loss.
        return replace(corrected, value=value, centre=corrected.value)
