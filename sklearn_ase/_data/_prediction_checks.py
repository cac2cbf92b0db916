"""Checks of the model under test and of its predictions, with errors that help."""

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from sklearn_ase._data._rows import is_frame, n_rows


def check_model(estimator, X):
    """Refuse a model that is not fitted, or that was fitted on other columns than X.

    Parameters
    ----------
    estimator : estimator
    X : array, sparse matrix, frame or list of shape (n_samples, ...)
    """
    try:
        check_is_fitted(estimator)
    except NotFittedError as error:
        raise NotFittedError(
            f"The model under test, {type(estimator).__name__}, is not fitted. Fit it "
            "and wrap it, estimator=FrozenEstimator(model): without the wrapper clone, "
            "cross-validation and grid search return it to the unfitted state."
        ) from error
    except TypeError:
        return  # Not a scikit-learn estimator: only the model knows if it is fitted.
    if is_frame(X):
        return  # It may pick the columns it needs by their names.
    needed = getattr(estimator, "n_features_in_", None)
    shape = getattr(X, "shape", (0,))
    if needed is not None and len(shape) == 2 and shape[1] != needed:
        raise ValueError(
            f"The model under test was fitted on {needed} features, but the pool has "
            f"{shape[1]}. Give the pool with the columns the model was fitted on."
        )


def check_predictions(values, X, name):
    """Return predictions as an array; each row of X needs a finite one.

    Parameters
    ----------
    values : array-like of shape (n_samples, ...)
    X : array, sparse matrix, frame or list of shape (n_samples, ...)
    name : str
        Where the predictions come from, for the error message.

    Returns
    -------
    values : ndarray of shape (n_samples, ...)
    """
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


def check_proba(proba):
    """Return probabilities as floats; each row must be >= 0 and sum to 1."""
    proba = proba.astype(float)
    total = proba.sum(axis=1)
    if proba.min() < 0 or np.abs(total - 1.0).max() > 1e-3:
        raise ValueError(
            "Probabilities must be >= 0 and sum to 1 in each row, but they go from "
            f"{proba.min():.3g} to {proba.max():.3g} and sum to {total.min():.3g} up "
            f"to {total.max():.3g}. If these are logits, apply a softmax first."
        )
    return proba


def check_is_given(estimator, predictions):
    """Refuse an evaluation with neither a model nor predictions."""
    if predictions is None and estimator is None:
        raise ValueError(
            "There is no model to evaluate: estimator is None. Give a fitted model as "
            "estimator=FrozenEstimator(model), or its predictions as predictions=..."
        )


def check_columns(n_columns, classes):
    """Refuse a table of probabilities unless each column has a class."""
    if classes is None or len(classes) != n_columns:
        given = "no classes" if classes is None else f"{len(classes)} classes"
        raise ValueError(
            f"predictions have {n_columns} columns, but {given} were given. Pass "
            "classes=[...], the label of each column in order; a class the model does "
            "not know is a column of zeros. Or give a frame whose columns are named "
            "by their labels."
        )


def proba_error(loss, fact):
    """Return the error for a loss that needs probabilities and does not get any."""
    return ValueError(
        f"{type(loss).__name__} needs probabilities, but {fact}. Use "
        "loss='zero_one', or a model with predict_proba (CalibratedClassifierCV "
        "gives one)."
    )
