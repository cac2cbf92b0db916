"""Learn from labels: fit the surrogate and ask it about the pool."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._evaluation._picker import next_proba, score_pool
from sklearn_ase._inference import _steps as _kernels
from sklearn_ase._inference._bounds import MIN_LABELS
from sklearn_ase._inference._questions import BeliefColumns, Epoch
from sklearn_ase._utils._estimators import accepted_by
from sklearn_ase.losses import BaseLoss

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from sklearn_ase._data._problem import Problem
    from sklearn_ase._evaluation._plan import Plan


@dataclass(frozen=True, eq=False)
class Learned:
    """What has been learned about the pool from the labels so far.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,) or None
        None for regression.
    loss : LossTable or PointLoss
    belief : CategoricalBelief, GaussianBelief or None
        None as long as the surrogate has too few rows.
    expected_loss, loss_variance : ndarray of shape (n_samples,) or None
        Mean and variance of the loss at each sample, as believed.
    is_calibrated : bool
        Whether the surrogate was calibrated on at least 25 rows for which the model
        has predictions.
    training_gap, training_tail : float
        See :class:`PoolState`.
    fitted_belief : CategoricalBelief, GaussianBelief or None
        The belief right after the last fit of the surrogate.
    fit : object
        Another one for each fit.
    n_compared : int
        Number of rows of that fit for which the model has predictions.
    met : frozenset
        Labels of that fit, and classes that the model knows (classification).
    rows : tuple of int
        Rows of the pool in that fit.
    left_out : BeliefColumns or None
        What is believed now, at each labelled row as if it had no label. None if the
        surrogate does not say.
    """

    classes: np.ndarray | None
    loss: object
    belief: object = None
    expected_loss: np.ndarray | None = None
    loss_variance: np.ndarray | None = None
    is_calibrated: bool = False
    training_gap: float = np.nan
    training_tail: float = np.nan
    fitted_belief: object = None
    fit: object = None
    n_compared: int = 0
    met: frozenset = frozenset()
    rows: tuple = ()
    left_out: object = None


def not_yet_learned(problem: Problem, labels: Sequence[Any]) -> Learned:
    """Return classes and loss for these labels, without a belief."""
    classes = problem.classes_with(labels)
    return Learned(classes, problem.loss_for(classes))


def learn(problem, plan, before, labels, seed):
    """Fit the surrogate to labelled rows and ask it about the pool."""
    surrogate, classes, loss = plan.surrogate, before.classes, before.loss
    if surrogate.is_constant:
        labels = {}  # A frozen surrogate learns nothing during the evaluation.
    if not surrogate.can_fit(problem.n_training + len(labels)):
        return Learned(classes, loss)
    X, y, expert = problem.labelled_rows(list(labels), list(labels.values()), classes)
    rng = np.random.default_rng([seed, len(labels), 1])
    is_drawn = plan.selection.has_query_proba
    surrogate.fit(
        X,
        y,
        classes=classes,
        expert=expert,
        model_classes=problem.model_classes(classes),
        n_acquired=len(labels),
        seed=int(rng.integers(2**31)),
        **problem.experts_for(surrogate, classes, list(labels)),
        **accepted_by(surrogate.fit, labels_are_drawn=is_drawn),
    )
    belief = _belief(problem, plan, loss, classes)
    has_expert = np.ones(len(y), dtype=bool)
    if expert is not None:
        has_expert = np.isfinite(expert)
        has_expert = has_expert if has_expert.ndim == 1 else has_expert.all(axis=1)
    n_compared = int(has_expert.sum()) if surrogate.uses_estimator else len(y)
    met = frozenset()
    if classes is not None:
        known = classes[problem.model_classes(classes)]
        met = frozenset(np.concatenate([known, y]).tolist())
    learned = Learned(
        classes,
        loss,
        training_gap=_training_gap(problem, surrogate, classes, has_expert),
        training_tail=_training_tail(surrogate, loss),
        fitted_belief=belief,
        fit=object(),
        n_compared=n_compared,
        met=met,
        rows=tuple(labels),
    )
    return _with_belief(learned, belief, surrogate, n_compared, learned.rows)


def learn_more(
    problem: Problem, plan: Plan, learned, labels: dict[int, Any]
) -> Learned:
    """Tell the surrogate labels that came after its last fit."""
    surrogate, classes = plan.surrogate, learned.classes
    y = np.array(list(labels.values()))
    if classes is not None:
        y = y.astype(classes.dtype)  # After a withdrawal there may be no label.
    new = np.array(list(labels), dtype=int)
    belief = surrogate.update(
        learned.fitted_belief,
        learned.loss,
        new,
        y,
        problem.predictions.expert_for(classes),
        **problem.experts_for(surrogate, classes),
    )
    n_compared, rows = learned.n_compared + len(labels), (*learned.rows, *labels)
    return _with_belief(learned, belief, surrogate, n_compared, rows)


def _belief(problem, plan, loss, classes):
    """Ask the surrogate about the pool."""
    surrogate = plan.surrogate
    return surrogate.belief(
        problem.features,
        loss,
        problem.predictions.expert_for(classes),
        keep_member_loss=plan.acquisition.needs_member_loss,
        **problem.experts_for(surrogate, classes),
    )


def _with_belief(learned, belief, surrogate, n_compared, rows):
    moments = _moments_of(belief, learned.loss, type(surrogate).__name__)
    return replace(
        learned,
        belief=belief,
        expected_loss=moments[0],
        loss_variance=moments[1],
        is_calibrated=surrogate.is_calibrated and n_compared >= MIN_LABELS,
        left_out=_left_out(learned, belief, surrogate, rows),
    )


def _moments_of(belief, loss, name):
    """Mean and variance of the loss at each row, checked."""
    if not hasattr(belief, "expected_loss"):
        raise TypeError(
            f"{name}.belief must return a CategoricalBelief or a GaussianBelief, but "
            f"returned {belief!r}."
        )
    moments = belief.expected_loss(loss), belief.loss_variance(loss)
    for values in map(np.asarray, moments):
        shape = (loss.n_samples,)
        if values.shape != shape or not np.isfinite(values).all():
            raise ValueError(
                f"{name}.belief must expect a finite loss at each row of the pool, "
                f"shape {shape}, but has shape {values.shape} with "
                f"{np.sum(~np.isfinite(values))} values that are not finite. Look at "
                "what the surrogate predicts."
            )
    return moments


def _left_out(learned, belief, surrogate, rows):
    """The belief with labelled rows as if each had no label, or None."""
    found = surrogate.left_out()
    if found is None:
        return None
    return BeliefColumns.of(belief, learned.classes).at(np.array(rows, int), *found)


def _training_gap(problem, surrogate, classes, has_expert):
    if surrogate.is_calibrated or problem.train_predictions is None:
        return np.nan
    # Training rows for which the model has out-of-fold predictions.
    rows = np.flatnonzero(has_expert[: problem.n_training])
    try:
        loss = problem.training_loss(rows, classes)
        expected = surrogate.held_out_loss(rows, loss)
        observed = loss.observed(np.arange(len(rows)), problem.y_train[rows])
    except ValueError:  # The user's loss has no value there.
        return np.nan
    if expected is None:
        return np.nan
    gap = (expected - observed)[np.isfinite(expected)]
    return _kernels.clear_mean(gap) if len(gap) >= MIN_LABELS else np.nan


def _training_tail(surrogate, loss):
    if loss.is_bounded or not isinstance(getattr(loss, "loss", None), BaseLoss):
        return np.nan
    try:
        return float(surrogate.training_tail(loss.loss))
    except ValueError:  # The user's loss has no value there.
        return np.nan


# Earlier beliefs, for questions that are asked later.


# Between fits of the surrogate a belief is kept when the labels have grown by this
# factor, and by one.
_GROWTH = 1.2
# Bytes that all kept beliefs may take. After that the last one is used for all picks.
_MOST_BYTES = 2**28


class EpochKeeper:
    """Keeps beliefs while rows are picked.

    Attributes
    ----------
    epochs : list of Epoch
    begins_at : int
        Number of picks for which nothing was kept.
    is_full : bool
        Whether the next belief would take too much memory.
    """

    def __init__(self, begins_at=0):
        self.epochs = []
        self.begins_at = begins_at
        self.is_full = False
        self._fit = self._belief = None
        self._n_labels = 0

    def is_due(self, learned, n_labels):
        """Whether the belief is to be kept before the next pick."""
        if learned.belief is None or learned.belief is self._belief:
            return False
        if learned.fit is not self._fit or not self.epochs:
            return True
        return self.has_grown(n_labels)

    def has_grown(self, n_labels):
        """Whether there are many more labels than for the last belief."""
        return n_labels >= _GROWTH * self._n_labels + 1

    def keep(self, learned, n_picks, n_labels, query_proba):
        """Keep the belief for the next picks."""
        columns = BeliefColumns.of(learned.belief, learned.classes)
        size = columns.nbytes + 4 * len(query_proba)
        self.is_full = size * (len(self.epochs) + 1) > _MOST_BYTES
        if self.epochs and self.is_full:
            return
        self._fit, self._belief = learned.fit, learned.belief
        self._n_labels = n_labels
        proba = query_proba.astype(np.float32)
        self.epochs.append(Epoch(n_picks, columns, proba))


def replayed_epochs(evaluation, n_picks):
    """Make the beliefs for the first picks again, from the labels before each.

    Labels count in the order of the picks. If they came in another order, or were
    corrected, the beliefs differ from the first ones. They are equally valid, because
    each uses only labels of earlier picks.
    """
    problem, ledger = evaluation.problem, evaluation.placed
    # A copy, so that the surrogate of the evaluation stays as it was fitted last.
    plan = replace(evaluation.plan, surrogate=copy(evaluation.plan.surrogate))
    keeper, refits, n_fitted, learned = EpochKeeper(), set(ledger.refits), None, None
    labels = {}
    for place in range(n_picks):
        n_labels = len(labels)
        is_fit = n_fitted is None or (n_labels in refits and n_labels > n_fitted)
        if is_fit:
            known = ledger.known | labels
            before = not_yet_learned(problem, list(known.values()))
            learned = learn(problem, plan, before, known, evaluation.seed)
            n_fitted = n_labels if learned.belief is not None else None
        elif keeper.has_grown(n_labels) and plan.can_update:
            new = dict(list(labels.items())[n_fitted:])
            new = {row: y for row, y in new.items() if row not in ledger.known}
            if new:
                learned = learn_more(problem, plan, learned, new)
        if keeper.is_due(learned, n_labels):
            state = _past_state(evaluation.state, learned, place)
            view = evaluation.view(state, keeper.epochs, learned.classes)
            scores = score_pool(plan, view, problem.cost)
            proba = next_proba(plan.selection, scores, state)
            keeper.keep(learned, place, n_labels, proba)
            if keeper.is_full:
                break
        row = ledger.indices[place]
        if row in ledger.labels:
            labels[row] = ledger.labels[row]
    return keeper.epochs


def _past_state(state, learned, n_picks):
    """The state of the pool after the first picks, with the belief of that time."""
    picks = state.picks.take(slice(n_picks))
    return replace(
        state,
        loss=learned.loss,
        belief=learned.belief,
        expected_loss=learned.expected_loss,
        picks=picks,
        labels=state.labels[: picks.n_labels],
        is_calibrated=learned.is_calibrated,
        training_gap=learned.training_gap,
    )
