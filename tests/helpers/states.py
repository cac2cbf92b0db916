"""States of small pools, built from arrays that can be checked by hand."""

from dataclasses import replace

import numpy as np

from sklearn_ase import Picks, PoolState
from sklearn_ase._inference import _steps as _kernels
from sklearn_ase._state import RECORDED
from sklearn_ase.belief import CategoricalBelief
from sklearn_ase.losses import LossTable


def make_picks(indices, losses, query_proba, **columns):
    """Make picks of which only the given columns differ from zero.

    Parameters
    ----------
    indices : array-like of shape (n_picks,)
    losses : array-like of shape (n_picks,)
    query_proba : array-like of shape (n_picks,)
    **columns : array-likes of shape (n_picks,)
        Other fields of `Picks`. All picks are answered unless `answered` says
        otherwise; those that are not answered are skipped unless `skipped` says
        otherwise.

    Returns
    -------
    picks : Picks
    """
    indices = np.asarray(indices, dtype=int)
    zeros = np.zeros(len(indices))
    answered = np.asarray(columns.pop("answered", zeros == 0), dtype=bool)
    names = RECORDED[2:]
    numbers = {name: np.array(columns.pop(name, zeros), dtype=float) for name in names}
    return Picks(
        indices=indices,
        query_proba=np.array(query_proba, dtype=float),
        losses=np.where(answered, losses, 0.0),
        answered=answered,
        skipped=np.asarray(columns.pop("skipped", ~answered), dtype=bool),
        **numbers,
        **columns,
    )


def without_belief(picks, n_samples, loss=None):
    """State of a pool of which nothing is known but the picks, and perhaps the loss."""
    if loss is None:
        loss = LossTable(np.full((n_samples, 1), np.inf), np.zeros(1))
    labels = picks.indices[picks.answered]
    return PoolState(loss, None, None, picks, labels)


def uniform_state(losses, n_samples):
    """State of a pool after a plain random sample, without a surrogate."""
    n_labels = len(losses)
    q = 1.0 / (n_samples - np.arange(n_labels))
    picks = make_picks(
        np.arange(n_labels),
        losses,
        q,
        max_inverse_proba=1.0 / q,
        residual_moment=np.zeros(n_labels),
        loss_moment=np.zeros(n_labels),
    )
    table = LossTable(np.tile([0.0, 1.0], (n_samples, 1)), np.arange(2), 1.0)
    return without_belief(picks, n_samples, table)


def with_picks(state, **columns):
    """The same state, but some columns of its picks differ."""
    return replace(state, picks=replace(state.picks, **columns))


def with_open(state, place):
    """The same state, but the pick at this place has no answer yet."""
    answered, losses = state.picks.answered.copy(), state.picks.losses.copy()
    answered[place], losses[place] = False, 0.0
    labels = np.delete(state.labels, place)
    return replace(with_picks(state, answered=answered, losses=losses), labels=labels)


def first_picks(state, n_picks):
    """The same state after fewer picks."""
    picks = state.picks.take(slice(n_picks))
    return replace(state, picks=picks, labels=state.labels[:n_picks])


def random_state(n_labels=6, n_samples=40, uniform=True, seed=0):
    """State of a random pool with three classes; the surrogate has four members.

    Parameters
    ----------
    n_labels : int, default=6
    n_samples : int, default=40
    uniform : bool, default=True
        Whether all free rows had the same chance to be picked.
    seed : int, default=0

    Returns
    -------
    state : PoolState
    """
    rng = np.random.default_rng(seed)
    loss = LossTable(rng.exponential(size=(n_samples, 3)), np.arange(3))
    members = rng.dirichlet(np.ones(3), size=(4, n_samples))
    belief = CategoricalBelief.from_members(members, loss)
    indices = rng.permutation(n_samples)[:n_labels]
    labels = rng.integers(3, size=n_labels)
    query_proba = 1.0 / (n_samples - np.arange(n_labels))
    picks = make_picks(
        indices,
        loss.observed(indices, labels),
        query_proba if uniform else rng.uniform(0.02, 0.3, size=n_labels),
        expected_loss=rng.normal(size=n_labels),
        free_expected_loss=rng.normal(size=n_labels),
    )
    return PoolState(loss, belief, belief.expected_loss(loss), picks, labels)


def plain_sample(expected, losses, n_labels):
    """State after a plain random sample: the first rows, picked with equal chances.

    Parameters
    ----------
    expected : array-like of shape (n_samples,)
        Chance of an error at each row, as the surrogate has it all along.
    losses : array-like of shape (n_labels,) or longer
        1 where the model was wrong, else 0.
    n_labels : int

    Returns
    -------
    state : PoolState
    """
    expected = np.asarray(expected, dtype=float)
    n_samples, labels = len(expected), np.asarray(losses[:n_labels], dtype=int)
    loss = LossTable(np.tile([0.0, 1.0], (n_samples, 1)), np.arange(2))
    member = np.stack([1.0 - expected, expected], axis=1)
    belief = CategoricalBelief.from_members(np.stack([member, member]), loss)
    variance = belief.loss_variance(loss)
    query_proba = 1.0 / (n_samples - np.arange(n_labels))
    moments = [
        _kernels.step_moments(np.full(n_samples - m, q), expected[m:], variance[m:])
        for m, q in enumerate(query_proba)
    ]
    residual_moment, loss_moment = np.transpose(moments)
    picks = make_picks(
        np.arange(n_labels),
        labels.astype(float),
        query_proba,
        expected_loss=expected[:n_labels],
        free_expected_loss=np.cumsum(expected[::-1])[::-1][:n_labels],
        residual_moment=residual_moment,
        loss_moment=loss_moment,
    )
    return PoolState(loss, belief, expected, picks, labels, is_calibrated=True)
