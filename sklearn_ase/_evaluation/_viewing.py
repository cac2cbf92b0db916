"""How an evaluation sees its pool for other metrics than the mean loss."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sklearn_ase._evaluation._epochs import replayed_epochs
from sklearn_ase._evaluation._influence import influence_state
from sklearn_ase._evaluation._questions import (
    Question,
    estimate_question,
    with_bets,
)
from sklearn_ase._evaluation._state_of import proba_near, states_for
from sklearn_ase._evaluation._weights import weight_of
from sklearn_ase._inference._epochs import cross_fitted_epochs
from sklearn_ase._pool._keeps import Keeps
from sklearn_ase._pool._kept import tables_needed
from sklearn_ase._pool._responses import ReadResponse

if TYPE_CHECKING:
    from sklearn_ase._data._problem import Problem
    from sklearn_ase._evaluation._plan import Plan
    from sklearn_ase._inference._epochs import Epoch
    from sklearn_ase._labels._ledger import LabelLedger
    from sklearn_ase._state import PoolState


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
    _rereading: Any

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
        problem = self.problem
        if problem.pool is not None and (
            self.plan.metric is None or self._kept_for_reported() is None
        ):
            return []  # What is reported is the mean loss, which needs none.
        if self._keeper.begins_at and self._past_epochs is None:
            if problem.pool is not None:  # Its passes leave the pool as it is.
                pool = problem.pool.keeping(self._kept_for_reported)
                problem = replace(problem, pool=pool)
            self._past_epochs = replayed_epochs(self, self._keeper.begins_at, problem)
        return [*(self._past_epochs or ()), *self._keeper.epochs]

    def known_for(
        self, metrics: Any, with_epochs: bool = True
    ) -> tuple[PoolState, list[Epoch]]:
        """State and epochs for questions about some metrics.

        If the pool is read in chunks, it is read again.

        Parameters
        ----------
        metrics : sequence of PoolMetric or PoolRanking
        with_epochs : bool, default=True
            Whether beliefs of the past are needed.

        Returns
        -------
        state : PoolState
        epochs : list of Epoch
        """
        if self.problem.pool is not None:
            return self._rereading.known_for(self, metrics, with_epochs)
        return self.state, self.epochs if with_epochs else []

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
        if self.problem.pool is None:
            return self._view_of(self._reported(classes), state, epochs, classes)
        if state.belief.asked is None:
            return state
        # Rows were picked for the metric of the classes that were known then.
        asked = replace(state, belief=state.belief.asked.aligned(classes))
        found = self._view_of(self._reported(classes), asked, epochs, classes)
        return state if found is asked else found

    def _view_of(self, question, state, epochs, classes):
        """The state for the linearised metric of a question."""
        more = self.ledger.more_labels
        state_of = states_for(state, epochs, more, classes, question.weight)
        proba = proba_near(question.metric, state, classes, more)
        return influence_state(question, state, state_of, proba, more)

    def _reported(self, classes):
        """The metric that is reported, applied to the predictions."""
        if self._bound[0] is not classes or self._bound[1] is None:
            weight = weight_of(None, self.problem.sample_weight)
            found = Question.of(self.problem, self.plan.metric, classes, weight)
            self._bound, self._cache = (classes, found), {}
        return self._bound[1]

    def _kept_for_reported(self):
        """What passes over a pool that is read in chunks keep for what is reported.

        Returns
        -------
        kept : tuple of Keeps and ReadResponse, or None
        """
        classes, acquisition = self.classes_, self.plan.acquisition
        question = self._reported(classes)
        if question.line is not None:
            return None
        reads = {name for each in acquisition.local_parts() for name in each.reads}
        keeps = Keeps.of([question.metric], classes, bool(reads))
        if keeps.tables and "weighted_disagreement" in reads:
            raise tables_needed(
                f"metric={self.plan.metric!r}, which has a value for each of "
                f"{len(classes)} classes, with {type(acquisition).__name__}, which "
                "weighs them,"
            )
        asking = self.problem.pool.predictions.asking
        return keeps, ReadResponse.of_pool(self.problem, asking, classes)

    def _estimated(self, risk, state):
        """The estimate of the metric that is reported, or of the mean loss."""
        if self.plan.metric is None:
            return risk.estimate(state)
        return self._answer(risk, self._reported(self.classes_), state)

    def _answer(self, risk, question, state):
        """Answer a question about the pool."""
        more = self.ledger.more_labels
        is_plain = question.is_recorded or not risk.needs_query_proba
        epochs = []
        if self.problem.pool is None:
            epochs = [] if is_plain else self.epochs
        elif not question.is_recorded:
            state, epochs = self.known_for([question.metric], not is_plain)
        cache = self._cache if question is self._bound[1] else None
        answer = partial(estimate_question, risk, question, more, self.classes_)
        if not (self.is_cross_fitted and risk.leans_on_surrogate):
            return answer(state, epochs, cache)
        found = answer(*self.cross_fitted(state, epochs))
        return with_bets(found, partial(answer, state, epochs, cache))
