"""The risk estimators of the package, from the surrogate alone to plain means."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_ase._inference._bounds import min_loss
from sklearn_ase._inference._evidence import WORTH, weigh_evidence
from sklearn_ase._inference._steps import (
    steps_with_power,
    tuned_steps,
    variances_of_mean,
)
from sklearn_ase._utils._checks import check_number
from sklearn_ase.risk._base import BaseRisk, design_based, mean_of_steps
from sklearn_ase.risk._estimate import Estimate

if TYPE_CHECKING:
    from sklearn_ase._inference._steps import Steps
    from sklearn_ase._state import PoolState


class ASE(BaseRisk):
    """Active surrogate estimate, ``mean_i g(x_i)`` over the pool.

    Its error is the error of the surrogate, which it cannot see. It therefore has no
    standard error and no confidence interval, only a ``member_spread``.

    Parameters
    ----------
    use_observed : bool, default=False
        Use the observed loss in place of the expected one where a label is known.

    References
    ----------
    .. [1] Kossen et al., "Active Surrogate Estimators", NeurIPS 2022, equation 4.

    Examples
    --------
    >>> from sklearn_ase.risk import ASE
    >>> ASE(use_observed=True)
    ASE(use_observed=True)
    """

    needs_belief = True
    leans_on_surrogate = True

    def __init__(self, use_observed: bool = False) -> None:
        self.use_observed = use_observed

    def estimate(self, state: PoolState) -> Estimate:
        self.check(state)
        losses: Any = state.expected_loss
        if self.use_observed:
            losses = losses.copy()
            losses[state.indices] = state.losses
        # Members are kept for the loss alone.
        member_risk = np.empty(0) if state.is_question else state.belief.member_risk
        spread = np.std(member_risk, ddof=1) if len(member_risk) > 1 else np.nan
        if self.use_observed:
            spread *= 1.0 - state.n_labels / state.n_samples
        return Estimate(
            value=float(losses.mean()),
            standard_error=np.nan,
            n_labels=state.n_labels,
            member_spread=float(spread),
            refusal="ASE has no confidence interval: its error is the surrogate's, "
            "which no label measures. Use GuardedASE() or CorrectedASE() with the same "
            "labels; member_spread is the spread of the surrogate's members.",
        )


class LURE(BaseRisk):
    """Levelled unbiased risk estimator.

    ``(1/M) sum v_m l_m`` with ``v_m = 1 + (N-M)/(N-m) (1/((N-m+1) q_m) - 1)``,
    computed as the equal weighted mean of unbiased one-step estimates, which gives
    it a standard error. Of other values than the loss, ``l_m`` is the distance from
    the least value of the row, or from the greatest one if most rows are closer to it.

    References
    ----------
    .. [1] Farquhar et al., "On Statistical Bias in Active Learning", ICLR 2021.
    .. [2] Kossen et al., "Active Surrogate Estimators", NeurIPS 2022, equation 2.

    Examples
    --------
    >>> from sklearn_ase.risk import LURE
    >>> LURE()
    LURE()
    """

    needs_query_proba = True
    allows_skips = True

    def steps(self, state: PoolState) -> Steps | None:
        return steps_with_power(state, 0.0)


class CorrectedASE(BaseRisk):
    """Surrogate estimate plus the weighted surprise of each label.

    Each step estimates the pool risk by
    ``(sum_{s<m} l_s + sum_{U_m} g_m + (l_m - g_m(x_m)) / q_m) / N`` with the
    surrogate *before* label m. It is unbiased whatever the surrogate, because
    ``g_m`` and ``q_m`` are fixed before the label is seen. The better the surrogate,
    the smaller the variance. With ``g = 0`` it is :class:`LURE`.

    Examples
    --------
    >>> from sklearn_ase.risk import CorrectedASE
    >>> CorrectedASE()
    CorrectedASE()
    """

    needs_query_proba = True
    allows_skips = True

    def steps(self, state: PoolState) -> Steps | None:
        return steps_with_power(state, 1.0)


class MonteCarlo(BaseRisk):
    """Mean of the observed losses.

    Valid only if every pick was uniform. The standard error has the
    finite-population factor ``sqrt(1 - M/N)``. As for the other
    estimators, what the surrogate expects of it counts as ten labels.

    Examples
    --------
    >>> from sklearn_ase.risk import MonteCarlo
    >>> MonteCarlo()
    MonteCarlo()
    """

    needs_query_proba = True
    allows_skips = True
    needs_uniform = True

    def obstacle(self, state: PoolState) -> str:
        obstacle = super().obstacle(state)
        if obstacle:
            return obstacle
        picks = state.settled
        uniform = 1.0 / (state.n_samples - np.arange(len(picks)))
        if not np.allclose(picks.query_proba, uniform, rtol=1e-9, atol=0.0):
            return (
                "MonteCarlo averages the labels of a plain random sample, but some "
                "were picked with unequal probabilities. Use LURE() or CorrectedASE() "
                "with these labels, or acquisition=Uniform() for new ones."
            )
        return ""

    def estimate(self, state: PoolState) -> Estimate:
        self.check(state)
        picks, n_samples = state.settled, state.n_samples
        losses, n_picks = picks.losses[picks.answered], len(picks)
        n_labels, is_known = len(losses), n_picks == n_samples
        steps, seen = self.steps(state), 0.0
        _, believed = variances_of_mean(*steps[:2], n_samples)
        if n_labels > 1 and not is_known:
            seen = losses.var(ddof=1) * (1.0 - n_picks / n_samples) / n_labels
        mean = losses.mean()
        return design_based(mean, (seen, believed), losses - mean, steps, state)

    def steps(self, state: PoolState) -> Steps:
        return steps_with_power(state, 0.0)


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

    def estimate(self, state: PoolState) -> Estimate:
        self.validate()
        self.check(state)
        if state.settled.n_labels == 0:
            return self._without_labels(state)
        corrected: Any = mean_of_steps(tuned_steps(state), state)
        if state.belief is None:
            return corrected
        value = corrected.value
        is_compared = not (state.settled.n_skipped or state.is_cross_fitted)
        if self.worth > 0 and is_compared:
            evidence = weigh_evidence(state, self.worth)
            value = evidence.surrogate - evidence.bias
        mean = corrected.uncertainty
        # Between what the labels prove, as every mean of losses.
        value = min(max(value, mean.least), min(mean.most, mean.max_loss))
        mean = replace(mean, value=value, centre=mean.value)
        return replace(corrected, value=value, uncertainty=mean)

    def steps(self, state: PoolState) -> Steps | None:
        return tuned_steps(state)

    def _without_labels(self, state):
        refusal = _ALL_WAIT if state.n_labels else _ZERO_SHOT
        surrogate = ASE().estimate(state)
        value = surrogate.value - np.nan_to_num(state.training_gap)
        value = max(value, min_loss(state.loss))
        return Estimate(
            value=float(value),
            standard_error=np.nan,
            n_labels=0,
            member_spread=surrogate.member_spread,
            refusal=refusal,
        )
