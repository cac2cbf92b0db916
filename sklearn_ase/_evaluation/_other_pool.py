"""Other pools: what the surrogate of an evaluation expects on their rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._data._experts import check_other_experts
from sklearn_ase._data._predictions import is_model, predict_pool, response_of
from sklearn_ase._data._problem import without_model
from sklearn_ase._data._rows import RowOrder, n_rows
from sklearn_ase._data._sampling import reader_of
from sklearn_ase._evaluation._questions import pool_metric, value_with_labels

if TYPE_CHECKING:
    from typing import Any

    from sklearn_ase._data._problem import Problem
    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase._utils._typing import Rows
    from sklearn_ase.metrics._base import BaseMetric
    from sklearn_ase.surrogate._base import BaseSurrogate


def expected_loss(evaluation, estimator, X: Rows, experts: Any = None) -> np.ndarray:
    """Loss that the surrogate expects of the model at each row, ``g(x)``."""
    predictions = _predictions(
        evaluation.problem, estimator, X, evaluation.surrogate.uses_estimator
    )
    return _expected(evaluation, X, predictions, experts)


def expected_and_observed(
    evaluation: Evaluation,
    estimator,
    X: Rows,
    y: Any,
    name: str = "y",
    experts: Any = None,
):
    """Expected and observed loss at rows with known labels."""
    problem = evaluation.problem
    predictions = _predictions(
        evaluation.problem, estimator, X, evaluation.surrogate.uses_estimator
    )
    expected = _expected(evaluation, X, predictions, experts)
    labels = _checked(problem, y, len(expected), name)
    classes = problem.classes_with(labels)
    loss = problem.loss.build(predictions.response_for(classes), classes)
    return expected, loss.observed(np.arange(len(labels)), labels)


def expected_and_observed_metric(
    evaluation: Evaluation, estimator, X: Rows, y: Any = None, experts: Any = None
) -> tuple[float, float]:
    """The metric of an evaluation on another pool: as expected, and by its labels."""
    predictions = _predictions(
        evaluation.problem, estimator, X, evaluation.surrogate.uses_estimator
    )
    model = estimator if is_model(estimator) else None
    problem = replace(evaluation.problem, X=X, predictions=predictions, model=model)
    metric, classes = evaluation.plan.metric, evaluation.classes_
    belief, _ = _belief(evaluation, X, predictions, experts)
    found = pool_metric(problem, metric, classes)
    found = found.at(None if classes is None else belief.proba)
    means = [part.moments(belief)[0].mean() for part in found.parts]
    expected = found.value(np.array(means))
    if y is None:
        return expected, np.nan
    labels = _checked(problem, y, len(predictions.response), "y")
    classes = problem.classes_with(labels)
    found = pool_metric(problem, metric, classes)
    return expected, value_with_labels(found, labels, classes)


@dataclass(frozen=True)
class Expectation:
    """Sums over rows of what the surrogate expects there; a worker may compute them.

    Attributes
    ----------
    problem : Problem
        Without rows.
    surrogate : BaseSurrogate
    classes : ndarray of shape (n_classes,) or None
    metric : BaseMetric or None
        None for the mean loss.
    """

    problem: Problem
    surrogate: BaseSurrogate
    classes: np.ndarray | None
    metric: BaseMetric | None = None

    def __call__(self, start: int, rows: Rows) -> np.ndarray:
        """Return the number of rows, and the sum of each mean that the metric takes."""
        problem = self.problem
        predictions = _predictions(
            problem, problem.estimator, rows, self.surrogate.uses_estimator
        )
        belief, loss = _believed(
            self.problem,
            self.surrogate,
            self.classes,
            X=rows,
            predictions=predictions,
        )
        if self.metric is None:
            means = belief.expected_loss(loss).mean(keepdims=True)
        elif self.classes is None and not hasattr(self.metric, "loss"):
            means = self._means_of_numbers(belief, predictions.response)
        else:
            means = self._means(belief, rows, predictions)
        return n_rows(rows) * np.append(1.0, means)

    def _means(self, belief, rows, predictions):
        """Means of values that are known for each label."""
        problem = replace(self.problem, X=rows, predictions=predictions)
        found = self.metric.on_pool(
            response_of(problem, self.metric, self.classes),
            classes=self.classes,
            n_samples=n_rows(rows),
        )
        parts = [part.moments(belief)[0].mean() for part in found.parts]
        return found.all_means(np.array(parts))

    def _means_of_numbers(self, belief, prediction):
        """Means of polynomials of the label up to its square.

        Two points at a standard deviation from the mean have the mean of each.
        """
        deviation = np.sqrt(belief.variance)
        values = [
            np.asarray(self.metric.row_values(label, prediction), dtype=float)
            for label in (belief.mean - deviation, belief.mean + deviation)
        ]
        return np.mean(values, axis=(0, 1)).reshape(-1)


def expected_on(
    evaluation: Any, source: Any, metric: BaseMetric | None = None
) -> float:
    """Metric that the surrogate expects over all rows of a source, in one pass."""
    problem = evaluation.problem
    if evaluation.state.belief is None:
        raise ValueError(_NOT_FITTED)
    if problem.experts is not None:
        raise ValueError(
            "expected_on() reads rows of the source, but not what experts say about "
            "them. Use an evaluation without experts."
        )
    if metric is not None and getattr(metric, "takes_scores", False):
        raise ValueError(
            f"expected_on() adds up rows, but metric={metric!r} compares pairs of "
            "them. Use evaluation.estimate(metric=...)."
        )
    # What workers do not need stays here.
    problem = replace(
        problem,
        X=None,
        predictions=problem.predictions.at(np.arange(1)),
        X_train=None,
        y_train=None,
        train_predictions=None,
        features=None,
        train_features=None,
        cost=None,
        sample_weight=None,
        sample=None,
        order=RowOrder(),
    )
    expectation = Expectation(
        problem, evaluation.surrogate, evaluation.classes_, metric
    )
    n_source_rows, *sums = reader_of(source).reduce(expectation, np.add)
    means = np.array(sums) / n_source_rows
    return float(means[0] if metric is None else metric.value(means))


_NOT_FITTED = (
    "The surrogate has not been fitted: there are too few labels. Label more rows or "
    "give X_train and y_train."
)


def _checked(problem, y, n_samples, name):
    labels = problem.check_labels(y, name=name)
    if len(labels) != n_samples:
        raise ValueError(
            f"{name} has {len(labels)} labels, but X has {n_samples} rows. Give "
            "one label for each row."
        )
    return labels


def _predictions(problem, estimator, X, needs_expert):
    known = problem.predictions
    if not known.has_expert:
        return without_model(n_rows(X), problem.task, known.columns)
    if estimator is None:
        raise ValueError(
            "The model's predictions were given for the evaluated pool only. Other "
            "rows need the model itself: pass estimator=..."
        )
    return predict_pool(
        estimator,
        X,
        problem.loss,
        problem.task,
        problem.given_classes,
        needs_expert=needs_expert,
    )


def _expected(evaluation, X, predictions, experts):
    belief, loss = _belief(evaluation, X, predictions, experts)
    return belief.expected_loss(loss)


def _belief(evaluation, X, predictions, experts):
    """What the surrogate believes about other rows, and the loss there."""
    if evaluation.state.belief is None:
        raise ValueError(_NOT_FITTED)
    return _believed(
        evaluation.problem,
        evaluation.surrogate,
        evaluation.classes_,
        X=X,
        predictions=predictions,
        experts=experts,
    )


def _believed(problem, surrogate, classes, *, X, predictions, experts=None):
    """Belief of a surrogate about other rows, and the loss there; for workers."""
    loss = problem.loss.build(predictions.response_for(classes), classes)
    expert = predictions.expert_for(classes)
    others = check_other_experts(experts, n_rows(X), problem)
    said = {} if others is None else {"experts": others.scores_for(classes)}
    rows = surrogate.prepare_other(X)
    return surrogate.belief(rows, loss, expert, **said), loss
