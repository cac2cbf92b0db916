"""Questions about a pool: which metric, of which rows, with which weights."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_ase._data._responses import response_of
from sklearn_ase._evaluation._state_of import (
    proba_near,
    states_for,
    training_labels,
)
from sklearn_ase._pool._metrics import metric_in_chunks
from sklearn_ase._utils._settings import same_settings
from sklearn_ase.losses import SquaredError, ZeroOne, as_loss
from sklearn_ase.metrics import Accuracy, MeanLoss, RootMeanSquaredError
from sklearn_ase.metrics._labels import with_positive
from sklearn_ase.risk._of_metric import estimate_metric, of_one_mean, of_root


@dataclass(frozen=True, eq=False)
class Question:
    """A metric of some rows of the pool.

    Attributes
    ----------
    metric : PoolMetric
    line : tuple of two float, or None
        If the metric is a straight line of the mean loss of the evaluation: its value
        at a mean of 0, and its slope. Then nothing else has to be computed.
    weight : ndarray of shape (n_samples,) or None
        Weight of each row, with mean 1.
    is_root : bool
        Whether it is the root of the mean loss of the evaluation.
    """

    metric: object
    line: tuple | None = None
    weight: np.ndarray | None = None
    is_root: bool = False

    @property
    def is_recorded(self):
        """Whether the ledger has all that the answer needs."""
        return self.line is not None or self.is_root

    @classmethod
    def of(cls, problem, metric, classes, weight=None):
        """Apply a metric to the predictions for the pool.

        Parameters
        ----------
        problem : Problem
        metric : BaseMetric
        classes : ndarray of shape (n_classes,) or None
        weight : ndarray of shape (n_samples,), default=None
            Weight of each row, with mean 1.

        Returns
        -------
        question : Question
        """
        line = None
        # With experts the mean loss is not what the ledger has: it is cross-fitted.
        is_plain = weight is None and problem.experts is None
        if is_plain and isinstance(metric, Accuracy):
            line = (1.0, -1.0) if isinstance(problem.loss, ZeroOne) else None
        elif is_plain and isinstance(metric, MeanLoss):
            is_same = same_settings(as_loss(metric.loss, problem.task), problem.loss)
            slope = -1.0 if metric.negative else 1.0
            line = (0.0, slope) if is_same else None
        is_root = is_plain and isinstance(metric, RootMeanSquaredError)
        is_root = is_root and same_settings(problem.loss, SquaredError())
        found = pool_metric(problem, metric, classes, weight)
        return cls(found, line, weight, is_root)


def pool_metric(problem, metric, classes, weight=None):
    """Apply a metric to the predictions for the pool.

    Parameters
    ----------
    problem : Problem
    metric : BaseMetric
    classes : ndarray of shape (n_classes,) or None
    weight : ndarray of shape (n_samples,), default=None
        Weight of each row, with mean 1.

    Returns
    -------
    pool_metric : PoolMetric
    """
    if metric.task not in (None, problem.task):
        raise ValueError(
            f"metric={metric!r} is for {metric.task}, but the labels are for "
            f"{problem.task}. Use another metric."
        )
    metric = with_positive(metric, problem.classes, classes)
    if problem.pool is not None:
        found = metric_in_chunks(problem, metric, classes, weight)
    else:
        prediction = response_of(problem, metric, classes)
        found = metric.on_pool(
            prediction, classes=classes, weight=weight, n_samples=problem.n_samples
        )
    if not getattr(found, "parts", True):
        raise ValueError(
            f"metric={metric!r} does not depend on labels for these predictions, so "
            "there is nothing to estimate."
        )
    return found.without_idle_parts() if hasattr(found, "parts") else found


def check_defined(metric):
    """Refuse a metric that has no value, whatever the labels.

    Parameters
    ----------
    metric : PoolMetric
    """
    if hasattr(metric, "parts") and not _can_be_defined(metric):
        raise ValueError(
            f"metric={metric.metric!r} is not defined for these predictions, whatever "
            "the labels: it divides by a number of predicted labels that is 0. Use "
            "another metric, such as recall, or other rows."
        )


def _can_be_defined(metric):
    """Whether the metric has a value for any means that the rows allow."""
    limits = [part.limits() for part in metric.parts]
    least, most = np.array([[side.mean() for side in ends] for ends in limits]).T
    least, most = np.nan_to_num(least, neginf=-1.0), np.nan_to_num(most, posinf=1.0)
    points = [least + share * (most - least) for share in (0.3, 0.5, 0.7)]
    return any(np.isfinite(metric.value(point)) for point in points)


def value_with_labels(metric, y, classes):
    """Value of a metric if all labels are known.

    Parameters
    ----------
    metric : PoolMetric
    y : ndarray of shape (n_samples,)
    classes : ndarray of shape (n_classes,) or None

    Returns
    -------
    value : float
    """
    proba = None if classes is None else (y[:, None] == classes).astype(float)
    metric, rows = metric.at(proba), np.arange(len(y))
    return metric.value(np.array([p.observed(rows, y).mean() for p in metric.parts]))


def estimate_question(risk, question, more_labels, classes, state, epochs, cache=None):
    """Answer a question.

    Parameters
    ----------
    risk : BaseRisk
    question : Question
    more_labels, classes, state, epochs, cache
        See :func:`states_for`.

    Returns
    -------
    estimate : MetricEstimate
    """
    metric = question.metric
    if question.line is not None:
        return of_one_mean(metric.metric, question.line, risk.estimate(state))
    if question.is_root:
        return of_root(metric.metric, risk.estimate(state))
    state_of = states_for(
        state, epochs, more_labels, classes, question.weight, cache=cache
    )
    answered, picks = None, state.settled
    if picks.n_skipped:
        answered = np.full(state.n_samples, np.nan)
        answered[picks.indices] = picks.answered
    metric = metric.at(proba_near(metric, state, classes, more_labels), answered)
    return estimate_metric(risk, metric, state_of, training_labels(state))


def with_bets(found, other):
    """An estimate with the anytime interval of another, if it has one.

    Bets are made before the label. So what they expect must not know later labels, as
    a cross-fitted estimate does.

    Parameters
    ----------
    found : MetricEstimate
    other : callable
        Makes the other estimate.

    Returns
    -------
    estimate : MetricEstimate
    """
    if found.mean is None or not found.mean.anytime:
        return found
    other = other()
    anytime = other.mean.anytime
    if other.line != found.line:  # It is written from the other end.
        (start, slope), (other_start, other_slope) = found.line, other.line
        anytime = [
            (
                level,
                *sorted((other_start - start + other_slope * x) / slope for x in ends),
            )
            for level, *ends in anytime
        ]
    return replace(found, mean=replace(found.mean, anytime=tuple(anytime)))
