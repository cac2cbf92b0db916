"""Predictions of the model under test, for the pool and for training rows.

The model is called once for each kind of prediction that is needed, on the whole pool.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.base import is_regressor
from sklearn.frozen import FrozenEstimator

from sklearn_ase._data._class_columns import align_columns, one_hot
from sklearn_ase._data._cross_fitting import cross_fitted
from sklearn_ase._data._prediction_checks import (
    asked,
    check_columns,
    check_is_given,
    check_model,
    check_predictions,
    check_proba,
    check_sorted,
    check_values,
    labels_error,
    one_label,
    proba_error,
)
from sklearn_ase._data._row_order import RowOrder
from sklearn_ase._data._rows import plain_labels, take_rows
from sklearn_ase._utils._seeding import fit_seeded
from sklearn_ase._utils._unwrapping import unfrozen


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of the model under test for some rows.

    Attributes
    ----------
    response : ndarray of shape (n_samples, n_columns) or (n_samples,)
        What the loss reads: probabilities, labels or values.
    expert : ndarray of shape (n_samples, n_columns) or (n_samples,), or None
        What the surrogate may learn from: probabilities or values. None if there is no
        model under test.
    columns : ndarray of shape (n_columns,) or None
        Class of each column of the two-dimensional arrays.
    """

    response: np.ndarray
    expert: np.ndarray | None
    columns: np.ndarray | None

    def response_for(self, classes):
        """Return the response, with its columns in the order of `classes`."""
        return self._aligned(self.response, classes)

    def expert_for(self, classes):
        """Return the expert, with its columns in the order of `classes`."""
        return self._aligned(self.expert, classes)

    @property
    def has_expert(self):
        """Whether there is a model under test."""
        return self.expert is not None

    def at(self, rows):
        """Return the predictions for some rows."""
        expert = None if self.expert is None else self.expert[rows]
        return Predictions(self.response[rows], expert, self.columns)

    def likely_classes(self, classes):
        """Return a mask of the classes that are the most likely one anywhere."""
        return np.isin(classes, classes[self.expert_for(classes).argmax(axis=1)])

    def model_classes(self, classes):
        """Return a mask of the classes that the model gives any probability."""
        if classes is None:
            return None
        if self.expert is None:
            return np.zeros(len(classes), dtype=bool)
        return np.isin(classes, self.columns[np.nanmax(self.expert, axis=0) > 0])

    def _aligned(self, values, classes):
        if values is None or values.ndim == 1:
            return values
        return align_columns(values, self.columns, classes)


def predict_pool(
    estimator, X, loss, task, classes=None, predictions=None, needs_expert=True
):
    """Predict every row of the pool with the model under test.

    Parameters
    ----------
    estimator : fitted estimator, callable or None
    X : array, sparse matrix, frame or list of shape (n_samples, ...)
    loss : loss object
    task : {"classification", "regression"}
    classes : ndarray of shape (n_classes,), default=None
        Class of each column that a callable or `predictions` give.
    predictions : array-like or frame, default=None
        Used instead of calling the model. The columns of a frame are its labels.
    needs_expert : bool, default=True
        Whether probabilities are needed even if the loss reads labels only.

    Returns
    -------
    predictions : Predictions
    """
    check_is_given(estimator, predictions)
    if classes is None:
        classes = getattr(estimator, "classes_", None)
    if predictions is None and not is_model(estimator):
        predictions = asked(unfrozen(estimator), "__call__", X)
        RowOrder.of(X=X).check(predictions=predictions)
    if predictions is not None:
        return read_predictions(predictions, X, loss, task, classes)
    check_model(estimator, X)
    if task == "regression":
        name, values = "estimator.predict", asked(estimator, "predict", X)
        return _of_values(check_predictions(values, X, name), name)
    return _of_classifier(estimator, X, loss, needs_expert)


def out_of_fold_predictions(estimator, X, y, loss, task, n_splits, seed):
    """Predict each training row by a copy of the model that did not learn from it.

    Parameters
    ----------
    estimator : estimator, callable or None
    X : array, sparse matrix, frame or list of shape (n_rows, ...)
    y : ndarray of shape (n_rows,)
    loss : loss object
    task : {"classification", "regression"}
    n_splits : int
        Number of folds, and of copies; 0 never fits the model again.
    seed : int

    Returns
    -------
    predictions : Predictions or None
        None for a model that cannot be fitted again.
    """
    model = unfrozen(estimator)
    if n_splits == 0 or not _can_be_refitted(model):
        return None
    is_classification = task == "classification"
    columns = np.unique(y) if is_classification else None

    def fit(rows, seed):
        return _fit_copy(model, seed, take_rows(X, rows), y[rows])

    def predict(fitted, rows):
        if is_classification:
            found = _probabilities(fitted, rows, rows="rows of X_train")
            return (align_columns(*found, columns),)
        return (np.ravel(asked(fitted, "predict", rows, "rows of X_train")),)

    found = cross_fitted(fit, predict, X, y, n_splits, seed, is_classification)
    if found is None:
        return None
    response = expert = found[0]
    if is_classification and loss.response_method == "predict":
        response = columns[expert.argmax(axis=1)]
    return Predictions(response, expert, columns)


def is_model(estimator):
    """Whether it predicts with a method; if not, it is a function to be called."""
    return hasattr(estimator, "predict") or hasattr(estimator, "predict_proba")


def _can_be_refitted(model):
    if not is_model(model) or not hasattr(model, "fit"):
        return False
    parts = model.get_params(deep=True).values() if hasattr(model, "get_params") else ()
    # A frozen part has learned from all rows; its predictions are not out-of-fold.
    return not any(isinstance(part, FrozenEstimator) for part in parts)


def _fit_copy(model, seed, X, y):
    try:
        return fit_seeded(model, seed, X, y)
    except Exception as error:
        error.add_note(
            "This error comes from fitting a copy of the model under test on a part of "
            "X_train, for out-of-fold predictions. Use cv=0 to do without them."
        )
        raise


def _of_values(values, name):
    if values.size != len(values):
        raise ValueError(
            f"Regression needs one predicted value per row, but {name} has shape "
            f"{values.shape}. Evaluate each target by itself."
        )
    values = check_values(values.reshape(-1), name)
    return Predictions(values, values, None)


def read_predictions(predictions, X, loss, task, classes, name="predictions"):
    """Read what a function returned, or what the user gave instead of a model.

    Parameters
    ----------
    predictions : array-like or frame
        The columns of a frame are its labels.
    X : array, sparse matrix, frame or list of shape (n_samples, ...)
    loss : loss object
    task : {"classification", "regression"}
    classes : ndarray of shape (n_classes,) or None
        Class of each column.
    name : str, default="predictions"
        Of the argument, for the messages.

    Returns
    -------
    predictions : Predictions
    """
    if X is None:
        raise ValueError(f"{name} needs the predicted rows: give X_train.")
    if task == "classification" and hasattr(predictions, "columns"):
        classes = plain_labels(predictions.columns)
    raw = check_predictions(predictions, X, name)
    if task == "regression":
        return _of_values(raw, name)
    return (_of_proba if raw.ndim == 2 else _of_column)(raw, loss, classes, name)


def _of_column(raw, loss, classes, name):
    """Read labels, or the probabilities of the second of two classes."""
    if classes is None:
        is_label = raw.dtype.kind != "f" or (raw == np.round(raw)).all()
    else:
        is_label = np.isin(raw, classes).all()
    if not is_label:
        is_proba = raw.dtype.kind == "f" and ((raw >= 0) & (raw <= 1)).all()
        if not is_proba or classes is None or len(classes) != 2:
            raise labels_error(raw, classes, name)
        check_sorted(classes, name)
        return _of_proba(np.column_stack([1 - raw, raw]), loss, classes, name)
    if loss.response_method == "predict_proba":
        raise proba_error(loss, f"{name} are one-dimensional, labels it seems")
    columns = np.unique(raw if classes is None else classes)
    return Predictions(raw, one_hot(raw, columns), columns)


def _of_proba(raw, loss, classes, name):
    check_columns(raw.shape[1], classes, name)
    order = np.argsort(classes)
    proba, columns = check_proba(raw, name)[:, order], np.asarray(classes)[order]
    if loss.response_method == "predict":
        return Predictions(columns[proba.argmax(axis=1)], proba, columns)
    return Predictions(proba, proba, columns)


def _of_classifier(estimator, X, loss, needs_expert):
    if hasattr(estimator, "__sklearn_tags__") and is_regressor(estimator):
        raise ValueError(
            f"{type(loss).__name__} is a loss for classifiers, but the model is a "
            "regressor. Use loss='squared_error' or 'absolute_error', or a metric of "
            "numbers such as metric='r2'."
        )
    if loss.response_method == "predict_proba":
        if not hasattr(estimator, "predict_proba"):
            name = type(unfrozen(estimator)).__name__
            raise proba_error(loss, f"{name} has no predict_proba")
        proba, columns = _probabilities(estimator, X)
        return Predictions(proba, proba, columns)
    if not hasattr(estimator, "predict"):
        proba, columns = _probabilities(estimator, X)
        return Predictions(columns[proba.argmax(axis=1)], proba, columns)
    label = asked(estimator, "predict", X)
    label = one_label(check_predictions(label, X, "estimator.predict"))
    if not needs_expert:
        columns = np.union1d(label, plain_labels(getattr(estimator, "classes_", label)))
        return Predictions(label, one_hot(label, columns), columns)
    # The label is not the arg max: a model may decide by a threshold of its own.
    proba, columns = _probabilities(estimator, X, label)
    return Predictions(label, proba, columns)


def _probabilities(estimator, X, label=None, rows="the pool"):
    """Return probabilities and their columns; labels count as certain votes."""
    if not hasattr(estimator, "classes_"):
        raise ValueError(
            f"{type(estimator).__name__} has no classes_, so the order of its columns "
            "is unknown. Give a function instead, estimator=model.predict_proba, and "
            "classes=[...]."
        )
    columns = plain_labels(estimator.classes_)
    if hasattr(estimator, "predict_proba"):
        name = "estimator.predict_proba"
        proba = asked(estimator, "predict_proba", X, rows)
        return check_proba(check_predictions(proba, X, name), name), columns
    label = asked(estimator, "predict", X, rows) if label is None else label
    return one_hot(label, columns), columns
