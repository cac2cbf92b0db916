"""Validate data and labels, once, before anything else sees them."""

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_consistent_length, validate_data

from sklearn_ase._data._rows import (
    is_dataset,
    is_frame,
    is_missing,
    label_array,
    n_rows,
    order_columns,
    plain_labels,
    read_dataset,
    take_rows,
)

# The variance of a squared error is of the fourth power, and must be finite.
_LARGEST = 1e70


def check_rows(evaluator, X, reset):
    """Check a pool: arrays are validated, frames, texts and datasets left alone."""
    if _is_text(X):
        X = list(X)
    if is_frame(X) or is_dataset(X) or _is_text(X):
        if n_rows(X) == 0:
            raise ValueError("The pool has 0 rows. Give at least one.")
        # The first row of a dataset, without its label, has the number of features.
        table = take_rows(X, np.arange(1)) if is_dataset(X) else X
        validate_data(evaluator, table, reset=reset, skip_check_array=True)
        return X
    tags = evaluator.__sklearn_tags__().input_tags
    return validate_data(
        evaluator,
        X,
        reset=reset,
        accept_sparse="csr" if tags.sparse else False,
        allow_nd=True,
        dtype="numeric" if getattr(X, "dtype", None) == np.dtype(object) else None,
        ensure_all_finite="allow-nan" if tags.allow_nan else True,
    )


def _is_text(X):
    one_dimensional = (
        isinstance(X, (list, tuple)) or len(getattr(X, "shape", "  ")) == 1
    )
    return one_dimensional and n_rows(X) > 0 and isinstance(next(iter(X)), str)


def check_training_rows(X_train, y_train, X, task):
    """Check the rows that the surrogate may also learn from, beside the pool X."""
    if X_train is None and y_train is None:
        return None, None
    if X_train is None or y_train is None:
        raise ValueError("X_train and y_train go together: one of them is missing.")
    check_consistent_length(X_train, y_train)
    X_train = _same_table(X_train, X)
    y_train = check_labels(y_train, task, name="y_train")
    return X_train, y_train


def _same_table(X_train, X):
    """Training rows as the same kind of table as the pool, with the same columns."""
    if _is_text(X_train):
        X_train = list(X_train)
    elif sparse.issparse(X_train):
        X_train = X_train.tocsr()
    elif is_dataset(X_train):
        X_train = read_dataset(X_train)
    elif not hasattr(X_train, "shape"):
        X_train = np.asarray(X_train)
    kinds = [(is_frame(rows), isinstance(rows, list)) for rows in (X_train, X)]
    if kinds[0] != kinds[1]:
        raise TypeError(
            f"X_train is a {type(X_train).__name__} and the pool a {type(X).__name__}. "
            "Give both as the same kind of table."
        )
    if is_frame(X):
        odd = sorted(map(str, set(X.columns) ^ set(X_train.columns)))
        if odd:
            raise ValueError(
                "X_train and the pool must have the same columns, but "
                f"{odd} are in one of them only."
            )
        return order_columns(X_train, X.columns)
    if isinstance(X, list):
        return X_train
    first = take_rows(X, np.arange(1)) if is_dataset(X) else X
    if X_train.shape[1:] != first.shape[1:]:
        raise ValueError(
            f"X_train has rows of shape {X_train.shape[1:]} and the pool of shape "
            f"{first.shape[1:]}. Give both with the same columns."
        )
    return X_train


def check_labels(labels, task, classes=None, rows=None, name="labels"):
    """Check labels that came from outside.

    Parameters
    ----------
    labels : array-like of shape (n_labels,)
    task : {"classification", "regression"}
    classes : ndarray of shape (n_classes,), default=None
        If given, no other label is allowed.
    rows : array-like of shape (n_labels,), default=None
        Their rows of the pool, for the message; None means 0, 1, ...
    name : str, default="labels"
        What to call them in a message.

    Returns
    -------
    labels : ndarray of shape (n_labels,)
    """
    labels = np.atleast_1d(label_array(labels))
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(
            f"Labels must be one-dimensional, one per row, but have shape "
            f"{labels.shape}."
        )
    if labels.dtype == object:
        _refuse_missing([is_missing(label) for label in labels], rows, name)
        labels = plain_labels(labels)
    if task == "regression":
        labels = labels.astype(float)
    if labels.dtype.kind == "f":
        _refuse_missing(~np.isfinite(labels), rows, name)
    if classes is not None:
        unknown = np.setdiff1d(labels, classes)
        if len(unknown):
            raise ValueError(
                f"Labels {unknown.tolist()} are not among the classes "
                f"{classes.tolist()}. Pass classes=... with every label there may be."
            )
    return labels


def check_learnable(labels, classes, rows=None):
    """Refuse new labels that no surrogate could learn.

    Parameters
    ----------
    labels : ndarray of shape (n_labels,)
        What :func:`check_labels` returned.
    classes : ndarray of shape (n_classes,) or None
        Labels that are allowed in any case; None for regression.
    rows : array-like of shape (n_labels,), default=None
        Their rows of the pool, for the message; None means 0, 1, ...
    """
    if classes is None:
        is_wrong, need = np.abs(labels) > _LARGEST, f"numbers up to {_LARGEST:g}"
    else:
        is_wrong = ~(_is_class(labels) | np.isin(labels, classes))
        need = "text, or whole numbers of at most 63 bits"
    if not is_wrong.any():
        return
    places = np.flatnonzero(is_wrong)
    rows = places if rows is None else np.asarray(rows)[places]
    raise ValueError(
        f"Labels {labels[places][:5].tolist()} of rows {rows[:5].tolist()} cannot be "
        f"learned: labels must be {need}. Nothing was recorded. Correct them and try "
        "again."
    )


def _is_class(labels):
    """Whether each label can be a class, as scikit-learn has it."""
    if labels.dtype.kind in "biUST":
        return np.ones(len(labels), dtype=bool)
    # Greater integers are objects, or would turn all others into floats.
    return np.array(
        [
            isinstance(label, (int, float)) and abs(label) < 2**63 and label % 1 == 0
            for label in labels.tolist()
        ],
        dtype=bool,
    )


def _refuse_missing(missing, rows, name):
    places = np.flatnonzero(missing)
    if not len(places):
        return
    places = places if rows is None else np.asarray(rows)[places]
    more = f" and {len(places) - 5} more" if len(places) > 5 else ""
    cure = "Leave these rows out as long as they have no label"
    if name == "labels":
        cure += "; evaluation.skip(rows) records that nobody can tell"
    raise ValueError(
        f"Missing {name}: None, NaN or infinite in rows {places[:5].tolist()}{more}. "
        f"{cure}."
    )


def same_kind(*labels):
    """Refuse labels of which some are text and others numbers."""
    kinds = {isinstance(array[0], str) for array in labels if len(array)}
    if len(kinds) > 1:
        shown = " and ".join(str(np.unique(array)[:5].tolist()) for array in labels)
        raise ValueError(
            f"Labels {shown} are of different kinds, text and numbers. Give all labels "
            "as the model was trained on them."
        )


def check_oracle(y, n_samples):
    """Turn an array of labels into a function of indices."""
    if y is None:
        raise ValueError(
            "fit requires y to be passed, but the target y is None. Give an array of "
            "labels (only those asked for are read) or a function indices -> labels; "
            "to label by hand use start()."
        )
    if callable(y):
        return y
    if n_rows(y) != n_samples:
        raise ValueError(
            f"y has {n_rows(y)} labels, but the pool has {n_samples} rows. Give one "
            "for each row, or a function indices -> labels."
        )
    if getattr(y, "ndim", 1) == 2 and y.shape[1] > 1 and _is_one_hot(np.asarray(y)):
        raise ValueError(
            f"y of shape {y.shape} looks one-hot. Give one label per row; several "
            "columns mean several answers for each row."
        )
    if hasattr(y, "iloc"):
        return lambda indices: y.iloc[indices]
    if not hasattr(y, "shape"):
        return lambda indices: [y[index] for index in indices]
    return lambda indices: y[indices]


def _is_one_hot(y):
    ones = y == 1
    return bool((ones.sum(axis=1) == 1).all() and ((y == 0) | ones).all())


def check_cost(cost, n_samples):
    """Check what a label of each row costs; None stays None."""
    if cost is None:
        return None
    cost = np.asarray(cost, dtype=float)
    if cost.shape != (n_samples,) or not (np.isfinite(cost) & (cost > 0)).all():
        raise ValueError(
            f"cost must be one finite number > 0 for each of the {n_samples} rows of "
            f"the pool, but has shape {cost.shape}"
            + (f" and a least entry of {cost.min()}." if cost.size else ".")
        )
    return cost


def check_task(loss, estimator, surrogate, classes):
    """Find out whether labels are classes or numbers.

    The loss decides; if it does not say, the surrogate, the model and `classes` do.
    """
    if loss.task is not None:
        return loss.task
    if getattr(surrogate, "task", None) is not None:
        return surrogate.task
    parts = [getattr(surrogate, "estimator", surrogate), estimator]
    parts = [part for part in parts if hasattr(part, "__sklearn_tags__")]
    if classes is not None or any(is_classifier(part) for part in parts):
        return "classification"
    if any(is_regressor(part) for part in parts):
        return "regression"
    raise ValueError(
        "Neither the loss nor the estimator nor the surrogate says whether labels are "
        "classes or numbers. Wrap the function: CustomLoss(function, "
        "task='regression') or task='classification'."
    )


def check_classes(classes, *met):
    """All labels known from the start, sorted; those `met` must be among `classes`."""
    met = [labels for labels in met if labels is not None]
    same_kind(*met, *([] if classes is None else [np.asarray(classes)]))
    met = np.unique(np.concatenate(met))
    if classes is None:
        return met
    check_labels(met, "classification", np.unique(classes))
    return np.unique(classes)
