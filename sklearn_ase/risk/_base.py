"""The one verb of a risk, and the checks the design-based ones share."""

from abc import ABCMeta, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_ase._inference import _kernels
from sklearn_ase._inference._evidence import (
    believed_moments,
    design_of,
    variances_of_mean,
)
from sklearn_ase._inference._intervals import MIN_LABELS
from sklearn_ase.risk._estimate import RiskEstimate


class BaseRisk(BaseEstimator, metaclass=ABCMeta):
    """Base class of the risks: a pure function of the state of the pool.

    Attributes
    ----------
    needs_query_proba : bool
        Whether labels are weighed by the probability of their pick. Checked against
        the selection before a label is bought.
    needs_uniform : bool
        Whether every pick must be uniform. Checked likewise.
    needs_belief : bool
        Whether the surrogate must have been fitted.
    leans_on_surrogate : bool
        Whether a bad surrogate may bias it, so that ``fit`` should warn of one.
    allows_skips : bool
        Whether it looks at ``state.skips``, picks that nobody could label. One that
        weighs labels and does not is refused when there are any.
    """

    needs_query_proba = False
    needs_uniform = False
    needs_belief = False
    leans_on_surrogate = False
    allows_skips = False

    @abstractmethod
    def estimate(self, state):
        """Estimate the mean loss on the pool.

        Parameters
        ----------
        state : PoolState

        Returns
        -------
        risk : RiskEstimate
        """


def check_design(state, name):
    """The picks that a design-based risk may use, if there are any."""
    design = design_of(state)
    if design.n_labels == 0:
        raise ValueError(
            f"{name} needs a label for the first row that was asked for, but has none "
            f"({state.n_labels} labels in all). Answer the open queries first."
        )
    if not design.has_query_proba:
        n_unknown = int(np.isnan(design.query_proba).sum())
        raise ValueError(
            f"{name} weighs each label by the probability with which it was picked, "
            f"but {n_unknown} of the {len(design.answered)} rows were picked "
            "without one (ArgMax). Use selection=Proportional() or UniformMixed(...) "
            "for new labels, or risk=ASE() for these."
        )
    return design


def believed_loss_variance(state, design):
    """Variance of each one-step estimate without g, as the surrogate expected it."""
    _, loss = believed_moments(state, design)
    spread = loss - design.free_expected_loss**2
    return np.maximum(spread, 0.0) / state.n_samples**2


def mean_of_steps(steps, predicted, design):
    """Weighted mean of one-step estimates, with its standard error.

    Parameters
    ----------
    steps : ndarray of shape (n_picks,)
    predicted : ndarray of shape (n_picks,)
        Variance of each step as the surrogate expected it.
    design : Design

    Returns
    -------
    risk : RiskEstimate
    """
    n_samples = design.n_samples
    weights = _kernels.step_weights(len(steps), n_samples)
    variances = variances_of_mean(steps, predicted, n_samples)
    return design_based(weights @ steps, variances, design)


def design_based(value, variances, design):
    """Estimate whose error comes from the draw of the labels alone.

    Of the variance seen in the labels and the one the surrogate believes in the
    greater counts: few labels miss what is rare, a surrogate what it does not know.
    """
    variance, refusal = max(variances), ""
    n_labels, n_picks = design.n_labels, len(design.answered)
    is_known = n_picks == design.n_samples
    if n_labels < MIN_LABELS and not is_known:
        refusal = (
            f"No interval from {n_labels} labels: below {MIN_LABELS} they say too "
            "little about how far off the estimate may be. Label more rows."
        )
    elif variance <= (1e-12 * value) ** 2 and not is_known:  # 0, but for rounding.
        refusal = (
            f"No interval: all {n_labels} labels show what the surrogate was certain "
            "of, so nothing says how far off the estimate may be. Label more rows."
        )
    return RiskEstimate(
        value=float(value),
        standard_error=float(variance**0.5) if n_labels > 1 or is_known else np.nan,
        n_labels=n_labels,
        degrees_of_freedom=max(n_labels - 1, 1),
        refusal=refusal,
        n_skipped=n_picks - n_labels,
        greatest_loss=design.greatest_loss,
    )
