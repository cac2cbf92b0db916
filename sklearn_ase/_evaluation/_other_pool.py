"""What the surrogate of an evaluation expects on rows of another pool."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._data._experts import check_other_experts
from sklearn_ase._data._predictions import is_model, predict_pool
from sklearn_ase._data._problem import without_model
from sklearn_ase._data._rows import n_rows
from sklearn_ase._evaluation._questions import pool_metric, value_with_labels

if TYPE_CHECKING:
    from typing import Any

    from sklearn_ase._evaluation._evaluation import Evaluation
    from sklearn_ase._utils._typing import Rows


def expected_loss(evaluation, estimator, X: Rows, experts: Any = None) -> np.ndarray:
    """Loss that the surrogate expects of the model at each row, ``g(x)``."""
    predictions = _predictions(evaluation, estimator, X)
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
    predictions = _predictions(evaluation, estimator, X)
    expected = _expected(evaluation, X, predictions, experts)
    labels = _checked(problem, y, len(expected), name)
    classes = problem.classes_with(labels)
    loss = problem.loss.build(predictions.response_for(classes), classes)
    return expected, loss.observed(np.arange(len(labels)), labels)


def expected_and_observed_metric(
    evaluation: Evaluation, estimator, X: Rows, y: Any = None, experts: Any = None
) -> tuple[float, float]:
    """The metric of an evaluation on another pool: as expected, and by its labels."""
    predictions = _predictions(evaluation, estimator, X)
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


def _checked(problem, y, n_samples, name):
    labels = problem.check_labels(y, name=name)
    if len(labels) != n_samples:
        raise ValueError(
            f"{name} has {len(labels)} labels, but X has {n_samples} rows. Give "
            "one label for each row."
        )
    return labels


def _predictions(evaluation, estimator, X):
    problem = evaluation.problem
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
        needs_expert=evaluation.surrogate.uses_estimator,
    )


def _expected(evaluation, X, predictions, experts):
    belief, loss = _belief(evaluation, X, predictions, experts)
    return belief.expected_loss(loss)


def _belief(evaluation, X, predictions, experts):
    """What the surrogate believes about other rows, and the loss there."""
    if evaluation.state.belief is None:
        raise ValueError(
            "The surrogate has not been fitted: there are too few labels. Label "
            "more rows or give X_train and y_train."
        )
    classes = evaluation.classes_
    loss = evaluation.problem.loss.build(predictions.response_for(classes), classes)
    surrogate, expert = evaluation.surrogate, predictions.expert_for(classes)
    others = check_other_experts(experts, n_rows(X), evaluation.problem)
    said = {} if others is None else {"experts": others.scores_for(classes)}
    rows = surrogate.prepare_other(X)
    return surrogate.belief(rows, loss, expert, **said), loss
