"""The state of the pool for the mean of other values than the loss."""

from dataclasses import dataclass

import numpy as np

from sklearn_ase._evaluation._states import answer_noise, observed_values
from sklearn_ase._inference._epochs import Epoch
from sklearn_ase._inference._questions import moments_with_labels, question_state
from sklearn_ase._pool._keeps import ReadBelief


def states_for(
    state, epochs, more_labels, classes, weight=None, with_labels=True, cache=None
):
    """Return a function from values at each row to the state for their mean.

    Parameters
    ----------
    state : PoolState
    epochs : sequence of Epoch
    more_labels : dict of int to list
        Further answers for some rows.
    classes : ndarray of shape (n_classes,) or None
    weight : ndarray of shape (n_samples,), default=None
        Of each row, with mean 1.
    with_labels : bool, default=True
        Whether values are known where there is a label. If not, the surrogate's
        expectation stays.
    cache : dict, default=None
        Keeps what was computed for epochs that are over.

    Returns
    -------
    state_of : StateOf
        ``RowValues -> PoolState``.
    """
    aligned = [
        Epoch(epoch.start, epoch.belief.aligned(classes), epoch.query_proba)
        for epoch in epochs
    ]
    return StateOf(state, aligned, more_labels, weight, with_labels, cache)


@dataclass(frozen=True, eq=False)
class StateOf:
    """A function from values at each row to the state for their mean.

    Attributes
    ----------
    epochs : list of Epoch
        With a column for each class.
    state, more_labels, weight, with_labels, cache
        See :func:`states_for`.
    """

    state: object
    epochs: list
    more_labels: dict
    weight: np.ndarray | None
    with_labels: bool
    cache: dict | None

    def expected(self, values):
        """Expected values at each row, (n_samples,); None without a belief."""
        if self.state.belief is None:
            return None
        if not self.with_labels:
            return values.moments(self.state.belief)[0]
        observed = _observed(values, self.state, self.more_labels)
        return moments_with_labels(self.state, values, observed)[0]

    def __call__(self, values):
        observed = _observed(values, self.state, self.more_labels)
        return question_state(
            self.state,
            values,
            self.epochs,
            observed,
            self.with_labels,
            self.weight,
            self.cache,
            answer_noise(
                values, self.state.indices, self.state.labels, self.more_labels
            ),
        )


def _observed(values, state, more_labels):
    return observed_values(values, state.indices, state.labels, more_labels)


def known_proba(state, classes, more_labels):
    """Probabilities of the labels of each row, with the labels that are known.

    Parameters
    ----------
    state : PoolState
        Without a belief every row is as likely of a class as the labelled ones are.
    classes : ndarray of shape (n_classes,) or None
    more_labels : dict of int to list

    Returns
    -------
    proba : ndarray of shape (n_samples, n_classes) or None
        None for regression.
    """
    if classes is None:
        return None
    if state.belief is None:
        counts = 1.0 + (state.labels[:, None] == classes).sum(axis=0)
        proba = np.tile(counts / counts.sum(), (state.n_samples, 1))
    else:
        proba = np.array(state.belief.proba, dtype=float)
    proba[state.indices] = state.labels[:, None] == classes
    for row, more in more_labels.items():
        if more and row in state.indices:
            share = (np.array(more)[:, None] == classes).sum(axis=0)
            proba[row] = (proba[row] + share) / (len(more) + 1)
    return proba


def proba_near(metric, state, classes, more_labels):
    """Probabilities of the labels, as far as a metric needs them.

    Parameters
    ----------
    metric : PoolMetric or PoolRanking
    state, classes, more_labels
        See :func:`known_proba`.

    Returns
    -------
    proba : ndarray of shape (n_samples, n_classes) or (n_samples,), or None
    """
    if not isinstance(state.belief, ReadBelief) or state.belief.proba is not None:
        return known_proba(state, classes, more_labels)
    if not hasattr(metric, "column"):
        return None
    target = np.broadcast_to(metric.column, state.n_samples)
    proba, label = np.array(state.belief.proba_of(target)), classes[metric.column]
    proba[state.indices] = state.labels == label
    for row, more in more_labels.items():
        if more and row in state.indices:
            answers = np.array(more) == label
            proba[row] = (proba[row] + answers.sum()) / (len(more) + 1)
    return proba


def training_labels(state):
    """Number of labels of the pool that the training rows are worth.

    Parameters
    ----------
    state : PoolState

    Returns
    -------
    n_labels : float
    """
    worth = getattr(state.belief, "training_worth", None)
    return 0.0 if worth is None else worth.n_labels
