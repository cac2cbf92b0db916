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
        Probability that the surrogate's estimate is right; NaN, like the distance,
        if some rows cannot be labelled.
    """

    surrogate: float
    corrected: float
    distance: float
    skill: float
    trust: float


@dataclass(frozen=True, eq=False)
class Design:
    """The picks whose outcome is known, in order, up to the first open one.

    Attributes
    ----------
    answered : ndarray of shape (n_picks,), dtype bool
        False where nobody could tell the label.
    losses : ndarray of shape (n_picks,)
        0 where there is no label.
    query_proba, query_expected_loss, free_expected_loss, residual_moment, \
loss_moment : ndarray of shape (n_picks,)
        As in :class:`PoolState`.
    n_samples : int
    """

    answered: np.ndarray
    losses: np.ndarray
    query_proba: np.ndarray
    query_expected_loss: np.ndarray
    free_expected_loss: np.ndarray
    residual_moment: np.ndarray
    loss_moment: np.ndarray
    n_samples: int

    @property
    def n_labels(self):
        """Number of labels among the picks."""
        return int(self.answered.sum())

    @property
    def has_query_proba(self):
        """Whether every pick had a probability."""
        return not np.isnan(self.query_proba).any()


_OF_A_PICK = (
    "query_proba",
    "query_expected_loss",
    "free_expected_loss",
    "residual_moment",
    "loss_moment",
)


def design_of(state):
    """The picks of a state that weighted estimates may use."""
    n_labels, skips = state.n_in_order, state.skips
    answered, losses = np.ones(n_labels, dtype=bool), state.losses[:n_labels]
    columns = {name: getattr(state, name)[:n_labels] for name in _OF_A_PICK}
    if skips is not None:
        answered = np.insert(answered, skips.place, False)
        losses = np.insert(losses, skips.place, 0.0)
        columns = {
            name: np.insert(column, skips.place, getattr(skips, name))
            for name, column in columns.items()
        }
    return Design(answered, losses, n_samples=state.n_samples, **columns)


def can_judge(state):
    """Whether there is a belief, and labels with probabilities beside it."""
    if state.belief is None or state.n_in_order == 0:
        return False
    return design_of(state).has_query_proba


def has_evidence(state):
    """Whether the surrogate's estimate can be held against the corrected one.

    If some rows cannot be labelled, the labels speak of the mean over the others, and
    the surrogate of the whole pool: both may be right and far apart.
    """
    return state.skips is None and can_judge(state)


def over_answerable(steps, design):
    """Steps towards the mean of the losses that can be known, from those of the sum.

    A row that nobody can label counts 0 in the sum, and the share of the other rows is
    estimated in the same way as the sum. The ratio of the two is not exactly unbiased;
    its bias falls faster with the number of labels than its standard error.
    """
    if design.answered.all():
        return steps
    n_picks, n_samples = len(steps), design.n_samples
    share_steps = _kernels.step_estimates(
        design.answered.astype(float),
        design.query_proba,
        n_samples,
        expected=1.0,
        free_expected=n_samples - np.arange(n_picks),
    )
    weights = _kernels.step_weights(n_picks, n_samples)
    share = weights @ share_steps
    least = design.n_labels / n_samples
    most = 1.0 - (n_picks - design.n_labels) / n_samples
    if not least <= share <= most:  # By chance outside what is known for certain.
        return steps / np.clip(share, least, most)
    value = weights @ steps / share
    return value + (steps - value * share_steps) / share


def tuned_steps(state):
    """One-step estimates with as much of g as has been of use.

    Returns
    -------
    steps : ndarray of shape (n_picks,)
        Unbiased, whatever the surrogate, where every pick has its label.
    predicted : ndarray of shape (n_picks,)
        Variance of each as the surrogate expected it.
    """
    design, n_samples = design_of(state), state.n_samples
    query_proba, free_expected = design.query_proba, design.free_expected_loss
    plain = _kernels.step_estimates(design.losses, query_proba, n_samples)
    control = (design.query_expected_loss / query_proba - free_expected) / n_samples
    power = _kernels.predictable_power(plain, control, _TRUSTED_LABELS)
    residual, loss = believed_moments(state, design)
    # What is left of g in a step adds to its variance.
    left = (1.0 - power) ** 2 * np.maximum(loss - residual - free_expected**2, 0.0)
    steps = over_answerable(plain - power * control, design)
    return steps, (residual + left) / n_samples**2


def believed_moments(state, design):
    """Moments of the steps in order; of those before the first fit as believed now.

    Returns
    -------
    residual_moment, loss_moment : ndarray of shape (n_picks,)
    """
    residual, loss = design.residual_moment, design.loss_moment
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


def label_shares(design):
    """Share of the pool that each pick stands for, 0 without a label; they sum to 1."""
    n_free = design.n_samples - np.arange(len(design.answered))
    weights = design.answered / (n_free * design.query_proba)
    return weights / weights.sum()


def weigh_evidence(state, prior=PRIOR_TRUST):
    """Compare the surrogate with the labels; the rule is derived in docs/trust.md.

    Parameters
    ----------
    state : PoolState
        For which :func:`can_judge` holds.
    prior : float, default=0.8

    Returns
    -------
    evidence : Evidence
    """
    n_samples, (steps, predicted) = state.n_samples, tuned_steps(state)
    n_labels = len(steps)
    weights = _kernels.step_weights(n_labels, n_samples)
    surrogate, corrected = float(state.expected_loss.mean()), float(weights @ steps)
    skill, doubt = _judge_single_labels(state)
    if n_labels == n_samples:  # The risk is known.
        return Evidence(surrogate, corrected, np.nan, skill, 0.0)
    if not has_evidence(state):
        return Evidence(surrogate, corrected, np.nan, skill, np.nan)
    seen, believed = variances_of_mean(steps, predicted, n_samples)
    # A geometric mean: a surrogate must not excuse its own error by a variance that
    # only it believes in, however great.
    share = (n_labels - 1) / (_BELIEVED_LABELS + n_labels - 1)
    blend = seen**share * believed ** (1.0 - share) if believed > 0 else seen
    gap = abs(surrogate - corrected)
    factor = _SLAB**2 / (1.0 + _SLAB**2)
    against = 0.5 * (factor * _ratio(gap, blend**0.5) ** 2 - np.log1p(_SLAB**2)) + doubt
    # A surrogate that was off on training rows will be off on the pool.
    against += 0.5 * _ratio(abs(state.training_gap), blend**0.5) ** 2
    trust = float(expit(logit(prior) - min(against, 1e300)))  # A prior of 1 stays 1.
    distance = _ratio(gap, max(seen, believed) ** 0.5)
    return Evidence(surrogate, corrected, distance, skill, trust)


def _ratio(gap, error):
    if error > 0:
        return float(gap / error)
    return np.inf if gap > 0 else 0.0


def _judge_single_labels(state):
    """Skill of g, and the evidence that one number for all labels does better."""
    design = design_of(state)
    # Before its first fit the surrogate expected nothing.
    fitted = design.answered & ~np.isnan(design.residual_moment)
    if not fitted.any():
        return np.nan, 0.0
    share = label_shares(design)[fitted]
    share /= share.sum()
    losses = design.losses[fitted]
    expected = design.query_expected_loss[fitted]
    of_surrogate = share @ (losses - expected) ** 2
    of_constant = share @ (losses - share @ losses) ** 2
    skill = float(1.0 - of_surrogate / of_constant) if of_constant > 0 else np.nan
    if of_surrogate <= of_constant:
        return skill, 0.0
    believed = design.residual_moment[fitted].mean() / state.n_samples**2
    noise = max(of_surrogate, believed, state.belief.loss_variance(state.loss).mean())
    # Half of a Gaussian log-likelihood ratio: weighted labels count less.
    return skill, float(0.25 * fitted.sum() * (of_surrogate - of_constant) / noise)
