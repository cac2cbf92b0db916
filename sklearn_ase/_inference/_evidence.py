"""What the labels say about the error of the surrogate, and what follows from it."""

from dataclasses import dataclass

import numpy as np

from sklearn_ase._inference import _kernels

# Labels that the estimate of a calibrated surrogate is worth if it is right.
WORTH = 300.0
# Share of that worth, and probability, in each of three stories: the surrogate is
# right, it is wrong, or it is worthless.
_CALIBRATED = (1.0, 1 / 30, 1 / 1000), (0.85, 0.12, 0.03)
# One that is not calibrated, but was held against training rows.
_HEARD = (1 / 3, 1 / 30, 1 / 1000), (0.85, 0.12, 0.03)
# One that nothing but labels of the pool speaks for.
_UNKNOWN = (1 / 3, 1 / 300, 1 / 10_000), (0.3, 0.65, 0.05)
# What a surrogate is off by on training rows carries over to the pool up to this share.
_CARRY_OVER = 0.25
# An error that so many labels would leave speaks against no surrogate.
_ENOUGH_LABELS = 200.0
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
    bias : float
        What the surrogate's estimate is thought to be too great by.
    trust : float
        Probability that it is off by less than a standard error of the corrected one,
        or of 200 labels if there are more. NaN, like bias and distance, if some rows
        cannot be labelled.
    """

    surrogate: float
    corrected: float
    distance: float
    skill: float
    bias: float
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
    greatest_loss : float
        That there can be at a row.
    """

    answered: np.ndarray
    losses: np.ndarray
    query_proba: np.ndarray
    query_expected_loss: np.ndarray
    free_expected_loss: np.ndarray
    residual_moment: np.ndarray
    loss_moment: np.ndarray
    n_samples: int
    greatest_loss: float

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
    return Design(
        answered,
        losses,
        n_samples=state.n_samples,
        greatest_loss=getattr(state.loss, "greatest", np.inf),
        **columns,
    )


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
    weights = _kernels.lure_weights(design.query_proba, design.n_samples)
    return weights * design.answered / (weights @ design.answered)


def weigh_evidence(state, worth=WORTH):
    """Compare the surrogate with the labels; the rule is derived in docs/trust.md.

    Parameters
    ----------
    state : PoolState
        For which :func:`can_judge` holds.
    worth : float, default=300
        Labels that the estimate of a calibrated surrogate is worth if it is right.

    Returns
    -------
    evidence : Evidence
    """
    n_samples, (steps, predicted) = state.n_samples, tuned_steps(state)
    n_labels = len(steps)
    weights = _kernels.step_weights(n_labels, n_samples)
    surrogate, corrected = float(state.expected_loss.mean()), float(weights @ steps)
    gap, skill = surrogate - corrected, _skill(state)
    if n_labels == n_samples:  # The risk is known.
        return Evidence(surrogate, corrected, np.nan, skill, gap, 0.0)
    if not has_evidence(state):
        return Evidence(surrogate, corrected, np.nan, skill, np.nan, np.nan)
    seen, believed = variances_of_mean(steps, predicted, n_samples)
    # Not the greater of the two, as for intervals: a surrogate must not excuse its own
    # error by a variance that only it believes in.
    share = (n_labels - 1) / (_BELIEVED_LABELS + n_labels - 1)
    variance = share * seen + (1.0 - share) * believed
    least = (1e-12 * max(abs(surrogate), abs(corrected))) ** 2
    if variance <= least:  # All was foreseen: what is believed now has to do.
        believed_now = float(state.belief.loss_variance(state.loss).mean())
        variance = believed_now * (1.0 / n_labels - 1.0 / n_samples)
    if variance <= least:
        return Evidence(surrogate, corrected, 0.0, skill, gap, float(gap**2 <= least))
    bias, trust = _bias(state, gap, variance, n_labels, worth)
    distance = float(abs(gap) / max(seen, believed, variance) ** 0.5)
    return Evidence(surrogate, corrected, distance, skill, bias, trust)


def _bias(state, gap, variance, n_labels, worth):
    """What the surrogate is off by, and the probability that it is little."""
    shares, prior = _UNKNOWN
    expected = np.zeros(len(shares))
    if state.is_calibrated:
        shares, prior = _CALIBRATED
    elif not np.isnan(state.training_gap):
        shares, prior = _HEARD
        expected[0] = state.training_gap  # If it is wrong there is no telling how.
    # Variance of an estimate from one label of an endless pool.
    of_one_label = variance * n_labels / (1.0 - n_labels / state.n_samples)
    spread = of_one_label / (worth * np.array(shares)) + (_CARRY_OVER * expected) ** 2
    bound = max(variance, of_one_label / _ENOUGH_LABELS) ** 0.5
    return _kernels.bias_given_gap(gap, variance, expected, spread, prior, bound)


def _skill(state):
    """Share of the variance of the losses that g explained before it saw them."""
    design = design_of(state)
    # Before its first fit the surrogate expected nothing.
    fitted = design.answered & ~np.isnan(design.residual_moment)
    if not fitted.any():
        return np.nan
    share = label_shares(design)[fitted]
    share /= share.sum()
    losses = design.losses[fitted]
    expected = design.query_expected_loss[fitted]
    of_surrogate = share @ (losses - expected) ** 2
    of_constant = share @ (losses - share @ losses) ** 2
    return float(1.0 - of_surrogate / of_constant) if of_constant > 0 else np.nan
