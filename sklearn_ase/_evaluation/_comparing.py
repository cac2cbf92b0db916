"""Compare several models with the labels of one evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._evaluation._answering import Answering
from sklearn_ase._evaluation._answers import Answers
from sklearn_ase._evaluation._comparison import Comparison
from sklearn_ase._evaluation._models import as_models
from sklearn_ase._evaluation._plan import check_risk
from sklearn_ase._evaluation._state_of import proba_near, states_for
from sklearn_ase._evaluation._support import Support
from sklearn_ase._evaluation._systems import as_systems
from sklearn_ase._inference._corrected import Corrected
from sklearn_ase._inference._pairs import Pairs
from sklearn_ase._pool._kept import tables_needed
from sklearn_ase._utils._typing import ManyModels
from sklearn_ase.metrics._read_table import ReadTable

if TYPE_CHECKING:
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.risk._base import BaseRisk


def compare_models(evaluation, models, risk, reference):
    """Compare models by estimates of each and of their differences.

    Parameters
    ----------
    evaluation : Evaluation
        With a belief and a label.
    models : Models or Systems
    risk : BaseRisk
    reference : str or None

    Returns
    -------
    comparison : Comparison
    """
    classes = evaluation.classes_
    metrics = models.bound(classes)
    if any(isinstance(part, ReadTable) for part in getattr(metrics[0], "parts", ())):
        raise tables_needed(
            f"A comparison by {models.metric!r}, which has a value for each of "
            f"{len(classes)} classes,"
        )
    state, epochs = evaluation.known_for(metrics)
    if evaluation.is_cross_fitted and risk.leans_on_surrogate:
        state, epochs = evaluation.cross_fitted(state, epochs)
    more = evaluation.ledger.more_labels
    proba = proba_near(metrics[0], state, classes, more)
    columns = models.columns(metrics, classes, proba)
    state_of = states_for(state, epochs, more, classes, models.weight, cache={})
    observed = columns.observed(state.indices, state.labels, more)
    corrected = Corrected(columns, state, state_of.epochs, observed, {}, models.weight)
    pairs = Pairs(columns, state, observed, corrected, models.agreement, [0])
    support = Support.of(state, risk, models.weight)
    known = columns.metrics, models.sign, state_of, risk, pairs
    answers = Answers(*known, support=support)
    best, gains = _best(answers, models.names)
    proba = pairs.proba_of_best(gains, 0)
    return Comparison(models.names, best, gains, proba, answers, reference)


def _best(answers, names):
    """The best model, and how much better each is than it: 0 or less.

    Differences are known better than levels. So the model with the best estimate is
    not taken if another one is better by the difference of the two.
    """
    estimates = [float(answers.estimate(place)) for place in range(len(names))]
    if np.isnan(estimates).any():
        name = names[int(np.flatnonzero(np.isnan(estimates))[0])]
        raise ValueError(f"{answers.name} is not defined for {name}. Label more rows.")
    best, left = int(np.argmax(answers.sign * np.array(estimates))), len(names)
    while True:
        found = [answers.difference(best, place) for place in range(len(names))]
        gains, left = -np.array([float(each) for each in found]), left - 1
        if not gains.max() > 0 or not left:
            return best, np.minimum(gains, 0.0)
        best = int(gains.argmax())


class Comparing(Answering):
    """Evaluation that compares models, or groups of rows."""

    def compare(
        self,
        models: ManyModels,
        *,
        metric: str | BaseMetric | None = None,
        reference: str | None = None,
        where: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        risk: BaseRisk | None = None,
    ) -> Comparison:
        """Compare several models from the labels so far.

        Differences are far better known than levels if models predict much alike: only
        rows on which two models differ say which is better.

        Parameters
        ----------
        models : dict of str to model, or list of (str, model)
            Fitted estimators, functions of X, or arrays of predictions for the pool:
            labels suffice for metrics of labels. The model of the evaluation is not
            among them unless you name it.
        metric : str or BaseMetric, default=None
            None means what the evaluation reports.
        reference : str, default=None
            Name of a model to which all others are compared, too.
        where : array-like of bool of shape (n_samples,), default=None
            The rows of the pool to compare on. None means all.
        sample_weight : array-like of shape (n_samples,), default=None
        risk : risk estimator, default=None

        Returns
        -------
        comparison : Comparison
        """
        risk = self._comparing_risk(risk)
        metric, weight = self._metric_and_weight(metric, where, sample_weight)
        models = as_models(models, self.problem, metric, weight)
        return compare_models(self, models, risk, reference)

    def compare_groups(
        self,
        groups: ArrayLike,
        *,
        metric: str | BaseMetric | None = None,
        reference: str | None = None,
        sample_weight: ArrayLike | None = None,
        risk: BaseRisk | None = None,
    ) -> Comparison:
        """Compare groups of rows, such as the answers of several systems.

        The pool holds the rows of all groups, for instance the answers of two systems
        to the same questions, and each row has a label of its own.

        Parameters
        ----------
        groups : array-like of shape (n_samples,)
            Group of each row, such as the system that gave the answer.
        metric : str or BaseMetric, default=None
            None means what the evaluation reports.
        reference : str, default=None
            Name of a group to which all others are compared, too.
        sample_weight : array-like of shape (n_samples,), default=None
        risk : risk estimator, default=None

        Returns
        -------
        comparison : Comparison
            ``comparison.difference("a", "b").interval()`` is the interval of a
            difference.
        """
        risk = self._comparing_risk(risk)
        if self.state.settled.n_skipped:
            raise ValueError(
                "compare_groups() cannot allow for rows that were skipped: "
                f"{self.state.settled.n_skipped} were. Use estimate_by(groups)."
            )
        metric, weight = self._metric_and_weight(metric, None, sample_weight)
        systems = as_systems(groups, self.problem, metric, weight)
        return compare_models(self, systems, risk, reference)

    def _comparing_risk(self, risk):
        """The risk estimator of a comparison, checked."""
        risk, state = self.risk if risk is None else risk, self.state
        check_risk(risk)
        if not risk.needs_query_proba:
            raise ValueError(
                f"compare() needs the steps of the estimate, but {type(risk).__name__} "
                "has none. Use risk=GuardedASE() with selection=Proportional()."
            )
        risk.check(state)
        if state.belief is None or not state.settled.n_labels:
            raise ValueError(
                "compare() needs a fitted surrogate and a label. Label some rows first."
            )
        return risk
