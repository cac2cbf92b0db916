"""Checks of labels, classes and groups of rows that came from outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from sklearn_ase._data._rows import is_missing, n_rows, plain, read_array, refuse_masked
from sklearn_ase._utils._checks import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from sklearn_ase._data._problem import Problem
    from sklearn_ase._utils._typing import Task


def check_labels(
    labels: Any,
    task: Task,
    classes: np.ndarray | None = None,
    rows: Any = None,
    name: str = "labels",
) -> np.ndarray:
    """Check labels that came from outside."""
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


def refuse_unknown(labels: np.ndarray, classes: Any, name: str) -> None:
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


def _as_numbers(labels: np.ndarray, name: str) -> np.ndarray:
    """Labels of regression as floats."""
    try:
        return labels.astype(float)
    except ValueError:
        raise ValueError(
            f"{name} must be numbers, since the task is regression, but hold text: "
            f"{shown(labels.tolist())}."
        ) from None


def _refuse_missing(missing: Any, rows: Any, name: str) -> None:
    """Refuse labels that are not there."""
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


def same_kind(labels: dict[str, np.ndarray]) -> None:
    """Refuse labels of which some are text and others numbers."""
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


def refuse_fractions(labels: np.ndarray, classes: Any, name: str) -> None:
    """Refuse numbers with a fraction where all classes are whole numbers."""
    if labels.dtype.kind != "f" or classes.dtype.kind == "U":
        return
    odd = labels[labels != np.round(labels)]
    if len(odd) and (classes == np.round(classes)).all():
        raise ValueError(
            f"{name} must be labels such as {classes[0]!s}, but hold {odd[0]:.6g}, a "
            "probability or a score it seems. Give the label itself."
        )


def refuse_one_hot(
    answers: np.ndarray, classes: np.ndarray | None, earlier: Sequence[Any] = ()
) -> None:
    """Refuse one-hot rows, which would count as several answers for each row.

    Several people may by chance answer what looks one-hot. So that is refused if two
    rows look like that and none differently, or if the labels are stored differently
    from the classes.
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


def _is_one_hot(y: Any) -> bool:
    """Whether each row has a single 1 and zeros."""
    ones = y == 1
    return bool((ones.sum(axis=1) == 1).all() and ((y == 0) | ones).all())


def check_oracle(y: Any, problem: Problem, name: str = "y") -> Callable:
    """Turn an array of labels into a function of indices."""
    if y is None:
        raise ValueError(
            f"fit requires y to be passed, but the target {name} is None. Give an "
            "array of labels (only those asked for are read) or a function "
            "indices -> labels; to label by hand use start()."
        )
    if callable(y) and not isinstance(y, type):
        return y
    sample = problem.sample
    n_named = problem.n_samples if sample is None else sample.n_source_rows
    _refuse_no_array(y, n_named, name)
    is_of_sample = sample is not None and n_rows(y) == len(sample)
    if n_rows(y) != n_named and not is_of_sample:
        raise ValueError(
            f"{name} has {n_rows(y)} labels, but the pool has {n_named} rows. Give "
            "one for each row, or a function indices -> labels."
        )
    refuse_masked(y, name)
    _refuse_kind_of(y, name)
    if n_rows(y) == problem.n_samples:
        problem.order.check(**{name: y})

    def oracle(rows: Any) -> Any:
        """Read the labels of the rows that are asked for."""
        indices = problem.places_of(rows) if is_of_sample else rows
        if not hasattr(y, "shape"):
            labels = [y[index] for index in indices]
        elif hasattr(y, "iloc"):  # Without its index, which was compared above.
            labels = y.iloc[indices].to_numpy()
        else:
            labels = y[indices]
        _refuse_rows_without_label(labels, rows, name)
        return labels

    return oracle


def _refuse_no_array(y: Any, n_samples: int, name: str) -> None:
    """Refuse what has no label for each row."""
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


def _refuse_rows_without_label(labels: Any, rows: Any, name: str) -> None:
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


def _refuse_kind_of(y: Any, name: str) -> None:
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


def check_class_list(classes: Any) -> np.ndarray | None:
    """Check the parameter `classes`; None stays None."""
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


def check_classes(
    classes: np.ndarray | None, met: dict[str, np.ndarray | None]
) -> np.ndarray:
    """Return all labels known from the start, sorted."""
    known = {name: labels for name, labels in met.items() if labels is not None}
    if classes is None:
        same_kind(known)
        return np.unique(np.concatenate(list(known.values())))
    for name, labels in known.items():
        refuse_unknown(labels, np.sort(classes), name)
    return np.sort(classes)


# Labels that are a known class in another spelling.


def refuse_respelled(
    labels: np.ndarray, known: Sequence[Any], name: str = "labels"
) -> None:
    """Refuse text that differs from a class only in case, or in blanks around it.

    It would become a class of its own, at which the model is always wrong.
    """
    if labels.dtype.kind != "U":
        return
    spelled = {_folded(label): label for label in known if isinstance(label, str)}
    exact = {*known}
    for label in dict.fromkeys(labels.tolist()):
        other = spelled.setdefault(_folded(label), label)
        if label != other and label not in exact:
            which = "the class" if other in exact else "another label of them,"
            raise ValueError(
                f"{name} hold {shown(label)}, which differs from {which} "
                f"{shown(other)} only in case or in blanks around it. Nothing was "
                f"recorded. Write it as {shown(other)}. If two classes are meant, pass "
                "classes=[...] with both of them to the evaluator at the start."
            )


def _folded(label: str) -> str:
    """A label without blanks around it and without case."""
    return label.strip().casefold()


# Labels that no surrogate could learn.


# The variance of a squared error is of the fourth power, and must be finite.
_LARGEST = 1e70


def check_learnable(
    labels: np.ndarray, classes: np.ndarray | None, rows: Any = None
) -> None:
    """Refuse new labels that no surrogate could learn."""
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


def _is_class(labels: np.ndarray) -> np.ndarray:
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


# Groups of rows.


_SIMPLE = (str, int, float, bool)
_CONTAINERS = (list, tuple, dict, set, np.ndarray)


def number_groups(groups: Any, problem: Problem) -> tuple[list, np.ndarray]:
    """Number the groups of the rows of a pool from 0."""
    if isinstance(groups, str):
        raise ValueError(_name_for_column(groups, problem.X))
    n_samples, groups = problem.n_samples, problem.entries_of(groups, "groups")
    problem.order.check(groups=groups)
    kind: Any = getattr(groups, "dtype", None)
    order = list(kind.categories) if getattr(kind, "ordered", None) else []
    groups = read_array(groups, "groups")
    if groups.shape != (n_samples,):
        raise ValueError(
            "groups must have one entry per row of the pool, shape "
            f"({n_samples},), but has shape {groups.shape}."
            + " Give one column of it."
            * (groups.ndim > 1)
        )
    if groups.dtype.kind in "OT":
        entries = groups.tolist()
        odd = [entry for entry in entries if isinstance(entry, _CONTAINERS)]
        if odd:
            raise ValueError(
                "groups must have one name for each row of the pool, but one of the "
                f"entries is {shown(odd[0])}."
            )
        kinds = {type(entry) for entry in entries}
        if not (len(kinds) == 1 and kinds.pop() in _SIMPLE):
            return _in_order(*_numbered_by_text(entries), order)
        groups = np.array(entries)
    names, numbers = np.unique(groups, return_inverse=True)
    return _in_order(names.tolist(), numbers, order)


def _in_order(names: list, numbers: np.ndarray, order: list) -> tuple[list, np.ndarray]:
    """Names in a given order, others after them, missing ones last."""

    def place(k: int) -> int:
        name = names[k]
        if is_missing(name):
            return len(order) + 1
        return order.index(name) if name in order else len(order)

    places = sorted(range(len(names)), key=place)
    return [names[k] for k in places], np.argsort(places)[numbers]


def group_name(group: Any) -> str:
    """The name of a group as people read it."""
    return "(missing)" if is_missing(group) else str(group)


def _name_for_column(name: str, X: Any) -> str:
    """What to write in place of the name of a column."""
    X = X.head() if hasattr(X, "head") else X  # Also of a pool that is on disk.
    if name in getattr(X, "columns", ()):
        return f"Give the column: X_pool[{name!r}], not its name."
    return (
        f"groups must have one entry per row of the pool, but is {shown(name)}. Give "
        "the column itself."
    )


def _numbered_by_text(entries: list) -> tuple[list, np.ndarray]:
    """Objects that cannot be sorted otherwise; 1 and "1" are two of them."""
    texts = np.array([f"{entry} {type(entry).__name__}" for entry in entries])
    _, first, numbers = np.unique(texts, return_index=True, return_inverse=True)
    return [entries[place] for place in first], numbers
