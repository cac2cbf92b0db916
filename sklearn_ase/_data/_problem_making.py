"""Put the data of an evaluation together: ask the model, check that all fits."""

from dataclasses import replace

import numpy as np

from sklearn_ase._data._expert_checks import check_experts
from sklearn_ase._data._label_checks import check_class_list, check_classes, same_kind
from sklearn_ase._data._on_demand import Asking, PredictionsOnDemand
from sklearn_ase._data._predictions import (
    Predictions,
    is_model,
    out_of_fold_predictions,
    predict_pool,
    read_predictions,
)
from sklearn_ase._data._problem import Problem
from sklearn_ase._data._row_order import RowOrder
from sklearn_ase._data._rows import n_rows, plain_labels
from sklearn_ase._data._same_model import check_is_of_model
from sklearn_ase._data._training_rows import TrainingRows
from sklearn_ase._data._validation import check_training_rows


def make_problem(
    X,
    evaluator,
    loss,
    task,
    surrogate,
    *,
    X_train=None,
    y_train=None,
    predictions=None,
    train_predictions=None,
    cv=0,
    seed=0,
    cost=None,
    sample_weight=None,
    experts=None,
    metric=None,
    parts=None,
    order=None,
):
    """Ask the model about pool and training rows and check that everything fits.

    The parameters are those of :meth:`ActiveRiskEstimator.start`. Of the evaluator, the
    model, `classes` and tags are read. The label that the metric is about is the one
    that a score of an expert is the probability of. With `parts`, X is a RowSource,
    and predictions are not kept. `order` is that of the rows of X as they were given.

    Returns
    -------
    problem : Problem
    """
    estimator, classes = evaluator.estimator, None
    if task == "classification":
        classes = check_class_list(evaluator.classes)
    label = getattr(metric, "label", getattr(metric, "pos_label", None))
    if needs_no_model(estimator, predictions, metric):
        named = getattr(metric, "labels", [])
        pool_predictions = without_model(n_rows(X), task, named)
    elif parts is not None:
        asking = Asking(estimator, loss, task, classes, surrogate.uses_estimator)
        pool_predictions = PredictionsOnDemand.of(X, asking, predictions, parts)
    else:
        pool_predictions = predict_pool(
            estimator, X, loss, task, classes, predictions, surrogate.uses_estimator
        )
    if isinstance(X_train, TrainingRows):
        X_train, y_train = X_train.X, X_train.y
    if predictions is not None:
        needs_expert = surrogate.uses_estimator
        check_is_of_model(
            pool_predictions, estimator, X, loss, task, classes, needs_expert
        )
    training_order = RowOrder.of(X_train=X_train)
    training_order.check(y_train=y_train, train_predictions=train_predictions)
    like = X if parts is None else X.like_chunks(np.arange(1))
    X_train, y_train = check_training_rows(X_train, y_train, like, task, evaluator)
    out_of_fold = None
    if train_predictions is not None:
        out_of_fold = read_predictions(
            train_predictions, X_train, loss, task, classes, "train_predictions"
        )
    elif X_train is not None and predictions is None and surrogate.uses_out_of_fold:
        out_of_fold = out_of_fold_predictions(
            estimator, X_train, y_train, loss, task, cv, seed
        )
    labels = stand_in = None
    if task == "classification":
        given = "estimator" if predictions is None else "predictions"
        met = {given: pool_predictions.columns, "y_train": y_train}
        if surrogate.frozen_classes is not None:
            met["surrogate"] = plain_labels(surrogate.frozen_classes)
        labels = check_classes(classes, met)
        if len(labels) == 1 and not pool_predictions.has_expert:
            stand_in = _any_other(labels[0])
            labels = np.unique([labels[0], stand_in])
        if train_predictions is not None:
            same_kind({"train_predictions": out_of_fold.columns, "classes": labels})
    problem = Problem(
        X=X,
        predictions=pool_predictions,
        loss=loss,
        task=task,
        classes=labels,
        given_classes=classes,
        X_train=X_train,
        y_train=y_train,
        train_predictions=out_of_fold,
        cost=cost,
        sample_weight=sample_weight,
        model=estimator if predictions is None and is_model(estimator) else None,
        stand_in=stand_in,
        order=RowOrder() if order is None else order,
    )
    return problem if experts is None else _with_experts(problem, experts, label)


def _with_experts(problem, experts, label):
    """The problem with experts, and the labels that they name."""
    experts = check_experts(experts, problem.n_samples, problem, label)
    classes, stand_in = problem.classes, problem.stand_in
    if classes is not None:
        others = np.setdiff1d(experts.all_labels, classes)
        if len(others) and stand_in is not None:
            classes, stand_in = classes[classes != stand_in], None
        classes = np.union1d(classes, others)
    return replace(problem, experts=experts, classes=classes, stand_in=stand_in)


def without_model(n_samples, task, labels):
    """Predictions that stand for the model if there is none.

    Parameters
    ----------
    n_samples : int
    task : {"classification", "regression"}
    labels : sequence of label
        Labels that the metric names. The loss counts all but the first.

    Returns
    -------
    predictions : Predictions
    """
    if task == "regression":
        return Predictions(np.zeros(n_samples), None, None)
    labels = plain_labels(labels)
    return Predictions(np.full(n_samples, labels[0]), None, labels)


def needs_no_model(estimator, predictions, metric):
    """Whether there is no model, and the metric is about the labels alone."""
    is_absent = estimator is None and predictions is None
    return is_absent and metric is not None and metric.response_method is None


def _any_other(label):
    """A label that stands for all but one, as long as no other is known."""
    if isinstance(label, str):
        return f"not {label}"
    return type(label)(0 if label == 1 else label + 1 if label else 1)
