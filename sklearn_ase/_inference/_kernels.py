"""Array formulas about picks and their labels: numpy in, new arrays out."""

from functools import lru_cache

import numpy as np
from scipy.special import ndtr


def lure_weights(query_proba, n_samples):
    """Weights ``v_m`` of the LURE estimator for M labels out of a pool of N.

    Parameters
    ----------
    query_proba : ndarray of shape (n_labels,)
        Probability with which each label was picked, in order.
    n_samples : int
        Size of the pool.

    Returns
    -------
    weights : ndarray of shape (n_labels,)
    """
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


def step_estimates(losses, query_proba, n_samples, expected=0.0, free_expected=0.0):
    """Unbiased estimates of the pool risk, each from the label of one step.

    ``R_m = (sum_{s<m} l_s + sum_{U_m} g_m + (l_m - g_m(x_m)) / q_m) / N``.

    Parameters
    ----------
    losses : ndarray of shape (n_labels,)
        Observed losses in order of acquisition.
    query_proba : ndarray of shape (n_labels,)
    n_samples : int
    expected : ndarray of shape (n_labels,) or 0
        ``g_m`` at the picked sample, before its label was seen. 0 gives LURE.
    free_expected : ndarray of shape (n_labels,) or 0
        Sum of ``g_m`` over the samples that were free at step m.

    Returns
    -------
    estimates : ndarray of shape (n_labels,)
    """
    before = np.cumsum(losses) - losses
    return (before + free_expected + (losses - expected) / query_proba) / n_samples


def predictable_power(plain, control, n_trusted):
    """How much of the control to use per step, λ in eq. T1 of docs/trust_method.md.

    Parameters
    ----------
    plain : ndarray of shape (n_labels,)
        One-step estimates without the surrogate.
    control : ndarray of shape (n_labels,)
        What the surrogate subtracts from each of them; its mean is 0 given the past.
    n_trusted : float
        Number of steps that the prior value 1 is worth.

    Returns
    -------
    power : ndarray of shape (n_labels,)
        Between 0 and 1: the regression of the past estimates on the past controls,
        shrunk towards 1. Known before its own step, so that the steps stay unbiased.
    """
    sums = map(_before, (plain, control, control**2, plain * control))
    return power_after(np.arange(len(plain)), *sums, n_trusted)


def power_after(count, plain, control, square, product, n_trusted):
    """The same from sums over the steps before.

    Parameters
    ----------
    count : ndarray of int of shape (n_labels,)
        Number of steps before.
    plain, control, square, product : ndarray of shape (n_labels,)
        Sums of the estimates, of the controls, of the squares of the controls, and of
        the products of both.
    n_trusted : float

    Returns
    -------
    power : ndarray of shape (n_labels,)
    """
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


def step_moments(query_proba, expected, variance):
    """Mean squares of a step's surprise, as the belief expects them.

    Parameters
    ----------
    query_proba, expected, variance : ndarray of shape (n_candidates,)
        Probability of the pick, mean and variance of the loss there.

    Returns
    -------
    residual_moment, loss_moment : float
        Means of ``((l - g) / q)²`` and ``(l / q)²`` over pick and label. Samples that
        cannot be picked are left out.
    """
    inverse = _inverse(query_proba)
    return variance @ inverse, (variance + expected**2) @ inverse


def step_limits(query_proba, expected):
    """Greatest ``1 / q`` and ``g / q`` over the samples that can be picked.

    Parameters
    ----------
    query_proba, expected : ndarray of shape (n_candidates,)

    Returns
    -------
    max_inverse_proba, max_expected_ratio : float
    """
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


def gap_log_density(gap, variance, expected, spread):
    """Log-density of the gap under each hypothesis, up to a constant.

    Parameters
    ----------
    gap, variance : float
    expected, spread : ndarray of shape (n_hypotheses,)
        See :func:`bias_given_gap`.

    Returns
    -------
    log_density : ndarray of shape (n_hypotheses,)
    """
    total = variance + spread
    surprise = np.minimum((gap - expected) ** 2 / total, 1e300)
    return -0.5 * (np.log(total) + surprise)


def bias_given_gap(gap, variance, expected, spread, weight, bound):
    """Expected bias of an estimate, given its distance from an unbiased one.

    Under each hypothesis the bias is normal with the given mean and variance. The gap
    is the bias minus the error of the unbiased estimate, taken as independent of it;
    eq. T3 and T4 of docs/trust_method.md.

    Parameters
    ----------
    gap : float
        The estimate minus the unbiased one.
    variance : float
        Of the unbiased one, > 0.
    expected, spread : ndarray of shape (n_hypotheses,)
        Mean and variance of the bias before the gap is seen.
    weight : ndarray of shape (n_hypotheses,)
        Probability of each hypothesis given the gap.
    bound : float

    Returns
    -------
    bias : float
        Its mean given the gap.
    within : float
        Probability that it is not greater than the bound, in either direction.
    """
    share = spread / (variance + spread)
    mean = expected + share * (gap - expected)
    deviation = np.maximum((variance * share) ** 0.5, 1e-12 * bound)
    within = ndtr((bound - mean) / deviation) - ndtr((-bound - mean) / deviation)
    return float(weight @ mean), float(weight @ within)


def clear_mean(values):
    """Mean of a sample, shrunk towards 0 by two standard errors.

    Parameters
    ----------
    values : ndarray of shape (n_values,)

    Returns
    -------
    mean : float
        0 if it is within two standard errors of 0.
    """
    mean, error = values.mean(), values.std(ddof=1) / len(values) ** 0.5
    return float(np.sign(mean) * max(abs(mean) - 2.0 * error, 0.0))
