"""The border: arguments are checked here, once, before a label is spent."""

import numbers

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_consistent_length, validate_data

from sklearn_ase._rows import is_frame, n_rows, order_columns, plain_labels


def check_rows(evaluator, X, reset):
    """Check a pool; frames and text go through untouched, arrays are validated."""
    if _is_text(X):
        X = list(X)
    if is_frame(X) or _is_text(X):
        validate_data(evaluator, X, reset=reset, skip_check_array=True)
        if n_rows(X) == 0:
            raise ValueError("The pool has 0 rows. Give at least one.")
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
    y_train = check_labels(y_train, task)
    return X_train, y_train


def _same_table(X_train, X):
    """Training rows as the same kind of table as the pool, with the same columns."""
    if _is_text(X_train):
        X_train = list(X_train)
    elif sparse.issparse(X_train):
        X_train = X_train.tocsr()
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
    if not isinstance(X, list) and X_train.shape[1:] != X.shape[1:]:
        raise ValueError(
            f"X_train has rows of shape {X_train.shape[1:]} and the pool of shape "
            f"{X.shape[1:]}. Give both with the same columns."
        )
    return X_train


def check_labels(labels, task, classes=None):
    """Check labels that came from outside.

    Parameters
    ----------
    labels : array-like of shape (n_labels,)
    task : {"classification", "regression"}
    classes : ndarray of shape (n_classes,), default=None
        If given, no other label is allowed.

    Returns
    -------
    labels : ndarray of shape (n_labels,)
    """
    labels = np.atleast_1d(labels)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(
            f"Labels must be one-dimensional, one a row, but have shape {labels.shape}."
        )
    if labels.dtype == object:
        if any(label is None for label in labels):
            raise ValueError("A label is None. Leave out rows that have no label.")
        labels = plain_labels(labels)
    if task == "regression":
        labels = labels.astype(float)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(
            f"Labels must be finite, but {int((~np.isfinite(labels)).sum())} of them "
            "are NaN or infinite. Leave out rows that have no label."
        )
    if classes is not None:
        unknown = np.setdiff1d(labels, classes)
        if len(unknown):
            raise ValueError(
                f"Labels {unknown.tolist()} are not among the classes "
                f"{classes.tolist()}. Pass classes=... with every label there may be."
            )
    return labels


def same_kind(*labels):
    """Refuse text and numbers side by side."""
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
    if hasattr(y, "iloc"):
        return lambda indices: y.iloc[indices]
    if not hasattr(y, "shape"):
        return lambda indices: [y[index] for index in indices]
    return lambda indices: y[indices]


def check_task(loss, estimator, surrogate, classes):
    """Whether labels are classes or numbers: by the loss, or by what surrounds it."""
    if loss.task is not None:
        return loss.task
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


def check_budget(n_labels, batch_size, n_samples):
    """Check how many labels are to be bought."""
    if not isinstance(n_labels, numbers.Integral) or n_labels < 0:
        raise ValueError(f"n_labels={n_labels!r} must be an integer >= 0.")
    if not isinstance(batch_size, numbers.Integral) or batch_size < 1:
        raise ValueError(f"batch_size={batch_size!r} must be an integer >= 1.")
    if n_labels > n_samples:
        raise ValueError(
            f"n_labels={n_labels} is more than the pool holds: n_samples = "
            f"{n_samples}. Ask for at most that many."
        )


def check_strategy(strategy, room, *attributes):
    """Refuse strings, classes and whatever else is no strategy."""
    missing = [name for name in attributes if not hasattr(strategy, name)]
    if isinstance(strategy, type) or missing:
        base = f"Base{room.capitalize()}"
        raise TypeError(
            f"{room}={strategy!r} cannot serve as {room}. Give an instance of a class "
            f"from sklearn_ase.{room}, or of a subclass of {base}."
        )


def check_risk(risk):
    """Refuse what is no risk."""
    check_strategy(risk, "risk", "estimate", "needs_query_proba", "needs_belief")


def check_plan(risk, acquisition, selection, surrogate):
    """Refuse plans whose labels could not give the estimate that is asked for."""
    check_risk(risk)
    check_strategy(acquisition, "acquisition", "score_samples", "needs_member_loss")
    check_strategy(selection, "selection", "pick", "has_query_proba")
    if acquisition.needs_member_loss and not surrogate.gives_members:
        raise ValueError(
            f"{type(acquisition).__name__} compares the members of the surrogate, but "
            f"{type(surrogate.estimator).__name__} has none. Use an ensemble as "
            "surrogate or another acquisition."
        )
    name = type(risk).__name__
    if risk.needs_query_proba and not selection.has_query_proba:
        raise ValueError(
            f"{name} weighs each label by the probability with which it was picked, "
            f"but {type(selection).__name__}() picks without one. Use "
            "selection=Proportional() or Audited(...)."
        )
    if risk.needs_uniform and not acquisition.is_uniform:
        raise ValueError(
            f"{name} needs a plain random sample, but "
            f"acquisition={type(acquisition).__name__}() prefers some rows. Use "
            "acquisition=Uniform(), or risk=LURE() or CorrectedASE()."
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


def check_ledger(ledger, n_samples):
    """Check that a ledger may be of this pool."""
    if ledger is None:
        return
    if not hasattr(ledger, "pending"):
        raise TypeError(
            f"ledger must be a LabelLedger, got {ledger!r}. Read a file with "
            "LabelLedger.from_csv(path)."
        )
    wrong = [index for index in ledger.indices if not 0 <= index < n_samples]
    if wrong:
        raise ValueError(
            f"The ledger is of another pool: it has row {wrong[0]}, but this pool has "
            f"{n_samples} rows."
        )
    if len(set(ledger.indices)) < len(ledger.indices):
        raise ValueError("The ledger asks for some rows twice. Each row is asked once.")


def check_can_estimate(n_labels, evaluation):
    """Refuse a budget that never suffices to fit the surrogate a risk needs."""
    surrogate, n_training = evaluation.surrogate, evaluation.task.n_training
    if evaluation.risk.needs_belief and not surrogate.can_fit(n_training + n_labels):
        raise ValueError(
            f"{type(evaluation.risk).__name__} needs a fitted surrogate. That takes at "
            f"least {surrogate.min_rows} labelled rows, but n_labels={n_labels} and "
            f"there are {n_training} training rows. Give X_train and y_train or buy "
            "more labels."
        )


def check_scores(scores, n_samples, acquisition):
    """Check what an acquisition, perhaps somebody else's, returned."""
    scores = np.asarray(scores, dtype=float)
    name = type(acquisition).__name__
    if scores.shape != (n_samples,):
        raise ValueError(
            f"{name}.score_samples must return one score a row, shape ({n_samples},), "
            f"but returned shape {scores.shape}."
        )
    if not np.isfinite(scores).all() or scores.min() < 0:
        raise ValueError(
            f"{name}.score_samples must return finite scores >= 0, but they go from "
            f"{scores.min()} to {scores.max()}."
        )
    return scores


def check_cross_fit(cross_fit):
    """Check the number of folds in which copies of the model are fitted."""
    valid = isinstance(cross_fit, numbers.Integral) and not isinstance(cross_fit, bool)
    if not valid or cross_fit < 0 or cross_fit == 1:
        raise ValueError(
            f"cross_fit={cross_fit!r} must be 0, to never fit the model, or an integer "
            ">= 2, the number of folds."
        )
