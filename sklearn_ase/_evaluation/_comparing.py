"""Compare several models with the labels of one evaluation."""

from dataclasses import dataclass, replace

import numpy as np

from sklearn_ase._evaluation._comparison import Comparison
from sklearn_ase._evaluation._questions import known_proba, states_for
from sklearn_ase._inference._best_of import proba_of_best
from sklearn_ase._inference._corrected import Corrected
from sklearn_ase._inference._pairs import Pairs
from sklearn_ase.metrics._difference import difference
from sklearn_ase.risk import MetricEstimate
from sklearn_ase.risk._of_metric import estimate_metric

# Fewer degrees of freedom than these would make an interval that says nothing.
_LEAST_DEGREES = 2.0


@dataclass(frozen=True, eq=False)
class Answers:
    """Estimates of several models and of their differences.

    Attributes
    ----------
    metrics : list of PoolMetric
        The metric of each model.
    sign : {1.0, -1.0}
        1 if a greater metric is better.
    state_of : callable
        ``RowValues -> PoolState``.
    risk : BaseRisk
    pairs : Pairs
    note : str
        About estimates of a single model.
    """

    metrics: list
    sign: float
    state_of: object
    risk: object
    pairs: Pairs
    note: str = ""

    @property
    def name(self):
        """Name of the metric."""
        return self.metrics[0].metric.name

    def estimate(self, place):
        """Metric of one model, a MetricEstimate."""
        found = estimate_metric(self.risk, self.metrics[place], self.state_of)
        return replace(found, note=self.note)

    def difference(self, first, second):
        """How much better the first is than the second, a MetricEstimate."""
        two = [self.metrics[first], self.metrics[second]]
        gap = difference(
            *(two if self.sign > 0 else two[::-1]),
            lambda part: self.state_of(part).expected_loss.mean(),
        )
        if self.pairs.agreement.are_alike(first, second):
            known = {"name": gap.metric.name, "centre": 0.0, "bounds": (0.0, 0.0)}
            return MetricEstimate(0.0, 0.0, self.pairs.n_labels, **known)
        found = estimate_metric(self.risk, gap, self.state_of)
        # Only labels at which the two differ say which is better.
        degrees = max(self.pairs.n_apart[first, second] - 1.0, _LEAST_DEGREES)
        return replace(found, degrees_of_freedom=degrees)


def compare_models(evaluation, models, risk, reference):
    """Compare models; the best is the one with the best estimate.

    Parameters
    ----------
    evaluation : Evaluation
        With a belief and a label.
    models : Models
    risk : BaseRisk
    reference : str or None

    Returns
    -------
    comparison : Comparison
    """
    state, classes = evaluation.state, evaluation.classes_
    more = evaluation.ledger.more_labels
    proba = known_proba(state, classes, more)
    columns = models.columns(models.bound(classes), classes, proba)
    state_of = states_for(
        state, evaluation.epochs, more, classes, models.weight, cache={}
    )
    observed = columns.observed(state.indices, state.labels, more)
    corrected = Corrected(columns, state, state_of.epochs, observed, {}, models.weight)
    pairs = Pairs(columns, state, observed, corrected, models.agreement, [0])
    answers = Answers(columns.metrics, models.sign, state_of, risk, pairs)
    gains = _gains(answers, models.names)
    return Comparison(
        models.names,
        int(gains.argmax()),
        gains,
        proba_of_best(gains, pairs.covariance, 0),
        answers,
        reference,
    )


def _gains(answers, names):
    """Estimate of each model; greater is better."""
    found = [float(answers.estimate(place)) for place in range(len(names))]
    if np.isnan(found).any():
        name = names[int(np.flatnonzero(np.isnan(found))[0])]
        raise ValueError(f"{answers.name} is not defined for {name}. Label more rows.")
    return answers.sign * np.array(found)
