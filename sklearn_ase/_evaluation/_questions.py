"""Questions about a pool: a metric of some rows with weights, and their answers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_ase._data._predictions import response_of
from sklearn_ase._data._rows import read_array
from sklearn_ase._data._validation import check_weight
from sklearn_ase._evaluation._history import check_estimate
from sklearn_ase._inference._bounds import (
    MIN_BOUNDED_LABELS,
    check_groups,
    grouped_variance,
)
from sklearn_ase._inference._questions import (
    BeliefColumns,
    Epoch,
    StateOf,
    cross_fitted_epochs,
    moments_with_labels,
    observed_values,
)
from sklearn_ase.metrics import MeanLoss, as_metric
from sklearn_ase.metrics._counts import with_positive
from sklearn_ase.risk._intervals import FunctionInterval
from sklearn_ase.risk._question import estimate_metric, of_one_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase._labels._ledger import LabelLedger
    from sklearn_ase._state import PoolState
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.metrics._pool_metric import PoolMetric
    from sklearn_ase.risk._base import BaseRisk
    from sklearn_ase.risk._estimate import Estimate


def states_for(
    state: PoolState,
    epochs: Sequence[Epoch],
    more_labels: dict[int, list],
    classes: np.ndarray | None,
    weight: np.ndarray | None = None,
    with_labels: bool = True,
    cache: dict | None = None,
) -> StateOf:
    """Return a function from values at each row to the state for their mean."""
    aligned = [
        Epoch(epoch.start, epoch.belief.aligned(classes), epoch.query_proba)
        for epoch in epochs
    ]
    return StateOf(state, aligned, more_labels, weight, with_labels, cache)


def known_proba(
    state: PoolState, classes: np.ndarray | None, more_labels: dict[int, list]
) -> np.ndarray | None:
    """Probabilities of the labels of each row, with the labels that are known."""
    if classes is None:
        return None
    if state.belief is None:
        counts = 1.0 + (state.labels[:, None] == classes).sum(axis=0)
        proba = np.tile(counts / counts.sum(), (state.n_samples, 1))
    else:
        proba = np.array(state.belief.proba, dtype=float)
    proba[state.indices] = state.labels[:, None] == classes
    for row, more in more_labels.items():
        if more and row in state.indices:
            share = (np.array(more)[:, None] == classes).sum(axis=0)
            proba[row] = (proba[row] + share) / (len(more) + 1)
    return proba


def training_labels(state: PoolState) -> float:
    """Number of labels of the pool that the training rows are worth."""
    worth = getattr(state.belief, "training_worth", None)
    return 0.0 if worth is None else worth.n_labels


# Questions and their answers.


@dataclass(frozen=True, eq=False)
class Question:
    """A metric of some rows of the pool.

    Attributes
    ----------
    metric : PoolMetric
    curve : tuple of three float, or None
        If the metric is a straight line of a power of the mean loss of the evaluation:
        start, slope and power. Then the ledger has all that the answer needs.
    weight : ndarray of shape (n_samples,) or None
        Weight of each row, with mean 1.
    cache : dict
        Of epochs that have ended.
    """

    metric: Any
    curve: tuple | None = None
    weight: np.ndarray | None = None
    cache: dict = field(default_factory=dict)

    @property
    def is_recorded(self):
        """Whether the ledger has all that the answer needs."""
        return self.curve is not None

    @property
    def is_mean_loss(self):
        """Whether it is a straight line of the mean loss of the evaluation."""
        return self.curve is not None and self.curve[2] == 1.0

    @classmethod
    def of(
        cls,
        problem,
        metric,
        classes: np.ndarray | None,
        weight: np.ndarray | None = None,
    ):
        """Apply a metric to the predictions for the pool."""
        # With experts the mean loss is not what the ledger has: it is cross-fitted.
        is_plain = weight is None and problem.experts is None
        curve = metric.of_mean_loss(problem.loss) if is_plain else None
        return cls(pool_metric(problem, metric, classes, weight), curve, weight)


def pool_metric(problem, metric, classes, weight=None):
    """Apply a metric to the predictions for the pool."""
    if metric.task not in (None, problem.task):
        raise ValueError(
            f"metric={metric!r} is for {metric.task}, but the labels are for "
            f"{problem.task}. Use another metric."
        )
    metric = with_positive(metric, problem.classes, classes)
    prediction = response_of(problem, metric, classes)
    found = metric.on_pool(
        prediction, classes=classes, weight=weight, n_samples=problem.n_samples
    )
    if not getattr(found, "parts", True):
        raise ValueError(
            f"metric={metric!r} does not depend on labels for these predictions, so "
            "there is nothing to estimate."
        )
    return found.without_idle_parts() if hasattr(found, "parts") else found


def check_defined(metric: PoolMetric) -> None:
    """Refuse a metric that has no value, whatever the labels."""
    if hasattr(metric, "parts") and not _can_be_defined(metric):
        raise ValueError(
            f"metric={metric.metric!r} is not defined for these predictions, whatever "
            "the labels: it divides by a number of predicted labels that is 0. Use "
            "another metric, such as recall, or other rows."
        )


def _can_be_defined(metric):
    """Whether the metric has a value for any means that the rows allow."""
    limits = [part.limits() for part in metric.parts]
    least, most = np.array([[side.mean() for side in ends] for ends in limits]).T
    least, most = np.nan_to_num(least, neginf=-1.0), np.nan_to_num(most, posinf=1.0)
    points = [least + share * (most - least) for share in (0.3, 0.5, 0.7)]
    return any(np.isfinite(metric.value(point)) for point in points)


def value_with_labels(
    metric: PoolMetric, y: np.ndarray, classes: np.ndarray | None
) -> float:
    """Value of a metric if all labels are known."""
    proba = None if classes is None else (y[:, None] == classes).astype(float)
    metric, rows = metric.at(proba), np.arange(len(y))
    return metric.value(np.array([p.observed(rows, y).mean() for p in metric.parts]))


def estimate_question(
    risk, question, state, epochs, *, more_labels, classes, cache=None
):
    """Answer a question."""
    metric = question.metric
    if question.curve is not None:
        return of_one_mean(metric.metric, question.curve, risk.estimate(state))
    state_of = states_for(
        state, epochs, more_labels, classes, question.weight, cache=cache
    )
    answered, picks = None, state.settled
    if picks.n_skipped:
        answered = np.full(state.n_samples, np.nan)
        answered[picks.indices] = picks.answered
    metric = metric.at(known_proba(state, classes, more_labels), answered)
    return estimate_metric(risk, metric, state_of, training_labels(state))


def answer_question(
    question: Question,
    risk: BaseRisk,
    *,
    state: PoolState,
    epochs: list[Epoch],
    classes: np.ndarray | None,
    more_labels: dict[int, list],
    left_out: BeliefColumns | None = None,
) -> Estimate:
    """Answer a question; `left_out` is the belief without the label of each row.

    Bets are made before the label. So what they expect must not know later labels, as
    a cross-fitted estimate does.
    """
    known: dict = {"more_labels": more_labels, "classes": classes}
    cached = known | {"cache": question.cache}
    if left_out is None or not risk.leans_on_surrogate:
        return estimate_question(risk, question, state, epochs, **cached)
    crossed = replace(state, is_cross_fitted=True)
    apart = cross_fitted_epochs(epochs, left_out)
    found = estimate_question(risk, question, crossed, apart, **known)
    mean = found.uncertainty
    if not (isinstance(mean, FunctionInterval) and mean.bets is not None):
        return found
    other = estimate_question(risk, question, state, epochs, **cached)
    return replace(found, uncertainty=mean.with_bets_of(other.uncertainty))


# What a label of each row adds to a metric.


def influence_state(
    question: Question,
    state: PoolState,
    state_of: Callable,
    proba: np.ndarray | None,
    more_labels: dict[int, list],
) -> PoolState:
    """State for the linearised metric: what acquisitions look at."""
    return influence_of(question, state, state_of, proba, more_labels)[0]


def influence_of(question, state, state_of, proba, more_labels):
    """What each row adds to the linearised metric; see :func:`influence_state`."""
    if question.is_mean_loss:
        return state, np.zeros(state.n_samples)
    metric = question.metric.at(proba)
    means = np.array([_believed(part, state, more_labels) for part in metric.parts])
    metric.check_bounds(means)
    gradient = metric.gradient(means)
    if not np.isfinite(gradient).all():
        return state, np.zeros(state.n_samples)
    return state_of(metric.linearised(means)), metric.known_influence(means)


def _believed(part, state, more_labels):
    """Believed mean of some values, with the labels that are known."""
    observed = observed_values(part, state.indices, state.labels, more_labels)
    return moments_with_labels(state, part, observed)[0].mean()


def view_of(
    question: Question,
    state: PoolState,
    epochs: list[Epoch],
    *,
    classes: np.ndarray | None,
    more_labels: dict[int, list],
) -> PoolState:
    """The state for the linearised metric of a question, as acquisitions see it."""
    state_of = states_for(state, epochs, more_labels, classes, question.weight)
    proba = known_proba(state, classes, more_labels)
    return influence_state(question, state, state_of, proba, more_labels)


def influence(
    evaluation: Evaluation, question: Question, with_labels: bool = True
) -> tuple[PoolState, np.ndarray]:
    """What each row adds to the answer: by its label, and whatever its label."""
    more, classes = evaluation.placed.more_labels, evaluation.classes_
    state = evaluation.state
    state_of = states_for(state, [], more, classes, question.weight, with_labels)
    question = replace(question, curve=None)
    proba = known_proba(state, classes, more)
    return influence_of(question, state, state_of, proba, more)


def effective_labels(
    evaluation: Evaluation, estimate: Estimate, question: Question
) -> float:
    """Size of a plain random sample that would be as precise."""
    added, rest = influence(evaluation, question)
    weight = question.weight
    weight = np.ones(evaluation.n_samples) if weight is None else weight
    rows = weight > 0
    weight = weight[rows]
    mean = (added.expected_loss + rest)[rows] / weight
    variance = added.loss_variance[rows] / weight**2
    share = weight / weight.sum()
    spread = share @ (variance + (mean - share @ mean) ** 2)
    error = estimate.standard_error**2
    return float(spread / max(error + spread / rows.sum(), np.finfo(float).tiny))


# Labels that wait for a row that was asked for before.


def words_of_waiting(state: PoolState, ledger: LabelLedger) -> str:
    """Say which labels wait, and for what."""
    n_waiting = state.n_labels - state.settled.n_labels
    if not n_waiting:
        return ""
    labels = "1 label waits" if n_waiting == 1 else f"{n_waiting} labels wait"
    return (
        f"{labels} behind the open query of row {ledger.pending[0]}. Answer that row, "
        "or skip it if nobody can."
    )


def rows_that_count(state: PoolState, risk: BaseRisk) -> np.ndarray:
    """Return the rows whose labels an estimate uses."""
    picks = state.settled if risk.needs_query_proba else state.picks
    return picks.indices[picks.answered]


# Whether labels support an answer.


@dataclass(frozen=True)
class Support:
    """Labels at the rows that a question is about.

    Attributes
    ----------
    n_inside : int or None
        None if the question is about all rows.
    is_known : bool
        Whether each of these rows is labelled, or cannot be labelled.
    """

    n_inside: int | None = None
    is_known: bool = False

    @classmethod
    def of(cls, state, risk, weight: np.ndarray | None):
        """Count the labels that are used at the rows that have a weight."""
        if weight is None or (weight > 0).all():
            return cls()
        inside = np.array(weight > 0)
        n_inside = int(inside[rows_that_count(state, risk)].sum())
        inside[state.indices] = False
        inside[state.picks.indices[state.picks.skipped]] = False
        return cls(n_inside, not inside.any())

    @property
    def is_alone(self):
        """Whether the surrogate decides alone."""
        is_part = self.n_inside is not None and not self.is_known
        return is_part and self.n_inside < MIN_BOUNDED_LABELS

    @property
    def words(self):
        """Say that too few labels lie in these rows; empty if enough do."""
        if not self.is_alone:
            return ""
        word, labels = "the surrogate's word alone", "No label lies"
        if self.n_inside:
            word, labels = f"almost {word}", "Only one label lies"
        return f"{labels} in these rows: this is {word}. Label some of these rows."

    def on(self, found: Estimate):
        """The estimate with the number of labels in its rows, refused if these are few.

        Without enough of them it has no interval: the error that the surrogate expects
        of itself is not one that labels have shown.
        """
        found = replace(found, n_inside=self.n_inside)
        if not self.is_alone or np.isnan(found.value):  # Not defined at all.
            return found
        reason = f"No interval: {self.words[:1].lower()}{self.words[1:]}"
        return replace(found, refusal=reason, standard_error=np.nan)


# Rows and weights of a question.


def check_where(where: Any, n_samples: int) -> np.ndarray | None:
    """Check which rows of the pool a question is about."""
    if where is None:
        return None
    where = read_array(where, "where")
    if where.dtype == object and {type(each) for each in where.ravel()} == {bool}:
        where = where.astype(bool)  # A list.
    if where.dtype != bool or where.shape != (n_samples,):
        raise ValueError(
            "where must be a mask of True and False with one entry per row of the "
            f"pool, shape ({n_samples},), but has type {where.dtype} and shape "
            f"{where.shape}. Compare to make one: where=region == 'north', or "
            "where=numpy.isin(numpy.arange(n_samples), rows) for numbers of rows."
        )
    if not where.any():
        raise ValueError("where selects no row of the pool. Choose at least one row.")
    return where


def weight_of(where, sample_weight):
    """Weight of each row, with mean 1 over the pool; None if all are equal."""
    if where is None and sample_weight is None:
        return None
    weight = 1.0 if sample_weight is None else sample_weight
    weight = weight * (1.0 if where is None else where.astype(float))
    total = weight.mean()
    if not total > 0:
        raise ValueError(
            "where selects only rows of weight 0. Choose rows with a positive weight."
        )
    return weight / total


def metric_and_weight(
    evaluation: Evaluation, metric: Any, where: Any, sample_weight: Any
) -> tuple[BaseMetric, np.ndarray | None]:
    """The metric that is asked for, and the weight of each row."""
    n_samples, problem = evaluation.n_samples, evaluation.problem
    where = problem.entries_of(where, "where")
    sample_weight = problem.entries_of(sample_weight, "sample_weight")
    problem.order.check(where=where, sample_weight=sample_weight)
    where = check_where(where, n_samples)
    weight = check_weight(sample_weight, n_samples)
    if sample_weight is None:
        weight = problem.sample_weight
    else:
        weight = problem.weight_with_draw(weight)
    metric = evaluation.plan.metric if metric is None else metric
    metric = MeanLoss(problem.loss) if metric is None else as_metric(metric)
    return metric, weight_of(where, weight)


def estimate_of(
    evaluation: Evaluation,
    question: Question | None,
    risk: BaseRisk | None = None,
    groups: Any = None,
) -> Estimate:
    """Answer a question; see :meth:`Evaluation.estimate`. None is the mean loss."""
    risk, state = evaluation.risk if risk is None else risk, evaluation.state
    obstacle = risk.obstacle(state)
    if obstacle:
        raise ValueError(obstacle)
    if question is None:
        found: Any = check_estimate(risk.estimate(state), risk)
    else:
        found = check_estimate(evaluation.answer(risk, question, state), risk)
        found = Support.of(state, risk, question.weight).on(found)
    waiting = words_of_waiting(state, evaluation.ledger)
    if risk.needs_query_proba and waiting:
        says = "refusal" if found.refusal else "note"
        text = f"{getattr(found, says)} {waiting}".strip()
        found = replace(found, **{says: text})
    if groups is None:
        return found
    numbers = check_groups(groups, state, evaluation.problem)
    rest: Any = 0.0
    if question is not None:
        state, rest = influence(evaluation, question, with_labels=False)
    variance = grouped_variance(state, numbers, rest)
    degrees = float(numbers.max())
    interval = found.uncertainty.with_population(variance, degrees)
    return replace(found, uncertainty=interval)
