"""One-step estimates of the risk, and the variance of their mean.

The equations are those of docs/trust_method.md.
"""

from typing import NamedTuple

import numpy as np

from sklearn_ase._inference import _kernels
from sklearn_ase._inference._running import RunningSteps, parts_of_steps
from sklearn_ase._inference._skips import over_answerable

# Number of labels for which g is used in full before they show how much of it to use.
TRUSTED_LABELS = 10
# Number of labels that the believed variance of the steps is worth.
_BELIEVED_LABELS = 10


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


def weighting_obstacle(state, name, allows_skips=True):
    """Say why labels cannot be weighted by the probability of their pick.

    Parameters
    ----------
    state : PoolState
    name : str
        Name of the estimate, for the message.
    allows_skips : bool, default=True
        Whether it can allow for picks that nobody could label.

    Returns
    -------
    obstacle : str
        Empty if they can.
    """
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


def tuned_steps(state):
    """One-step estimates with g as a control variate, eq. T1.

    The control is weighted by how useful it has been in the steps before. For other
    quantities than the mean loss it counts in full.

    Parameters
    ----------
    state : PoolState

    Returns
    -------
    steps : Steps
    """
    if "tuned_steps" not in state.memo:
        state.memo["tuned_steps"] = _tuned_steps(state)
    return state.memo["tuned_steps"]


def _tuned_steps(state):
    if state.is_question:
        # Without g an estimate for a group depends on how many of its rows were picked.
        return steps_with_power(state, 1.0)
    running = state.memo.get("running")
    if running is None:
        running = RunningSteps(state.n_samples, TRUSTED_LABELS)
    plain, control, power = running.up_to(state.settled)
    return _steps(state, power, plain, control)


def steps_with_power(state, power):
    """One-step estimates that use the same share of g in every step.

    Parameters
    ----------
    state : PoolState
    power : float
        1 for corrected ASE, 0 for LURE.

    Returns
    -------
    steps : Steps
    """
    power = np.full(len(state.settled), float(power))
    return _steps(state, power, *parts_of_steps(state.settled, state.n_samples))


def _steps(state, power, plain, control):
    residual, loss = moments_with_prior(state)
    free_expected = state.settled.free_expected_loss
    # What is left of g in a step adds to its variance.
    left = (1.0 - power) ** 2 * np.maximum(loss - residual - free_expected**2, 0.0)
    values = over_answerable(plain - power * control, state)
    return Steps(values, (residual + left) / state.n_samples**2, power)


def limits_of_steps(state, power):
    """Least and greatest value that each step could have had.

    Parameters
    ----------
    state : PoolState
        With a loss that has a greatest value.
    power : ndarray of shape (n_picks,)

    Returns
    -------
    low, high : ndarray of shape (n_picks,)
        NaN where a pick does not say what else could have been picked.
    """
    picks = state.settled
    before = np.cumsum(picks.losses) - picks.losses
    start = before + power * picks.free_expected_loss
    low = start - power * picks.max_expected_ratio
    high = start + state.loss.max_loss * picks.max_inverse_proba
    return low / state.n_samples, high / state.n_samples


def moments_with_prior(state):
    """Believed moments of the settled picks; those before the first fit as of now.

    Returns
    -------
    residual_moment, loss_moment : ndarray of shape (n_picks,)
    """
    residual, loss = state.settled.residual_moment, state.settled.loss_moment
    unknown, now = np.isnan(residual), 0.0
    if state.belief is not None and unknown.any():
        now = state.belief.loss_variance(state.loss).mean() + state.expected_loss.var()
        now *= state.n_samples**2
    return np.where(unknown, now, residual), np.where(unknown, now, loss)


def variances_of_mean(steps, predicted, n_samples):
    """Two estimates of the variance of the weighted mean of the steps, eq. T5.

    Parameters
    ----------
    steps, predicted : ndarray of shape (n_picks,)
        See :func:`tuned_steps`.
    n_samples : int

    Returns
    -------
    seen : float
        From the scatter of the steps. A few steps miss what is rare.
    believed : float
        As the surrogate expected it. It misses what the surrogate does not know.
    """
    n_picks = len(steps)
    if n_picks == n_samples:
        return 0.0, 0.0
    weights = _kernels.step_weights(n_picks, n_samples)
    seen = 0.0
    if n_picks > 1:
        seen = _kernels.variance_of_steps(steps, n_samples)
    return seen, float(weights**2 @ predicted)


def tuned_variances(state):
    """The same for :func:`tuned_steps`, computed once for a state."""
    if "tuned_variances" not in state.memo:
        values, predicted, _ = tuned_steps(state)
        found = variances_of_mean(values, predicted, state.n_samples)
        state.memo["tuned_variances"] = found
    return state.memo["tuned_variances"]


def largest_step(values, n_samples):
    """Share of the scatter of the steps that comes from one of them."""
    square = _kernels.step_deviations(values, n_samples) ** 2
    total = square.sum()
    return float(square.max() / total) if total > 0 else 0.0


def blended_variance(seen, believed, n_labels):
    """Mean of the two variances; what is believed counts as ten labels."""
    share = (n_labels - 1) / (_BELIEVED_LABELS + n_labels - 1)
    return share * seen + (1.0 - share) * believed


def unseen_variance(state):
    """Variance that a unit of losses which no label has shown would add, eq. T12.

    If such losses are spread evenly over an infinite pool, the labels are worth
    ``M / κ`` labels of a plain sample for them. κ is the mean of ``1 / (n q)`` over
    the rows. The picks estimate it: over many of them, the mean of ``1 / (n q)²`` is
    κ. Of other values than the loss, a row counts as far as its label can change them.

    Parameters
    ----------
    state : PoolState
        With a loss that has a greatest value.

    Returns
    -------
    variance : float
        At least that of a plain sample with the same labels. Infinite if no label
        could have shown a loss, 0 if no row can have one.
    """
    picks, room = state.settled, np.ones(state.n_samples)
    if state.is_question:
        least, most = state.loss.values.limits()
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
    weights = _kernels.lure_weights(picks.query_proba, state.n_samples)
    return weights * picks.answered / (weights @ picks.answered)
