"""Predictions of the model under test, as a metric wants them."""

import numpy as np

from sklearn_ase._data._class_columns import align_columns
from sklearn_ase._data._prediction_checks import check_predictions, check_proba
from sklearn_ase._data._rows import plain_labels


def response_of(problem, metric, classes, is_part=False):
    """Return what a metric reads of the predictions for the pool.

    Parameters
    ----------
    problem : Problem
    metric : BaseMetric
    classes : ndarray of shape (n_classes,) or None
        All labels that are possible, sorted; None for regression.
    is_part : bool, default=False
        Whether these are some rows of a pool. That all probabilities are 0 or 1 may
        then be by chance; see :func:`refuse_labels`.

    Returns
    -------
    response : ndarray of shape (n_samples,) or (n_samples, n_classes), or None
        Labels, values or probabilities. None if the metric needs no model.
    """
    predictions, model = problem.predictions, problem.model
    if metric.response_method is None:
        return None
    if not predictions.has_expert:
        raise ValueError(
            f"metric={metric!r} needs the predictions of a model, but the evaluation "
            "has none. Use a metric of the labels alone, such as LabelShare or "
            "LabelMean, or compare(models) with the predictions of models."
        )
    if classes is None:
        return predictions.response
    if metric.response_method == "predict":
        return _labels(problem)
    expert = predictions.expert
    if not np.isin(expert, (0.0, 1.0)).all():
        return align_columns(expert, predictions.columns, classes)
    if hasattr(model, "predict_proba") and hasattr(model, "classes_"):
        name = "estimator.predict_proba"
        proba = check_predictions(model.predict_proba(problem.X), problem.X, name)
        columns = plain_labels(model.classes_)
        return align_columns(check_proba(proba, name), columns, classes)
    if getattr(metric, "takes_scores", False) and hasattr(model, "decision_function"):
        name = "estimator.decision_function"
        return check_predictions(model.decision_function(problem.X), problem.X, name)
    if not is_part:
        refuse_labels(expert, metric)
    return align_columns(expert, predictions.columns, classes)


def refuse_labels(expert, metric):
    """Refuse labels in the place of probabilities.

    Parameters
    ----------
    expert : ndarray
        Probabilities of all rows; with labels all of them are 0 or 1.
    metric : BaseMetric
    """
    if np.isin(expert, (0.0, 1.0)).all():
        raise ValueError(
            f"metric={metric!r} needs probabilities of the classes, but the model "
            "gives labels only. Give a model with predict_proba, or predictions= with "
            "one column per class."
        )


def _labels(problem):
    """Predicted labels, of shape (n_samples,)."""
    predictions, model = problem.predictions, problem.model
    if predictions.response.ndim == 1:
        return predictions.response
    if hasattr(model, "predict"):
        # The label is not the arg max: a model may decide by a threshold of its own.
        label = check_predictions(model.predict(problem.X), problem.X, "predict")
        return plain_labels(label.reshape(-1))
    return predictions.columns[predictions.response.argmax(axis=1)]
