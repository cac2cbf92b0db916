"""Checks of the model under test and of its predictions, with errors that help."""

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from sklearn_ase._data._arrays import is_from, plain, read_array
from sklearn_ase._data._rows import is_frame, is_missing, n_rows
from sklearn_ase._utils._checks import shown
from sklearn_ase._utils._unwrapping import unfrozen


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
    classes = getattr(estimator, "classes_", None)
    if isinstance(classes, list) and any(np.ndim(some) for some in classes):
        raise ValueError(
            f"estimator={type(unfrozen(estimator)).__name__} predicts several labels "
            "per row, which is not supported. Evaluate each output by itself."
        )
    if is_frame(X):
        return  # It may pick the columns it needs by their names.
    needed = getattr(estimator, "n_features_in_", None)
    shape = getattr(X, "shape", (0,))
    if needed is not None and len(shape) == 2 and shape[1] != needed:
        raise ValueError(
            f"The model under test was fitted on {needed} features, but the pool has "
            f"{shape[1]}. Give the pool with the columns the model was fitted on."
        )


def asked(estimator, method, X, rows="the pool"):
    """Call the model under test; its errors say that they are its own.

    Parameters
    ----------
    estimator : estimator or callable
    method : str
        Of the estimator; ``"__call__"`` for a function.
    X : array, sparse matrix, frame or list of shape (n_samples, ...)
    rows : str, default="the pool"
        What X is, for the message.

    Returns
    -------
    values : what the model returned
    """
    try:
        return getattr(estimator, method)(X)
    except Exception as error:
        model = unfrozen(estimator)
        call = f"{type(model).__name__}.{method}"
        if method == "__call__":
            call = getattr(model, "__name__", type(model).__name__)
        error.add_note(
            f"The model under test refuses {rows}: the error above comes from {call}. "
            "It gets these rows as they are."
        )
        _explain_columns(error, estimator, X)
        raise


def _explain_columns(error, estimator, X):
    """Say of an error of a model that its columns are not those of the pool.

    Parameters
    ----------
    error : Exception
        Gets a note.
    estimator : estimator
    X : array, sparse matrix, frame or list of shape (n_samples, ...)
    """
    needed = getattr(estimator, "feature_names_in_", None)
    if needed is None or not is_frame(X) or list(needed) == list(X.columns):
        return
    cure = "Give the pool with these columns"
    if set(needed) <= set(X.columns):
        cure = "Give X[model.feature_names_in_], in this order"
    error.add_note(
        "It was fitted on the columns "
        f"{shown(list(map(str, needed)))}. {cure}. Other columns may be groups, or "
        "columns of a report."
    )


def check_predictions(values, X, name):
    """Return predictions as an array of numbers or text; each row of X needs one.

    Parameters
    ----------
    values : array-like of shape (n_samples,) or (n_samples, n_columns)
    X : array, sparse matrix, frame or list of shape (n_samples, ...)
    name : str
        Where the predictions come from, for the error message.

    Returns
    -------
    values : ndarray of shape (n_samples,) or (n_samples, n_columns)
    """
    values = read_array(values, name)
    if values.ndim not in (1, 2):
        raise ValueError(
            f"{name} must have the shape (n_samples,) or (n_samples, n_classes), but "
            f"has shape {values.shape}. Models with several outputs per row are not "
            "supported: evaluate each output by itself."
        )
    if len(values) != n_rows(X):
        rows = "X_train" if name.startswith("train") else "the pool"
        raise ValueError(
            f"{name} has {len(values)} rows, but {rows} has {n_rows(X)}. Give one "
            "prediction for each row."
        )
    if values.dtype == object:
        missing = np.array([is_missing(value) for value in values.ravel()])
        _refuse_missing(missing.reshape(values.shape), name)
    values = plain(values, name)
    if values.dtype.kind == "f":
        _refuse_missing(~np.isfinite(values), name)
    return values


def _refuse_missing(missing, name):
    rows = np.flatnonzero(missing.reshape(len(missing), -1).any(axis=1))
    if len(rows):
        raise ValueError(
            f"{name} is NaN or infinite for {len(rows)} rows, the first is row "
            f"{rows[0]}. Every row needs a prediction: leave these out."
        )


def check_proba(proba, name="predictions"):
    """Return probabilities as floats; each row must be >= 0 and sum to 1."""
    proba = check_values(proba, name)
    total = proba.sum(axis=1)
    if proba.min() < 0 or np.abs(total - 1.0).max() > 1e-3:
        raise ValueError(
            f"{name}: probabilities must be >= 0 and sum to 1 in each row, but go from "
            f"{proba.min():.3g} to {proba.max():.3g} and sum to {total.min():.3g} up "
            f"to {total.max():.3g}. If these are logits, apply a softmax first."
        )
    return proba


def check_values(values, name):
    """Return predicted numbers as floats; text is refused."""
    if values.dtype.kind == "U":
        raise ValueError(
            f"{name} must be numbers, but hold text such as {values.flat[0]!r}."
        )
    return values.astype(float)


def check_is_given(estimator, predictions):
    """Refuse an evaluation with neither a model nor predictions."""
    if predictions is None and estimator is None:
        raise ValueError(
            "There is no model to evaluate: estimator is None. Give a fitted model as "
            "estimator=FrozenEstimator(model), or its predictions as predictions=... "
            "If you ask about the labels alone, use metric=LabelShare(label) or "
            "metric=LabelMean()."
        )
    model = unfrozen(estimator)
    is_class = isinstance(model, type)
    is_model = hasattr(model, "predict") or hasattr(model, "predict_proba")
    if predictions is not None or (is_model and not is_class):
        return
    if is_from(model, "torch"):
        raise TypeError(
            f"estimator={type(model).__name__} is a module of torch, which takes "
            "tensors and does not say what it returns. Give what it predicts for the "
            "pool, predictions=module(torch.as_tensor(X)).softmax(1) with classes=..., "
            "a function X -> predictions, or a skorch.NeuralNetClassifier of it."
        )
    if is_class or not callable(model):
        raise TypeError(
            f"estimator={shown(model)} must be a fitted model with a method predict or "
            "predict_proba, or a function X -> predictions."
            + " For predictions pass start(..., predictions=...) or fit(..., "
            "predictions=...)." * (hasattr(model, "__len__") and not is_class)
        )


def one_label(label):
    """Return predicted labels as one column; several per row are refused."""
    if label.ndim == 2 and label.shape[1] > 1:
        raise ValueError(
            f"estimator.predict returns several labels per row, shape {label.shape}. "
            "Such models are not supported: evaluate each output by itself."
        )
    return label.reshape(-1)


def check_columns(n_columns, classes, name):
    """Refuse a table of probabilities unless each column has a class of its own."""
    if classes is not None and len(np.unique(classes)) < len(classes):
        raise ValueError(
            f"{name} has several columns of the same name: {classes.tolist()}."
        )
    if classes is None or len(classes) != n_columns:
        given = "no classes" if classes is None else f"{len(classes)} classes"
        raise ValueError(
            f"{name} have {n_columns} columns, but {given} were given. Pass "
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


def labels_error(values, classes, name):
    """Return the error for one-dimensional predictions that are not labels."""
    is_text = values.dtype.kind == "U"
    if classes is not None and is_text != (classes.dtype.kind == "U"):
        has, needs = ("text", "numbers") if is_text else ("numbers", "text")
        return ValueError(
            f"{name} are {has}, {shown(np.unique(values)[:5].tolist())}, but the "
            f"classes are {needs}, {shown(classes.tolist())}. Give labels as the model "
            "was trained on them."
        )
    among = "labels" if classes is None else f"among the classes {classes.tolist()}"
    odd = values if classes is None else values[~np.isin(values, classes)]
    return ValueError(
        f"{name} must be {among}, but hold {odd[0]!s}. Probabilities need "
        "classes=[...] and one column for each class, in that order. For two classes, "
        "one-dimensional ones are taken as those of the second class in sorted order."
    )


def check_sorted(classes, name):
    """Refuse one column of probabilities if it is not clear which class it is of."""
    names = np.asarray(classes).tolist()
    if names != sorted(names):
        raise ValueError(
            f"{name} has one column of probabilities, which is that of the second "
            f"class in sorted order, but classes={names} is not sorted. Give classes="
            f"{names[::-1]} if the column is the probability of {names[0]!r}, or one "
            "column for each class, in the order of classes."
        )
