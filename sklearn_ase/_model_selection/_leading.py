"""How several models stand, and the questions about each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._evaluation._evaluation import Evaluation
from sklearn_ase._evaluation._questions import Question
from sklearn_ase._evaluation._state_of import known_proba
from sklearn_ase._inference._corrected import Corrected
from sklearn_ase._inference._epochs import Epoch
from sklearn_ase._inference._pairs import Pairs
from sklearn_ase._model_selection._standing import standing

if TYPE_CHECKING:
    from sklearn_ase._data._problem import Problem
    from sklearn_ase._evaluation._models import Models
    from sklearn_ase._evaluation._plan import Plan
    from sklearn_ase._labels._ledger import LabelLedger

_DRAWS, _CRITICAL = 7, 11


class Leading(Evaluation):
    """Evaluation of that of several models which leads now."""

    def __init__(
        self,
        models: Models,
        problem: Problem,
        plan: Plan,
        ledger: LabelLedger,
        seed: int,
    ) -> None:
        self.models = models
        self._metrics = None, None, None  # Classes, metrics for them, columns.
        self._stands: dict = {}
        self._model_cache: dict = {}
        self._questions: dict = {}
        self._kept = None, None  # A state, and the answers for it.
        super().__init__(problem, plan, ledger, seed)

    def _standing(self, state, epochs, classes):
        """How the models stand, columns, corrected means, and their differences."""
        if state not in self._stands:
            columns = self._columns(state, classes)
            more = self.ledger.more_labels
            observed = columns.observed(state.indices, state.labels, more)
            corrected = None
            if state.settled.n_labels:
                aligned = [self._aligned(epoch, classes) for epoch in epochs]
                corrected = Corrected(
                    columns,
                    state,
                    aligned,
                    observed,
                    self._model_cache,
                    self.models.weight,
                )
            agreement, seed = self.models.agreement, [self.seed, _CRITICAL]
            pairs = Pairs(columns, state, observed, corrected, agreement, seed)
            seed = [self.seed, state.n_labels, _DRAWS]
            weight = self.models.weight
            found = standing(columns, state, observed, pairs, seed, weight)
            self._stands = {state: (found, columns, corrected, pairs)}
        return self._stands[state]

    def _aligned(self, epoch, classes):
        """The epoch with a column for each class; one object for each epoch."""
        key = "aligned", epoch.belief
        if key not in self._model_cache:
            self._model_cache[key] = epoch.belief.aligned(classes)
        return Epoch(epoch.start, self._model_cache[key], epoch.query_proba)

    def _forget_other_classes(self, classes):
        if self._metrics[1] is None or not np.array_equal(self._metrics[0], classes):
            self._metrics = classes, self.models.bound(classes), None
            self._model_cache, self._questions = {}, {}

    def _columns(self, state, classes):
        self._forget_other_classes(classes)
        metrics, columns = self._metrics[1:]
        if columns is None:
            proba = known_proba(state, classes, self.ledger.more_labels)
            columns = self.models.columns(metrics, classes, proba)
            if all(near is m for near, m in zip(columns.metrics, metrics, strict=True)):
                self._metrics = classes, metrics, columns
            else:  # Of a ranking: it is another one near each belief.
                self._model_cache = {}
        return columns

    def _question_of(self, model, classes):
        """The metric of one model, as a question."""
        self._forget_other_classes(classes)
        if model not in self._questions:
            metric, weight = self._metrics[1][model], self.models.weight
            self._questions[model] = Question(metric, weight=weight), {}
        return self._questions[model][0]

    def _reported(self, classes):
        model = self._standing(self.state, self.epochs, classes)[0].leader
        question = self._question_of(model, classes)
        self._bound, self._cache = (classes, question), self._questions[model][1]
        return question

    def _estimate_if_possible(self):
        # A surrogate that failed leaves no belief, and its error is to be seen.
        return super()._estimate_if_possible() if self.is_fitted else None
