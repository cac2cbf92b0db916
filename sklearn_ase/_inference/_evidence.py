"""Evidence about the surrogate: how far the labels support its estimate.

The equations are those of docs/method.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp, softmax

from sklearn_ase._inference import _steps as _kernels
from sklearn_ase._inference._bounds import blended
from sklearn_ase._inference._steps import (
    label_shares,
    tuned_steps,
    tuned_variances,
    weighting_obstacle,
)

if TYPE_CHECKING:
    from sklearn_ase._state import PoolState

# The numbers of this file, as in docs/method.md.
#
#   surrogate, corrected   A and C, the two estimates of the risk; gap = A - C is D
#   variance               s^2, of C
#   of_one_label           v, the variance of a single label (T2)
#   shares, prior (H,)     worth of A under each hypothesis, relative to that of an
#                          accurate one; probability of the hypothesis before the labels
#   expected, spread (H,)  mean and variance of the error of A under each hypothesis

# Labels that the estimate of a calibrated surrogate is worth if it is accurate.
WORTH = 400.0
# Share of that worth, and prior probability, under each of three hypotheses about the
# surrogate: accurate, inaccurate, useless.
CALIBRATED = (1.0, 1 / 40, 3 / 4000), (0.9, 0.08, 0.02)
# Training rows worth this many times the labels decide the surrogate's estimate.
_OUTWEIGHS = 4.0
# If the worth of the training rows were known, the estimate would be worth this times
# more: part of its error is that the worth is not known.
_ONE_WORTH = 2.0
# One that is not calibrated, but was compared with training rows.
_COMPARED = (1 / 4, 1 / 40, 3 / 4000), (0.85, 0.12, 0.03)
# One that only labels of the pool can support.
_UNKNOWN = (1 / 4, 1 / 400, 3 / 40_000), (0.3, 0.65, 0.05)
# The error on training rows carries over to the pool up to this share.
_CARRY_OVER = 0.25
# An error that this many labels would leave does not count against a surrogate.
_ENOUGH_LABELS = 200.0


@dataclass(frozen=True, eq=False)
class Evidence:
    """Comparison of the surrogate with the labels.

    Attributes
    ----------
    surrogate : float
        The surrogate's estimate of the risk, A in docs/method.md.
    corrected : float
        The estimate corrected by the labels, C in docs/method.md.
    distance : float
        Distance of the two estimates in standard errors of `corrected`. NaN if every
        row is labelled, or if some rows cannot be labelled.
    bias : float
        Expected error of the surrogate's estimate. NaN if some rows cannot be labelled.
    trust : float
        Probability that the surrogate's estimate is off by less than a standard error
        of `corrected`, or of 200 labels if there are more. NaN if some rows cannot be
        labelled.
    """

    surrogate: float
    corrected: float
    distance: float = np.nan
    bias: float = np.nan
    trust: float = np.nan


def hypotheses(
    is_calibrated: bool, is_compared: bool = False
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Hypotheses about a surrogate: accurate, inaccurate, useless."""
    if is_calibrated:
        return CALIBRATED
    return _COMPARED if is_compared else _UNKNOWN


def judging_obstacle(state):
    """Say why the labels cannot judge the surrogate; empty if they can."""
    if state.belief is None:
        return "The surrogate has not been fitted."
    return weighting_obstacle(state, "The comparison with the surrogate")


def has_evidence(state):
    """Whether the surrogate's estimate can be compared with the corrected one.

    If some rows cannot be labelled, the labels estimate the mean over the other rows,
    and the surrogate the mean over the whole pool. Both may be right and far apart.
    """
    return not (state.settled.n_skipped or judging_obstacle(state))


def weigh_evidence(state: PoolState, worth: float = WORTH) -> Evidence:
    """Compare the surrogate with the labels."""
    # The estimate and the next pick ask for the same.
    if ("evidence", worth) not in state.memo:
        state.memo["evidence", worth] = _weighed(state, worth)
    return state.memo["evidence", worth]


def _weighed(state, worth):
    steps = tuned_steps(state).values
    n_samples, n_labels = state.n_samples, len(steps)
    weights = _kernels.step_weights(n_labels, n_samples)
    surrogate, corrected = _surrogate_estimate(state), float(weights @ steps)
    gap = surrogate - corrected
    found = {"surrogate": surrogate, "corrected": corrected}
    if n_labels == n_samples:  # The risk is known.
        return Evidence(**found, bias=gap, trust=0.0)
    if state.settled.n_skipped:
        return Evidence(**found)
    seen, believed = tuned_variances(state)
    # Not the greater of the two: a surrogate must not hide its own error behind a
    # variance that only it believes in.
    variance = blended(seen, believed, n_labels)
    least = (1e-12 * max(abs(surrogate), abs(corrected))) ** 2
    if variance <= least:  # Everything was foreseen, so the present belief is used.
        believed_now = float(state.loss_variance.mean())
        variance = believed_now * (1.0 / n_labels - 1.0 / n_samples)
    if variance <= least:
        return Evidence(**found, distance=0.0, bias=gap, trust=float(gap**2 <= least))
    bias, trust = _bias(state, gap, variance, n_labels, worth)
    distance = float(abs(gap) / max(seen, believed, variance) ** 0.5)
    # A probability, but for rounding: scores are mixed with 1 - trust.
    return Evidence(**found, distance=distance, bias=bias, trust=min(trust, 1.0))


def _surrogate_estimate(state):
    """The surrogate's estimate; in regression with the losses that were observed.

    A regressor has learned the labels that it was given, and the noise of a label is
    expected on top of them. So it expects too much loss where the label is known.
    """
    estimate = float(state.expected_loss.mean())
    if not getattr(state.belief, "is_gaussian", False):
        return estimate
    excess = np.sum(state.expected_loss[state.indices] - state.losses)
    return estimate - float(excess) / state.n_samples


def _bias(state, gap, variance, n_labels, worth):
    """Expected error of the surrogate, and the probability that it is small, T3, T4."""
    # What training rows are worth is known for the loss alone.
    has_worth = state.is_calibrated and not state.is_question
    found = state.belief.training_worth if has_worth else None
    is_compared = not np.isnan(state.training_gap)
    shares, prior = hypotheses(state.is_calibrated, is_compared)
    expected = np.zeros(len(shares))
    if found is not None:
        shares, prior, expected = _worth_hypotheses(state)
    elif not state.is_calibrated and is_compared:
        # Only an accurate surrogate errs on the pool as it does on training rows.
        expected[0] = state.training_gap
    # Variance of an estimate from one label of an infinite pool, eq. T2.
    of_one_label = variance * n_labels / (1.0 - n_labels / state.n_samples)
    spread = of_one_label / (worth * np.array(shares))
    if not state.is_calibrated:
        spread = spread + (_CARRY_OVER * expected) ** 2
    log_density = _kernels.gap_log_density(gap, variance, expected, spread)
    weight = softmax(np.log(prior) + log_density)
    if found is not None:
        is_apart = found.worths > _OUTWEIGHS * n_labels
        weight = _without_echo(weight, found.shares, is_apart)
    bound = max(variance, of_one_label / _ENOUGH_LABELS) ** 0.5
    return _kernels.bias_given_gap(gap, variance, expected, spread, weight, bound)


def _without_echo(
    weight: np.ndarray, shares: np.ndarray, is_apart: np.ndarray
) -> np.ndarray:
    """Weights of the hypotheses, without what the labels would say twice, eq. T11."""
    accurate, others = np.split(weight, [len(shares)])
    total = accurate.sum()
    # An estimate that follows the labels is close to C because both do. That it is
    # close says nothing new: such a hypothesis keeps its share.
    kept = total * shares
    apart = accurate[is_apart].sum()
    if apart > 0:
        kept[is_apart] = kept[is_apart].sum() * accurate[is_apart] / apart
    return np.concatenate([kept, others])


def _worth_hypotheses(state):
    """Hypotheses about a calibrated surrogate, by those about training rows, T10."""
    found = state.belief.training_worth
    accurate, others = CALIBRATED[1][0], CALIBRATED[1][1:]
    n_worths = len(found.worths)
    shares = np.array([_ONE_WORTH] * n_worths + list(CALIBRATED[0][1:]))
    # A share of 0 would make the logarithm of the prior infinite.
    prior = np.array([*np.maximum(accurate * found.shares, 1e-300), *others])
    error = state.expected_loss.mean() - found.risk
    return shares, prior, np.array([*error, 0.0, 0.0])


def skill_of(state):
    """Share of the variance of the losses that g explained before it saw them.

    0 is as good as one number for all labels, a negative value is worse. NaN if the
    surrogate was not fitted before any of the labels.
    """
    picks = state.settled
    # Before its first fit the surrogate expected nothing.
    fitted = picks.answered & ~np.isnan(picks.residual_moment)
    if not fitted.any():
        return np.nan
    share = label_shares(state)[fitted]
    share /= share.sum()
    losses, expected = picks.losses[fitted], picks.expected_loss[fitted]
    of_surrogate = share @ (losses - expected) ** 2
    of_constant = share @ (losses - share @ losses) ** 2
    is_constant = of_constant <= 1e-12 * (share @ losses**2)  # But for rounding.
    return np.nan if is_constant else float(1.0 - of_surrogate / of_constant)


# The error of the surrogate in several groups of rows.


# An accurate surrogate is worth this many times the usual number of labels. Its error
# in a group may be far smaller than that on the whole pool can show.
_WORTHS = (1.0, 10.0, np.inf)
# Probability that it errs by no common amount, or by that on the whole pool.
_CENTRES = (0.8, 0.2)


def errors_of_groups(
    gaps: np.ndarray,
    variances: np.ndarray,
    common: float,
    one_label: float,
    worth: float,
    is_calibrated: bool,
) -> np.ndarray:
    """Expected error of the surrogate's estimate of each group."""
    shares, prior = hypotheses(is_calibrated)
    gaps, variances = gaps[:, None], variances[:, None]
    log_weights, found = [], []
    for centre, chance in zip((0.0, common), _CENTRES, strict=True):
        for factor in _WORTHS:
            worths = worth * np.array(shares)
            worths[0] *= factor
            spread = variances * one_label / worths
            expected = np.array([centre, *np.zeros(len(shares) - 1)])
            density = np.log(prior) + _kernels.gap_log_density(
                gaps, variances, expected, spread
            )
            error = expected + spread / (variances + spread) * (gaps - expected)
            log_weights.append(np.log(chance) + logsumexp(density, axis=1).sum())
            found.append(np.sum(softmax(density, axis=1) * error, axis=1))
    return softmax(log_weights) @ np.array(found)
