"""One-step estimates of a mean, one from each label, and their variance."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr

if TYPE_CHECKING:
    from sklearn_ase._state import Picks, PoolState

# The arrays of this file. N is the number of rows of the pool, M that of the picks.
#
#   losses (M,)          l_m, the value that a label showed; 0 without a label
#   query_proba (M,)     q_m, the probability of the pick given those before it
#   expected (M,)        g_m(i_m), what was expected of the picked row before its label
#   free_expected (M,)   the sum of g_m over the rows that were free, U_m
#   plain (M,)           R_m(0), the one-step estimates without g (T1)
#   control (M,)         x_m, what g takes from each of them; its mean is 0 (T1)
#   power (M,)           lambda_m, how much of the control is used (T1)
#   steps (M,)           R_m(lambda_m), unbiased each
#   predicted (M,)       the variance of each as the surrogate expected it
#   weights (M,)         w_m, sum 1: the estimate is ``weights @ steps``
#   seen, believed       two estimates of its variance: s_1^2 and s_2^2 (T5)


def lure_weights(query_proba: np.ndarray, n_samples: int) -> np.ndarray:
    """Weights ``v_m`` of the LURE estimator for M labels out of a pool of N."""
    n_labels = len(query_proba)
    if n_labels == n_samples:
        return np.ones(n_labels)
    free = free_after(n_labels, n_samples)
    inverse = 1.0 / ((free + 1.0) * query_proba)
    return 1.0 + (n_samples - n_labels) / free * (inverse - 1.0)


def free_after(n_labels, n_samples):
    """Number of free rows after each pick, as floats of shape (n_labels,)."""
    return np.arange(n_samples - 1.0, n_samples - n_labels - 1.0, -1.0)


@lru_cache(maxsize=2)
def step_weights(n_labels, n_samples):
    """Weights of the one-step estimates, ``w_m ∝ 1 / ((N-m+1)(N-m))``, sum 1.

    Their weighted mean is LURE (and its corrected form). The array is kept for the next
    call, so it cannot be changed.
    """
    if n_labels == n_samples:
        # The last step alone has seen every loss.
        weights = np.eye(1, n_labels, n_labels - 1)[0]
    else:
        free = free_after(n_labels, n_samples)
        # The sum of 1 / ((N-m+1)(N-m)) is 1 / (N-M) - 1 / N.
        total = n_labels / (n_samples * (n_samples - n_labels))
        weights = 1.0 / (total * free * (free + 1.0))
    weights.setflags(write=False)
    return weights


def step_estimates(
    losses: np.ndarray,
    query_proba: np.ndarray,
    n_samples: int,
    expected=0.0,
    free_expected=0.0,
) -> np.ndarray:
    """Unbiased estimates of the pool risk, each from the label of one step.

    ``R_m = (sum_{s<m} l_s + sum_{U_m} g_m + (l_m - g_m(x_m)) / q_m) / N``.
    """
    before = np.cumsum(losses) - losses
    return (before + free_expected + (losses - expected) / query_proba) / n_samples


def predictable_power(plain, control, n_trusted):
    """How much of the control to use in each step, λ in eq. T1."""
    sums = map(_before, (plain, control, control**2, plain * control))
    return power_after(np.arange(len(plain)), *sums, n_trusted)


def power_after(
    count: np.ndarray,
    plain: np.ndarray,
    control: np.ndarray,
    square: np.ndarray,
    product: np.ndarray,
    n_trusted: float,
):
    """How much of the control to use in a step, λ in eq. T1, from sums before it."""
    count = np.maximum(count, 1)
    square = np.maximum(square - control**2 / count, 0.0)
    product = product - plain / count * control
    # The prior counts as n_trusted steps of the size seen so far.
    prior = n_trusted * square / count
    weight = prior + square
    power = np.divide(
        prior + product, weight, out=np.ones(len(weight)), where=weight > 0
    )
    return np.clip(power, 0.0, 1.0)


def _before(values):
    """Sum of the values before each one."""
    before = np.zeros(len(values))
    np.cumsum(values[:-1], out=before[1:])
    return before


def step_moments(
    query_proba: np.ndarray, expected: np.ndarray, variance: np.ndarray
) -> tuple[float, float]:
    """Mean squares of a step's surprise, as the belief expects them."""
    inverse = _inverse(query_proba)
    return variance @ inverse, (variance + expected**2) @ inverse


def step_limits(query_proba: np.ndarray, expected: np.ndarray) -> tuple[float, float]:
    """Greatest ``1 / q`` and ``g / q`` over the samples that can be picked."""
    inverse = _inverse(query_proba)
    return inverse.max(), (expected * inverse).max()


def _inverse(query_proba):
    """Inverse probabilities; 0 for samples that cannot be picked."""
    return np.divide(
        1.0, query_proba, out=np.zeros_like(query_proba), where=query_proba > 0
    )


def step_deviations(steps, n_samples):
    """Distances of the steps from their weighted mean, brought to one scale.

    The deviation of a step shrinks with the number of free rows.
    """
    weights = step_weights(len(steps), n_samples)
    return (steps - weights @ steps) / _step_scale(len(steps), n_samples)


def variance_of_steps(steps, n_samples):
    """Variance of the weighted mean of the steps, from their scatter."""
    n_steps, deviations = len(steps), step_deviations(steps, n_samples)
    scaled = step_weights(n_steps, n_samples) * _step_scale(n_steps, n_samples)
    return float(deviations @ deviations / (n_steps - 1) * (scaled @ scaled))


@lru_cache(maxsize=2)
def _step_scale(n_steps, n_samples):
    scale = 1.0 - np.arange(n_steps) / n_samples
    scale.setflags(write=False)
    return scale


def gap_log_density(
    gap, variance, expected: np.ndarray, spread: np.ndarray
) -> np.ndarray:
    """Log-density of the gap under each hypothesis, up to a constant."""
    total = variance + spread
    surprise = np.minimum((gap - expected) ** 2 / total, 1e300)
    return -0.5 * (np.log(total) + surprise)


def bias_given_gap(
    gap: float,
    variance: float,
    expected: np.ndarray,
    spread: np.ndarray,
    weight: np.ndarray,
    bound: float,
) -> tuple[float, float]:
    """Expected bias of an estimate, given its distance from an unbiased one.

    Under each hypothesis the bias is normal with the given mean and variance. The gap
    is the bias minus the error of the unbiased estimate, taken as independent of it;
    eq. T3 and T4 of docs/method.md.
    """
    share = spread / (variance + spread)
    mean = expected + share * (gap - expected)
    deviation = np.maximum((variance * share) ** 0.5, 1e-12 * bound)
    within = ndtr((bound - mean) / deviation) - ndtr((-bound - mean) / deviation)
    return float(weight @ mean), float(weight @ within)


def clear_mean(values: np.ndarray) -> float:
    """Mean of a sample, shrunk towards 0 by two standard errors."""
    mean, error = values.mean(), values.std(ddof=1) / len(values) ** 0.5
    return float(np.sign(mean) * max(abs(mean) - 2.0 * error, 0.0))


def parts_of_steps(picks: Picks, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """One-step estimates without g, and what g takes from each; its mean is 0."""
    losses, proba = picks.losses, picks.query_proba
    past = np.cumsum(losses) - losses
    control = picks.expected_loss / proba - picks.free_expected_loss
    return (past + losses / proba) / n_samples, control / n_samples


# Rows that nobody can label.


def over_answerable(
    steps: np.ndarray, state: PoolState, weight: np.ndarray | None = None
) -> np.ndarray:
    """Turn steps towards the mean over all rows into steps over answerable rows.

    A row that nobody can label counts 0 in the sum, and the share of the other rows is
    estimated in the same way as the sum. The ratio of the two is not exactly unbiased;
    its bias falls faster with the number of labels than its standard error.
    """
    picks, n_samples = state.settled, state.n_samples
    if picks.answered.all():
        return steps
    n_picks = len(steps)
    weight = row_weight(state) if weight is None else weight
    share_steps, least, most = _answerable(picks, n_samples, weight)
    weights = step_weights(n_picks, n_samples)
    share = weights @ share_steps
    if not most > 0:
        return np.zeros(n_picks)  # No row that counts can be labelled.
    if not least <= share <= most:  # By chance outside what is known for certain.
        return steps / np.clip(share, max(least, 1.0 / n_samples**2), most)
    # The ratio, linearised around its value.
    value = weights @ steps / share
    return value + (steps - value * share_steps) / share


def answerable_share(state: PoolState, weight: np.ndarray | None = None) -> float:
    """Estimated share of the rows that can be labelled, by their weight."""
    picks, n_samples = state.settled, state.n_samples
    if not picks.n_skipped:
        return 1.0
    weight = np.ones(n_samples) if weight is None else weight
    steps, least, most = _answerable(picks, n_samples, weight)
    share = step_weights(len(picks), n_samples) @ steps
    return float(np.clip(share, least, most))


def _answerable(picks, n_samples, weight):
    """Steps towards the share of answerable rows, its least and greatest value."""
    counts = weight[picks.indices]
    steps = step_estimates(
        picks.answered * counts,
        picks.query_proba,
        n_samples,
        expected=counts,
        free_expected=n_samples - (np.cumsum(counts) - counts),
    )
    least = counts[picks.answered].sum() / n_samples
    most = 1.0 - counts[~picks.answered].sum() / n_samples
    return steps, least, most


def row_weight(state):
    """How much each row counts in the mean that is estimated; the mean weight is 1."""
    weight = state.weight
    return np.broadcast_to(1.0, state.n_samples) if weight is None else weight


# Steps of a state, and the variance of their mean.


# Number of labels for which g is used in full before they show how much of it to use.
TRUSTED_LABELS = 10


class Steps(NamedTuple):
    """One-step estimates of the risk.

    Attributes
    ----------
    values : ndarray of shape (n_picks,)
        Unbiased, whatever the surrogate, where every pick has its label.
    predicted : ndarray of shape (n_picks,)
        Variance of each as the surrogate expected it.
    power : ndarray of shape (n_picks,)
        How much of g is used in each, known before it; λ in eq. T1.
    """

    values: np.ndarray
    predicted: np.ndarray
    power: np.ndarray


def weighting_obstacle(state: PoolState, name: str, allows_skips: bool = True) -> str:
    """Say why labels cannot be weighted by the probability of their pick."""
    picks = state.settled
    if picks.n_labels == 0:
        if not len(state.picks):
            return f"{name} needs at least one label. Call ask() and tell() first."
        return (
            f"{name} needs a label for the first row that was asked for, but has none "
            f"({state.n_labels} labels in all). Answer the open queries first."
        )
    if not picks.has_query_proba:
        n_unknown = int(np.isnan(picks.query_proba).sum())
        return (
            f"{name} weighs each label by the probability with which it was picked, "
            f"but {n_unknown} of the {len(picks)} rows were picked "
            "without one (ArgMax). Use selection=Proportional() or UniformMixed(...) "
            "for new labels, or risk=ASE() for these."
        )
    if picks.n_skipped and not allows_skips:
        return (
            f"{name} weighs labels by their picks, but {picks.n_skipped} rows were "
            "picked and skipped, and it does not allow for that (allows_skips is "
            "False). Use GuardedASE(), CorrectedASE() or LURE()."
        )
    return ""


def tuned_steps(state: PoolState) -> Steps:
    """One-step estimates with g as a control variate, eq. T1.

    The control is weighted by how useful it has been in the steps before. For other
    quantities than the mean loss it counts in full.
    """
    if "tuned_steps" not in state.memo:
        state.memo["tuned_steps"] = _tuned_steps(state)
    return state.memo["tuned_steps"]


def _tuned_steps(state):
    if state.is_question:
        # Without g an estimate for a group depends on how many of its rows were picked.
        return steps_with_power(state, 1.0)
    plain, control = parts_of_steps(state.settled, state.n_samples)
    power = predictable_power(plain, control, TRUSTED_LABELS)
    return _steps(state, power, plain, control)


def steps_with_power(state: PoolState, power: float) -> Steps:
    """One-step estimates that use the same share of g in every step.

    Parameters
    ----------
    state : PoolState
    power : float
        0 uses nothing of what the surrogate expects, 1 all of it.

    Returns
    -------
    steps : Steps
    """
    powers = np.full(len(state.settled), float(power))
    plain, control = parts_of_steps(state.settled, state.n_samples)
    return _steps(state, powers, plain, control)


def _steps(state, power, plain, control):
    residual, loss = moments_with_prior(state)
    free_expected = state.settled.free_expected_loss
    # What is left of g in a step adds to its variance.
    left = (1.0 - power) ** 2 * np.maximum(loss - residual - free_expected**2, 0.0)
    values = over_answerable(plain - power * control, state)
    return Steps(values, (residual + left) / state.n_samples**2, power)


def limits_of_steps(
    state: PoolState, power: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest value that each step could have had."""
    picks = state.settled
    before = np.cumsum(picks.losses) - picks.losses
    start = before + power * picks.free_expected_loss
    low = start - power * picks.max_expected_ratio
    high = start + state.loss.max_loss * picks.max_inverse_proba
    return low / state.n_samples, high / state.n_samples


def moments_with_prior(state):
    """Believed moments of the settled picks; those before the first fit as of now."""
    residual, loss = state.settled.residual_moment, state.settled.loss_moment
    unknown, now = np.isnan(residual), 0.0
    if state.belief is not None and unknown.any():
        now = state.loss_variance.mean() + state.expected_loss.var()
        now *= state.n_samples**2
    return np.where(unknown, now, residual), np.where(unknown, now, loss)


def variances_of_mean(
    steps: np.ndarray, predicted: np.ndarray, n_samples: int
) -> tuple[float, float]:
    """Two estimates of the variance of the weighted mean of the steps, eq. T5."""
    n_picks = len(steps)
    if n_picks == n_samples:
        return 0.0, 0.0
    weights = step_weights(n_picks, n_samples)
    seen = 0.0
    if n_picks > 1:
        seen = variance_of_steps(steps, n_samples)
    return seen, float(weights**2 @ predicted)


def tuned_variances(state):
    """Both variances of the mean of :func:`tuned_steps`, computed once for a state."""
    if "tuned_variances" not in state.memo:
        values, predicted, _ = tuned_steps(state)
        found = variances_of_mean(values, predicted, state.n_samples)
        state.memo["tuned_variances"] = found
    return state.memo["tuned_variances"]


def largest_step(values, n_samples):
    """Share of the scatter of the steps that comes from one of them."""
    square = step_deviations(values, n_samples) ** 2
    total = square.sum()
    return float(square.max() / total) if total > 0 else 0.0


def unseen_variance(state: PoolState) -> float:
    """Variance that a unit of losses which no label has shown would add, eq. T12.

    If such losses are spread evenly over an infinite pool, the labels are worth
    ``M / κ`` labels of a plain sample for them. κ is the mean of ``1 / (n q)`` over
    the rows. The picks estimate it: over many of them, the mean of ``1 / (n q)²`` is
    κ. Of other values than the loss, a row counts as far as its label can change them.
    """
    picks, room = state.settled, np.ones(state.n_samples)
    if state.is_question:
        least, most = state.loss.limits()
        room = most - least
    told = room[picks.indices[picks.answered]]
    if not told.any():
        return np.inf if room.any() else 0.0
    n_free = state.n_samples - np.arange(len(picks))
    spread = np.mean((room[picks.indices] / (n_free * picks.query_proba)) ** 2)
    plain = np.sum(told**2) / np.sum(told) ** 2
    return float(max(spread / room.mean() ** 2 / picks.n_labels, plain))


def label_shares(state):
    """Share of the pool that each settled pick stands for, 0 without a label; sum 1."""
    picks = state.settled
    weights = lure_weights(picks.query_proba, state.n_samples)
    return weights * picks.answered / (weights @ picks.answered)


# Rows with several answers.


# Number of rows without any noise that are assumed before answers are compared.
_PRIOR_ROWS = 3


def with_several_answers(
    picks: Picks, noise: tuple[np.ndarray, np.ndarray] | None
) -> Picks:
    """Picks with the variance that means of several answers are believed to have.

    The surrogate believes in the variance of a single answer. A part of it is noise of
    the answers, and the mean of k answers has 1/k of that part. The part is found
    from rows with several answers: the variance between the answers for a row, relative
    to what was believed. For each pick it is found from the picks before, so that what
    is expected of a pick is still known before its label.
    """
    if noise is None:
        return picks
    counts, within = np.ones(len(picks)), np.zeros(len(picks))
    counts[picks.answered], within[picks.answered] = noise
    residual, is_compared = picks.residual_moment, counts > 1
    is_compared &= np.isfinite(residual)
    # Both are means over the pick of a variance divided by q².
    found = _sum_before(np.where(is_compared, within / picks.query_proba**2, 0.0))
    believed = _sum_before(np.where(is_compared, residual, 0.0))
    n_rows = _sum_before(is_compared.astype(float))
    believed = believed * (n_rows + _PRIOR_ROWS) / np.maximum(n_rows, 1.0)
    part = np.divide(found, believed, out=np.zeros(len(picks)), where=believed > 0)
    less = residual * np.minimum(part, 1.0) * (1.0 - 1.0 / counts)
    return replace(
        picks, residual_moment=residual - less, loss_moment=picks.loss_moment - less
    )


def _sum_before(values):
    """Sum of the values before each one."""
    return np.cumsum(values) - values


# What picks add to the variance of a mean, whatever its values.


def spread_of_picks(state: PoolState) -> np.ndarray:
    """What each row would add to the variance of a mean, had its value variance 1."""
    picks, n_samples = state.settled, state.n_samples
    weights = step_weights(len(picks), n_samples) ** 2
    weights[np.isnan(picks.query_proba)] = 0.0
    each = _over_epochs(state, weights, lambda epoch: epoch.inverse_proba)
    return each / n_samples**2


def chances_of_picks(state: PoolState) -> np.ndarray:
    """How often each row was expected to be picked, as long as it was free."""
    weights = np.ones(len(state.settled))
    return _over_epochs(state, weights, lambda epoch: epoch.query_proba)


def _over_epochs(state, weights, of_rows):
    """Sum over the picks of a weight times something of each row that was free."""
    picks, n_samples = state.settled, state.n_samples
    total, epochs = np.zeros(n_samples), state.epochs
    ends = [*(epoch.start for epoch in epochs[1:]), len(picks)]
    for epoch, end in zip(epochs, ends, strict=False):
        here = weights[epoch.start : end]
        counts = np.full(n_samples, here.sum())
        counts[picks.indices[: epoch.start]] = 0.0
        counts[picks.indices[epoch.start : end]] = np.cumsum(here)
        total += counts * of_rows(epoch)
    return total
