"""The base class of the risk estimators, and what the weighted ones share."""

from abc import ABCMeta, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_ase._inference import _kernels
from sklearn_ase._inference._intervals import MIN_LABELS
from sklearn_ase._inference._steps import (
    moments_with_prior,
    variances_of_mean,
    weighting_obstacle,
)
from sklearn_ase.risk._estimate import RiskEstimate


class BaseRisk(BaseEstimator, metaclass=ABCMeta):
    """Base class of the risk estimators: pure functions of the state of the pool.

    Attributes
    ----------
    needs_query_proba : bool
        Whether labels are weighted by the probability of their pick. Checked against
        the selection before a label is bought.
    needs_uniform : bool
        Whether every pick must be uniform. Checked likewise.
    needs_belief : bool
        Whether the surrogate must have been fitted.
    leans_on_surrogate : bool
        Whether a bad surrogate may bias it, so that ``fit`` should warn of one.
    allows_skips : bool
        Whether it allows for picks that nobody could label. An estimator that weights
        labels and does not is refused when there are such picks.
    """

    flags = (
        "needs_query_proba",
        "needs_uniform",
        "needs_belief",
        "leans_on_surrogate",
        "allows_skips",
    )
    needs_query_proba = False
    needs_uniform = False
    needs_belief = False
    leans_on_surrogate = False
    allows_skips = False

    def validate(self):
        """Check the parameters; called at the start, before a label is bought."""

    @abstractmethod
    def estimate(self, state):
        """Estimate the mean loss on the pool.

        Parameters
        ----------
        state : PoolState
            For which :meth:`obstacle` is empty.

        Returns
        -------
        risk : RiskEstimate
        """

    def obstacle(self, state):
        """Say why this estimate cannot be had from a state.

        :meth:`estimate` is called only if this is empty. Estimators that weight labels
        are never called before the first query has a label.

        Parameters
        ----------
        state : PoolState

        Returns
        -------
        obstacle : str
            Empty if it can be had.
        """
        name = type(self).__name__
        if self.needs_belief and state.belief is None:
            return (
                f"{name} needs a fitted surrogate, but {state.n_labels} labels were "
                "too few to fit one. Label more rows or give X_train and y_train."
            )
        if self.needs_query_proba:
            return weighting_obstacle(state, name, self.allows_skips)
        return ""

    def check(self, state):
        """Raise an error if this estimate cannot be had from a state.

        Parameters
        ----------
        state : PoolState
        """
        obstacle = self.obstacle(state)
        if obstacle:
            raise ValueError(obstacle)


def believed_loss_variance(state):
    """Variance of each one-step estimate without g, as the surrogate expected it."""
    _, loss = moments_with_prior(state)
    spread = loss - state.settled.free_expected_loss**2
    return np.maximum(spread, 0.0) / state.n_samples**2


def mean_of_steps(steps, predicted, state):
    """Weighted mean of one-step estimates, with its standard error.

    Parameters
    ----------
    steps : ndarray of shape (n_picks,)
    predicted : ndarray of shape (n_picks,)
        Variance of each step as the surrogate expected it.
    state : PoolState

    Returns
    -------
    risk : RiskEstimate
    """
    weights = _kernels.step_weights(len(steps), state.n_samples)
    variances = variances_of_mean(steps, predicted, state.n_samples)
    return design_based(weights @ steps, variances, state)


def design_based(value, variances, state):
    """Estimate whose error comes from the draw of the labels alone.

    It uses the greater of two variances (eq. T5): observed in the labels, and expected
    by the surrogate. Few labels miss what is rare, a surrogate what it does not know.

    Parameters
    ----------
    value : float
    variances : tuple of float
        Seen and believed.
    state : PoolState

    Returns
    -------
    risk : RiskEstimate
    """
    variance, refusal = max(variances), ""
    n_labels, n_picks = state.settled.n_labels, len(state.settled)
    is_known = n_picks == state.n_samples
    if n_labels < MIN_LABELS and not is_known:
        refusal = (
            f"No interval from {n_labels} labels: fewer than {MIN_LABELS} tell too "
            "little about the error of the estimate. Label more rows."
        )
    elif variance <= (1e-12 * value) ** 2 and not is_known:  # 0, but for rounding.
        refusal = (
            f"No interval: all {n_labels} labels are what the surrogate was certain "
            "of, so nothing tells the error of the estimate. Label more rows."
        )
    return RiskEstimate(
        value=float(value),
        standard_error=float(variance**0.5) if n_labels > 1 or is_known else np.nan,
        n_labels=n_labels,
        degrees_of_freedom=max(n_labels - 1, 1),
        refusal=refusal,
        n_skipped=n_picks - n_labels,
        max_loss=state.loss.max_loss,
    )
