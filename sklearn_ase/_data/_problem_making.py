"""Put the data of an evaluation together: ask the model, check that all fits."""

from sklearn_ase._data._label_checks import check_class_list, check_classes, same_kind
from sklearn_ase._data._predictions import (
    is_model,
    out_of_fold_predictions,
    predict_pool,
    read_predictions,
)
from sklearn_ase._data._problem import Problem
from sklearn_ase._data._rows import plain_labels
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
):
    """Ask the model about pool and training rows and check that everything fits.

    The parameters are those of :meth:`ActiveRiskEstimator.start`. Of the evaluator, the
    model, `classes` and tags are read.

    Returns
    -------
    problem : Problem
    """
    estimator, classes = evaluator.estimator, None
    if task == "classification":
        classes = check_class_list(evaluator.classes)
    pool_predictions = predict_pool(
        estimator, X, loss, task, classes, predictions, surrogate.uses_estimator
    )
    if isinstance(X_train, TrainingRows):
        X_train, y_train = X_train.X, X_train.y
    X_train, y_train = check_training_rows(X_train, y_train, X, task, evaluator)
    out_of_fold = None
    if train_predictions is not None:
        out_of_fold = read_predictions(
            train_predictions, X_train, loss, task, classes, "train_predictions"
        )
    elif X_train is not None and predictions is None and surrogate.uses_out_of_fold:
        out_of_fold = out_of_fold_predictions(
            estimator, X_train, y_train, loss, task, cv, seed
        )
    labels = None
    if task == "classification":
        given = "estimator" if predictions is None else "predictions"
        met = {given: pool_predictions.columns, "y_train": y_train}
        if surrogate.frozen_classes is not None:
            met["surrogate"] = plain_labels(surrogate.frozen_classes)
        labels = check_classes(classes, met)
        if train_predictions is not None:
            same_kind({"train_predictions": out_of_fold.columns, "classes": labels})
    return Problem(
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
    )
