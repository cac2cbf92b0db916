"""Groups of rows, named by anything."""

import numpy as np

from sklearn_ase._data._arrays import read_array
from sklearn_ase._data._rows import is_missing
from sklearn_ase._utils._checks import shown

_SIMPLE = (str, int, float, bool)
_CONTAINERS = (list, tuple, dict, set, np.ndarray)


def number_groups(groups, problem):
    """Number the groups of the rows of a pool from 0.

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
        Numbers, text, dates or other objects; also of several kinds.
    problem : Problem
        Its pool is read: the number, the order and the columns of the rows.

    Returns
    -------
    names : list
        Sorted; by their text if they are of several kinds, and ordered categories in
        their order. A missing name comes last.
    numbers : ndarray of int of shape (n_samples,)
        Of the group of each row.
    """
    if isinstance(groups, str):
        raise ValueError(_name_for_column(groups, problem.X))
    n_samples = problem.n_samples
    problem.order.check(groups=groups)
    kind = getattr(groups, "dtype", None)
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


def _in_order(names, numbers, order):
    """Names in a given order, others after them, missing ones last."""

    def place(k):
        name = names[k]
        if is_missing(name):
            return len(order) + 1
        return order.index(name) if name in order else len(order)

    places = sorted(range(len(names)), key=place)
    return [names[k] for k in places], np.argsort(places)[numbers]


def group_name(group):
    """The name of a group as people read it."""
    return "(missing)" if is_missing(group) else str(group)


def _name_for_column(name, X):
    X = X.head() if hasattr(X, "head") else X  # Also of a pool that is on disk.
    if name in getattr(X, "columns", ()):
        return f"Give the column: X_pool[{name!r}], not its name."
    return (
        f"groups must have one entry per row of the pool, but is {shown(name)}. Give "
        "the column itself."
    )


def _numbered_by_text(entries):
    """Objects that cannot be sorted otherwise; 1 and "1" are two of them."""
    texts = np.array([f"{entry} {type(entry).__name__}" for entry in entries])
    _, first, numbers = np.unique(texts, return_index=True, return_inverse=True)
    return [entries[place] for place in first], numbers
