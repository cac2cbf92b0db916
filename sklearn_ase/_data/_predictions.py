"""The model under test: what it says about the pool, and honestly about training rows.

It is called once for each response that is needed, on the whole pool.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.base import is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklearn_ase._data._cross_fitting import cross_fitted
from sklearn_ase._data._rows import is_frame, n_rows, plain_labels, take_rows
from sklearn_ase._utils._seeding import fit_seeded


@dataclass(frozen=True, eq=False)
class Predictions:
    """What the model says about some rows.

    Attributes
    ----------
    response : ndarray of shape (n_samples, n_columns) or (n_samples,)
        What the loss reads: probabilities, labels or values.
    expert : ndarray of shape (n_samples, n_columns) or (n_samples,)
        What the surrogate may learn from: probabilities or values.
    columns : ndarray of shape (n_columns,) or None
        Class of each column of the two-dimensional arrays.
    """

    response: np.ndarray
    expert: np.ndarray
    columns: np.ndarray | None

    def response_for(self, classes):
        """The response, its columns put in the order of `classes`."""
        return _spread(self.response, self.columns, classes)

    def expert_for(self, classes):
        """The expert, its columns put in the order of `classes`."""
        return _spread(self.expert, self.columns, classes)

    def model_classes(self, classes):
        """Which of the classes the model knows."""
        if classes is None:
            return None
        return np.isin(classes, self.columns[np.nanmax(self.expert, axis=0) > 0])


def _spread(values, columns, classes):
    if values.ndim == 1 or np.array_equal(columns, classes):
        return values
    spread = np.zeros((len(values), len(classes)))
    wanted = np.isin(columns, classes)
    spread[:, np.searchsorted(classes, columns[wanted])] = values[:, wanted]
    return spread


def predict_pool(
    estimator, X, loss, task, classes=None, predictions=None, needs_expert=True
):
    """Ask the model about every row of the pool.

    Parameters
    ----------
    estimator : fitted estimator, callable or None
    X : array, sparse matrix, frame or list of shape (n_samples, ...)
    loss : loss object
    task : {"classification", "regression"}
    classes : ndarray of shape (n_classes,), default=None
        Meaning of the columns that a callable or `predictions` give.
    predictions : array-like or frame, default=None
        Used instead of calling the model. The columns of a frame are its labels.
    needs_expert : bool, default=True
        Whether probabilities are wanted even where the loss reads labels only.

    Returns
    -------
    predictions : Predictions
    """
    if predictions is None and estimator is None:
        raise ValueError(
            "There is no model to evaluate: estimator is None. Give a fitted model as "
            "estimator=FrozenEstimator(model), or what it predicted as predictions=..."
        )
    if classes is None:
        classes = getattr(estimator, "classes_", None)
    if predictions is None and not is_model(estimator):
        predictions = _function_of(estimator)(X)
    if predictions is not None:
        if hasattr(predictions, "columns"):
            classes = plain_labels(predictions.columns)
        raw = _checked(predictions, X, "predictions")
        if task == "regression":
            return _of_values(raw)
        return _of_array(raw, loss, classes)
    _check_fitted(estimator, X)
    if task == "regression":
        return _of_values(_checked(estimator.predict(X), X, "estimator.predict"))
    return _of_classifier(estimator, X, loss, needs_expert)


def out_of_fold_predictions(estimator, X, y, loss, task, n_splits, seed):
    """Predictions for training rows by copies of the model that did not see them.

    Returns
    -------
    predictions : Predictions or None
        None for a model that cannot be fitted again.
    """
    model = _function_of(estimator)
    if n_splits == 0 or not is_model(model) or not hasattr(model, "fit"):
        return None
    if any(isinstance(part, FrozenEstimator) for part in _parts(model)):
        return None  # The frozen part would know the rows by heart.
    columns = np.unique(y) if task == "classification" else None

    def predict(fitted, rows):
        if task == "regression":
            return (np.ravel(fitted.predict(rows)),)
        return (_spread(*_probabilities(fitted, rows), columns),)

    def fit(rows, seed):
        try:
            return fit_seeded(model, seed, take_rows(X, rows), y[rows])
        except Exception as error:
            error.add_note(
                "This came from fitting a copy of the model under test on X_train, to "
                "see how it does on rows it does not know. cv=0 does without."
            )
            raise

    found = cross_fitted(
        fit,
        predict,
        X,
        y,
        n_splits,
        seed,
        stratified=task == "classification",
    )
    if found is None:
        return None
    response = expert = found[0]
    if task == "classification" and loss.response_method == "predict":
        response = columns[expert.argmax(axis=1)]
    return Predictions(response, expert, columns)


def _parts(model):
    return model.get_params(deep=True).values() if hasattr(model, "get_params") else ()


def is_model(estimator):
    """Whether it predicts by method and not by being called."""
    return hasattr(estimator, "predict") or hasattr(estimator, "predict_proba")


def _check_fitted(estimator, X):
    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise NotFittedError(
            f"The model under test, {type(estimator).__name__}, is not fitted. Fit it "
            "and wrap it, estimator=FrozenEstimator(model): without the wrapper clone, "
            "cross-validation and grid search return it to the unfitted state."
        ) from error
    except TypeError:
        return  # No scikit-learn estimator: it knows itself whether it can predict.
    needed = getattr(estimator, "n_features_in_", None)
    shape = getattr(X, "shape", (0,))
    if is_frame(X):
        return  # It may pick the columns it needs by their names.
    if needed is not None and len(shape) == 2 and shape[1] != needed:
        raise ValueError(
            f"The model under test was fitted on {needed} features, but the pool has "
            f"{shape[1]}. Give the pool with the columns the model was fitted on."
        )


def _function_of(estimator):
    """A model that is a function, out of its frozen shell."""
    while isinstance(estimator, FrozenEstimator):
        estimator = estimator.estimator
    return estimator


def _of_values(values):
    if values.size != len(values):
        raise ValueError(
            "Regression needs one predicted value a row, but the predictions have "
            f"shape {values.shape}. Evaluate each target by itself."
        )
    values = values.reshape(-1).astype(float)
    return Predictions(values, values, None)


def _of_array(raw, loss, classes):
    """Predictions of a classifier that came as an array."""
    if raw.ndim == 2:
        if classes is None or len(classes) != raw.shape[1]:
            known = "no classes" if classes is None else f"{len(classes)} classes"
            raise ValueError(
                f"predictions have {raw.shape[1]} columns, but {known} were given. "
                "Pass classes=[...], the label of each column in order; a class the "
                "model does not know is a column of zeros. Or give a frame whose "
                "columns are named by their labels."
            )
        order = np.argsort(classes)
        proba, columns = _check_proba(raw)[:, order], np.asarray(classes)[order]
        if loss.response_method == "predict":
            return Predictions(columns[proba.argmax(axis=1)], proba, columns)
        return Predictions(proba, proba, columns)
    if loss.response_method == "predict_proba":
        raise ValueError(
            _needs_proba(loss, "predictions are one-dimensional, labels it seems")
        )
    raw = plain_labels(raw)
    columns = np.unique(raw) if classes is None else np.unique(classes)
    return Predictions(raw, _one_hot(raw, columns), columns)


def _of_classifier(estimator, X, loss, needs_expert):
    if hasattr(estimator, "__sklearn_tags__") and is_regressor(estimator):
        raise ValueError(
            f"{type(loss).__name__} is a loss of classifiers, but the model is a "
            "regressor. Use loss='squared_error' or 'absolute_error'."
        )
    if loss.response_method == "predict_proba":
        if not hasattr(estimator, "predict_proba"):
            name = type(getattr(estimator, "estimator", estimator)).__name__
            raise ValueError(_needs_proba(loss, f"{name} has no predict_proba"))
        proba, columns = _probabilities(estimator, X)
        return Predictions(proba, proba, columns)
    if not hasattr(estimator, "predict"):
        proba, columns = _probabilities(estimator, X)
        return Predictions(columns[proba.argmax(axis=1)], proba, columns)
    label = plain_labels(_checked(estimator.predict(X), X, "estimator.predict"))
    if not needs_expert:
        columns = np.union1d(label, plain_labels(getattr(estimator, "classes_", label)))
        return Predictions(label, _one_hot(label, columns), columns)
    # The label is the model's own word: thresholds may differ from the arg max.
    proba, columns = _probabilities(estimator, X, label)
    return Predictions(label, proba, columns)


def _probabilities(estimator, X, label=None):
    """Probabilities, or certain votes of a model without, and their columns."""
    if not hasattr(estimator, "classes_"):
        raise ValueError(
            f"{type(estimator).__name__} has no classes_ to tell the order of its "
            "columns. Give a function instead, estimator=model.predict_proba, and "
            "classes=[...]."
        )
    columns = plain_labels(estimator.classes_)
    if hasattr(estimator, "predict_proba"):
        proba = _checked(estimator.predict_proba(X), X, "estimator.predict_proba")
        return _check_proba(proba), columns
    label = estimator.predict(X) if label is None else label
    return _one_hot(label, columns), columns


def _one_hot(label, columns):
    return (label[:, None] == columns[None, :]).astype(float)


def _checked(values, X, name):
    values = np.asarray(values)
    if len(values) != n_rows(X):
        raise ValueError(
            f"{name} has {len(values)} rows, but the pool has {n_rows(X)}. Give one "
            "prediction for each row of the pool."
        )
    missing = np.zeros(len(values), dtype=bool)
    if values.dtype.kind == "f":
        missing = ~np.isfinite(values.reshape(len(values), -1)).all(axis=1)
    elif values.dtype == object:
        missing = np.array([value is None or value != value for value in values])
    if missing.any():
        rows = np.flatnonzero(missing)
        raise ValueError(
            f"{name} is NaN or infinite for {len(rows)} rows, the first is row "
            f"{rows[0]}. Every row of the pool needs a prediction: leave these out."
        )
    return values


def _check_proba(proba):
    proba = proba.astype(float)
    total = proba.sum(axis=1)
    if proba.min() < 0 or np.abs(total - 1.0).max() > 1e-3:
        raise ValueError(
            "Probabilities must be >= 0 and sum to 1 in each row, but they go from "
            f"{proba.min():.3g} to {proba.max():.3g} and sum to {total.min():.3g} up "
            f"to {total.max():.3g}. If these are logits, apply a softmax first."
        )
    return proba


def _needs_proba(loss, fact):
    return (
        f"{type(loss).__name__} needs probabilities, but {fact}. Use "
        "loss='zero_one', or a model with predict_proba (CalibratedClassifierCV "
        "gives one)."
    )
