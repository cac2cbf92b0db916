"""The choice of one of several models, label by label."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._evaluation._answers import Answers
from sklearn_ase._evaluation._comparison import Comparison
from sklearn_ase._evaluation._plan import check_stop
from sklearn_ase._evaluation._questions import Question
from sklearn_ase._evaluation._state_of import states_for
from sklearn_ase._evaluation._support import Support
from sklearn_ase._inference._epochs import Epoch
from sklearn_ase._inference._model_view import ModelsView
from sklearn_ase._model_selection._gain import expected_gain
from sklearn_ase._model_selection._leading import Leading
from sklearn_ase._utils._checks import check_choice
from sklearn_ase._utils._settings import same_settings
from sklearn_ase._utils._typing import ManyModels
from sklearn_ase.metrics import as_metric

if TYPE_CHECKING:
    from sklearn_ase._state import PoolState
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.risk._base import BaseRisk
    from sklearn_ase.risk._metric_estimate import MetricEstimate
    from sklearn_ase.stopping import BaseStop


class ModelSelection(Leading):
    """Choice of the best of several models on one pool, label by label.

    Made by :meth:`ActiveModelSelector.start`; ``fit`` is a loop over its methods. It is
    an :class:`Evaluation` of the model that leads: ``estimate`` and the reports are
    about that one.

    Parameters
    ----------
    models : Models
    problem : Problem
        With the predictions of the first model.
    plan : Plan
    ledger : LabelLedger
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ase import ActiveModelSelector
    >>> y = np.arange(60) % 2
    >>> run = ActiveModelSelector(random_state=0).start(
    ...     None, predictions={"good": y, "poor": np.zeros(60, dtype=int)})
    >>> for _ in range(10):
    ...     query = run.ask()
    ...     run.tell(query, y[query.indices])
    >>> run.best_name
    'good'
    """

    @property
    def names(self) -> list[str]:
        """Names of the models, in their order."""
        return list(self.models.names)

    @property
    def best_index(self) -> int:
        """Place of the model that is chosen now."""
        return self._standing(self.state, self.epochs, self.classes_)[0].leader

    @property
    def best_name(self) -> str:
        """Name of the model that is chosen now."""
        return self.models.names[self.best_index]

    @property
    def probabilities(self) -> dict[str, float]:
        """Probability of each model to be the best, roughly, by name."""
        found = self.compare().probabilities()
        return dict(zip(self.names, found.tolist(), strict=True))

    @property
    def candidates(self) -> list[str]:
        """Names of the models that may be the best, at 90 %; see `compare`."""
        return self.compare().candidates()

    @property
    def results(self) -> dict[str, list]:
        """Dict of columns with an entry per model; see ``compare().to_dict()``."""
        return self.compare().to_dict()

    def estimate(
        self,
        risk: BaseRisk | None = None,
        groups: ArrayLike | None = None,
        **question: Any,
    ) -> MetricEstimate:
        """Answer a question about the chosen model; see :meth:`Evaluation.estimate`.

        Parameters
        ----------
        risk : risk estimator, default=None
        groups : array-like of shape (n_samples,), default=None
        **question
            ``metric``, ``where`` and ``sample_weight``.

        Returns
        -------
        estimate : MetricEstimate
            Its ``note`` says what the labels were bought for.
        """
        found: Any = super().estimate(risk, groups, **question)
        return replace(found, note=self.plan.acquisition.bought_for)

    def estimate_of(
        self, name: str, risk: BaseRisk | None = None, **question: Any
    ) -> MetricEstimate:
        """Answer a question about one of the models; see :meth:`estimate`.

        Parameters
        ----------
        name : str
            Of the model.
        risk : risk estimator, default=None
        **question
            ``metric``, ``where`` and ``sample_weight`` of :meth:`estimate`.

        Returns
        -------
        estimate : MetricEstimate
        """
        check_choice(name, "name", tuple(self.models.names))
        asked, self._asked = self._asked, self.models.names.index(name)
        try:
            return self.estimate(risk, **question)
        finally:
            self._asked = asked

    def compare(
        self,
        models: ManyModels | None = None,
        *,
        reference: str | None = None,
        **question: Any,
    ) -> Comparison:
        """Compare models from the labels so far; see :meth:`Evaluation.compare`.

        Parameters
        ----------
        models : dict of str to model, default=None
            None means the models of this choice.
        reference : str, default=None
            Name of a model to which all others are compared, too.
        **question
            ``metric``, ``where``, ``sample_weight`` and ``risk``.

        Returns
        -------
        comparison : Comparison
            Without other models and without another question it is about this choice:
            its best model is `best_name`, and its candidates are `candidates`.
        """
        if "metric" in question and self._is_own(question["metric"]):
            del question["metric"]
        if models is not None or any(each is not None for each in question.values()):
            own: Any = self.models if models is None else models
            return super().compare(own, reference=reference, **question)
        stand = self._standing(self.state, self.epochs, self.classes_)[0]
        answers, proba = self._answers(), stand.best_proba
        if answers.pairs.n_labels:  # With the errors of the shown differences.
            proba = answers.proba_of_best(stand.leader)
        found = stand.leader, stand.gains, proba
        return Comparison(self.names, *found, answers, reference)

    def _is_own(self, metric):
        """Whether a metric is the one that the models are chosen by."""
        return metric is not None and same_settings(as_metric(metric), self.plan.metric)

    def _answers(self):
        """Estimates of models and differences, kept until something changes."""
        state, classes = self.state, self.classes_
        if self._kept[0] is not state:
            stand, columns, _, pairs = self._standing(state, self.epochs, classes)
            more, weight = self.ledger.more_labels, self.models.weight
            self._kept = (
                state,
                Answers(
                    columns.metrics,
                    columns.sign,
                    states_for(state, self.epochs, more, classes, weight, cache={}),
                    self.risk,
                    pairs,
                    self.plan.acquisition.bought_for,
                    Support.of(state, self.risk, weight),
                    stand.gains,
                ),
            )
        return self._kept[1]

    _asked: int | None = (
        None  # The model that a question is about; None means the leader.
    )

    def question(
        self,
        metric: str | BaseMetric | None = None,
        where: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Question | None:
        """The metric that is asked for, applied to the predictions of the leader."""
        model = self.best_index if self._asked is None else self._asked
        if metric is None and where is None and sample_weight is None:
            return self._question_of(model, self.classes_)
        problem = self.problem
        try:
            self.problem = self.models.problems[model]
            found: Any = super().question(metric, where, sample_weight)
        finally:
            self.problem = problem
        # The ledger has what was expected of the first model only.
        return replace(found, line=None)

    def view(
        self, state: PoolState, epochs: list[Epoch], classes: np.ndarray | None
    ) -> PoolState:
        """The state as the acquisition sees it: that of the leader, with the others."""
        stand, columns, *_ = self._standing(state, epochs, classes)
        question = self._question_of(stand.leader, classes)
        # What was expected of earlier picks is of no use to it.
        seen = self._view_of(question, state, [], classes)
        models = ModelsView(
            leader=stand.leader,
            best_proba=stand.best_proba,
            belief=state.belief,
            influence=lambda model: columns.influence(model, stand.gradient),
            apart=self.models.agreement.apart,
            gain=lambda rows: expected_gain(
                rows, state, columns, stand.gradient, self.models.weight
            ),
        )
        return replace(seen, models=models)

    def _check_stop(self, stop):
        check_stop(stop, self.risk, has_models=True)

    def stop_reason(self, stop: BaseStop) -> str:
        """Ask a stopping rule whether more labels are needed; see `Evaluation`."""
        self._check_stop(stop)
        if stop.needs_models:
            return stop.reason_to_choose(self) if self.state.settled.n_labels else ""
        return super().stop_reason(stop)

    def _leader(self):
        return {"best model": self.best_name}

    def __repr__(self):
        parts = f"{len(self.models.names)} models", self._progress()
        return f"<ModelSelection: {', '.join(parts)}, best {self.best_name!r}>"
