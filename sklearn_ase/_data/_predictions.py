"""The model under test: its checks, and its predictions for pool and training rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils.validation import check_is_fitted

from sklearn_ase._data._labels import same_kind
from sklearn_ase._data._rows import (
    RowOrder,
    is_dataset,
    is_frame,
    is_from,
    is_missing,
    n_rows,
    plain,
    plain_labels,
    read_array,
    subset,
    take_rows,
)
from sklearn_ase._utils._checks import shown
from sklearn_ase._utils._estimators import fit_seeded, unfrozen

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sklearn_ase._data._problem import Problem
    from sklearn_ase._utils._typing import Floats, Rows, Task
    from sklearn_ase.losses._base import BaseLoss


def check_model(estimator: Any, X: Rows) -> None:
    """Refuse a model that is not fitted, or that was fitted on other columns than X."""
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
    shape: tuple[int, ...] = getattr(X, "shape", (0,))
    if needed is not None and len(shape) == 2 and shape[1] != needed:
        raise ValueError(
            f"The model under test was fitted on {needed} features, but the pool has "
            f"{shape[1]}. Give the pool with the columns the model was fitted on."
        )


def asked(estimator: Any, method: str, X: Rows, rows: str = "the pool") -> Any:
    """Call the model under test; its errors say that they are its own."""
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


def _explain_columns(error: Exception, estimator: Any, X: Rows) -> None:
    """Say of an error of a model that its columns are not those of the pool."""
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


def check_predictions(values: Any, X: Rows, name: str) -> np.ndarray:
    """Return predictions as an array of numbers or text; each row of X needs one."""
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


def _refuse_missing(missing: np.ndarray, name: str) -> None:
    """Refuse rows without a prediction."""
    rows = np.flatnonzero(missing.reshape(len(missing), -1).any(axis=1))
    if len(rows):
        raise ValueError(
            f"{name} is NaN or infinite for {len(rows)} rows, the first is row "
            f"{rows[0]}. Every row needs a prediction: leave these out."
        )


def check_proba(proba: np.ndarray, name: str = "predictions") -> Floats:
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


def check_values(values: np.ndarray, name: str) -> Floats:
    """Return predicted numbers as floats; text is refused."""
    if values.dtype.kind == "U":
        raise ValueError(
            f"{name} must be numbers, but hold text such as {values.flat[0]!r}."
        )
    return values.astype(float)


def check_is_given(estimator: Any, predictions: Any) -> None:
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


def one_label(label: np.ndarray) -> np.ndarray:
    """Return predicted labels as one column; several per row are refused."""
    if label.ndim == 2 and label.shape[1] > 1:
        raise ValueError(
            f"estimator.predict returns several labels per row, shape {label.shape}. "
            "Such models are not supported: evaluate each output by itself."
        )
    return label.reshape(-1)


def check_columns(n_columns: int, classes: Any, name: str) -> None:
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


def proba_error(loss: Any, fact: str) -> ValueError:
    """Return the error for a loss that needs probabilities and does not get any."""
    return ValueError(
        f"{type(loss).__name__} needs probabilities, but {fact}. Use "
        "loss='zero_one', or a model with predict_proba (CalibratedClassifierCV "
        "gives one)."
    )


def labels_error(values: np.ndarray, classes: Any, name: str) -> ValueError:
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


def check_sorted(classes: Any, name: str) -> None:
    """Refuse one column of probabilities if it is not clear which class it is of."""
    names = np.asarray(classes).tolist()
    if names != sorted(names):
        raise ValueError(
            f"{name} has one column of probabilities, which is that of the second "
            f"class in sorted order, but classes={names} is not sorted. Give classes="
            f"{names[::-1]} if the column is the probability of {names[0]!r}, or one "
            "column for each class, in the order of classes."
        )


# Arrays with one column per class.


def align_columns(values: np.ndarray, columns: Any, classes: Any) -> Floats:
    """Put the last axis of an array in the order of the classes."""
    columns, classes = plain_labels(columns), plain_labels(classes)
    if np.array_equal(columns, classes):
        # Not copied: the memory order decides the last digit of sums over classes.
        return np.asarray(values, dtype=np.float64)
    order = np.argsort(classes)
    wanted = np.isin(columns, classes)
    places = order[np.searchsorted(classes, columns[wanted], sorter=order)]
    aligned = np.zeros((*values.shape[:-1], len(classes)))
    aligned[..., places] = values[..., wanted]
    return aligned


def one_hot(labels: Any, columns: Any) -> np.ndarray:
    """Return labels as certain probabilities."""
    return (np.asarray(labels)[:, None] == np.asarray(columns)[None, :]).astype(float)


def check_class_columns(found: Any, classes: np.ndarray) -> None:
    """Refuse a surrogate with a column for a class that is not possible."""
    extra = np.setdiff1d(plain_labels(found), classes)
    if len(extra):
        raise ValueError(
            f"The surrogate predicts the classes {extra.tolist()}, which are not "
            f"among the possible classes {classes.tolist()}. Pass "
            "classes=[...] with all of them."
        )


# Predict each row by a model that did not learn from it.


def cross_fitted(
    fit: Callable,
    predict: Callable,
    X: Rows,
    y: np.ndarray,
    n_splits: int,
    seed: int,
    stratified: bool,
) -> tuple[np.ndarray, ...] | None:
    """Predict each fold by a model that was fitted on the other folds."""
    held_out = np.arange(len(y))
    if stratified:
        _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        held_out = np.flatnonzero(counts[codes] > 1)
        # scikit-learn needs one class that has a row for each fold.
        n_splits = min(n_splits, counts.max())
    n_splits = min(n_splits, len(held_out) // 2)
    if n_splits < 2:
        return None
    splitter = StratifiedKFold if stratified else KFold
    folds = _folds(splitter(n_splits, shuffle=True, random_state=seed), y[held_out])
    found = None
    for _, test in folds:
        rows = held_out[test]
        model = fit(np.setdiff1d(np.arange(len(y)), rows), seed)
        pieces = predict(model, take_rows(X, rows))
        if found is None:
            found = tuple(np.full((len(y), *part.shape[1:]), np.nan) for part in pieces)
        for whole, part in zip(found, pieces, strict=True):
            whole[rows] = part
    return found


def _folds(splitter: KFold | StratifiedKFold, y: np.ndarray) -> list:
    """The folds, without the warning that a class is rare."""
    with warnings.catch_warnings():
        # Rare classes are normal here: labels of the pool arrive one by one.
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(splitter.split(np.zeros(len(y)), y))


# Predictions for the pool and for training rows.


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
    expert: Any
    columns: Any

    def response_for(self, classes: Any) -> np.ndarray:
        """Return the response, with its columns in the order of `classes`."""
        return self._aligned(self.response, classes)

    def expert_for(self, classes: Any) -> Any:
        """Return the expert, with its columns in the order of `classes`."""
        return self._aligned(self.expert, classes)

    @property
    def has_expert(self) -> bool:
        """Whether there is a model under test."""
        return self.expert is not None

    def at(self, rows: Any) -> Predictions:
        """Return the predictions for some rows."""
        expert = None if self.expert is None else self.expert[rows]
        return Predictions(self.response[rows], expert, self.columns)

    def likely_classes(self, classes: Any) -> np.ndarray:
        """Return a mask of the classes that are the most likely one anywhere."""
        return np.isin(classes, classes[self.expert_for(classes).argmax(axis=1)])

    def model_classes(self, classes: Any) -> np.ndarray | None:
        """Return a mask of the classes that the model gives any probability."""
        if classes is None:
            return None
        if self.expert is None:
            return np.zeros(len(classes), dtype=bool)
        return np.isin(classes, self.columns[np.nanmax(self.expert, axis=0) > 0])

    def _aligned(self, values: Any, classes: Any) -> Any:
        """Values with their columns in the order of the classes."""
        if values is None or values.ndim == 1:
            return values
        return align_columns(values, self.columns, classes)


def predict_pool(
    estimator: Any,
    X: Rows,
    loss: Any,
    task: Any,
    classes: np.ndarray | None = None,
    predictions: Any = None,
    needs_expert: bool = True,
) -> Predictions:
    """Predict every row of the pool with the model under test."""
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


def out_of_fold_predictions(
    estimator: Any, X: Rows, y: Any, loss: Any, task: Any, n_splits: int, seed: int
) -> Predictions | None:
    """Predict each training row by a copy of the model that did not learn from it."""
    model = unfrozen(estimator)
    if n_splits == 0 or not _can_be_refitted(model):
        return None
    is_classification = task == "classification"
    columns: Any = np.unique(y) if is_classification else None

    def fit(rows: Any, seed: int) -> Any:
        return _fit_copy(model, seed, take_rows(X, rows), y[rows])

    def predict(fitted: Any, rows: Any) -> tuple[np.ndarray, ...]:
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


def is_model(estimator: Any) -> bool:
    """Whether it predicts with a method; if not, it is a function to be called."""
    return hasattr(estimator, "predict") or hasattr(estimator, "predict_proba")


def _can_be_refitted(model: Any) -> bool:
    """Whether a copy of the model can learn from other rows."""
    if not is_model(model) or not hasattr(model, "fit"):
        return False
    parts = model.get_params(deep=True).values() if hasattr(model, "get_params") else ()
    # A frozen part has learned from all rows; its predictions are not out-of-fold.
    return not any(isinstance(part, FrozenEstimator) for part in parts)


def _fit_copy(model: Any, seed: int, X: Rows, y: Any) -> Any:
    """Fit a copy of the model; its errors say for what."""
    try:
        return fit_seeded(model, seed, X, y)
    except Exception as error:
        error.add_note(
            "This error comes from fitting a copy of the model under test on a part of "
            "X_train, for out-of-fold predictions. Use cv=0 to do without them."
        )
        raise


def _of_values(values: np.ndarray, name: str) -> Predictions:
    """Predictions made of predicted numbers."""
    if values.size != len(values):
        raise ValueError(
            f"Regression needs one predicted value per row, but {name} has shape "
            f"{values.shape}. Evaluate each target by itself."
        )
    values = check_values(values.reshape(-1), name)
    return Predictions(values, values, None)


def read_predictions(
    predictions: Any,
    X: Rows,
    loss: BaseLoss,
    task: Task,
    classes: np.ndarray | None,
    name: str = "predictions",
) -> Predictions:
    """Read what a function returned, or what the user gave instead of a model."""
    if X is None:
        raise ValueError(f"{name} needs the predicted rows: give X_train.")
    if task == "classification" and hasattr(predictions, "columns"):
        classes = plain_labels(predictions.columns)
    raw = check_predictions(predictions, X, name)
    if task == "regression":
        return _of_values(raw, name)
    return (_of_proba if raw.ndim == 2 else _of_column)(raw, loss, classes, name)


def _of_column(raw: np.ndarray, loss: Any, classes: Any, name: str) -> Predictions:
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


def _of_proba(raw: np.ndarray, loss: Any, classes: Any, name: str) -> Predictions:
    """Predictions made of probabilities with one column for each class."""
    check_columns(raw.shape[1], classes, name)
    order = np.argsort(classes)
    proba, columns = check_proba(raw, name)[:, order], np.asarray(classes)[order]
    if loss.response_method == "predict":
        return Predictions(columns[proba.argmax(axis=1)], proba, columns)
    return Predictions(proba, proba, columns)


def _of_classifier(
    estimator: Any, X: Rows, loss: Any, needs_expert: bool
) -> Predictions:
    """What a classifier predicts, as the loss reads it."""
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


def _probabilities(
    estimator: Any, X: Rows, label: Any = None, rows: str = "the pool"
) -> tuple[Floats, np.ndarray]:
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


# Whether given predictions are those of the given model.


_MOST_ROWS = 100
# Predictions may have been rounded, or made on another machine.
_TOLERANCE = 0.01


def check_is_of_model(
    given: Predictions,
    estimator: Any,
    X: Rows,
    loss: Any,
    task: Any,
    classes: Any,
    needs_expert: bool = True,
) -> None:
    """Refuse predictions that differ from what the model predicts at some rows."""
    if not is_model(estimator):
        return
    n_samples = n_rows(X)
    rows = np.unique(np.linspace(0, n_samples - 1, _MOST_ROWS).astype(int))
    some = _some(X, rows)
    try:
        known = predict_pool(estimator, some, loss, task, classes, None, needs_expert)
    except Exception as error:
        error.add_note(
            "The model was asked for some rows, to compare it with predictions=. Leave "
            "the model out, estimator=None, if these are all that is to be evaluated."
        )
        raise
    said = given.at(rows)
    names = None
    if task == "classification":
        same_kind({"predictions": said.columns, "estimator": known.columns})
        names = np.union1d(known.columns, said.columns)
    first, second = (each.response_for(names) for each in (said, known))
    differ = np.flatnonzero(_differ(first, second))
    if len(differ):
        row = rows[differ[0]]
        raise ValueError(
            f"predictions are not those of estimator={type(estimator).__name__}: they "
            f"differ at {len(differ)} of {len(rows)} rows that were compared, the "
            f"first is row {row}. Give the predictions of this model in the order of "
            "the pool, or leave one of the two out."
        )


def _some(X: Rows, rows: Any) -> Rows:
    """Some rows, in the container in which the model gets them."""
    return subset(X, rows) if is_dataset(X) else take_rows(X, rows)


def _differ(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Which rows differ, a mask."""
    if first.dtype.kind not in "fc" or second.dtype.kind not in "fc":
        return first != second
    spread = 1.0 if first.ndim == 2 else max(first.std(), second.std())
    far = np.abs(first - second) > _TOLERANCE * (spread + 1e-6 * np.abs(second))
    return far.reshape(len(far), -1).any(axis=1)


# Predictions as a metric wants them.


def response_of(problem: Problem, metric: Any, classes: Any) -> Any:
    """Return what a metric reads of the predictions for the pool."""
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
    refuse_labels(expert, metric)
    return align_columns(expert, predictions.columns, classes)


def refuse_labels(expert: np.ndarray, metric: Any) -> None:
    """Refuse labels in the place of probabilities."""
    if np.isin(expert, (0.0, 1.0)).all():
        raise ValueError(
            f"metric={metric!r} needs probabilities of the classes, but the model "
            "gives labels only. Give a model with predict_proba, or predictions= with "
            "one column per class."
        )


def _labels(problem: Problem) -> np.ndarray:
    """Predicted labels, of shape (n_samples,)."""
    predictions, model = problem.predictions, problem.model
    if predictions.response.ndim == 1:
        return predictions.response
    if hasattr(model, "predict"):
        # The label is not the arg max: a model may decide by a threshold of its own.
        label = check_predictions(model.predict(problem.X), problem.X, "predict")
        return plain_labels(label.reshape(-1))
    return predictions.columns[predictions.response.argmax(axis=1)]
