"""The questions that an evaluation answers from its labels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._evaluation._annotating import Annotating
from sklearn_ase._evaluation._history import check_estimate
from sklearn_ase._evaluation._influence import influence_of
from sklearn_ase._evaluation._plan import check_risk
from sklearn_ase._evaluation._questions import Question
from sklearn_ase._evaluation._slices import slice_table
from sklearn_ase._evaluation._state_of import proba_near, states_for
from sklearn_ase._evaluation._support import Support
from sklearn_ase._evaluation._waiting import words_of_waiting
from sklearn_ase._evaluation._weights import check_weight, check_where, weight_of
from sklearn_ase._inference._population import check_groups, grouped_variance
from sklearn_ase.metrics import MeanLoss, as_metric

if TYPE_CHECKING:
    from sklearn_ase._evaluation._slices import SliceTable
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.risk._base import BaseRisk
    from sklearn_ase.risk._either import Estimate
    from sklearn_ase.risk._metric_estimate import MetricEstimate


class Answering(Annotating):
    """Evaluation that answers questions about its pool."""

    def estimate(
        self,
        risk: BaseRisk | None = None,
        groups: ArrayLike | None = None,
        *,
        metric: str | BaseMetric | None = None,
        where: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Estimate:
        """Answer a question from the labels so far.

        Parameters
        ----------
        risk : risk estimator, default=None
            Another estimate from the same labels; None means the configured one.
        groups : array-like of shape (n_samples,), default=None
            Group of each row of the pool, such as its patient or conversation.
            ``interval(target="population")`` then allows for groups whose rows have
            similar losses. The interval for the pool itself does not change.
        metric : str or BaseMetric, default=None
            What to estimate: a name such as ``"f1"`` or ``"roc_auc"``, or an object of
            :mod:`sklearn_ase.metrics`. None means what the evaluation reports.
        where : array-like of bool of shape (n_samples,), default=None
            The rows of the pool that the question is about. None means all.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row of the pool counts. None means the weights that the
            evaluation was started with.

        Returns
        -------
        estimate : RiskEstimate or MetricEstimate
            The second if a metric, rows or weights are given, here or at the start.
        """
        risk, state = self.risk if risk is None else risk, self.state
        check_risk(risk)
        question = self.question(metric, where, sample_weight)
        obstacle = risk.obstacle(state)
        if obstacle:
            raise ValueError(obstacle)
        if question is None:
            found = risk.estimate(state)
        else:
            found = self._answer(risk, question, state)
        found = check_estimate(found, risk)
        if question is not None:
            found = Support.of(state, risk, question.weight).on(found)
        waiting = words_of_waiting(state, self.ledger)
        if risk.needs_query_proba and waiting:
            says = "refusal" if found.refusal else "note"
            text = f"{getattr(found, says)} {waiting}".strip()
            found = replace(found, **{says: text})
        if groups is None:
            return found
        if question is not None:
            return self._with_groups(found, question, groups)
        numbers = check_groups(groups, state, self.problem)
        return replace(
            found,
            population_variance=grouped_variance(state, numbers),
            population_degrees=float(numbers.max()),
        )

    def estimate_by(
        self,
        groups: ArrayLike,
        *,
        metric: str | BaseMetric | None = None,
        risk: BaseRisk | None = None,
        sample_weight: ArrayLike | None = None,
        level: float = 0.9,
        simultaneous: bool = False,
    ) -> SliceTable:
        """Answer the same question for each of several groups of rows.

        With the default `risk` the labels of all groups decide how much the surrogate
        is trusted in each. So an estimate differs a little from that of
        ``estimate(where=...)``, which uses one group only. The intervals are those of
        each group alone.

        Parameters
        ----------
        groups : array-like of shape (n_samples,)
            Group of each row of the pool, such as its region.
        metric : str or BaseMetric, default=None
            See :meth:`estimate`.
        risk : risk estimator, default=None
        sample_weight : array-like of shape (n_samples,), default=None
        level : float, default=0.9
            Of the intervals.
        simultaneous : bool, default=False
            Whether all intervals together hold with probability `level`. Otherwise
            each of them does. Use it to find the worst group.

        Returns
        -------
        table : SliceTable
            A dict of columns with one entry per group; ``pandas.DataFrame(table)``
            makes a frame of it.
        """
        return slice_table(
            self,
            groups,
            level,
            simultaneous,
            metric=metric,
            risk=risk,
            sample_weight=sample_weight,
        )

    def effective_labels(self, estimate: MetricEstimate, question: Question) -> float:
        """Size of a plain random sample that would be as precise.

        Parameters
        ----------
        estimate : MetricEstimate
            With a standard error.
        question : Question

        Returns
        -------
        n_labels : float
        """
        influence, rest = self._influence(question)
        weight = question.weight
        weight = np.ones(self.n_samples) if weight is None else weight
        rows = weight > 0
        belief, weight = influence.belief, weight[rows]
        mean = (belief.expected + rest)[rows] / weight
        variance = belief.variance[rows] / weight**2
        share = weight / weight.sum()
        spread = share @ (variance + (mean - share @ mean) ** 2)
        error = estimate.standard_error**2
        return float(spread / max(error + spread / rows.sum(), np.finfo(float).tiny))

    def _influence(self, question, with_labels=True):
        """What each row adds to the answer: by its label, and whatever its label."""
        more, classes = self.ledger.more_labels, self.classes_
        state, _ = self.known_for([question.metric], with_epochs=False)
        state_of = states_for(state, [], more, classes, question.weight, with_labels)
        question = replace(question, line=None)
        proba = proba_near(question.metric, state, classes, more)
        return influence_of(question, state, state_of, proba, more)

    def _with_groups(self, found, question, groups):
        """The estimate with the variance between groups of rows."""
        groups = check_groups(groups, self.state, self.problem)
        influence, rest = self._influence(question, with_labels=False)
        variance = grouped_variance(influence, groups, rest)
        if found.mean is None:
            return replace(found, population_variance=variance)
        slope = 0.5 / found.value if found.scale == "root" else found.line[1]
        mean = replace(
            found.mean,
            population_variance=variance / slope**2,
            population_degrees=float(groups.max()),
        )
        return replace(found, mean=mean)

    def question(
        self,
        metric: str | BaseMetric | None = None,
        where: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Question | None:
        """The metric that is asked for, applied to the predictions.

        None if the mean of the loss over all rows is asked for.
        """
        is_reported = metric is None and self.plan.metric is None
        metric, weight = self._metric_and_weight(metric, where, sample_weight)
        if is_reported and weight is None:
            return None
        return Question.of(self.problem, metric, self.classes_, weight)

    def _metric_and_weight(self, metric, where, sample_weight):
        """The metric that is asked for, and the weight of each row."""
        n_samples, problem = self.n_samples, self.problem
        problem.order.check(where=where, sample_weight=sample_weight)
        where = check_where(where, n_samples)
        weight = check_weight(sample_weight, n_samples)
        if sample_weight is None:
            weight = problem.sample_weight
        if metric is None:
            metric = self.plan.metric
        metric = MeanLoss(problem.loss) if metric is None else as_metric(metric)
        return metric, weight_of(where, weight)
