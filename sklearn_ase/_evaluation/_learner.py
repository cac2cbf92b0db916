"""How an evaluation sees its pool for other metrics than the mean loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_ase._evaluation._beliefs import (
    EpochKeeper,
    learn,
    learn_more,
    not_yet_learned,
    replayed_epochs,
)
from sklearn_ase._evaluation._history import (
    NotedBets,
    check_estimate,
    lacks_last_estimate,
    note_estimate,
)
from sklearn_ase._evaluation._plan import is_factor, next_refit
from sklearn_ase._evaluation._questions import (
    Question,
    check_defined,
    estimate_question,
    influence_state,
    known_proba,
    states_for,
    weight_of,
    with_bets,
)
from sklearn_ase._evaluation._states import pool_state
from sklearn_ase._inference._questions import cross_fitted_epochs
from sklearn_ase._utils._display import Advice, warn_caller
from sklearn_ase.exceptions import SurrogateWarning

if TYPE_CHECKING:
    from sklearn_ase._data._problem import Problem
    from sklearn_ase._evaluation._plan import Plan
    from sklearn_ase._inference._questions import Epoch
    from sklearn_ase._labels._ledger import LabelLedger
    from sklearn_ase._state import PoolState
    from sklearn_ase.risk._base import BaseRisk


class Viewing:
    """The views of an evaluation: its state for a metric, now and in the past.

    The attributes are those of :class:`Evaluation`.
    """

    problem: Problem
    plan: Plan
    ledger: LabelLedger
    classes_: Any
    state: Any
    _learned: Any
    _bound: Any
    _cache: dict
    _keeper: Any
    _past_epochs: Any

    @property
    def placed(self) -> LabelLedger:
        """The ledger with rows named by their places in the pool."""
        return self.problem.placed(self.ledger)

    @property
    def is_cross_fitted(self) -> bool:
        """Whether the surrogate says what it would expect without a row's label."""
        return self._learned.left_out is not None

    def cross_fitted(
        self, state: PoolState, epochs: list[Epoch]
    ) -> tuple[PoolState, list[Epoch]]:
        """State and epochs with what the surrogate believes now, without own labels.

        Parameters
        ----------
        state : PoolState
        epochs : list of Epoch

        Returns
        -------
        state : PoolState
        epochs : list of Epoch
        """
        epochs = cross_fitted_epochs(epochs, self._learned.left_out)
        return replace(state, is_cross_fitted=True), epochs

    @property
    def epochs(self) -> list[Epoch]:
        """Beliefs of the past, each in force for a run of picks."""
        if self._keeper.begins_at and self._past_epochs is None:
            self._past_epochs = replayed_epochs(self, self._keeper.begins_at)
        return [*(self._past_epochs or ()), *self._keeper.epochs]

    def view(self, state: PoolState, epochs: list[Epoch], classes: Any) -> PoolState:
        """The state as acquisitions see it: for the linearised metric, if there is one.

        Parameters
        ----------
        state : PoolState
            With a belief.
        epochs : list of Epoch
        classes : ndarray of shape (n_classes,) or None

        Returns
        -------
        state : PoolState
        """
        if self.plan.metric is None:
            return state
        return self._view_of(self._reported(classes), state, epochs, classes)

    def _view_of(self, question, state, epochs, classes):
        """The state for the linearised metric of a question."""
        more = self.placed.more_labels
        state_of = states_for(state, epochs, more, classes, question.weight)
        proba = known_proba(state, classes, more)
        return influence_state(question, state, state_of, proba, more)

    def _reported(self, classes):
        """The metric that is reported, applied to the predictions."""
        if self._bound[0] is not classes or self._bound[1] is None:
            weight = weight_of(None, self.problem.sample_weight)
            found = Question.of(self.problem, self.plan.metric, classes, weight)
            self._bound, self._cache = (classes, found), {}
        return self._bound[1]

    def _estimated(self, risk, state):
        """The estimate of the metric that is reported, or of the mean loss."""
        if self.plan.metric is None:
            return risk.estimate(state)
        return self._answer(risk, self._reported(self.classes_), state)

    def _answer(self, risk, question, state):
        """Answer a question about the pool."""
        more = self.placed.more_labels
        is_plain = question.is_recorded or not risk.needs_query_proba
        epochs = [] if is_plain else self.epochs
        cache = self._cache if question is self._bound[1] else None
        answer = partial(estimate_question, risk, question, more, self.classes_)
        if not (self.is_cross_fitted and risk.leans_on_surrogate):
            return answer(state, epochs, cache)
        found = answer(*self.cross_fitted(state, epochs))
        return with_bets(found, partial(answer, state, epochs, cache))


# What an evaluation knows, and how it learns from its labels.


_REPLACED = (
    "If one of them is wrong, replace it with evaluation.correct(row, label); the "
    "surrogate is then fitted again."
)
FAILED = Advice(
    "The surrogate failed. All labels are recorded. Nothing is picked or estimated "
    "until the surrogate has learned.",
    cure="replace",
    in_python="The next call of ask(), estimate() or refit() tries it again. "
    f"{_REPLACED}",
)


class EvaluationCore(Viewing):
    """State of an evaluation, renewed when its labels change.

    The attributes are those of :class:`Evaluation`.
    """

    # None until something is learned.
    _learned: Any
    _state: Any
    _bound: Any
    _cache: dict

    def __init__(
        self, problem: Problem, plan: Plan, ledger: LabelLedger, seed: int
    ) -> None:
        self.problem = problem
        self.plan = plan
        self.ledger = ledger
        self.seed = seed
        self._learned, self._n_learned = None, 0  # With the labels of the last refit.
        # Whether learning failed, so that the surrogate or the belief is half-made; and
        # whether it is under way, when what was known before is all that is known.
        self._is_lost, self._is_learning = False, True
        self._noted = NotedBets(ledger, plan.metric)
        self._state = None, None  # What it is of, and the state.
        self._bound = None, None  # Classes, and the metric for them.
        self._keeper = EpochKeeper(len(ledger.indices))
        self._past_epochs = None
        self._cache = {}  # Of the reported metric, for epochs that have ended.

    @property
    def n_samples(self) -> int:
        """Size of the pool."""
        return self.problem.n_samples

    @property
    def is_fitted(self) -> bool:
        """Whether the surrogate has been fitted."""
        return self._learned.belief is not None

    @property
    def n_learned(self) -> int:
        """Number of labels that the last fit of the surrogate had."""
        return self._n_learned

    @property
    def classes_(self) -> np.ndarray | None:
        """Labels known so far, sorted; None for regression."""
        return self._learned.classes

    @property
    def risk(self) -> BaseRisk:
        """The risk estimator that is reported."""
        return self.plan.risk

    @property
    def state(self) -> PoolState:
        """Everything that is known about the pool now, as a :class:`PoolState`.

        If the surrogate failed, it is fitted again.
        """
        if not self._is_learning and self._is_lost:
            self._renew(learns_anew=True)
        return self._last_state()

    def _last_state(self):
        """The same with the last belief, also if the surrogate failed after it."""
        key = self.ledger.n_changes, self._learned
        if self._state[0] != key:
            state = pool_state(self.placed, self._learned)
            sample = self.problem.sample
            if sample is not None:
                state = replace(state, inclusion_proba=sample.inclusion_proba)
            self._state = key, state
        return self._state[1]

    def _update(self, relearn=False, told=None):
        """Renew what depends on the labels, after some were told or all may differ."""
        is_met = told is not None and self._has_classes(told)
        changed = not is_met and self._update_classes()
        self._renew(changed or relearn or self.is_due())

    def _renew(self, learns_anew):
        """Learn from the labels, and keep the estimate, also if the surrogate fails."""
        refit, self._is_learning = False, True
        try:
            refit = self._learn() if learns_anew else self._learn_more()
        except Exception as error:
            error.add_note(FAILED)
            raise
        finally:
            try:
                self._note(refit)
            finally:
                self._is_learning = False

    def _has_classes(self, labels):
        """Whether the labels add no class to those known."""
        return self.classes_ is None or bool(np.isin(labels, self.classes_).all())

    def _update_classes(self):
        """Add classes not seen before; returns whether the classes changed."""
        learned = self._learned
        classes = self.problem.classes_with(self.ledger.answers())
        if learned is not None and np.array_equal(classes, learned.classes):
            return False
        # The old belief has no columns for other classes.
        self._is_lost = True
        self._learned = not_yet_learned(self.problem, self.ledger.answers())
        return True

    def _learn(self, n_labels=None):
        """Fit the surrogate to the first labels; returns whether it was fitted."""
        ledger = self.placed
        labels = dict(list(ledger.labels.items())[:n_labels])
        is_constant = self.plan.surrogate.is_constant
        if not (is_constant and self.is_fitted):
            self._is_lost = True  # Until all has been learned.
            given = self._learned, ledger.known | labels, self.seed
            self._learned = learn(self.problem, self.plan, *given)
            self._is_lost = False
        self._n_learned = len(labels)
        if labels:
            self.ledger.refit(self._n_learned)
        return self.is_fitted and not is_constant

    def _learn_more(self) -> bool:
        """Tell the surrogate the labels since its last fit, if it can take them."""
        if not (self.is_fitted and self.plan.can_update):
            return False
        new = self._labels_since_fit()
        if not new and self._learned.belief is self._learned.fitted_belief:
            return False
        self._is_lost = True  # Until all has been learned.
        self._learned = learn_more(self.problem, self.plan, self._learned, new)
        self._is_lost = False
        return False

    def _labels_since_fit(self):
        """Labels that the last fit did not have, as a dict of row to label."""
        # Labels that were known before the first pick were learned by every fit.
        ledger = self.placed
        known, n_new = ledger.known, len(ledger) - self._n_learned
        labels = ledger.last_labels(n_new).items()
        return {row: label for row, label in labels if row not in known}

    def _waiting_labels(self):
        """Labels that wait for the next fit; None if each is learned at once."""
        return self._labels_since_fit() if self.plan.learns_at_refits_only else None

    def is_due(
        self, n_coming: int = 0, due_at: Callable[..., int | None] = next_refit
    ) -> bool:
        """Whether the surrogate is to be fitted again, with `n_coming` more labels."""
        if self._is_lost:
            return True
        can_wait = self.is_fitted and self.plan.can_update
        if can_wait and is_factor(self.plan.refit) and self._has_unmet_class():
            return True
        n_fitted = self.problem.n_training + self._n_learned if can_wait else None
        due = due_at(self.plan.refit, self._n_learned, n_fitted)
        return due is not None and len(self.ledger) + n_coming >= due

    def _has_unmet_class(self):
        """Whether a label is of a class that the last fit did not see.

        A calibration cannot learn such a class between refits.
        """
        met = self._learned.met
        labels = np.asarray(list(self._labels_since_fit().values())).tolist()
        return bool(met) and not met.issuperset(labels)

    def _note(self, refit=False):
        """Keep the estimate after the labels that came, or after the last one."""
        if len(self.ledger):
            estimate, metric = self._estimate_if_possible(), self.plan.metric
            note_estimate(self.ledger, estimate, refit, metric, self._noted)

    def _estimate_if_possible(self):
        state, risk = self.state, self.plan.risk
        # A weighted estimate is noted once a label counts in it.
        waits = risk.needs_query_proba and not state.settled.n_labels
        if waits or risk.obstacle(state):
            return None
        return check_estimate(self._estimated(risk, state), risk)


# An evaluation as its ledger has it.


class RecordedEvaluation(EvaluationCore):
    """Evaluation that starts where its ledger ends, and checks what is recorded."""

    def __init__(
        self, problem: Problem, plan: Plan, ledger: LabelLedger, seed: int
    ) -> None:
        super().__init__(problem, plan, ledger, seed)
        self._replay()
        self._is_learning = False
        if plan.metric is not None:  # A metric that does not fit costs no label.
            check_defined(self._reported(self.classes_).metric)

    def _replay(self) -> None:
        """Restore the evaluation that wrote the ledger."""
        ledger = self.ledger
        self.problem.check_labels(ledger.answers())
        self._update_classes()
        try:
            changed = self._learn_as_before()
            if ledger.unnoted is not None:
                self._note(bool(ledger.unnoted and changed))
            elif lacks_last_estimate(ledger) and self._estimate_if_possible():
                self._note()
        except Exception as error:
            if not ledger.answers():
                raise
            self._learn_without_labels(error)

    def _learn_as_before(self):
        """Learn what a live evaluation has learned; returns whether that is new."""
        n_learned = self.ledger.refits[-1] if self.ledger.refits else 0
        changed = self._learn(n_learned)
        learned = self.problem.classes_with(self.ledger.answers(n_learned))
        # A live evaluation is fitted again as soon as there is another class.
        if self.is_due() or not np.array_equal(learned, self.classes_):
            return self._learn()
        self._learn_more()
        return changed

    def _learn_without_labels(self, error):
        """Start all the same if recorded labels make the surrogate fail."""
        # If training rows alone make it fail, too, then no label is to blame.
        before = not_yet_learned(self.problem, self.ledger.answers())
        self._learned = learn(self.problem, self.plan, before, {}, self.seed)
        self._n_learned, self._is_lost = 0, False
        failed = Advice(
            f"Learning from the recorded labels failed ({error!r}), so the surrogate "
            "has learned from none of them. All labels are recorded.",
            cure="replace",
            in_python=_REPLACED,
        )
        warn_caller(failed, SurrogateWarning)

    def _check_answers(self, indices, labels):
        """Answers that can be recorded: of the right kind, and with a finite loss."""
        labels, more_labels = self.problem.check_answers(labels, indices)
        is_asked = self.ledger.may_answer(np.asarray(indices).tolist())
        if is_asked and len(indices) == len(labels):  # Else the ledger reports it.
            loss, given = self._learned.loss, together(labels, more_labels)
            if not self._has_classes(given):
                met = [*self.ledger.answers(), *given.tolist()]
                loss = self.problem.loss_for(self.problem.classes_with(met))
            for answers in (labels, *np.transpose(more_labels)):
                loss.observed(self.problem.places_of(indices), answers)
        return labels, more_labels


def together(labels, more_labels):
    """All answers in one array."""
    return np.concatenate([labels, *np.transpose(more_labels)])
