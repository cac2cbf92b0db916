"""The one verb of a risk, and the checks the design-based ones share."""

from abc import ABCMeta, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_ase import _kernels
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
    """

    needs_query_proba = False
    needs_uniform = False
    needs_belief = False

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


def design(state, name):
    """Losses and probabilities of the labels that a design-based risk may use."""
    n = state.n_in_order
    if n == 0:
        raise ValueError(
            f"{name} needs a label for the first row that was asked for, but has none "
            f"({state.n_labels} labels in all). Answer the open queries first."
        )
    query_proba = state.query_proba[:n]
    if np.isnan(query_proba).any():
        raise ValueError(
            f"{name} weighs each label by the probability with which it was picked, "
            f"but {int(np.isnan(query_proba).sum())} of the {n} labels were picked "
            "without one (ArgMax). Use selection=Proportional() or Audited(...)."
        )
    return state.losses[:n], query_proba


def mean_of_steps(steps, n_samples):
    """Weighted mean of unbiased one-step estimates, with its standard error."""
    n_labels = len(steps)
    weights = _kernels.step_weights(n_labels, n_samples)
    if n_labels == n_samples:
        error = 0.0
    elif n_labels == 1:
        error = np.nan
    else:
        error = _kernels.standard_error_of_steps(steps, weights)
    return RiskEstimate(
        value=float(weights @ steps),
        standard_error=error,
        n_labels=n_labels,
        degrees_of_freedom=max(n_labels - 1, 1),
    )
