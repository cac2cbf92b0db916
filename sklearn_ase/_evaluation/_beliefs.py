"""Beliefs: what the surrogate says of the pool now, and said at earlier picks."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._evaluation._picker import next_proba, score_pool
from sklearn_ase._evaluation._plan import is_factor, next_refit
from sklearn_ase._inference import _steps as _kernels
from sklearn_ase._inference._bounds import MIN_LABELS
from sklearn_ase._inference._questions import BeliefColumns, Epoch
from sklearn_ase._utils._display import Advice
from sklearn_ase._utils._estimators import accepted_by
from sklearn_ase.losses import BaseLoss

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from sklearn_ase._data._problem import Problem
    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase._evaluation._plan import Plan
    from sklearn_ase._labels._ledger import LabelLedger
    from sklearn_ase._state import PoolState


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
        Marks one fit of the surrogate: beliefs that share it are of the same fit.
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

    classes: Any
    loss: Any
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
    left_out: Any = None


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


# The belief of now, and when it is learned again.


REPLACED = (
    "If one of them is wrong, replace it with evaluation.correct(row, label); the "
    "surrogate is then fitted again."
)
FAILED = Advice(
    "The surrogate failed. All labels are recorded. Nothing is picked or estimated "
    "until the surrogate has learned.",
    cure="replace",
    in_python="The next call of ask(), estimate() or refit() tries it again. "
    f"{REPLACED}",
)


class Status(Enum):
    """Whether the belief of now is one of all labels that it should know."""

    LEARNED = "learned"
    OUTDATED = "must learn again, as there are other classes"
    FAILED = "failed: learning began and did not end"


class Beliefs:
    """The belief of now and the kept ones.

    Attributes
    ----------
    now : Learned
    status : Status
    n_learned : int
        Number of labels that the last fit of the surrogate had.
    kept : KeptBeliefs
        Those for picks of this process; those before are replayed once.
    """

    def __init__(
        self, problem: Problem, plan: Plan, ledger: LabelLedger, seed: int
    ) -> None:
        self.problem, self.plan, self.ledger, self.seed = problem, plan, ledger, seed
        self.now = not_yet_learned(problem, ledger.answers())
        self.status, self.n_learned = Status.OUTDATED, 0
        self.kept = KeptBeliefs(len(ledger.indices))
        self._replayed: list[Epoch] | None = None

    @property
    def placed(self) -> LabelLedger:
        """The ledger with rows named by their places in the pool."""
        return self.problem.placed(self.ledger)

    @property
    def is_fitted(self) -> bool:
        """Whether the surrogate has been fitted."""
        return self.now.belief is not None

    def has_classes(self, labels: np.ndarray) -> bool:
        """Whether labels add no class to those known."""
        classes = self.now.classes
        return classes is None or bool(np.isin(labels, classes).all())

    def add_classes(self) -> bool:
        """Add classes not seen before; returns whether the classes changed."""
        classes = self.problem.classes_with(self.ledger.answers())
        if np.array_equal(classes, self.now.classes):
            return False
        # The old belief has no columns for other classes.
        self.status = Status.OUTDATED
        self.now = not_yet_learned(self.problem, self.ledger.answers())
        return True

    def learn(self, n_labels: int | None = None) -> bool:
        """Fit the surrogate to the first labels; returns whether it was fitted."""
        ledger = self.placed
        labels = dict(list(ledger.labels.items())[:n_labels])
        is_constant = self.plan.surrogate.is_constant
        if not (is_constant and self.is_fitted):
            self.status = Status.FAILED  # Until all has been learned.
            known = ledger.known | labels
            self.now = learn(self.problem, self.plan, self.now, known, self.seed)
        self.status, self.n_learned = Status.LEARNED, len(labels)
        if labels:
            self.ledger.refit(self.n_learned)
        return self.is_fitted and not is_constant

    def learn_more(self) -> None:
        """Tell the surrogate the labels since its last fit, if it can take them."""
        if not (self.is_fitted and self.plan.can_update):
            return
        new = self.labels_since_fit()
        if not new and self.now.belief is self.now.fitted_belief:
            return
        self.status = Status.FAILED  # Until all has been learned.
        self.now = learn_more(self.problem, self.plan, self.now, new)
        self.status = Status.LEARNED

    def update(self, must_learn: bool) -> bool:
        """Learn anew if it is due, else new labels; returns whether it was fitted."""
        if must_learn or self.is_due():
            return self.learn()
        self.learn_more()
        return False

    def restore(self) -> bool:
        """Learn what a live evaluation has learned; returns whether that is new."""
        n_learned = self.ledger.refits[-1] if self.ledger.refits else 0
        changed = self.learn(n_learned)
        learned = self.problem.classes_with(self.ledger.answers(n_learned))
        # A live evaluation is fitted again as soon as there is another class.
        if self.is_due() or not np.array_equal(learned, self.now.classes):
            return self.learn()
        self.learn_more()
        return changed

    def learn_without_labels(self) -> None:
        """Learn from training rows alone: recorded labels make the surrogate fail."""
        before = not_yet_learned(self.problem, self.ledger.answers())
        self.now = learn(self.problem, self.plan, before, {}, self.seed)
        self.status, self.n_learned = Status.LEARNED, 0

    def labels_since_fit(self) -> dict[int, Any]:
        """Labels that the last fit did not have, as a dict of row to label."""
        # Labels that were known before the first pick were learned by every fit.
        ledger = self.placed
        labels = ledger.last_labels(len(ledger) - self.n_learned).items()
        return {row: label for row, label in labels if row not in ledger.known}

    def is_due(
        self, n_coming: int = 0, due_at: Callable[..., int | None] = next_refit
    ) -> bool:
        """Whether the surrogate is to be fitted again, with `n_coming` more labels."""
        if self.status is not Status.LEARNED:
            return True
        can_wait = self.is_fitted and self.plan.can_update
        if can_wait and is_factor(self.plan.refit) and self._has_unmet_class():
            return True
        n_fitted = self.problem.n_training + self.n_learned if can_wait else None
        due = due_at(self.plan.refit, self.n_learned, n_fitted)
        return due is not None and len(self.ledger) + n_coming >= due

    def _has_unmet_class(self) -> bool:
        """Whether a label is of a class that the last fit did not see.

        A calibration cannot learn such a class between refits.
        """
        labels = np.asarray(list(self.labels_since_fit().values())).tolist()
        return bool(self.now.met) and not self.now.met.issuperset(labels)

    def keep(self, scores: np.ndarray, state: PoolState) -> None:
        """Keep the belief for the next picks, if it has changed much."""
        selection, n_labels = self.plan.selection, len(self.ledger)
        # Without probabilities of picks no other quantity can be estimated.
        if selection.has_query_proba and self.kept.is_due(self.now, n_labels):
            proba = next_proba(selection, scores, state)
            self.kept.keep(self.now, len(self.ledger.indices), n_labels, proba)

    def epochs(self, replay: Callable[[int], list[Epoch]]) -> list[Epoch]:
        """Beliefs of the past; those for picks of another process are replayed."""
        if self.kept.begins_at and self._replayed is None:
            self._replayed = replay(self.kept.begins_at)
        return [*(self._replayed or ()), *self.kept.epochs]


# Kept beliefs, for questions that are asked later.


# Between fits of the surrogate a belief is kept when the labels have grown by this
# factor, and by one.
_GROWTH = 1.2
# Bytes that all kept beliefs may take. After that the last one is used for all picks.
_MOST_BYTES = 2**28


class KeptBeliefs:
    """Beliefs of the past, each in force for a run of picks.

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


def replayed_epochs(
    evaluation: Evaluation, state: PoolState, n_picks: int
) -> list[Epoch]:
    """Make the beliefs for the first picks again, from the labels before each.

    Labels count in the order of the picks. If they came in another order, or were
    corrected, the beliefs differ from the first ones. They are equally valid, because
    each uses only labels of earlier picks.
    """
    problem, ledger = evaluation.problem, evaluation.placed
    # A copy, so that the surrogate of the evaluation stays as it was fitted last.
    plan = replace(evaluation.plan, surrogate=copy(evaluation.plan.surrogate))
    keeper, refits, n_fitted = KeptBeliefs(), set(ledger.refits), None
    learned: Any = None
    labels: dict[int, Any] = {}
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
            past = _past_state(state, learned, place)
            view = evaluation.view(past, keeper.epochs, learned.classes)
            scores = score_pool(plan, view, problem.cost)
            proba = next_proba(plan.selection, scores, past)
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
