"""What a label of each row adds to a metric, linearised at the present belief."""

import numpy as np

from sklearn_ase._evaluation._states import observed_values
from sklearn_ase._inference._questions import moments_with_labels


def influence_state(question, state, state_of, proba, more_labels):
    """State for the linearised metric: what acquisitions look at.

    Parameters
    ----------
    question : Question
    state : PoolState
        With a belief.
    state_of : callable
    proba : ndarray of shape (n_samples, n_classes) or None
    more_labels : dict of int to list

    Returns
    -------
    state : PoolState
        The given one where the metric is not defined yet.
    """
    return influence_of(question, state, state_of, proba, more_labels)[0]


def influence_of(question, state, state_of, proba, more_labels):
    """What each row adds to the linearised metric; see :func:`influence_state`.

    Returns
    -------
    state : PoolState
        For what depends on the label of the row.
    rest : ndarray of shape (n_samples,)
        What the row adds whatever its label.
    """
    if question.line is not None:
        return state, np.zeros(state.n_samples)
    metric = question.metric.at(proba)
    observed = [
        observed_values(part, state.indices, state.labels, more_labels)
        for part in metric.parts
    ]
    believed = [
        moments_with_labels(state, *each)[0].mean()
        for each in zip(metric.parts, observed, strict=True)
    ]
    means = np.array(believed)
    metric.check_bounds(means)
    gradient = metric.gradient(means)
    if not np.isfinite(gradient).all():
        return state, np.zeros(state.n_samples)
    return state_of(metric.linearised(means)), metric.known_influence(means)
