"""Guarded: ASE as far as the labels trust it, corrected ASE for the rest."""

from dataclasses import replace

from sklearn_ase._evidence import (
    PRIOR_TRUST,
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


class Guarded(BaseRisk):
    """ASE as far as the labels trust it, corrected ASE for the rest.

    ``trust * A + (1 - trust) * C``. A, the surrogate's estimate, may be very close or
    far off; C, the corrected one, is unbiased whatever the surrogate. The trust is
    the probability, given the labels, that A is right. It falls when A and C are
    further apart than chance brings them, when the losses that the surrogate
    expected fit the observed ones worse than one number for all would, and when it was
    wrong on training rows that it had not learned from. In C the expected losses are
    used only as far as they have been of use so far.

    The interval is that of C, which does not rely on the surrogate. Before the first
    label this is plain ASE, without an interval. Once a row could not be labelled it is
    C: that is then of the rows that can be labelled, A of the whole pool.

    Parameters
    ----------
    prior : float, default=0.8
        Trust before any label is seen. 0 is the corrected estimate, 1 plain ASE. The
        trust that :class:`Trusted` and ``diagnose`` use starts from the default.

    See Also
    --------
    CorrectedASE : Never trusts the surrogate.
    ASE : Always does.

    Examples
    --------
    >>> from sklearn_ase.risk import Guarded
    >>> Guarded()
    Guarded()
    """

    needs_query_proba = True
    allows_skips = True
    leans_on_surrogate = True

    def __init__(self, prior=PRIOR_TRUST):
        self.prior = prior

    def estimate(self, state):
        if not 0 <= self.prior <= 1:
            raise ValueError(f"prior={self.prior} must lie between 0 and 1.")
        if state.belief is not None and state.n_in_order == 0:
            refusal = _ALL_WAIT if state.n_labels else _ZERO_SHOT
            return replace(ASE().estimate(state), refusal=refusal)
        design = check_design(state, "Guarded")
        corrected = mean_of_steps(*tuned_steps(state), design)
        if state.belief is None:
            return corrected
        pull = 0.0
        if has_evidence(state):
            evidence = weigh_evidence(state, self.prior)
            pull = evidence.trust * (evidence.surrogate - corrected.value)
        value = max(corrected.value + pull, 0.0)  # As no loss is negative.
        return replace(corrected, value=value, centre=corrected.value)
