"""How the models stand: believed gains, and what the labels say about them."""

from dataclasses import dataclass

import numpy as np

from sklearn_ase._inference._best_of import proba_of_best
from sklearn_ase._inference._corrected import some_rows, sum_of_covariances
from sklearn_ase._inference._skips import answerable_share


@dataclass(frozen=True, eq=False)
class Standing:
    """How good the models are, as believed now.

    Attributes
    ----------
    gains : ndarray of shape (n_models,)
        Believed metric of each model, with the sign that makes greater better.
    gradient : ndarray of shape (n_columns,)
        Of the gains by the means.
    best_proba : ndarray of shape (n_models,)
    leader : int
        The model that is chosen.
    """

    gains: np.ndarray
    gradient: np.ndarray
    best_proba: np.ndarray
    leader: int


def standing(columns, state, observed, pairs, seed, weight=None):
    """Weigh the models by what is believed now.

    Parameters
    ----------
    columns : Columns
    state : PoolState
        With a belief that has a stack.
    observed : ndarray of shape (n_labels, n_columns)
    pairs : Pairs
    seed : sequence of int
    weight : ndarray of shape (n_samples,), default=None
        How much each row counts in the columns, with mean 1.

    Returns
    -------
    standing : Standing
    """
    expected = columns.expected(state.belief)
    expected[state.indices] = observed
    means = _over_answerable(expected, state, weight)
    gains, gradient = columns.gains(means), columns.gradient(means)
    unknown = np.array(pairs.agreement.apart)
    unknown[state.indices] = False
    unknown[state.picks.indices[state.picks.skipped]] = False
    covariance = believed_covariance(columns, state, gradient, np.flatnonzero(unknown))
    best_proba = proba_of_best(gains, covariance, seed)
    leader = _chosen(gains, pairs)
    return Standing(gains, gradient, best_proba, leader)


def _over_answerable(expected, state, weight):
    """Means over the rows that can be labelled.

    Rows that were skipped do not count. Of the rows without an answer only a share can
    be labelled, which the picks tell.
    """
    share = answerable_share(state, weight)
    if share == 1.0:
        return expected.mean(axis=0)
    weight = np.ones(state.n_samples) if weight is None else weight
    counts = np.ones(state.n_samples)
    counts[state.picks.indices[state.picks.skipped]] = 0.0
    is_open = counts > 0
    is_open[state.indices] = False
    left = share * state.n_samples - weight[state.indices].sum()
    size = weight[is_open].sum()
    counts[is_open] = np.clip(left / size, 0.0, 1.0) if size > 0 else 0.0
    total = counts @ weight
    return counts @ expected / total if total > 0 else expected.mean(axis=0)


def _chosen(gains, pairs):
    """The model with the greatest gain of those that the labels have not excluded."""
    order = np.argsort(-gains, kind="stable")
    for model in order:
        if not pairs.excludes(model):
            return int(model)
    return int(order[0])


def believed_covariance(columns, state, gradient, rows):
    """Covariance of the gains under the belief, but for what is common to all.

    Parameters
    ----------
    columns : Columns
    state : PoolState
    gradient : ndarray of shape (n_columns,)
    rows : ndarray of int
        Rows without a label on which not all models are alike.

    Returns
    -------
    covariance : ndarray of shape (n_models, n_models)
    """
    rows, factor = some_rows(rows, columns)
    if not len(rows):
        return np.zeros((columns.n_models, columns.n_models))
    belief, n_samples = state.belief, state.n_samples
    values, proba, slope = columns.tables(rows, belief, gradient)
    of_labels = factor * sum_of_covariances(values, proba, np.ones(len(rows)))
    values = values - np.einsum("nc,nck->nk", proba, values)[:, None]
    slopes = factor * belief.stack.slopes(rows, slope, values)
    of_weights = slopes @ belief.stack.covariance_ @ slopes.T
    return (of_labels + of_weights) / n_samples**2
