"""An evaluation as its ledger has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._evaluation._core import ALL_RECORDED, EvaluationCore
from sklearn_ase._evaluation._history import lacks_last_estimate
from sklearn_ase._evaluation._learning import learn, not_yet_learned
from sklearn_ase._evaluation._questions import check_defined
from sklearn_ase._utils._warn import warn_caller
from sklearn_ase.exceptions import SurrogateWarning

if TYPE_CHECKING:
    from sklearn_ase._data._problem import Problem
    from sklearn_ase._evaluation._plan import Plan
    from sklearn_ase._labels._ledger import LabelLedger


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

    def _replay(self):
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
        failed = f"Learning from the recorded labels failed ({error!r})"
        text = (
            f"{failed}, so the surrogate has learned from none of them. {ALL_RECORDED}"
        )
        warn_caller(text, SurrogateWarning)

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
                loss.observed(np.asarray(indices), answers)
        return labels, more_labels


def together(labels, more_labels):
    """All answers in one array."""
    return np.concatenate([labels, *np.transpose(more_labels)])
