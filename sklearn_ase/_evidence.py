"""What the labels say about the surrogate: one number that others act upon."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from sklearn_ase import _kernels

# Probability that the surrogate is right before any label is seen.
PRIOR_TRUST = 0.8
# Standard errors by which a surrogate that is wrong is expected to be off.
_SLAB = 3.0
# Labels that the surrogate's word on the variance of the steps is worth.
_BELIEVED_LABELS = 10
# Labels for which g is used in full before they show how much of it to use.
_TRUSTED_LABELS = 10


@dataclass(frozen=True, eq=False)
class Evidence:
    """What speaks for and against the surrogate.

    Attributes
    ----------
    surrogate : float
        The surrogate's estimate of the risk.
    corrected : float
        The estimate corrected by the labels, with g used as far as it was of use.
    distance : float
        Standard errors of the latter between the two; NaN if every row is labelled.
    skill : float
        Share of the variance of the losses that g explained before it saw them; 0 is
        no better than one number for all labels, negative worse.
    trust : float
        Probability that the surrogate's estimate is right.
    """

    surrogate: float
    corrected: float
    distance: float
    skill: float
    trust: float


def has_evidence(state):
    """Whether there is a belief, and labels with probabilities to judge it by."""
    n_labels = state.n_in_order
    if state.belief is None or n_labels == 0:
        return False
    return not np.isnan(state.query_proba[:n_labels]).any()


def tuned_steps(state):
    """One-step estimates with as much of g as has been of use.

    Returns
    -------
    steps : ndarray of shape (n_in_order,)
        Unbiased, whatever the surrogate.
    predicted : ndarray of shape (n_in_order,)
        Variance of each as the surrogate expected it.
    """
    n_labels, n_samples = state.n_in_order, state.n_samples
    losses, query_proba = state.losses[:n_labels], state.query_proba[:n_labels]
    free_expected = state.free_expected_loss[:n_labels]
    plain = _kernels.step_estimates(losses, query_proba, n_samples)
    control = state.query_expected_loss[:n_labels] / query_proba - free_expected
    control /= n_samples
    power = _kernels.predictable_power(plain, control, _TRUSTED_LABELS)
    residual, loss = believed_moments(state)
    # What is left of g in a step adds to its variance.
    left = (1.0 - power) ** 2 * np.maximum(loss - residual - free_expected**2, 0.0)
    return plain - power * control, (residual + left) / n_samples**2


def believed_moments(state):
    """Moments of the steps in order; of those before the first fit as believed now.

    Returns
    -------
    residual_moment, loss_moment : ndarray of shape (n_in_order,)
    """
    n_labels = state.n_in_order
    residual, loss = state.residual_moment[:n_labels], state.loss_moment[:n_labels]
    unknown, now = np.isnan(residual), 0.0
    if state.belief is not None and unknown.any():
        now = state.belief.loss_variance(state.loss).mean() + state.expected_loss.var()
        now *= state.n_samples**2
    return np.where(unknown, now, residual), np.where(unknown, now, loss)


def variances_of_mean(steps, predicted, n_samples):
    """Variance of the weighted mean of the steps, twice.

    Returns
    -------
    seen : float
        From the scatter of the steps: few of them miss what is rare.
    believed : float
        As the surrogate expected it, which may not know better.
    """
    n_labels = len(steps)
    if n_labels == n_samples:
        return 0.0, 0.0
    weights = _kernels.step_weights(n_labels, n_samples)
    seen = 0.0
    if n_labels > 1:
        seen = _kernels.variance_of_steps(steps, weights, n_samples)
    return seen, float(weights**2 @ predicted)


def label_shares(state):
    """Share of the pool that each label in order stands for; they sum to 1."""
    n_labels = state.n_in_order
    n_free = state.n_samples - np.arange(n_labels)
    weights = 1.0 / (n_free * state.query_proba[:n_labels])
    return weights / weights.sum()


def weigh_evidence(state, prior=PRIOR_TRUST):
    """Compare the surrogate with the labels; the rule is derived in docs/trust.md.

    Parameters
    ----------
    state : PoolState
        For which :func:`has_evidence` holds.
    prior : float, default=0.8

    Returns
    -------
    evidence : Evidence
    """
    n_labels, n_samples = state.n_in_order, state.n_samples
    steps, predicted = tuned_steps(state)
    weights = _kernels.step_weights(n_labels, n_samples)
    surrogate, corrected = float(state.expected_loss.mean()), float(weights @ steps)
    skill, doubt = _judge_single_labels(state)
    if n_labels == n_samples:  # The risk is known.
        return Evidence(surrogate, corrected, np.nan, skill, 0.0)
    seen, believed = variances_of_mean(steps, predicted, n_samples)
    # A geometric mean: a surrogate must not excuse its own error by a variance that
    # only it believes in, however great.
    share = (n_labels - 1) / (_BELIEVED_LABELS + n_labels - 1)
    blend = seen**share * believed ** (1.0 - share) if believed > 0 else seen
    gap = abs(surrogate - corrected)
    factor = _SLAB**2 / (1.0 + _SLAB**2)
    against = 0.5 * (factor * _ratio(gap, blend**0.5) ** 2 - np.log1p(_SLAB**2)) + doubt
    trust = float(expit(logit(prior) - min(against, 1e300)))  # A prior of 1 stays 1.
    distance = _ratio(gap, max(seen, believed) ** 0.5)
    return Evidence(surrogate, corrected, distance, skill, trust)


def _ratio(gap, error):
    if error > 0:
        return float(gap / error)
    return np.inf if gap > 0 else 0.0


def _judge_single_labels(state):
    """Skill of g, and the evidence that one number for all labels does better."""
    n_labels = state.n_in_order
    fitted = ~np.isnan(state.residual_moment[:n_labels])  # Before, g was a mere 0.
    if not fitted.any():
        return np.nan, 0.0
    share = label_shares(state)[fitted]
    share /= share.sum()
    losses = state.losses[:n_labels][fitted]
    expected = state.query_expected_loss[:n_labels][fitted]
    of_surrogate = share @ (losses - expected) ** 2
    of_constant = share @ (losses - share @ losses) ** 2
    skill = float(1.0 - of_surrogate / of_constant) if of_constant > 0 else np.nan
    if of_surrogate <= of_constant:
        return skill, 0.0
    believed = state.residual_moment[:n_labels][fitted].mean() / state.n_samples**2
    noise = max(of_surrogate, believed, state.belief.loss_variance(state.loss).mean())
    # Half of a Gaussian log-likelihood ratio: weighted labels count less.
    return skill, float(0.25 * fitted.sum() * (of_surrogate - of_constant) / noise)
