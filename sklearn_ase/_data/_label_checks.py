"""Checks of labels and classes that came from outside."""

from collections.abc import Mapping

import numpy as np

from sklearn_ase._data._arrays import plain, read_array, refuse_masked
from sklearn_ase._data._rows import is_missing, n_rows
from sklearn_ase._utils._checks import shown


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
        Of the argument, for the message.

    Returns
    -------
    labels : ndarray of shape (n_labels,)
    """
    labels = np.atleast_1d(read_array(labels, name))
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(
            f"{name} must be one-dimensional, one label per row, but have shape "
            f"{labels.shape}. Problems with several labels per row are not supported: "
            "evaluate each of them by itself."
        )
    if labels.dtype == object:
        _refuse_missing([is_missing(label) for label in labels], rows, name)
    labels = plain(labels, name)
    if task == "regression":
        labels = _as_numbers(labels, name)
    if labels.dtype.kind == "f":
        _refuse_missing(~np.isfinite(labels), rows, name)
    if classes is not None:
        refuse_unknown(labels, classes, name)
    return labels


def refuse_unknown(labels, classes, name):
    """Refuse labels that are not among the classes."""
    same_kind({name: labels, "classes": classes})
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        source = "" if name == "labels" else f" of {name}"
        raise ValueError(
            f"Labels {shown(unknown.tolist())}{source} are not among the classes "
            f"{shown(classes.tolist())}. Pass classes=... with every label there may "
            "be."
        )


def _as_numbers(labels, name):
    try:
        return labels.astype(float)
    except ValueError:
        raise ValueError(
            f"{name} must be numbers, since the task is regression, but hold text: "
            f"{shown(labels.tolist())}."
        ) from None


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


def same_kind(labels):
    """Refuse labels of which some are text and others numbers.

    Parameters
    ----------
    labels : dict of str to ndarray
        By the name of the argument that they came from.
    """
    labels = {name: array for name, array in labels.items() if len(array)}
    if len({array.dtype.kind == "U" for array in labels.values()}) > 1:
        found = ", ".join(
            f"{name} {shown(np.unique(array)[:5].tolist())}"
            for name, array in labels.items()
        )
        raise ValueError(
            f"Labels are of different kinds, text and numbers: {found}. Give all "
            "labels as the model was trained on them."
        )


def refuse_fractions(labels, classes, name):
    """Refuse numbers with a fraction where all classes are whole numbers."""
    if labels.dtype.kind != "f" or classes.dtype.kind == "U":
        return
    odd = labels[labels != np.round(labels)]
    if len(odd) and (classes == np.round(classes)).all():
        raise ValueError(
            f"{name} must be labels such as {classes[0]!s}, but hold {odd[0]:.6g}, a "
            "probability or a score it seems. Give the label itself."
        )


def refuse_one_hot(answers, classes, earlier=()):
    """Refuse one-hot rows, which would count as several answers for each row.

    Several people may by chance answer what looks one-hot. So that is refused if two
    rows look like that and none differently, or if the labels are stored differently
    from the classes.

    Parameters
    ----------
    answers : ndarray of shape (n_rows, n_answers)
    classes : ndarray of shape (n_classes,) or None
        None for regression.
    earlier : sequence of sequence, default=()
        Answers for other rows.
    """
    if classes is None or classes.dtype.kind == "U" or answers.dtype.kind == "U":
        return
    n_answers = answers.shape[1]
    earlier = [row for row in earlier if len(row) == n_answers]
    rows = np.array([*answers.tolist(), *earlier])
    is_likely = len(rows) > 1 or answers.dtype.kind != classes.dtype.kind
    if n_answers == len(classes) and is_likely and _is_one_hot(rows):
        raise ValueError(
            f"labels of shape {answers.shape} look one-hot. Give one label per row, "
            "labels.argmax(axis=1) perhaps. Several columns mean several answers for "
            "each row; if that is what they are, tell the first of each row, and then "
            "correct(row, answers)."
        )


def _is_one_hot(y):
    ones = y == 1
    return bool((ones.sum(axis=1) == 1).all() and ((y == 0) | ones).all())


def check_oracle(y, problem, name="y"):
    """Turn an array of labels into a function of indices.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or callable
    problem : Problem
        Its pool is read: the number and the order of the rows.
    name : str, default="y"
        Of the argument, for the message.

    Returns
    -------
    oracle : callable
    """
    if y is None:
        raise ValueError(
            f"fit requires y to be passed, but the target {name} is None. Give an "
            "array of labels (only those asked for are read) or a function "
            "indices -> labels; to label by hand use start()."
        )
    if callable(y) and not isinstance(y, type):
        return y
    n_samples = problem.n_samples
    if isinstance(y, Mapping):
        raise TypeError(
            f"{name} must be an array of labels, one for each of the {n_samples} rows "
            f"of the pool, or a function indices -> labels, but is a "
            f"{type(y).__name__}. Labels of some rows only are known_labels={{row: "
            "label}."
        )
    # Not read as an array: a label may be bought as soon as it is looked at.
    is_array = hasattr(y, "__len__") and hasattr(y, "__getitem__")
    if not is_array or isinstance(y, (str, type)) or getattr(y, "shape", None) == ():
        raise TypeError(
            f"{name} must be an array of labels or a function indices -> labels, but "
            f"is {shown(y)}{', a name: give the column itself' * isinstance(y, str)}."
        )
    if n_rows(y) != n_samples:
        raise ValueError(
            f"{name} has {n_rows(y)} labels, but the pool has {n_samples} rows. Give "
            "one for each row, or a function indices -> labels."
        )
    refuse_masked(y, name)
    _refuse_kind_of(y, name)
    problem.order.check(**{name: y})

    def oracle(indices):
        if not hasattr(y, "shape"):
            labels = [y[index] for index in indices]
        elif hasattr(y, "iloc"):  # Without its index, which was compared above.
            labels = y.iloc[indices].to_numpy()
        else:
            labels = y[indices]
        _refuse_rows_without_label(labels, indices, name)
        return labels

    return oracle


def _refuse_rows_without_label(labels, rows, name):
    """Refuse NaN and the like in the array of labels that was given."""
    found = read_array(labels, name)
    if found.size != len(rows):
        return  # Several answers for each row are checked later.
    labels = found.ravel().tolist()
    without = [int(p) for p, x in zip(rows, labels, strict=True) if is_missing(x)]
    if without:
        several = f"Rows {shown(without)} were"
        which = f"Row {without[0]} was" if len(without) == 1 else several
        raise ValueError(
            f"{which} asked for, but {name} has no label there. Use start(), ask() and "
            "tell(): answer the rows that have labels, and skip() those that nobody "
            "can label. Or give a function indices -> labels that gets the labels."
        )


def _refuse_kind_of(y, name):
    """Refuse arrays that hold no labels, by their shape and type alone."""
    kind = getattr(getattr(y, "dtype", None), "kind", "")
    if kind in ("c", "M", "m"):
        raise ValueError(f"{name} must be labels, but is an array of {y.dtype}.")
    if getattr(y, "ndim", 1) > 2:
        raise ValueError(
            f"{name} must be one-dimensional, one label per row, but has shape "
            f"{tuple(y.shape)}."
        )
    if getattr(y, "ndim", 1) == 2 and y.shape[1] > 1 and _is_one_hot(np.asarray(y)):
        raise ValueError(
            f"{name} of shape {tuple(y.shape)} looks one-hot. Give one label per row; "
            "several columns mean several answers for each row."
        )


def check_class_list(classes):
    """Check the parameter `classes`; None stays None.

    Parameters
    ----------
    classes : array-like of shape (n_classes,) or None

    Returns
    -------
    classes : ndarray of shape (n_classes,) or None
        In the order in which they came.
    """
    if classes is None:
        return None
    if isinstance(classes, range):
        classes = list(classes)
    found = read_array(classes, "classes")
    if found.ndim != 1 or not len(found):
        raise ValueError(
            f"classes={shown(classes)} must be a list of all labels there may be."
        )
    found = check_labels(found, "classification", name="classes")
    if len(np.unique(found)) < len(found):
        raise ValueError(
            f"classes={shown(found.tolist())} has some labels twice. Give each once, "
            "in the order of the columns of predictions= if there are any."
        )
    return found


def check_classes(classes, met):
    """Return all labels known from the start, sorted.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,) or None
        The parameter `classes`.
    met : dict of str to ndarray or None
        Labels that must be among `classes`, by where they were met.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
    """
    met = {name: labels for name, labels in met.items() if labels is not None}
    if classes is None:
        same_kind(met)
        return np.unique(np.concatenate(list(met.values())))
    for name, labels in met.items():
        refuse_unknown(labels, np.sort(classes), name)
    return np.sort(classes)
