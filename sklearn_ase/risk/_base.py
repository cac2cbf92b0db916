"""The base class of the risk estimators, and the mean of weighted steps."""

from __future__ import annotations

from abc import ABCMeta
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from sklearn_ase._inference import _steps as _kernels
from sklearn_ase._inference import _tails
from sklearn_ase._inference._bounds import (
    MIN_BOUNDED_LABELS,
    MIN_LABELS,
    MIN_SURPRISES,
    Bets,
    PoolSample,
    blended,
    label_degrees,
    min_loss,
    n_surprises,
    tail_degrees,
)
from sklearn_ase._inference._steps import (
    tuned_variances,
    unseen_variance,
    variances_of_mean,
    weighting_obstacle,
)
from sklearn_ase.risk._estimate import Estimate
from sklearn_ase.risk._intervals import BoundedInterval, MeanInterval

if TYPE_CHECKING:
    from sklearn_ase._inference._steps import Steps
    from sklearn_ase._state import PoolState


# Losses with a heavy tail.


def heavy_tail(state: PoolState) -> str:
    """Say why losses with a heavy tail have no interval; empty if they have none.

    Losses of classifiers end at the greatest one of the table.
    """
    is_known = len(state.settled) == state.n_samples
    if is_known or np.isfinite(state.loss.max_loss):
        return ""
    shape = _tails.loss_tail(state)
    if not shape > _tails.MAX_TAIL_SHAPE:
        return ""
    return (
        f"No interval: the losses have a heavy tail (shape {shape:.2f}; from 0.5 "
        "on their variance is infinite, from 1 on their mean). The largest losses "
        "decide the risk, and few labels have met them. Use a loss that grows more "
        "slowly (absolute_error), clip it, or label many more rows."
    )


def beyond_largest(value, state):
    """What losses beyond the largest one met would add to their mean, eq. T13."""
    return max(float(value), 0.0) * _tails.beyond_largest(state)


def heavy_tail_before(state):
    """Say why losses have no anytime interval, though the labels allow a fixed one."""
    if np.isfinite(state.loss.max_loss):
        return ""
    shape = _tails.heaviest_tail(state, MIN_LABELS)
    if not shape > _tails.MAX_TAIL_SHAPE:
        return ""
    return (
        "No anytime interval: after fewer labels the losses had a heavy tail (shape "
        f"{shape:.2f}; from 0.5 on their variance is infinite). Use method='fixed' if "
        "the number of labels was chosen beforehand, or a loss that grows more slowly "
        "(absolute_error)."
    )


# The base class, and what the weighted estimators share.


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
        Whether it allows for picks that nobody could label. If an estimator weights
        labels and does not allow for them, it is refused when there are such picks.
    worth : float
        Number of labels that the surrogate's estimate counts for if it is accurate; 0
        for an estimator that does not weigh it.
    """

    flags: tuple[str, ...] = (
        "needs_query_proba",
        "needs_uniform",
        "needs_belief",
        "leans_on_surrogate",
        "allows_skips",
    )
    needs_query_proba: bool = False
    needs_uniform: bool = False
    needs_belief: bool = False
    leans_on_surrogate: bool = False
    allows_skips: bool = False
    worth: float = 0.0

    def validate(self) -> None:
        """Check the parameters; called at the start, before a label is bought."""

    def estimate(self, state: PoolState) -> Estimate:
        """Estimate the mean loss on the pool.

        The default is the weighted mean of :meth:`steps`.

        Parameters
        ----------
        state : PoolState
            For which :meth:`obstacle` is empty.

        Returns
        -------
        risk : Estimate
        """
        self.check(state)
        steps = self.steps(state)
        if steps is None:
            raise TypeError(
                f"{type(self).__name__} has neither a method estimate(state), which "
                "returns an Estimate, nor steps(state), which returns Steps."
            )
        return mean_of_steps(steps, state)

    def steps(self, state: PoolState) -> Steps | None:
        """Return the one-step estimates whose weighted mean this is.

        Intervals of metrics are made of them. The default is None: such metrics have
        no interval with this estimator.

        Parameters
        ----------
        state : PoolState
            For which :meth:`obstacle` is empty, with at least one label.

        Returns
        -------
        steps : Steps or None
        """
        return None

    def with_worth(self, most: float) -> BaseRisk:
        """Return the estimator for a metric in which the surrogate is worth less.

        Parameters
        ----------
        most : float
            Greatest number of labels that the surrogate's estimate of a mean is worth.

        Returns
        -------
        risk : BaseRisk
        """
        return self if self.worth <= most else clone(self).set_params(worth=most)

    def obstacle(self, state: PoolState) -> str:
        """Say why this estimate is not possible from a state.

        :meth:`estimate` is called only if this is empty. Estimators that weight labels
        are never called before the first query has a label.

        Parameters
        ----------
        state : PoolState

        Returns
        -------
        obstacle : str
            Empty if it is possible.
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

    def check(self, state: PoolState) -> None:
        """Raise an error if this estimate is not possible from a state.

        Parameters
        ----------
        state : PoolState
        """
        obstacle = self.obstacle(state)
        if obstacle:
            raise ValueError(obstacle)


def mean_of_steps(steps: Steps, state: PoolState) -> Estimate:
    """Weighted mean of one-step estimates, with its interval.

    Parameters
    ----------
    steps : Steps
    state : PoolState

    Returns
    -------
    estimate : Estimate
    """
    values, n_samples = steps.values, state.n_samples
    weights = _kernels.step_weights(len(values), n_samples)
    if steps is state.memo.get("tuned_steps"):
        variances = tuned_variances(state)
    else:
        variances = variances_of_mean(values, steps.predicted, n_samples)
    deviations = _kernels.step_deviations(values, n_samples)
    return design_based(weights @ values, variances, deviations, steps, state)


def design_based(
    value: float,
    variances: tuple[float, float],
    deviations: np.ndarray,
    steps: Steps,
    state: PoolState,
) -> Estimate:
    """Estimate whose error comes from the draw of the labels alone."""
    picks, n_samples = state.settled, state.n_samples
    n_labels, is_known = picks.n_labels, len(picks) == n_samples
    about: dict[str, Any] = {"n_skipped": picks.n_skipped}
    known = {"least": min_loss(state.loss), "max_loss": state.loss.max_loss}
    if state.is_part:
        mean = MeanInterval(float(value), np.nan, n_labels, **known)
        return Estimate.of_interval(mean, **about)
    variance = _variance(variances, state)
    has_error = is_known or n_labels >= MIN_BOUNDED_LABELS
    mean = MeanInterval(
        value=float(value),
        standard_error=float(variance**0.5) if has_error else np.nan,
        n_labels=n_labels,
        degrees_of_freedom=label_degrees(state),
        sample=PoolSample.of(state),
        **known,
    )
    if not is_known:
        about["refusal"] = _refusal(value, variance, state)
    if state.loss.is_bounded:
        return Estimate.of_interval(_bounded(mean, steps, state), **about)
    if not is_known:
        mean = replace(
            mean,
            tail_degrees=tail_degrees(deviations),
            beyond=beyond_largest(value, state),
        )
        about["anytime_refusal"] = heavy_tail_before(state)
    return Estimate.of_interval(mean, **about)


def _bounded(mean: MeanInterval, steps: Steps, state: PoolState) -> BoundedInterval:
    """The interval of a loss with a greatest value."""
    picks, loss, n_samples = state.settled, state.loss, state.n_samples
    n_open = n_samples - picks.n_labels
    least_loss = 0.0 if state.is_question else min_loss(loss)
    bounded = BoundedInterval(
        **vars(mean) | {"min_loss": least_loss},
        n_skipped=picks.n_skipped,
        unseen=unseen_variance(state),
        is_wilson=state.is_cross_fitted and n_surprises(state) >= MIN_SURPRISES,
    )
    if len(picks) == n_samples or picks.n_skipped:
        return bounded
    total = float(picks.losses.sum())
    return replace(
        bounded,
        none_seen=not (picks.losses > least_loss).any(),
        all_seen=bool((picks.losses == loss.max_loss).all()),
        # Rows without a label have a loss between the least and the greatest one.
        least=(total + least_loss * n_open) / n_samples,
        most=(total + loss.max_loss * n_open) / n_samples,
        bets=Bets.on(steps, state),
    )


def _variance(variances, state):
    """The variance of the estimate, from what was seen and what is believed.

    Few labels miss what is rare, and a surrogate what it does not know, so the greater
    of the two is used. With a bounded loss, and labels enough to tell which of the two
    is right, what is believed counts as ten labels: there the interval allows for what
    is rare. Labels that cannot change the answer show no variance.
    """
    seen, believed = variances
    if state.settled.n_labels >= MIN_LABELS and state.loss.is_bounded:
        believed = blended(seen, believed, label_degrees(state) + 1.0)
    return max(seen, believed)


def _refusal(value, variance, state):
    """Say why there is no interval; empty if there is one."""
    picks = state.settled
    n_labels = picks.n_labels
    if state.loss.is_bounded:
        is_enough = n_labels >= MIN_BOUNDED_LABELS
        return "" if is_enough else "No interval from one label. Label more rows."
    if n_labels < MIN_LABELS:
        return (
            f"No interval from {n_labels} labels: the loss has no greatest value, and "
            f"fewer than {MIN_LABELS} labels tell too little about the error of the "
            "estimate. Label more rows."
        )
    if variance <= (1e-12 * value) ** 2:  # 0, but for rounding.
        return (
            f"No interval: all {n_labels} labels are what the surrogate was certain "
            "of, so nothing shows the error of the estimate. Label more rows."
        )
    return heavy_tail(state)
