"""What the surrogate of an evaluation expects on rows of another pool."""

import numpy as np

from sklearn_ase._data._predictions import predict_pool


def expected_loss(evaluation, estimator, X):
    """Loss that the surrogate expects of the model at each row, ``g(x)``.

    Parameters
    ----------
    evaluation : Evaluation
    estimator : fitted estimator or callable
        The model under test.
    X : array, sparse matrix, frame or list of shape (n_rows, n_features)

    Returns
    -------
    expected : ndarray of shape (n_rows,)
    """
    return _expected(evaluation, X, _predictions(evaluation, estimator, X))


def expected_and_observed(evaluation, estimator, X, y, name="y"):
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

    Returns
    -------
    expected, observed : ndarray of shape (n_rows,)
    """
    problem = evaluation.problem
    predictions = _predictions(evaluation, estimator, X)
    expected = _expected(evaluation, X, predictions)
    labels = problem.check_labels(y, name=name)
    if len(labels) != len(expected):
        raise ValueError(
            f"{name} has {len(labels)} labels, but X has {len(expected)} rows. Give "
            "one label for each row."
        )
    classes = problem.classes_with(labels)
    loss = problem.loss.build(predictions.response_for(classes), classes)
    return expected, loss.observed(np.arange(len(labels)), labels)


def _predictions(evaluation, estimator, X):
    if estimator is None:
        raise ValueError(
            "The model's predictions were given for the evaluated pool only. Other "
            "rows need the model itself: pass estimator=..."
        )
    problem = evaluation.problem
    return predict_pool(
        estimator,
        X,
        problem.loss,
        problem.task,
        problem.given_classes,
        needs_expert=evaluation.surrogate.uses_estimator,
    )


def _expected(evaluation, X, predictions):
    if not evaluation.is_fitted:
        raise ValueError(
            "The surrogate has not been fitted: there are too few labels. Label "
            "more rows or give X_train and y_train."
        )
    classes = evaluation.classes_
    loss = evaluation.problem.loss.build(predictions.response_for(classes), classes)
    surrogate, expert = evaluation.surrogate, predictions.expert_for(classes)
    belief = surrogate.belief(surrogate.prepare_other(X), loss, expert)
    return belief.expected_loss(loss)
