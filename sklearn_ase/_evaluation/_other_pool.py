"""What the surrogate of an evaluation expects on rows of another pool."""

from dataclasses import replace

import numpy as np

from sklearn_ase._data._experts import check_other_experts
from sklearn_ase._data._predictions import is_model, predict_pool
from sklearn_ase._data._problem import without_model
from sklearn_ase._data._rows import n_rows
from sklearn_ase._evaluation._questions import pool_metric, value_with_labels


def expected_loss(evaluation, estimator, X, experts=None):
    """Loss that the surrogate expects of the model at each row, ``g(x)``.

    Parameters
    ----------
    evaluation : Evaluation
    estimator : fitted estimator or callable
        The model under test.
    X : array, sparse matrix, frame or list of shape (n_rows, n_features)
    experts : array-like, or dict of str to array-like, default=None
        What the experts of the evaluation say about these rows.

    Returns
    -------
    expected : ndarray of shape (n_rows,)
    """
    predictions = _predictions(evaluation, estimator, X)
    return _expected(evaluation, X, predictions, experts)


def expected_and_observed(evaluation, estimator, X, y, name="y", experts=None):
    """Expected and observed loss at rows with known labels.

    Parameters
    ----------
    evaluation : Evaluation
    estimator : fitted estimator or callable
        The model under test.
    X : array, sparse matrix, frame or list of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
    name : str, default="y"
        Of the argument with the labels, for the message.
    experts : array-like, or dict of str to array-like, default=None

    Returns
    -------
    expected, observed : ndarray of shape (n_rows,)
    """
    problem = evaluation.problem
    predictions = _predictions(evaluation, estimator, X)
    expected = _expected(evaluation, X, predictions, experts)
    labels = _checked(problem, y, len(expected), name)
    classes = problem.classes_with(labels)
    loss = problem.loss.build(predictions.response_for(classes), classes)
    return expected, loss.observed(np.arange(len(labels)), labels)


def expected_and_observed_metric(evaluation, estimator, X, y=None, experts=None):
    """The metric of an evaluation on another pool: as expected, and by its labels.

    Parameters
    ----------
    evaluation : Evaluation
        With a metric.
    estimator : fitted estimator or callable
        The model under test.
    X : array, sparse matrix, frame or list of shape (n_rows, n_features)
    y : array-like of shape (n_rows,), default=None
    experts : array-like, or dict of str to array-like, default=None

    Returns
    -------
    expected, observed : float
        The second is NaN without `y`.
    """
    predictions = _predictions(evaluation, estimator, X)
    model = estimator if is_model(estimator) else None
    other = {"X": X, "predictions": predictions, "model": model, "pool": None}
    problem = replace(evaluation.problem, **other)
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
