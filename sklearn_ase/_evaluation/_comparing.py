"""Compare several models with the labels of one evaluation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sklearn_ase._evaluation._answering import Answering
from sklearn_ase._evaluation._comparison import Comparison
from sklearn_ase._evaluation._models import as_models
from sklearn_ase._evaluation._plan import check_risk
from sklearn_ase._evaluation._state_of import proba_near, states_for
from sklearn_ase._evaluation._systems import as_systems
from sklearn_ase._inference._corrected import Corrected
from sklearn_ase._inference._intervals import LEAST_DEGREES
from sklearn_ase._inference._pairs import Pairs
from sklearn_ase._pool._kept import tables_needed
from sklearn_ase._utils._typing import ManyModels
from sklearn_ase.metrics._difference import difference
from sklearn_ase.metrics._read_table import ReadTable
from sklearn_ase.risk import MetricEstimate
from sklearn_ase.risk._of_metric import estimate_metric

if TYPE_CHECKING:
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.risk._base import BaseRisk

# A belief is trusted within the interval of this level.
_TRUSTED_LEVEL = 0.9


@dataclass(frozen=True, eq=False)
class Answers:
    """Estimates of several models and of their differences.

    Attributes
    ----------
    metrics : list of PoolMetric
        The metric of each model.
    sign : {1.0, -1.0}
        1 if a greater metric is better.
    state_of : StateOf
        ``RowValues -> PoolState``.
    risk : BaseRisk
    pairs : Pairs
    note : str
        About estimates of a single model.
    believed : ndarray of shape (n_models,) or None
        How good each model is by a belief that is made to compare them, greater is
        better. Differences are then those of the belief, within their 90 % intervals.
    """

    metrics: list
    sign: float
    state_of: object
    risk: object
    pairs: Pairs
    note: str = ""
    believed: np.ndarray | None = None
    _kept: dict = field(default_factory=dict)

    @property
    def name(self):
        """Name of the metric."""
        return self.metrics[0].metric.name

    def estimate(self, place):
        """Metric of one model, a MetricEstimate."""
        if place not in self._kept:
            found = estimate_metric(self.risk, self.metrics[place], self.state_of)
            self._kept[place] = replace(found, note=self.note)
        return self._kept[place]

    def difference(self, first, second):
        """How much better the first is than the second, a MetricEstimate."""
        key = first, second
        if key not in self._kept:
            self._kept[key] = self._difference(*key)
        return self._kept[key]

    def _difference(self, first, second):
        if self.pairs.agreement.are_alike(first, second):
            name = f"difference of {self.name}"
            known = {"name": name, "centre": 0.0, "bounds": (0.0, 0.0)}
            return MetricEstimate(0.0, 0.0, self.pairs.n_labels, **known)
        two = [self.metrics[first], self.metrics[second]]
        gap = difference(
            *(two if self.sign > 0 else two[::-1]),
            lambda part: self.state_of.expected(part).mean(),
        )
        found = estimate_metric(self.risk, gap, self.state_of)
        # Only labels at which the two differ say which is better.
        degrees = max(self.pairs.n_apart[first, second] - 1.0, LEAST_DEGREES)
        degrees = np.inf if self.pairs.is_known else degrees
        found = replace(found, degrees_of_freedom=degrees)
        if self.pairs.curved is not None:
            found = self._with_region(found, first, second)
        if self.believed is None and self.pairs.curved is None:
            return found
        value = found.value
        if self.believed is not None:
            value = self.believed[first] - self.believed[second]
        if not found.refusal:
            ends = replace(found, value=found.centre).interval(_TRUSTED_LEVEL)
            value = np.clip(value, *ends)
        return replace(found, value=float(value))

    def proba_of_best(self, best):
        """Probability of each model to be the best: shown differences, their errors."""
        n_models = len(self.metrics)
        gains = [-float(self.difference(best, k)) for k in range(n_models)]
        return self.pairs.proba_of_best(np.array(gains), 0)

    def _with_region(self, found, first, second):
        """The difference with the interval of all means that the labels allow for.

        That of its tangent is too narrow where the means are little known.
        """
        gap, region = self.pairs.curved.region(first, second)
        pair = np.array([first]), np.array([second])
        one_error = self.pairs.curved.ends(*pair, np.ones(1))
        means, covariance = region["means"][0], region["covariance"][0]
        least, most = (side[0] for side in region["limits"])
        low, high = self.metrics[first].metric.bounds
        return replace(
            found,
            mean=None,
            centre=gap.value(means),
            standard_error=0.5 * float(np.diff(one_error, axis=0)[0, 0]),
            bounds=(low - high, high - low),
            scale="linear",
            metric=gap,
            means=tuple(means.tolist()),
            known=(np.nan,) * len(means),
            covariance=tuple(map(tuple, covariance.tolist())),
            least=tuple(least.tolist()),
            most=tuple(most.tolist()),
        )


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
    answers = Answers(columns.metrics, models.sign, state_of, risk, pairs)
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
